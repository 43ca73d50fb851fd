"""Find the files that ship beside the code: prompts and fonts.

In a wheel they live under `octavo/_data`; in a checkout in the top-level folders of the same names.
"""

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path


@cache
def data(folder: str) -> Traversable:
    """Return the folder `prompts` or `fonts`, wherever this copy of octavo keeps it."""
    checkout = Path(__file__).parents[2] / folder
    if checkout.is_dir():
        return checkout
    return files("octavo") / "_data" / folder
