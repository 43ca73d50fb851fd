"""How long an editor waits: from spawn to the answer of `initialize`, without a daemon, with one, and starting one.

`--busy N` keeps N processes computing meanwhile.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

OCTAVO = (sys.executable, "-m", "octavo")
BODY = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}).encode()
SPIN = "while True: pass"


def answered_ms(environment: dict[str, str], *command: str) -> float:
    """Spawn a server, greet it, and return the time to the first line of its answer."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [*OCTAVO, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(BODY), BODY))
    process.stdin.flush()
    assert process.stdout.readline().startswith(b"Content-Length")
    took = (time.perf_counter() - start) * 1000
    process.kill()
    process.communicate()
    return took


def stop(folder: Path) -> None:
    """End the daemon of a runtime folder."""
    record = folder / "octavo/daemon.json"
    pid = int(json.loads(record.read_text())["pid"])
    os.kill(pid, signal.SIGTERM)
    while record.exists():
        time.sleep(0.01)


def show(name: str, times: list[float]) -> None:
    print(f"{name:<42} median {statistics.median(times):5.0f} ms   best {min(times):5.0f}   worst {max(times):5.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--busy", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    busy = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(arguments.busy)]
    try:
        with tempfile.TemporaryDirectory(prefix="octavo-") as name:
            folder = Path(name)
            environment = {**os.environ, "OCTAVO_RUNTIME_DIR": name, "OCTAVO_CONFIG": ""}
            rounds = range(arguments.rounds)
            print(f"{arguments.busy} busy processes, load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
            show("serve --stdio", [answered_ms(environment, "serve", "--stdio") for _ in rounds])
            answered_ms(environment, "attach")
            show("attach, a daemon runs", [answered_ms(environment, "attach") for _ in rounds])
            started = []
            for _ in range(5):
                stop(folder)
                started.append(answered_ms(environment, "attach"))
            show("attach, which starts the daemon", started)
            stop(folder)
    finally:
        for process in busy:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
