"""What `initialize` says before any handler is loaded is what the handlers answer."""

import subprocess
import sys
from pathlib import Path

from octavo.server import advertise, registry

HEAVY = (
    "import sys; from octavo.server import serving; daemon = serving.new_daemon(); "
    "from octavo.server.greeting import initialize_result; initialize_result(daemon.offered, {}); "
    "print([m for m in sys.modules if m.startswith(('octavo_protocol.methods', 'octavo_protocol.notifications', "
    "'octavo.server.handlers', 'octavo.sessions', 'octavo.maintenance', 'pygls', 'numpy', 'httpx'))])"
)


def test_the_advertised_lists_are_those_of_the_handlers() -> None:
    written = Path(advertise.__file__).with_name("advertised.py").read_text(encoding="utf-8")
    assert written == advertise.source(), "run: python -m octavo.server.advertise"


def test_everything_advertised_has_a_handler_and_is_sorted() -> None:
    told, table = registry.advertised(), registry.table()
    assert told.implemented == table.implemented
    assert told.offer == table.offer
    assert all(table.get(name) is not None for name in told.implemented)


def test_greeting_a_client_loads_neither_handlers_nor_models_of_methods() -> None:
    done = subprocess.run([sys.executable, "-c", HEAVY], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
