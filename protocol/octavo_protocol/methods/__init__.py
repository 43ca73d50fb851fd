"""Every request of the protocol: its params, its result, who asks, and what for.

`METHODS` is the one table; the models live in modules by subject. Handlers and clients are built from it.
"""

from octavo_protocol.methods.spec import Direction, MethodSpec
from octavo_protocol.methods.table import METHODS

__all__ = ["METHODS", "Direction", "MethodSpec"]
