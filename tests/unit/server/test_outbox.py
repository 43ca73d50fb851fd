"""The queue of one connection: order, bounds, coalescing."""

import anyio
import pytest

from octavo.server.outbox import Outbox


class Peer:
    """A transport whose reader can be held."""

    def __init__(self) -> None:
        self.got: list[bytes] = []
        self.reading = anyio.Event()
        self.hung_up = 0

    async def send(self, data: bytes) -> None:
        await self.reading.wait()
        self.got.append(data)

    def hang_up(self) -> None:
        self.hung_up += 1


def outbox(peer: Peer, **marks: int) -> Outbox:
    return Outbox(peer.send, peer.hang_up, **marks)


async def emptied(box: Outbox, peer: Peer) -> bytes:
    box.close()
    peer.reading.set()
    with anyio.fail_after(5):
        await box.pump()
    return b"".join(peer.got)


async def test_frames_leave_in_the_order_they_came() -> None:
    peer = Peer()
    box = outbox(peer)
    for n in range(1000):
        box.write(b"%d," % n)
    assert await emptied(box, peer) == b"".join(b"%d," % n for n in range(1000))
    assert len(peer.got) < 10


async def test_frames_of_a_message_transport_are_never_merged() -> None:
    peer = Peer()
    box = Outbox(peer.send, peer.hang_up, merges=False)
    box.write(b"a")
    box.write(b"b")
    await emptied(box, peer)
    assert peer.got == [b"a", b"b"]


async def test_an_ephemeral_frame_replaces_the_waiting_one_of_its_key_and_keeps_its_place() -> None:
    peer = Peer()
    box = outbox(peer)
    box.write(b"[1%]", ephemeral=True, key="p")
    box.write(b"[other]", ephemeral=True, key="q")
    box.write(b"[2%]", ephemeral=True, key="p")
    box.write(b"[answer]")
    assert box.waiting == len(b"[2%][other][answer]")
    assert await emptied(box, peer) == b"[2%][other][answer]"


async def test_a_durable_frame_of_the_same_key_is_never_replaced() -> None:
    peer = Peer()
    box = outbox(peer)
    box.write(b"begin ", key="p")
    box.write(b"report ", ephemeral=True, key="p")
    box.write(b"end", key="p")
    assert await emptied(box, peer) == b"begin report end"


async def test_above_the_soft_mark_ephemeral_frames_are_dropped_and_others_kept() -> None:
    peer = Peer()
    box = outbox(peer, soft_mark=10, hard_mark=1000)
    box.write(b"x" * 11)
    box.write(b"gauge", ephemeral=True, key="g")
    box.write(b"answer")
    assert box.crowded
    assert box.dropped == 1
    assert await emptied(box, peer) == b"x" * 11 + b"answer"


async def test_above_the_hard_mark_the_peer_is_hung_up_on_once() -> None:
    peer = Peer()
    box = outbox(peer, soft_mark=10, hard_mark=100)
    for _ in range(50):
        box.write(b"x" * 30)
    assert peer.hung_up == 1
    assert box.waiting == 0
    assert await emptied(box, peer) == b""


async def test_one_frame_larger_than_the_hard_mark_is_fine_when_nothing_waits() -> None:
    peer = Peer()
    box = outbox(peer, soft_mark=10, hard_mark=100)
    box.write(b"x" * 1000)
    assert len(await emptied(box, peer)) == 1000
    assert peer.hung_up == 0


async def test_drained_returns_when_everything_was_handed_over() -> None:
    peer = Peer()
    box = outbox(peer)
    order: list[str] = []

    async def wait() -> None:
        await box.drained()
        order.append("drained")

    box.write(b"x")
    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        group.start_soon(box.pump)
        await anyio.wait_all_tasks_blocked()
        order.append("reads")
        peer.reading.set()
        with anyio.fail_after(5):
            await box.drained()
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
    assert order == ["reads", "drained"]


async def test_a_broken_peer_ends_the_pump_and_whoever_waits() -> None:
    async def broken(_: bytes) -> None:
        raise BrokenPipeError

    box = Outbox(broken, lambda: None)
    box.write(b"x")
    with pytest.raises(BrokenPipeError):
        await box.pump()
    with anyio.fail_after(5):
        await box.drained()
    box.write(b"y")
    assert box.waiting == 0
