from hypothesis import given
from hypothesis import strategies as st

from octavo.compaction.folding import newest_fitting, split_messages, window_budget
from octavo.compaction.serialize import serialize_conversation
from octavo.tokens.counting import count_each, count_tokens
from support.summariser import assistant, call, result, user

MESSAGES = st.lists(
    st.builds(
        lambda role, n: {"role": role, "content": f"m{n} " * n},
        st.sampled_from(["user", "developer"]),
        st.integers(0, 300),
    ),
    max_size=12,
)


@given(MESSAGES, st.integers(40, 400))
def test_every_group_fits_and_together_they_hold_everything_in_order(
    messages: list[dict[str, object]], budget: int
) -> None:
    groups = split_messages(messages, "xml", budget, count_each)
    assert all(count_tokens(serialize_conversation(group, "xml")) <= budget for group in groups)
    joined = "".join(serialize_conversation(group, "xml") for group in groups)
    words = [word for word in joined.replace("Human:", " ").split() if word.startswith("m")]
    assert len(words) >= sum(len(str(message["content"]).split()) for message in messages)


def test_a_useless_pair_does_not_come_back_when_its_halves_land_in_different_groups() -> None:
    talk = [
        user("a " * 50),
        assistant("x", call("1", "grep", p="zebra")),
        user("b " * 50),
        result("1", "no", useless=True),
    ]
    assert "zebra" not in str(split_messages(talk, "xml", 60, count_each))


def test_the_newest_part_is_kept_when_only_part_may_be_shown() -> None:
    talk = [user(f"m{i} " * 20) for i in range(20)]
    assert newest_fitting(talk, "xml", 300, count_each) == talk[-len(newest_fitting(talk, "xml", 300, count_each)) :]
    assert 0 < len(newest_fitting(talk, "xml", 300, count_each)) < 20
    assert (
        count_tokens(serialize_conversation(newest_fitting([user("z " * 9000)], "xml", 300, count_each), "xml")) <= 300
    )
    assert newest_fitting([], "xml", 300, count_each) == []


def test_the_budget_of_a_call_follows_the_window() -> None:
    assert window_budget(200_000, 13_107, 16_384) == 160_000 - 13_107 - 16_384
    assert window_budget(0, 13_107, 16_384) is None
    assert window_budget(16_000, 13_107, 16_384) == 4000
