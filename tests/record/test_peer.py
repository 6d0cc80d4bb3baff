"""Who of those that send telegrams is taken as the controller."""

from __future__ import annotations

import pytest
from oracle.refusals import refused

from elastocal.record.rsi import CONSISTENT, MOST_SENDERS, SILENCE, Peer

MS = 1_000_000


def told(peer: Peer, sender: str, counters, start: int = 0) -> list[str]:
    """What every telegram is taken as."""
    out = []
    for i, counter in enumerate(counters):
        arrived = start + 4 * MS * i
        out.append(peer.hears(sender, arrived))
        if out[-1] != "foreign":
            peer.add(sender, counter, arrived)
    return out


def test_five_in_step_are_the_controller_and_others_foreign_from_then_on() -> None:
    peer = Peer(None)
    assert told(peer, "robot", range(100, 128, 4)) == ["candidate"] * CONSISTENT + ["controller"] * 2
    assert told(peer, "other", range(0, 40, 4), 50 * MS) == ["foreign"] * 10
    assert peer.learned == ["robot"]


@pytest.mark.parametrize(
    "counters", [[7] * 20, range(100, 0, -1), [1, 2, 10**9] * 7, [0, 4, 8, 12, 10**6, 4, 8, 12, 16, 10**7]]
)
def test_counters_out_of_step_are_never_believed(counters) -> None:
    peer = Peer(None)
    assert set(told(peer, "x", counters)) == {"candidate"}
    assert peer.learned == []


def test_lost_telegrams_do_not_matter() -> None:
    peer = Peer(None)
    told(peer, "robot", [0, 4, 16, 20, 40])
    assert peer.address == "robot"


def test_two_in_step_are_for_the_user_to_tell_apart() -> None:
    peer = Peer(None)
    told(peer, "spoof", [0, 4, 8])
    with refused("two-senders", "robot", parameter="controller", allowed=("robot", "spoof")) as caught:
        told(peer, "robot", range(0, 20, 4))
    assert (caught.value.parameter, caught.value.allowed) == ("controller", ("robot", "spoof"))


def test_one_that_fell_silent_is_learned_anew() -> None:
    peer = Peer(None)
    told(peer, "spoof", range(0, 20, 4))
    assert told(peer, "robot", range(0, 24, 4), 2 * SILENCE) == ["candidate"] * 5 + ["controller"]
    assert peer.learned == ["spoof", "robot"]


def test_many_senders_cost_bounded_memory() -> None:
    peer = Peer(None)
    taken = [told(peer, f"a{i}", [1])[0] for i in range(1000)]
    assert taken.count("candidate") == MOST_SENDERS


def test_a_given_address_is_the_only_one() -> None:
    peer = Peer("robot")
    assert told(peer, "robot", [5]) + told(peer, "other", range(0, 40, 4)) == ["controller"] + ["foreign"] * 10
