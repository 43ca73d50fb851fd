"""Switch to a model with a larger window instead of making the context smaller (engine.md §13.3).

The change is written on the branch (`model_change`), so that it ends with the branch and survives a restart; the
settings' default stays. Windows only grow along promotions, so they cannot go round in circles.
"""

from dataclasses import dataclass

from octavo.maintenance.host import Host
from octavo_protocol.completion import Model
from octavo_protocol.methods.common import Reason
from octavo_protocol.notifications import ModelPromoted


@dataclass(frozen=True, slots=True)
class Promotion:
    """The models before and after."""

    before: Model
    after: Model


def promotion_of(host: Host) -> Promotion | None:
    """The promotion that could be made now: configured, to another reachable model with a strictly larger window."""
    current = host.model
    if not host.settings.context_promotion.enabled or current is None or current.context_window <= 0:
        return None
    target = host.promotion_target(current)
    if target is None or target.ref == current.ref or target.context_window <= current.context_window:
        return None
    return Promotion(current, target) if host.reachable(target) else None


async def promote(host: Host, promotion: Promotion, reason: Reason) -> None:
    """Make the larger model the one in force and tell the clients.

    Raises:
        OctavoError: `storage-failed`; the model is the former one then.
    """
    await host.session.set_model(promotion.after.ref)
    host.emit(
        "session/modelPromoted",
        ModelPromoted.model_validate(
            {
                "sessionId": host.session.session_id,
                "from": promotion.before.ref,
                "to": promotion.after.ref,
                "reason": reason,
            }
        ),
    )
