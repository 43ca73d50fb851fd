"""Pictures that are not sent: a note stands in the place of each, and nothing else of a message changes."""

from typing import Any

from octavo.sessions.pictures import without_images, without_missing_images

HERE = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
GONE = {"type": "image", "data": "blob:sha256:" + "0" * 64, "mimeType": "image/webp"}


def test_every_image_becomes_a_note_wherever_it_sits() -> None:
    message = {
        "role": "fileMention",
        "files": [{"path": "a.png", "image": HERE}, {"path": "b", "content": "text"}],
        "content": [{"type": "text", "text": "look"}, {"type": "image", "data": "AAAA"}],
        "details": {"images": [HERE], "exitCode": 0},
    }
    shown = without_images(message)
    assert shown["files"][0]["image"] == {"type": "text", "text": "[image: image/png]"}
    assert shown["files"][1] is message["files"][1]
    assert shown["content"][1] == {"type": "text", "text": "[image: unknown type]"}
    assert shown["details"] == {"images": [{"type": "text", "text": "[image: image/png]"}], "exitCode": 0}


def test_only_an_image_whose_data_is_a_reference_counts_as_missing() -> None:
    message: dict[str, Any] = {"role": "user", "content": [HERE, GONE]}
    shown = without_missing_images(message)
    assert shown["content"] == [HERE, {"type": "text", "text": "[image: image/webp, missing]"}]
    assert message["content"] == [HERE, GONE]


def test_a_message_without_such_images_is_the_same_object() -> None:
    for message in ({"role": "user", "content": "text"}, {"role": "user", "content": [HERE, "odd"]}, {"files": None}):
        assert without_missing_images(message) is message
