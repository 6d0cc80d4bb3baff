"""The range of joints that was measured: nothing vouches for predictions beyond it.

Values are those of the controller's axes, in rad and m.  A pose lies beyond where one of its axes is outside the range
of the readings by more than ``MARGIN`` of its width: poses at random leave so much at the ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from elastocal.model.robot import Robot
from elastocal.results import Finding, warning
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

MARGIN, LEAST = 0.25, 0.02
"""Share of the width of a range, and rad or m at least, by which a pose may be outside."""
NARROW = 0.1
"""Share of what a joint can do, below which its readings are nearly all alike."""
TURN = 2 * np.pi


@dataclass(frozen=True, eq=False)
class Span:
    """``low`` and ``high`` (n,) of the axes ``names``; ``turns`` (n,) says which are angles."""

    names: tuple[str, ...]
    low: Array
    high: Array
    turns: tuple[bool, ...]

    @classmethod
    def of(cls, robot: Robot, joints: Array) -> Span:
        """Of joint values (N, n), one at least."""
        values = robot.controller.to_controller(joints)
        turns = tuple(m.kind == "revolute" for m in robot.motions)
        return cls(tuple(robot.controller.axes), values.min(axis=0), values.max(axis=0), turns)

    @property
    def width(self) -> Array:
        return self.high - self.low

    def outside(self, values: Array) -> Array:
        """(N, n): how far values of the axes lie outside of the range, zero within its margin; a turn further is the
        same angle."""
        turns = TURN * np.array(self.turns)
        off = np.min([self._off(values + k * turns) for k in (-1, 0, 1)], axis=0)
        return np.where(off > np.maximum(MARGIN * self.width, LEAST), off, 0.0)

    def _off(self, values: Array) -> Array:
        return np.maximum(np.maximum(self.low - values, values - self.high), 0.0)

    def shown(self, axis: int, value: float) -> str:
        return f"{np.degrees(value):.3g} deg" if self.turns[axis] else f"{1e3 * value:.4g} mm"

    def __str__(self) -> str:
        """Ranges of the axes, those of one unit together."""
        by_unit: dict[str, list[str]] = {}
        for i, name in enumerate(self.names):
            (low, _), (high, unit) = (self.shown(i, float(v[i])).split() for v in (self.low, self.high))
            by_unit.setdefault(unit, []).append(f"{name} {low}..{high}")
        return "; ".join(f"{', '.join(each)} {unit}" for unit, each in by_unit.items())

    @property
    def data(self) -> dict[str, Any]:
        return {n: [float(a), float(b)] for n, a, b in zip(self.names, self.low, self.high, strict=True)}


def extrapolated(
    robot: Robot, measured: Array, joints: Array, what: str = "poses", errors: Array | None = None
) -> tuple[Finding, ...]:
    """Of ``joints`` (N, n), those beyond the range of ``measured`` (M, n); ``errors`` (N,) in m where they are read."""
    span = Span.of(robot, measured)
    off = span.outside(robot.controller.to_controller(joints))
    beyond = off.any(axis=1)
    rows = np.flatnonzero(beyond)
    if not len(rows):
        return ()
    worst = {n: float(size) for n, size in zip(span.names, off.max(axis=0), strict=True) if size > 0}
    each = ", ".join(
        f"{n} by up to {span.shown(i, worst[n])} (measured {span.shown(i, span.low[i])} to "
        f"{span.shown(i, span.high[i])})"
        for i, n in enumerate(span.names)
        if n in worst
    )
    text = f"{len(rows)} of {len(joints)} {what} lie beyond the joint ranges that were measured: {each}"
    data: dict[str, Any] = {"poses": rows.tolist(), "outside": worst, "measured": span.data}
    if errors is not None and np.isfinite(errors[beyond]).any():
        data["mean"] = float(np.nanmean(errors[beyond]))
        text += f"; their mean error is {1e3 * data['mean']:.3f} mm"
        if np.isfinite(errors[~beyond]).any():
            data["mean_within"] = float(np.nanmean(errors[~beyond]))
            text += f", that of the others {1e3 * data['mean_within']:.3f} mm"
    else:
        text += "; no reading vouches for their intervals"
    return (warning("extrapolated", text, **data),)


def narrow(robot: Robot, joints: Array, whose: str) -> tuple[Finding, ...]:
    """Axes whose values (N, n) are nearly all alike, against the limits of their joints (or a turn)."""
    span = Span.of(robot, joints)
    can = [_reach(m.limits, turns) for m, turns in zip(robot.motions, span.turns, strict=True)]
    mine = [i for i, most in enumerate(can) if most is not None and span.width[i] < NARROW * most]
    if not mine:
        return ()
    each = ", ".join(f"{span.names[i]} {span.shown(i, float(span.width[i]))} of {_can(span, i, can)}" for i in mine)
    text = (
        f"the poses of {whose} are nearly alike: of what joints can do they span {each}; what is claimed holds in "
        f"that range and is not known elsewhere"
    )
    data = {"axes": [span.names[i] for i in mine], "width": [float(span.width[i]) for i in mine], "range": span.data}
    return (warning("narrow-range", text, **data),)


def _reach(limits: tuple[float, float] | None, turns: bool) -> float | None:
    if limits is None:
        return TURN if turns else None
    return min(limits[1] - limits[0], TURN) if turns else limits[1] - limits[0]


def _can(span: Span, axis: int, can: Sequence[float | None]) -> str:
    most = can[axis]
    return span.shown(axis, 0.0 if most is None else most)
