"""The TypeScript client: it builds, its own tests pass against the real daemon, and the package works where installed.

The tests themselves are in clients/typescript/test; Node's runner runs them.
"""

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "clients" / "typescript"
INSTALLED = PACKAGE / "node_modules" / ".package-lock.json"
ENVIRONMENT = {**os.environ, "OCTAVO_COMMAND": json.dumps([sys.executable, "-m", "octavo"]), "CI": "1", "NO_COLOR": "1"}

pytestmark = [
    pytest.mark.skipif(shutil.which("node") is None or shutil.which("npm") is None, reason="node is not installed"),
    pytest.mark.timeout(300),
]


def run(*command: str, cwd: Path = PACKAGE, check: bool = True) -> str:
    done = subprocess.run(command, cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, timeout=280, check=False)
    output = done.stdout + done.stderr
    assert not check or done.returncode == 0, f"{' '.join(command)} ended with {done.returncode}:\n{output}"
    return output


@pytest.fixture(scope="module")
def built() -> Iterator[Path]:
    """The package with its dependencies, compiled; for one test run at a time."""
    with (PACKAGE / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        locked = PACKAGE / "package-lock.json"
        if not INSTALLED.exists() or INSTALLED.stat().st_mtime < locked.stat().st_mtime:
            run("npm", "ci", "--no-audit", "--no-fund")
            INSTALLED.touch()
        for folder in ("dist", "dist-test"):
            shutil.rmtree(PACKAGE / folder, ignore_errors=True)
        run("npm", "run", "--silent", "build")
        run("npm", "run", "--silent", "build:test")
        yield PACKAGE


def node_tests(*names: str) -> list[str]:
    """Run test files, and return why some of their tests were skipped."""
    files = [f"dist-test/test/{name}.test.js" for name in names]
    report = run("node", "--test", "--test-timeout=60000", "--test-reporter=tap", *files)
    assert "# fail 0" in report
    assert "# cancelled 0" in report
    assert int(re.findall(r"^# pass (\d+)$", report, re.MULTILINE)[0]) > 0
    return sorted(set(re.findall(r"# SKIP (.+)$", report, re.MULTILINE)))


def test_every_golden_file_is_what_the_typescript_client_reads_and_writes(built: Path) -> None:
    assert node_tests("golden") == []


def test_the_client_keeps_its_promises_to_a_scripted_daemon(built: Path) -> None:
    assert node_tests("client", "follower", "websocket") == []


def test_the_client_drives_the_real_daemon(built: Path) -> None:
    if skipped := node_tests("daemon"):
        pytest.skip("; ".join(skipped))


def test_a_golden_file_that_does_not_fit_the_types_does_not_compile(built: Path) -> None:
    golden = built / "test" / "golden.generated.ts"
    source = golden.read_text(encoding="utf-8")
    for good, bad in (
        ('"newestFirst"', '"newest"'),
        ('"repeatedIds":[]', '"repeatedIds":[],"more":1'),
        ('"seq":', '"s":'),
    ):
        assert good in source
        golden.write_text(source.replace(good, bad), encoding="utf-8")
        try:
            output = run("npx", "--no-install", "tsc", "-p", "tsconfig.test.json", "--noEmit", check=False)
        finally:
            golden.write_text(source, encoding="utf-8")
        assert "test/golden.generated.ts" in output, f"{bad} went unnoticed"


def test_only_the_node_module_needs_node(built: Path) -> None:
    users = {
        path.name
        for path in (built / "dist").rglob("*.js")
        if re.search(r"""from ["'](node:|vscode-jsonrpc/node)""", path.read_text(encoding="utf-8"))
    }
    assert users == {"node.js"}
    reached, waiting = set[str](), ["index.js"]
    while waiting:
        name = waiting.pop()
        reached.add(name)
        text = (built / "dist" / name).read_text(encoding="utf-8")
        for target in re.findall(r"""from ["'](\.[^"']+)["']""", text):
            path = os.path.normpath(Path(name).parent / target)
            waiting += [path] if path not in reached else []
    assert "node.js" not in reached
    assert "generated/methods.js" in reached


def test_the_package_works_where_it_is_installed(built: Path, tmp_path: Path) -> None:
    name = json.loads(run("npm", "pack", "--json", "--ignore-scripts", "--pack-destination", str(tmp_path)))
    (packed,) = name if isinstance(name, list) else name.values()
    files = {item["path"] for item in packed["files"]}
    assert {"README.md", "LICENSE", "package.json", "dist/index.js", "dist/index.d.ts", "dist/node.d.ts"} <= files
    assert not [path for path in files if path.startswith(("test", "dist-test", "scripts", "node_modules"))]
    home = tmp_path / "node_modules" / "octavo-client"
    home.parent.mkdir()
    with tarfile.open(next(tmp_path.glob("*.tgz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    (tmp_path / "package").rename(home)
    (tmp_path / "node_modules" / "vscode-jsonrpc").symlink_to(built / "node_modules" / "vscode-jsonrpc")
    program = tmp_path / "program.mjs"
    program.write_text(
        """
        import { spawnClient } from "octavo-client/node";
        import { ERRORS, SessionOpenRequest } from "octavo-client";
        const [command, ...args] = JSON.parse(process.env.OCTAVO_COMMAND);
        const client = await spawnClient({ command, args: [...args, "serve", "--stdio"] });
        console.log(client.serverInfo.name, SessionOpenRequest.method, ERRORS["session-not-found"].code);
        await client.close();
        """,
        encoding="utf-8",
    )
    assert run("node", str(program), cwd=tmp_path).strip() == "octavo session/open -31010"


def test_the_lock_file_names_no_registry() -> None:
    text = (PACKAGE / "package-lock.json").read_text(encoding="utf-8")
    assert "resolved" not in text
    assert "://" not in text.replace("https://github.com/sponsors", "").replace("https://opencollective.com", "")


def test_the_examples_of_the_readme_compile(built: Path) -> None:
    readme = (built / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```ts\n(.*?)```", readme, re.DOTALL)
    assert blocks
    folder = built / "dist-test" / "readme"
    folder.mkdir(exist_ok=True)
    for number, block in enumerate(blocks):
        (folder / f"example{number}.ts").write_text(block, encoding="utf-8")
    config = {
        "extends": "../../tsconfig.json",
        "compilerOptions": {"noEmit": True, "rootDir": "../..", "noUnusedLocals": False, "lib": ["ES2022", "ESNext"]},
        "include": ["."],
    }
    (folder / "tsconfig.json").write_text(json.dumps(config), encoding="utf-8")
    run("npx", "--no-install", "tsc", "-p", str(folder))
