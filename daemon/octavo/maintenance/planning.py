"""The dry run: what a compaction would condense, keep and cost, for every strategy side by side.

Writes nothing and asks nobody.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import anyio.to_thread

from octavo.compaction.extractive import summarize_locally
from octavo.compaction.file_operations import file_lists
from octavo.compaction.prepare import Preparation
from octavo.compaction.requests import SummaryRules, output_budgets
from octavo.maintenance.framing import frame_draft
from octavo.maintenance.host import Host
from octavo.maintenance.measuring import fixed_tokens, measure, prepare, threshold, window
from octavo.maintenance.strategies import Wish, in_line, summary_models
from octavo.snapcompact.shapes import Shape
from octavo.snapcompact.terms import Picture
from octavo.tokens.counting import count_tokens
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import Model
from octavo_protocol.errors import OctavoError
from octavo_protocol.methods.common import FileLists, Strategy
from octavo_protocol.methods.context import PlanPart, PrepareCompactionResult, StrategyPlan

STRATEGIES: tuple[Strategy, ...] = ("context-full", "snapcompact", "extractive")


async def plan_compaction(host: Host, wish: Wish) -> PrepareCompactionResult:
    """Plan what `session/compact` with the same wish would do.

    Raises:
        OctavoError: `no-model` when a model was named that nobody knows.
    """
    path = host.session.branch()
    now = await anyio.to_thread.run_sync(measure, host, path)
    preparation = await anyio.to_thread.run_sync(prepare, host, path)
    result = PrepareCompactionResult(
        possible=preparation is not None,
        tokens_before=now.tokens,
        context_window=window(host),
        threshold=threshold(host),
        keep_recent_tokens=host.settings.compaction.keep_recent_tokens,
        details={"measuredBy": now.source, **({"rejected": now.rejected} if now.rejected else {})},
    )
    if preparation is None:
        compacted = bool(path) and path[-1].get("type") == "compaction"
        return result.model_copy(update={"reason": "already-compacted" if compacted else "nothing-to-compact"})
    return await _Planner(host, wish, path, preparation).filled(result)


@dataclass(slots=True)
class _Planner:
    host: Host
    wish: Wish
    path: Sequence[JsonObject]
    preparation: Preparation

    async def filled(self, result: PrepareCompactionResult) -> PrepareCompactionResult:
        preparation = self.preparation
        lists = file_lists(preparation.file_ops)
        parts = self._parts()
        plans = self._chosen([await self._plan(strategy) for strategy in STRATEGIES])
        return result.model_copy(
            update={
                "first_kept_entry_id": preparation.first_kept_entry_id,
                "split_turn": preparation.is_split_turn,
                "summarized": parts[0],
                "turn_prefix": parts[1] if preparation.is_split_turn else None,
                "kept": parts[2],
                "previous_summary": preparation.previous_summary is not None,
                "files": FileLists(read_files=lists.read_files, modified_files=lists.modified_files),
                "strategies": plans,
            }
        )

    def _parts(self) -> list[PlanPart]:
        """The three stretches: condensed, condensed as the beginning of a turn, kept."""
        ids = [entry.get("id") for entry in self.path]
        first_kept = ids.index(self.preparation.first_kept_entry_id)
        groups = (
            self.preparation.messages_to_summarize,
            self.preparation.turn_prefix_messages,
            self.preparation.recent_messages,
        )
        owners = {id(entry.get("message")): index for index, entry in enumerate(self.path)}
        parts = []
        for number, messages in enumerate(groups):
            places = sorted(owners[id(message)] for message in messages if id(message) in owners)
            if number == 2:
                places = list(range(first_kept, len(ids)))
            parts.append(
                PlanPart(
                    entries=places[-1] - places[0] + 1 if places else 0,
                    messages=len(messages),
                    tokens=self.host.estimator.total(messages),
                    first_entry_id=ids[places[0]] if places else None,
                    last_entry_id=ids[places[-1]] if places else None,
                )
            )
        return parts

    def _chosen(self, plans: Sequence[StrategyPlan]) -> list[StrategyPlan]:
        """Mark the strategy that `session/compact` would run: the first in line that can run at all."""
        line = in_line(self.host, self.wish)
        able = {plan.strategy for plan in plans if plan.available}
        chosen = next((strategy for strategy in line if strategy in able), line[0])
        return [plan.model_copy(update={"chosen": plan.strategy == chosen}) for plan in plans]

    async def _plan(self, strategy: Strategy) -> StrategyPlan:
        try:
            return await self._figures(strategy)
        except OctavoError as error:
            return StrategyPlan(
                strategy=strategy, available=False, unavailable_reason=error.message, tokens_after=0, fits=False
            )

    async def _figures(self, strategy: Strategy) -> StrategyPlan:
        if strategy == "extractive":
            outcome = await anyio.to_thread.run_sync(summarize_locally, self.preparation)
            return self._available(strategy, count_tokens(outcome.summary))
        if strategy == "snapcompact":
            draft = await frame_draft(self.host, self.preparation, draw=_blank)
            return self._available(strategy, count_tokens(draft.summary) + draft.frame_tokens, frames=draft.frames)
        return self._by_model()

    def _by_model(self) -> StrategyPlan:
        models = summary_models(self.host, self.wish)
        model = models[0] if models else None
        budgets = output_budgets(self.host.settings.compaction.reserve_tokens, model or _UNKNOWN, SummaryRules.OCTAVO)
        split = bool(self.preparation.is_split_turn and self.preparation.turn_prefix_messages)
        output = budgets.history + budgets.short + (budgets.turn_prefix if split else 0)
        estimator = self.host.estimator
        read = estimator.total(self.preparation.discarded_messages) + estimator.total(self.preparation.recent_messages)
        # A summary is rarely longer than a tenth of what it condenses; its budget is the upper bound.
        expected = min(budgets.history, max(600, estimator.total(self.preparation.discarded_messages) // 10))
        plan = self._available("context-full", expected)
        reason = None if model else "no model can be called: set a credential, or let the client answer llm/complete"
        return plan.model_copy(
            update={
                "available": model is not None,
                "unavailable_reason": reason,
                "model": model.ref if model else None,
                "model_calls": 3 if split and self.preparation.messages_to_summarize else 2,
                "input_tokens": read,
                "output_tokens": output,
                "cost": _cost(model, read, output) if model else None,
            }
        )

    def _available(self, strategy: Strategy, added: int, *, frames: int = 0) -> StrategyPlan:
        after = added + self.preparation.recent_tokens + fixed_tokens(self.host)
        limit = threshold(self.host)
        return StrategyPlan(
            strategy=strategy,
            available=True,
            frames=frames,
            tokens_after=after,
            fits=limit <= 0 or after <= limit,
            next_request_cost=_cost(self.host.model, after, 0) if self.host.model else None,
        )


_UNKNOWN = Model("", "")


async def _blank(pages: Sequence[str], _shape: Shape, _size: int) -> Sequence[Picture]:
    """Draw nothing: every page counts as a full frame."""
    return [Picture("") for _ in pages]


def _cost(model: Model | None, read: int, written: int) -> float | None:
    if model is None or not model.prices:
        return None
    dollars: float = (read * model.prices.get("input", 0) + written * model.prices.get("output", 0)) / 1e6
    return round(dollars, 6)
