"""What every test may use: the samples folder, and the rule that its absence is said aloud."""

from pathlib import Path

import pytest

from conformance.support import samples_folder


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if samples_folder().is_dir():
        return
    missing = pytest.mark.skip(reason=f"the public transcripts are not at {samples_folder()}")
    for item in items:
        if item.get_closest_marker("samples"):
            item.add_marker(missing)


@pytest.fixture
def samples() -> Path:
    """The folder of public transcripts; use together with the `samples` marker."""
    return samples_folder()
