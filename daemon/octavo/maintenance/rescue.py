"""The last resorts when a context does not fit although it was compacted, or cannot be: shake hard, then drop images.

Each step is a run with events, tried once; afterwards the context fits, or a person has to be told (engine.md §17c 98).
"""

from dataclasses import dataclass

import anyio.to_thread

from octavo.compaction.shake import RESCUE_SHAKE
from octavo.maintenance.auto_shake import rescue_shake
from octavo.maintenance.host import Host
from octavo.maintenance.measuring import fits, plain_estimate
from octavo.maintenance.operations import OperationSlot
from octavo_protocol.methods.common import Reason


@dataclass(frozen=True, slots=True)
class Rescue:
    """Whether the context fits now, its estimated tokens, and what was freed."""

    fits: bool
    tokens: int
    tokens_freed: int
    aborted: bool = False


async def rescue(
    host: Host, slot: OperationSlot, reason: Reason, *, will_retry: bool = False, refused: bool = False
) -> Rescue:
    """Make the context fit by all means that need no model.

    Args:
        host: The session.
        slot: Its room for one operation.
        reason: What set it off.
        will_retry: Whether the failed turn is repeated afterwards.
        refused: Whether a provider found the context too long, whatever we estimate: something has to go.

    Raises:
        OctavoError: `compaction-in-progress`, `storage-failed`.
    """
    freed = 0
    tokens = await _tokens(host)
    for config in (RESCUE_SHAKE, None):
        if fits(host, tokens) and (freed or not refused):
            break
        done = await rescue_shake(host, slot, reason, config, will_retry=will_retry)
        freed += done.tokens_freed
        tokens = await _tokens(host)
        if done.aborted:
            return Rescue(fits(host, tokens), tokens, freed, aborted=True)
    return Rescue(fits(host, tokens), tokens, freed)


async def _tokens(host: Host) -> int:
    return await anyio.to_thread.run_sync(plain_estimate, host, host.session.branch())
