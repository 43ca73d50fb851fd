"""What entries look like on disk: limits, dropped keys, payloads in the blob store and back."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import storekit as kit
from octavo.sessions.blobs import BlobStore, extension_of, resolve
from octavo.sessions.persistence import (
    MAX_STRING,
    NOTICE,
    SEED,
    normalise,
    persist_line,
    prepare_entry,
    utf16_length,
)

PNG = base64.b64encode(b"\x89PNG" + bytes(range(256)) * 8).decode()
DIGEST = hashlib.sha256(base64.b64decode(PNG)).hexdigest()


@pytest.fixture
def blobs(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path / "blobs")


def custom(**fields: Any) -> dict[str, Any]:
    return {"type": "custom", "id": "a", "parentId": None, "timestamp": "t", **fields}


def image(data: str = PNG, mime: str = "image/png") -> dict[str, Any]:
    return {"type": "image", "data": data, "mimeType": mime}


@pytest.mark.parametrize(
    ("text", "length"),
    [("y" * MAX_STRING, MAX_STRING), ("y" * (MAX_STRING + 1), MAX_STRING), ("🧩" * (MAX_STRING // 2), MAX_STRING)],
    ids=["at the limit", "above", "pairs at the limit"],
)
def test_strings_are_limited_in_utf16_units(blobs: BlobStore, text: str, length: int) -> None:
    stored = prepare_entry(custom(data=text), blobs)["data"]
    assert utf16_length(stored) == length
    assert stored.endswith(NOTICE) == (utf16_length(text) > MAX_STRING)


def test_a_surrogate_pair_is_never_split(blobs: BlobStore) -> None:
    stored = prepare_entry(custom(data="y" + "🧩" * MAX_STRING), blobs)["data"]
    assert utf16_length(stored) in {MAX_STRING, MAX_STRING - 1}
    assert stored.removesuffix(NOTICE).endswith("🧩")
    stored.encode()


@pytest.mark.parametrize(
    "block",
    [
        {"type": "thinking", "thinking": "t" * 600_000, "thinkingSignature": "s" * 600_000},
        {"type": "text", "text": "x", "textSignature": "s" * 600_000},
        {"type": "toolCall", "id": "c", "thoughtSignature": "s" * 600_000},
        {"type": "redactedThinking", "data": "d" * 600_000},
        {"type": "reasoning", "encrypted_content": "e" * 600_000},
    ],
    ids=lambda block: block["type"],
)
def test_what_a_provider_verifies_is_kept_whole(blobs: BlobStore, block: dict[str, Any]) -> None:
    """BR-034, engine.md §17d 115."""
    entry = {**custom(), "type": "message", "message": {"role": "assistant", "content": [block]}}
    assert prepare_entry(entry, blobs) is entry


def test_streaming_leftovers_are_dropped_at_any_depth_even_from_small_entries(blobs: BlobStore) -> None:
    entry = custom(data={"partialJson": 1, "deep": [{"jsonlEvents": [1], "kept": 2}]})
    stored, line = persist_line(entry, blobs)
    assert stored["data"] == {"deep": [{"kept": 2}]}
    assert json.loads(line) == stored


def test_internal_details_of_custom_messages_are_not_stored(blobs: BlobStore) -> None:
    """engine.md §17d 125."""
    details = {"__queueChipText": "chip", "keep": 1}
    entry = custom(customType="c", content="x", details=details)
    assert persist_line({**entry, "type": "custom_message"}, blobs)[0]["details"] == {"keep": 1}
    assert persist_line(entry, blobs)[0]["details"] == details


def test_the_line_count_follows_a_shortened_content(blobs: BlobStore) -> None:
    details = {"content": "a\n" * 400_000, "lineCount": 400_001}
    stored = prepare_entry(custom(details=details), blobs)["details"]
    assert stored["lineCount"] == stored["content"].count("\n") + 1
    untouched = {"content": "a\nb", "lineCount": 77}
    assert prepare_entry(custom(details=untouched), blobs)["details"]["lineCount"] == 77


@pytest.mark.parametrize(
    "entry",
    [
        {"type": "message", "message": {"role": "toolResult", "content": [image()]}},
        {"type": "message", "message": {"role": "toolResult", "content": [], "details": {"images": [image()]}}},
        {"type": "compaction", "preserveData": {"snapcompact": {"frames": [{"data": PNG, "mimeType": "image/png"}]}}},
    ],
    ids=["content", "details.images", "frames"],
)
def test_pictures_are_stored_once_wherever_they_are(blobs: BlobStore, entry: dict[str, Any]) -> None:
    """BR-010, engine.md §17d 126."""
    entry = {"id": "a", "parentId": None, "timestamp": "t", **entry}
    for _ in range(3):
        stored, line = persist_line(entry, blobs)
    assert PNG.encode() not in line
    assert f"blob:sha256:{DIGEST}".encode() in line
    assert sorted(path.name for path in blobs.folder.iterdir()) == [DIGEST, f"{DIGEST}.png"]
    assert (blobs.folder / DIGEST).stat().st_ino == (blobs.folder / f"{DIGEST}.png").stat().st_ino
    back = resolve(stored, blobs)
    assert back.value == entry
    assert back.missing == []
    assert prepare_entry(stored, blobs) is stored


def test_a_picture_longer_than_the_limit_is_never_cut(blobs: BlobStore) -> None:
    data = base64.b64encode(b"z" * 600_000).decode()
    stored = prepare_entry(custom(details={"images": [image(data)]}), blobs)
    assert stored["details"]["images"][0]["data"].startswith("blob:sha256:")
    assert resolve(stored, blobs).value["details"]["images"][0]["data"] == data


@pytest.mark.parametrize("data", ["tiny", "_-" * 800, " " + PNG, PNG[:-1] + "\n"])
def test_what_would_not_come_back_exactly_stays_in_place(blobs: BlobStore, data: str) -> None:
    entry = custom(content=[image(data)])
    assert prepare_entry(entry, blobs) is entry


def test_the_seed_decodes_as_a_javascript_buffer_does(blobs: BlobStore) -> None:
    stored = prepare_entry(custom(content=[image("_-" * 800)]), blobs, SEED)
    digest = stored["content"][0]["data"].removeprefix("blob:sha256:")
    assert blobs.get(digest) == base64.b64decode("/+" * 800)


def test_an_image_url_comes_back_as_the_url_it_was(blobs: BlobStore) -> None:
    entry = custom(data={"image_url": "data:image/webp;base64,AAAA", "other": "data:image/webp;base64,AAAA"})
    stored, _ = persist_line(entry, blobs)
    assert stored["data"]["image_url"].startswith("blob:sha256:")
    assert stored["data"]["other"] == "data:image/webp;base64,AAAA"
    assert resolve(stored, blobs).value == entry


def test_a_missing_or_damaged_blob_leaves_its_reference_and_is_reported(blobs: BlobStore) -> None:
    stored, _ = persist_line(custom(content=[image()]), blobs)
    (blobs.folder / DIGEST).write_bytes(b"rotten")
    found = resolve(stored, blobs)
    assert found.value is stored
    assert found.missing == [DIGEST]
    assert persist_line(custom(content=[image()]), blobs)[0] == stored
    assert resolve(stored, blobs).missing == []


def test_another_program_s_store_is_read_but_not_written(tmp_path: Path) -> None:
    theirs = BlobStore(tmp_path / "theirs")
    stored, _ = persist_line(custom(content=[image()]), theirs)
    ours = BlobStore(tmp_path / "ours", (tmp_path / "theirs",))
    assert resolve(stored, ours).missing == []
    assert not ours.folder.exists()


@pytest.mark.parametrize(
    "text", ["blob:sha256:../../etc/passwd", "blob:sha256:" + "A" * 64, "blob:sha256:" + "0" * 63, "blob:sha256:"]
)
def test_what_is_no_digest_is_never_looked_up(blobs: BlobStore, text: str) -> None:
    value = {"type": "image", "data": text}
    assert resolve(value, blobs).value is value
    assert blobs.get(text.removeprefix("blob:sha256:")) is None


@pytest.mark.parametrize(
    ("mime", "extension"),
    [
        ("image/png", "png"),
        ("image/jpeg", "jpg"),
        ("image/gif", "gif"),
        ("image/webp", "webp"),
        ("image/svg+xml", "svg"),
        ("image/avif", "avif"),
        ("IMAGE/PNG; x=1", "png"),
        ("text/plain", None),
        ("image/../../x", None),
        (None, None),
    ],
)
def test_sidecars_are_named_by_type(mime: str | None, extension: str | None) -> None:
    assert extension_of(mime) == extension


def test_a_small_plain_entry_is_the_same_object(blobs: BlobStore) -> None:
    entry = custom(data={"a": ["b"]})
    assert persist_line(entry, blobs)[0] is entry


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_any_json_comes_back_from_its_line(value: Any) -> None:
    blobs = BlobStore(Path("/nonexistent"))
    stored, line = persist_line(custom(data=value), blobs)
    assert line.count(b"\n") == 1
    assert json.loads(line) == stored


def test_normalising_refuses_what_is_no_json() -> None:
    for value in (object(), {1: 2}, {"a": {3}}):
        with pytest.raises(TypeError):
            normalise(value)


def stored_bytes(folder: Path) -> int:
    """Bytes on disk; a hard link counts once."""
    return sum({(found := path.stat()).st_ino: found.st_size for path in folder.rglob("*") if path.is_file()}.values())


async def test_twenty_compactions_and_five_forks_store_one_picture(tmp_path: Path) -> None:
    """BR-010."""
    picture = base64.b64encode(bytes(range(256)) * 4096).decode()
    library = kit.library(tmp_path)
    session = await library.create("/p")
    content = [{"type": "text", "text": "see"}, image(picture)]
    await session.append(messages=[{"role": "user", "content": content}])
    for number in range(20):
        frames = {"snapcompact": {"frames": [{"data": picture, "mimeType": "image/png", "cols": 1}]}}
        draft = {"type": "compaction", "summary": str(number), "firstKeptEntryId": session.leaf_id, "tokensBefore": 1}
        await session.append([{**draft, "preserveData": frames}])
    for _ in range(5):
        fork = await library.fork(session)
        assert fork.resolved(fork.branch()).value[0]["message"]["content"] == content
        await fork.close()
    await session.close()
    assert stored_bytes(tmp_path) < 1.2 * 256 * 4096
