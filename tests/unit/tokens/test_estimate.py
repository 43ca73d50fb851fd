import base64
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.tokens.counting import count_each, count_tokens
from octavo.tokens.estimate import EstimateRules, Estimator, estimate_tokens, opaque_tokens
from octavo.tokens.images import IMAGE_TOKENS, LARGEST_FRAME_TOKENS, png_size

SEED = EstimateRules.SEED
IMAGE = {"type": "image", "data": "AAAA", "mimeType": "image/png"}


def png(width: int, height: int) -> str:
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + struct.pack(">II", width, height) + b"\x08" * 20
    return base64.b64encode(head).decode()


def test_an_assistant_turn_is_the_sum_of_its_fragments() -> None:
    message = {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "reading"},
            {"type": "thinking", "thinking": "let me think"},
            {"type": "toolCall", "id": "1", "name": "read", "arguments": {"path": "a.ts", "n": 1.0}},
        ],
    }
    expected = sum(count_each(["reading", "let me think", "read", '{"path":"a.ts","n":1}']))
    assert estimate_tokens(message) == estimate_tokens(message, SEED) == expected


@pytest.mark.parametrize("role", ["user", "developer", "custom"])
def test_images_and_text_outside_the_seeds_roles_weigh_something(role: str) -> None:
    """engine.md §17 item 7."""
    message = {"role": role, "content": [{"type": "text", "text": "hello"}, IMAGE]}
    assert estimate_tokens(message) == 1 + IMAGE_TOKENS
    assert estimate_tokens(message, SEED) == (1 if role == "user" else 0)


def test_python_runs_and_mentioned_files_weigh_what_is_sent() -> None:
    assert estimate_tokens({"role": "pythonExecution", "code": "print(1)", "output": "1"}) == 5
    files = [{"path": "a.ts", "content": "hello"}, {"path": "b.png", "image": IMAGE}]
    assert estimate_tokens({"role": "fileMention", "files": files}) > IMAGE_TOKENS


def test_a_command_kept_out_of_the_context_weighs_nothing() -> None:
    """engine.md §17 item 8."""
    message = {"role": "bashExecution", "command": "ls", "output": "a b", "excludeFromContext": True}
    assert estimate_tokens(message) == 0
    assert estimate_tokens(message, SEED) == 3


def test_a_huge_signature_does_not_weigh_as_text_and_is_shown_apart() -> None:
    """BR-061."""
    signature = base64.b64encode(bytes(range(256)) * 600).decode()
    block = {"type": "thinking", "thinking": "short", "thinkingSignature": signature}
    weight = Estimator().weigh([{"role": "assistant", "content": [block]}])[0]
    assert weight.opaque == opaque_tokens(signature) - 1
    assert weight.tokens - weight.opaque == 1
    assert weight.tokens < estimate_tokens({"role": "assistant", "content": [block]}, SEED) / 2


def test_a_signature_that_stands_for_the_visible_reasoning_adds_nothing() -> None:
    thinking = "one two three four five six seven eight"
    block = {"type": "thinking", "thinking": thinking, "thinkingSignature": "c2ln"}
    weight = Estimator().weigh([{"role": "assistant", "content": [block]}])[0]
    assert (weight.tokens, weight.opaque) == (count_tokens(thinking), 0)


def test_redacted_thinking_is_opaque() -> None:
    message = {"role": "assistant", "content": [{"type": "redactedThinking", "data": "x" * 160}]}
    assert Estimator().weigh([message])[0].opaque == 30


def test_frames_cost_what_their_pixels_cost() -> None:
    message = {"role": "compactionSummary", "summary": "hi", "images": [{"type": "image", "data": png(1568, 400)}]}
    assert estimate_tokens(message, frame_price=lambda width, height: width + height) == 1 + 1968
    assert estimate_tokens(message) == 1 + LARGEST_FRAME_TOKENS
    assert estimate_tokens(message, SEED) == 1 + 3300


@pytest.mark.parametrize("data", [None, "", "blob:sha256:00", "!!!!", "AAAA", png(0, 4)])
def test_a_frame_without_a_readable_size_is_priced_at_the_most(data: Any) -> None:
    assert png_size(data) is None
    message = {"role": "compactionSummary", "summary": "", "images": [{"data": data}]}
    assert estimate_tokens(message, frame_price=lambda w, h: 0) == LARGEST_FRAME_TOKENS


def test_images_of_a_pruned_result_are_not_sent_and_weigh_nothing() -> None:
    message = {"role": "toolResult", "content": [{"type": "text", "text": "hello"}, IMAGE]}
    assert estimate_tokens(message) == 1 + IMAGE_TOKENS
    assert estimate_tokens({**message, "prunedAt": 5}) == 1


def test_a_replayed_provider_history_weighs_with_the_summary() -> None:
    items = [{"type": "message", "content": [{"text": "hello"}]}, {"type": "compaction", "encrypted_content": "x" * 32}]
    message = {"role": "compactionSummary", "summary": "", "providerPayload": {"items": items}}
    assert estimate_tokens(message) == 1 + 6


@pytest.mark.parametrize(
    "message",
    [
        None,
        7,
        {},
        {"role": "user"},
        {"role": "user", "content": None},
        {"role": "assistant", "content": [None, 3, "x", {"type": "text"}, {"type": "toolCall"}]},
        {"role": "toolResult", "content": {"text": "x"}},
        {"role": "compactionSummary", "images": "x", "providerPayload": []},
        {"role": "fileMention", "files": [1, {"path": 3}]},
    ],
)
@pytest.mark.parametrize("rules", list(EstimateRules))
def test_malformed_messages_weigh_nothing_instead_of_failing(message: Any, rules: EstimateRules) -> None:
    assert estimate_tokens(message, rules) == 0


def test_what_was_weighed_is_not_counted_again() -> None:
    counted: list[int] = []

    def count(texts: Any) -> list[int]:
        counted.append(len(texts))
        return count_each(texts)

    estimator = Estimator(count=count)
    messages = [{"role": "user", "content": f"message {n}"} for n in range(50)]
    first = estimator.total(messages)
    assert estimator.total(messages) == first
    assert counted == [50, 0]


def test_a_replaced_message_is_weighed_afresh() -> None:
    estimator = Estimator()
    message = {"role": "user", "content": "hello"}
    assert estimator.tokens(message) == 1
    assert estimator.tokens({**message, "content": "hello world"}) == 2


def test_the_memory_of_weights_is_bounded() -> None:
    estimator = Estimator(limit=10)
    messages = [{"role": "user", "content": "x"} for _ in range(100)]
    assert estimator.total(messages) == 100
    assert len(estimator._known) == 10


@given(st.text(st.characters(exclude_categories=()), max_size=30))
def test_user_text_weighs_the_same_as_a_string_and_as_a_block(text: str) -> None:
    as_block = {"role": "user", "content": [{"type": "text", "text": text}]}
    assert estimate_tokens({"role": "user", "content": text}) == estimate_tokens(as_block) == count_tokens(text)
