"""What the cell does, stop by stop: a plan's poses in order, with the halts for reading and for changing the load."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastocal.design.pool import Pool
    from elastocal.files.krl_plan import Stop


def stops(pool: Pool, kind: str, repeats: int) -> tuple[Stop, ...]:
    """A deflection needs a reading without and one with the load.

    What can be carried is put on once: all its poses are first read without it.  Anything else is put on and taken
    off at every pose.
    """
    from elastocal.files.krl_plan import Stop

    times = f" {repeats} times" if repeats > 1 else ""
    out: list[Stop] = []
    start = 0
    while start < len(pool):
        end = start
        while end < len(pool) and pool.option[end] == pool.option[start]:
            end += 1
        block, load = range(start, end), pool.label(start)
        q = {i: pool.q[i] for i in block}
        carried = not pool.options or pool.options[int(pool.option[start])].loading.carried
        if not pool.options:
            out += [Stop(q[i], (f"P{i + 1}: read{times}",)) for i in block]
        elif carried:
            if kind == "deflection":
                out += [Stop(q[i], (f"P{i + 1}: read without load{times}",)) for i in block]
            put = f"put on {load}"
            for i in block:
                first = (put,) if i == start else ()
                last = (f"take off {load}",) if i == end - 1 else ()
                out.append(Stop(q[i], (*first, f"P{i + 1}: read under {load}{times}", *last)))
        else:
            free = (f"P{i + 1}: read without load{times}" for i in block)
            for i, before in zip(block, free, strict=True):
                reading = (before,) if kind == "deflection" else ()
                on = (f"put on {load}", f"P{i + 1}: read under {load}{times}", "take the load off")
                out.append(Stop(q[i], (*reading, *on)))
        start = end
    return tuple(out)
