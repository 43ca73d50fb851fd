"""Golden wire files: what is on the wire for every method, error kind and notification, byte for byte in meaning.

Every client language tests against them, and a change of the wire is a visible diff.
"""

from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ERRORS, ErrorKind
from octavo_protocol.generate import examples
from octavo_protocol.methods import METHODS
from octavo_protocol.notifications import NOTIFICATIONS


def files() -> dict[str, JsonObject]:
    """Return the golden files by path below their folder."""
    out: dict[str, JsonObject] = {}
    for name, example in examples.requests().items():
        out[f"requests/{_file(name)}"] = _exchange(name, example["params"], {"result": example["result"]})
    for kind, example in examples.errors().items():
        spec = ERRORS[ErrorKind(kind)]
        error = {"code": spec.code, "message": example["message"], "data": {"kind": kind, **example["data"]}}
        out[f"errors/{kind}.json"] = _exchange(example["method"], example["params"], {"error": error})
    for name, params in examples.notifications().items():
        out[f"notifications/{_file(name)}"] = {
            "direction": NOTIFICATIONS[name].direction.value,
            "notification": {"jsonrpc": "2.0", "method": name, "params": params},
        }
    return out


def _file(name: str) -> str:
    return name.replace("/", ".") + ".json"


def _exchange(method: str | None, params: JsonObject | str, answer: JsonObject) -> JsonObject:
    if method is None:
        return {"body": params, "response": {"jsonrpc": "2.0", "id": None, **answer}}
    direction = {"direction": METHODS[method].direction.value} if method in METHODS else {}
    return {
        **direction,
        "request": {"jsonrpc": "2.0", "id": 1, "method": method, "params": params},
        "response": {"jsonrpc": "2.0", "id": 1, **answer},
    }
