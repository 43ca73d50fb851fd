"""What every test may use: the samples folder, the rule that its absence is said aloud, and how examples are drawn."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from conformance.support import samples_folder

# A slow machine is no finding, and a run that decides about a change must come out the same twice.
settings.register_profile(
    "octavo", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("octavo")


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
