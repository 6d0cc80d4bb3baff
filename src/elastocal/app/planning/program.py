"""What the cell does, stop by stop: a plan's poses in order, with the halts for reading and for changing the load."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastocal.compensate.posts.post import Stop
    from elastocal.design.candidates import CandidateSet
    from elastocal.design.sweeping import Stroke, Sweeping
    from elastocal.design.touching import Touching
    from elastocal.spatial.entries import Array

UNRATED = 5.0
"""Per cent of an axis' speed where that is not known."""


def stops(candidates: CandidateSet, kind: str, repeats: int) -> tuple[Stop, ...]:
    """A deflection needs a reading without and one with the load.

    What can be carried is put on once: all its poses are first read without it.  Anything else is put on and taken
    off at every pose.
    """
    from elastocal.compensate.posts.post import Stop

    times = f" {repeats} times" if repeats > 1 else ""
    out: list[Stop] = []
    for block in load_blocks(candidates):
        load, q = candidates.label(block[0]), {i: candidates.q[i] for i in block}
        if not candidates.options:
            out += [Stop(q[i], (f"P{i + 1}: read{times}",)) for i in block]
        elif _carried(candidates, block[0]):
            if kind == "deflection":
                out += [Stop(q[i], (f"P{i + 1}: read without load{times}",)) for i in block]
            put = f"put on {load}"
            for i in block:
                first = (put,) if i == block[0] else ()
                last = (f"take off {load}",) if i == block[-1] else ()
                out.append(Stop(q[i], (*first, f"P{i + 1}: read under {load}{times}", *last)))
        else:
            free = (f"P{i + 1}: read without load{times}" for i in block)
            for i, before in zip(block, free, strict=True):
                reading = (before,) if kind == "deflection" else ()
                on = (f"put on {load}", f"P{i + 1}: read under {load}{times}", "take the load off")
                out.append(Stop(q[i], (*reading, *on)))
    return tuple(out)


def load_blocks(candidates: CandidateSet) -> tuple[range, ...]:
    """Poses that follow one another under one load."""
    ends = [i for i in range(1, len(candidates)) if candidates.option[i] != candidates.option[i - 1]]
    return tuple(range(a, b) for a, b in zip([0, *ends], [*ends, len(candidates)], strict=True))


def route(candidates: CandidateSet, kind: str) -> tuple[int, ...]:
    """Poses in the order in which the program comes to them: under a load that is carried twice, first without it."""
    twice = (
        2 if kind == "deflection" and candidates.options and _carried(candidates, b[0]) else 1
        for b in load_blocks(candidates)
    )
    return tuple(i for b, times in zip(load_blocks(candidates), twice, strict=True) for _ in range(times) for i in b)


def _carried(candidates: CandidateSet, i: int) -> bool:
    from elastocal.design.loading.loading import LoadOption

    option = candidates.options[int(candidates.option[i])]
    return not isinstance(option, LoadOption) or option.loading.carried


def contact_stops(method: Touching, candidates: CandidateSet, repeats: int) -> tuple[Stop, ...]:
    """To the front of every place, by hand or force control onto it, and back to its front."""
    from elastocal.compensate.posts.post import Stop

    state = method.readings(candidates).touched(candidates.model)
    times = f" {repeats} times" if repeats > 1 else ""
    out: list[Stop] = []
    for i, front in enumerate(method.stops(candidates)):
        x, y, z = 1e3 * state.point[i]
        u, v, w = -state.normal[i] + 0.0
        ask = f"P{i + 1}: press {candidates.label(i)} along ({u:.2f}, {v:.2f}, {w:.2f}), read{times}"
        note = f"in front of ({x:.2f}, {y:.2f}, {z:.2f}) mm; axes and force are read in contact"
        out += [Stop(front, (ask,), note=note), Stop(front, note="back off before the next contact")]
    return tuple(out)


def sweep_stops(method: Sweeping, candidates: CandidateSet, rated: Array, repeats: int) -> tuple[Stop, ...]:
    """There and back at the speed of the sweep; ``rated`` (n,) are full speeds of the axes in rad/s, nan if unknown."""
    import numpy as np

    from elastocal.compensate.posts.post import Stop

    full = dict(zip(candidates.model.joints, rated, strict=True))
    out: list[Stop] = []
    for i, (start, turn) in enumerate(zip(candidates.q, method.ends(candidates), strict=True)):
        stroke = stroke_of(candidates, i)
        most = full[candidates.model.joints[stroke.joint]]
        share = UNRATED if np.isnan(most) else float(np.clip(100 * stroke.speed / most, 1, 100))
        ask = f"S{i + 1}: log while {candidates.label(i)} and back"
        out.append(Stop(start, (ask,)))
        for _ in range(repeats):
            out += [Stop(turn, (), share, f"S{i + 1} there"), Stop(start, (), share, f"S{i + 1} back")]
    return tuple(out)


def stroke_of(candidates: CandidateSet, i: int) -> Stroke:
    """The sweep of candidate i."""
    from elastocal.design.sweeping import Stroke

    option = candidates.options[int(candidates.option[i])]
    assert isinstance(option, Stroke)
    return option


def unrated(candidates: CandidateSet, rated: Array) -> tuple[str, ...]:
    import numpy as np

    slow = {stroke_of(candidates, i).joint for i in range(len(candidates))}
    if not any(np.isnan(rated[j]) for j in slow):
        return ()
    return (
        f"The full speeds of some axes are not stated (speeds_deg_s): their sweeps are programmed at {UNRATED:g} %; "
        "set what brings the speed planned.",
    )
