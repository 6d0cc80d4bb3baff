"""The columns of a loop's model, what it leaves open, and what to read in addition."""

from __future__ import annotations

import numpy as np

from elastocal.loops.least_squares import Solution
from elastocal.loops.loop import Loop
from elastocal.spatial.entries import Array, Bools

COMPLIANCE, GAP, HYSTERESIS, OFFSET = "compliance", "gap", "hysteresis", "offset"

_ADVICE = (
    ({COMPLIANCE, GAP}, "use several sizes of force in each sense"),
    ({GAP, OFFSET}, "push in both senses within each cycle"),
    ({GAP, HYSTERESIS}, "read while loading and while unloading"),
    ({HYSTERESIS, OFFSET}, "read going and coming"),
)


def model_columns(loop: Loop) -> tuple[tuple[str, ...], Array]:
    """(n, 3 + cycles): F, sign(F), -sign(dF), one offset for each cycle."""
    cycles = np.unique(loop.cycle)
    offsets = (loop.cycle[:, None] == cycles).astype(float)
    names = (COMPLIANCE, GAP, HYSTERESIS, *(f"{OFFSET} {c}" for c in cycles))
    return names, np.column_stack([loop.force, loop.side, -loop.branch, offsets])


def usable(loop: Loop) -> Bools:
    """Readings whose side and branch are known."""
    return np.asarray((loop.side != 0) & (loop.branch != 0))


def reason(solution: Solution, name: str) -> str:
    """Why an unknown is not determined, and what to do."""
    others = tuple(dict.fromkeys(o.partition(" ")[0] for o in solution.entangled(name)))
    if not others:
        return f"no usable reading depends on the {name}; read more"
    tangle = {name, *others}
    do = [advice for pair, advice in _ADVICE if pair <= tangle]
    advice = ", ".join(do[:1] if len(tangle) == 2 else do) or "read more forces in both senses, going and coming"
    return f"{name} and {' and '.join(others)} act only together in these readings; {advice}"
