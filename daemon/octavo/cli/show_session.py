"""Who a session is, and what opening its file had to do, as lines; knows no daemon."""

from collections.abc import Iterator

from octavo.cli.terminal import Terminal, clean, count, fit, size
from octavo_protocol.methods.session import OpenResult, Recovered

_MOST_DAMAGE = 5


def session_lines(session: OpenResult, terminal: Terminal) -> Iterator[str]:
    """Title, figures, model and working directory; then what was recovered, if anything."""
    title = clean(session.title or "") or f"session {session.session_id}"
    yield f"  {terminal.paint(fit(title, terminal.width - 2), 'bold')}"
    facts = [count(session.entry_count, "entry", "entries"), count(session.message_count, "message")]
    if session.size_bytes is not None:
        facts.append(size(session.size_bytes))
    facts.append(clean(session.model or "no model"))
    facts.append(clean(session.cwd) or "no working directory")
    yield terminal.paint(f"  {fit(' · '.join(facts), terminal.width - 2)}", "dim")
    if session.recovered is not None:
        yield from _recovered_lines(session.recovered, terminal)


def _recovered_lines(recovered: Recovered, terminal: Terminal) -> Iterator[str]:
    if recovered.migrated_from is not None:
        yield _remark(f"read from version {recovered.migrated_from} of the format", terminal)
    if recovered.restored_backup:
        yield _remark(f"restored from {clean(recovered.restored_backup)}", terminal)
    for damage in recovered.damage[:_MOST_DAMAGE]:
        what = f"line {damage.line:,}: {count(damage.length, 'byte')} passed over: {clean(damage.reason)}"
        yield _remark(what, terminal)
    if len(recovered.damage) > _MOST_DAMAGE:
        yield _remark(f"and {count(len(recovered.damage) - _MOST_DAMAGE, 'more stretch', 'more stretches')}", terminal)
    if recovered.backup_path:
        yield _remark(f"damaged bytes are kept in {clean(recovered.backup_path)}", terminal)


def _remark(text: str, terminal: Terminal) -> str:
    return f"  {terminal.paint('!', 'yellow', 'bold')} {fit(text, terminal.width - 4)}"
