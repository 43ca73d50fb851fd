"""Make a context smaller without a summary: blank stale outputs, move bulk into an artifact, drop images.

Every change is written to the session (the seed kept some in memory only) and tells where it begins, so that a host can
judge what of the provider's cache is lost (BR-077). Source: engine.md §11, §12, §13.6.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import anyio.to_thread

from octavo.compaction.drop_images import drop_images
from octavo.compaction.prune import (
    PruneConfig,
    PruneResult,
    SupersedeConfig,
    prune_superseded_tool_results,
    prune_tool_outputs,
    read_key,
)
from octavo.compaction.shake import (
    ShakeConfig,
    ShakeRegion,
    ShakeResult,
    apply_shake_regions,
    artifact_text,
    collect_shake_regions,
    recoveries_protected,
    shake_placeholder,
)
from octavo.compaction.tool_results import Protection, any_of, plans_protected, skills_protected
from octavo.maintenance.host import Host
from octavo.sessions.tree import SessionTree
from octavo_protocol.base import JsonObject


@dataclass(frozen=True, slots=True)
class Pruned:
    """What a prune did: blanked results, tokens freed by estimate, ids of rewritten entries in order."""

    count: int = 0
    tokens_saved: int = 0
    entry_ids: tuple[str, ...] = ()


Pass = Literal["stale", "outputs"]
"""`stale`: superseded reads and useless results, where that costs no cache (after every turn). `outputs`: old tool
outputs beyond the protected newest ones, when that is worth it (at the threshold)."""


async def prune(host: Host, *passes: Pass, dry_run: bool = False) -> Pruned:
    """Blank tool results in one or more passes, each on what the one before leaves; written as one change."""
    path = host.session.branch()
    # Weighing a history that was never weighed takes as long as it is: not on the event loop.
    changed, tokens_saved = await anyio.to_thread.run_sync(_pruned, host, list(path), passes)
    ids = tuple(changed)
    if dry_run:
        host.estimator.forget(entry.get("message") for entry in changed.values())
    elif changed:
        ids = await _rewrite(host, _still_valid(host, path, list(changed.values())), "prune")
    return Pruned(len(ids), tokens_saved, ids)


def _pruned(host: Host, path: list[JsonObject], passes: Sequence[Pass]) -> tuple[dict[str, JsonObject], int]:
    """Return the replacements by id and the tokens they save; `path` is used up."""
    places = {entry["id"]: place for place, entry in enumerate(path)}
    changed: dict[str, JsonObject] = {}
    tokens_saved = 0
    for name in passes:
        found = _stale(host, path) if name == "stale" else _old(host, path)
        tokens_saved += found.tokens_saved
        for entry in found.replacements:
            changed[entry["id"]] = path[places[entry["id"]]] = entry
    return changed, tokens_saved


def _still_valid(host: Host, path: Sequence[JsonObject], replacements: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the replacements of entries that nobody else has rewritten since the path was read."""
    read = {entry["id"]: entry for entry in path}
    return [entry for entry in replacements if host.session.tree.get(entry["id"]) is read[entry["id"]]]


def _stale(host: Host, path: Sequence[JsonObject]) -> PruneResult:
    settings = host.settings.compaction
    config = SupersedeConfig(
        supersede_key=read_key if settings.supersede_reads else None,
        prune_useless=settings.drop_useless,
        is_protected=_protection(host, skills_protected),
    )
    return prune_superseded_tool_results(path, config, host.now_ms(), host.estimator)


def _old(host: Host, path: Sequence[JsonObject]) -> PruneResult:
    config = PruneConfig(
        prune_useless=host.settings.compaction.drop_useless, is_protected=_protection(host, skills_protected)
    )
    return prune_tool_outputs(path, config, host.now_ms(), host.estimator)


@dataclass(frozen=True, slots=True)
class Shaken:
    """What a shake did, and the artifact that holds the text."""

    result: ShakeResult
    entry_ids: tuple[str, ...] = ()
    artifact_id: str | None = None


async def shake(host: Host, config: ShakeConfig, *, dry_run: bool = False) -> Shaken:
    """Move bulky text of older messages into one artifact, leaving lines that say how to get it back."""
    config = replace(config, is_protected=_protection(host, recoveries_protected))
    path = host.session.branch()
    regions = await anyio.to_thread.run_sync(collect_shake_regions, path, config, host.estimator)
    if not regions:
        return Shaken(ShakeResult())
    artifact_id = None
    if not dry_run:
        artifact_id = await anyio.to_thread.run_sync(host.artifacts.save, "shake", artifact_text(regions))

    def placeholder(region: ShakeRegion, number: int) -> str:
        return shake_placeholder(region, number, artifact_id)

    result = await anyio.to_thread.run_sync(apply_shake_regions, path, regions, placeholder, host.now_ms())
    ids = tuple(entry["id"] for entry in result.replacements)
    if not dry_run:
        ids = await _rewrite(host, _still_valid(host, path, result.replacements), "shake")
    return Shaken(result, ids, artifact_id)


async def shake_images(host: Host, *, keep_bytes: int = 0, dry_run: bool = False) -> Shaken:
    """Drop images from the context, oldest first; `keep_bytes` of base64 data of the newest stay."""
    path = host.session.branch()
    if keep_bytes:
        # Stored images are references, whose length says nothing of the picture's.
        path = (await anyio.to_thread.run_sync(host.session.resolved, path)).value
    result = drop_images(path, keep_bytes)
    ids = tuple(entry["id"] for entry in result.replacements)
    if result.replacements and not dry_run:
        ids = await _rewrite(host, result.replacements, "images")
    return Shaken(result, ids)


async def _rewrite(host: Host, replacements: Sequence[JsonObject], reason: str) -> tuple[str, ...]:
    if not replacements:
        return ()
    former = [host.session.tree.get(entry["id"]).get("message") for entry in replacements]

    def transform(_tree: SessionTree) -> Sequence[JsonObject]:
        return replacements

    ids = await host.session.rewrite(transform, reason)
    host.estimator.forget(former)
    return ids


def _protection(host: Host, base: Protection) -> Protection:
    return any_of(base, plans_protected(host.plan_files)) if host.plan_files else base
