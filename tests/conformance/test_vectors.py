"""Golden vectors, one test each, taken from the folder named in `OCTAVO_VECTORS`.

Every vector names the function it was made with; an adapter per function calls ours and compares. A vector whose
function has no adapter fails, unless the function belongs to a part of the product that is not built yet (`PENDING`).
"""

import json

import pytest

from conformance.pending import PENDING
from conformance.support import ADAPTERS, Vector, collect


@pytest.mark.parametrize("vector", collect(), ids=lambda v: v.name)
def test_vector(vector: Vector) -> None:
    adapter = ADAPTERS.get(vector.function)
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
