"""Golden vectors, one test each, taken from the folder named in `OCTAVO_VECTORS`.

Every vector names the function it was made with; an adapter per function calls ours and compares. A vector whose
function has no adapter fails, unless the function belongs to a part of the product that is not built yet (`PENDING`).
"""

import json

import pytest

from conformance.adapters.frames import compare_picture
from conformance.pending import PENDING
from conformance.support import ADAPTERS, Vector, collect, find_adapter, vectors_folder


@pytest.mark.parametrize("vector", collect(), ids=lambda v: v.name)
def test_vector(vector: Vector) -> None:
    adapter = find_adapter(vector.function)
    if adapter is None and vector.function in PENDING:
        pytest.xfail(f"not built yet: {PENDING[vector.function]}")
    assert adapter is not None, f"no adapter for function {vector.function!r} ({vector.path})"
    adapter(vector)


def test_pending_functions_have_no_adapter() -> None:
    assert sorted(set(PENDING) & set(ADAPTERS)) == []


def test_every_vector_file_is_json_with_a_function() -> None:
    for vector in collect():
        assert vector.function, vector.path
    for path in {vector.path for vector in collect()}:
        assert json.loads(path.read_text())


def test_the_pictures_beside_the_vectors_show_what_we_draw() -> None:
    folder = vectors_folder() / "snapcompact"
    for picture in sorted((folder / "samples").glob("*.png")):
        compare_picture(picture, folder)


@pytest.mark.parametrize(
    ("written", "registered"),
    [
        ("findCutPoint", "findCutPoint"),
        ("serializeConversation (dialect harmony)", "serializeConversation"),
        ("calculateContextTokens/calculatePromptTokens", "calculateContextTokens / calculatePromptTokens"),
        ("computeFileLists+formatFileOperations", "computeFileLists + formatFileOperations"),
        ("extractRetryHint(headers, body)", "extractRetryHint(undefined, body)"),
        ("countTokens", "countTokens (o200k_base, no special tokens)"),
        ("AgentSession.compact (with extension handlers)", "AgentSession.compact with extension handlers"),
    ],
)
def test_a_function_is_recognised_however_its_name_is_spelled(written: str, registered: str) -> None:
    assert find_adapter(written) is ADAPTERS[registered]


@pytest.mark.parametrize("unknown", ["", "(…)", "compactEverything", "compact/prepareCompaction"])
def test_a_function_without_an_adapter_is_not_given_another_ones(unknown: str) -> None:
    assert find_adapter(unknown) is None
