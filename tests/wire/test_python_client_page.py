"""The programs on the Python client's page run as they are, and their types are right."""

import os
import re
import subprocess
import sys
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT

import anyio
import pytest

from wire.sessions import LIMIT_S, SERVE
from wire.test_attach import environment, home, running

PAGE = Path(__file__).parents[2] / "docs" / "python-client.md"
PROGRAMS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
SAYS = ("1 message", "read anew: opened", "[]", "octavo can ask")


@pytest.mark.parametrize(("program", "says"), list(zip(PROGRAMS, SAYS, strict=True)), ids=SAYS)
async def test_a_program_of_the_page_runs(program: str, says: str) -> None:
    with anyio.fail_after(LIMIT_S):
        async with home() as folder:
            path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
            env = environment(folder, PATH=path, PYTHONUNBUFFERED="1")
            command = [*SERVE, "--daemon", "--tcp", "0"]
            async with await anyio.open_process(command, stdin=DEVNULL, stderr=DEVNULL, env=env) as daemon:
                while running(folder) is None:
                    assert daemon.returncode is None
                    await anyio.lowlevel.checkpoint()
                run = [sys.executable, "-W", "error", "-c", program]
                done = await anyio.run_process(run, stdout=PIPE, stderr=STDOUT, env=env, check=False)
                assert done.returncode == 0, done.stdout.decode()
                assert says in done.stdout.decode()
                daemon.terminate()
                await daemon.wait()


def test_the_types_in_the_programs_of_the_page_are_right(tmp_path: Path) -> None:
    for number, program in enumerate(PROGRAMS):
        (tmp_path / f"program{number}.py").write_text(program)
    root = PAGE.parents[1]
    check = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", *map(str, tmp_path.iterdir())]
    done = subprocess.run(check, cwd=root, capture_output=True, text=True, timeout=2 * LIMIT_S, check=False)
    assert done.returncode == 0, done.stdout
