"""The dispatcher of the `octavo` command."""

import subprocess
import sys
from importlib import import_module

import pytest

from octavo import __version__
from octavo.cli import main


def test_every_subcommand_has_a_module_that_declares_and_runs_it() -> None:
    for name in main.COMMANDS:
        module = import_module(f"octavo.cli.{name}")
        assert callable(module.add_arguments)
        assert callable(module.run)
        assert module.__doc__


def test_help_names_every_subcommand(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main.run(["--help"])
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in main.COMMANDS)


def test_the_version_is_the_package_s(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main.run(["--version"])
    assert capsys.readouterr().out == f"octavo {__version__}\n"


@pytest.mark.parametrize("argv", [[], ["nowhere"], ["serve", "--nonsense"]])
def test_a_wrong_command_line_ends_with_two(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main.run(argv)
    assert ended.value.code == 2
    assert "usage: octavo" in capsys.readouterr().err


def test_serve_without_a_transport_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["serve"]) == 2
    assert "--stdio" in capsys.readouterr().err


def test_help_imports_no_subcommand() -> None:
    script = "import sys; from octavo.cli import main\ntry: main.run(['--help'])\nexcept SystemExit: pass\n"
    script += "print([m for m in sys.modules if m.startswith(('octavo.server', 'anyio', 'pydantic'))])"
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert output.splitlines()[-1] == "[]"
