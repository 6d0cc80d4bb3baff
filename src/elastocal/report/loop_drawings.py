"""Drawings of force-deflection loops: readings with their four lines, and polar maps of a number by direction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from elastocal.procedures.loops.directions import DirectionFit
from elastocal.procedures.loops.fit import LoopFit
from elastocal.procedures.loops.loop import Estimate
from elastocal.report.blocks import Lines, Series
from elastocal.report.colours import Role

if TYPE_CHECKING:
    from elastocal.spatial.entries import Array, Bools

_LINES = (
    ("loading, F > 0", 1, 1),
    ("unloading, F > 0", 1, -1),
    ("loading, F < 0", -1, -1),
    ("unloading, F < 0", -1, 1),
)


def loop_graphs(key: str, title: str, fit: LoopFit, notes: tuple[str, ...] = ()) -> tuple[Lines, ...]:
    """Displacement against force, and what the compliance leaves of it: the gap and the hysteresis, which it hides."""
    whole = Lines(key, title, "force", "N", "displacement", "um", _series(fit, 0.0), notes)
    p = fit.compliance.value
    if not np.isfinite(p):
        return (whole,)
    name = "displacement less p F"
    return whole, Lines(f"{key}_gap", f"{title}: gap and hysteresis", "force", "N", name, "um", _series(fit, p), notes)


def _series(fit: LoopFit, off: float) -> tuple[Series, ...]:
    """Readings less the offset of their cycle, and the fitted lines drawn to zero force; both less ``off`` F."""
    loop = fit.loop
    read = 1e6 * (loop.displacement - fit.offsets - off * loop.force)
    groups: tuple[tuple[str, Role, Bools], ...] = (("readings", "read", fit.used), ("left out", "outlier", ~fit.used))
    series = [
        Series(name, _floats(loop.force[at]), _floats(read[at]), True, role=role)
        for name, role, at in groups
        if np.any(at)
    ]
    p, g, h = (e.value for e in (fit.compliance, fit.half_gap, fit.half_hysteresis))
    for name, side, branch in _LINES:
        at = fit.used & (loop.side == side) & (loop.branch == branch)
        if np.any(at) and np.isfinite(p + g + h):
            force = np.array([0.0, side * np.max(np.abs(loop.force[at]))])
            series.append(Series(name, _floats(force), _floats(1e6 * ((p - off) * force + g * side - h * branch))))
    return tuple(series)


def direction_map(
    key: str, title: str, units: Array, numbers: Sequence[Estimate], fit: DirectionFit, notes: tuple[str, ...] = ()
) -> Lines:
    """Directions (n, 2) with their numbers, 95 % bars, and what was fitted: um/N, or the whole gap in um."""
    name, unit, factor = ("backlash", "um", 2e6) if fit.root else ("compliance", "um/N", 1e6)
    turn = np.linspace(0.0, 360.0, 121)
    around = np.column_stack([np.cos(np.radians(turn)), np.sin(np.radians(turn))])
    angles = np.round(np.degrees(np.arctan2(units[:, 1], units[:, 0])) % 360.0, 9)
    values, bars = (factor * np.array([f(e) for e in numbers]) for f in (_value, Estimate.half_width))
    series = [Series("measured, 95 %", _floats(angles), _floats(values), True, _floats(bars), "read")]
    if fit.principal is not None:
        word = "gap of the ellipse" if fit.root else "matrix"
        series.append(Series(word, _floats(turn), _floats(factor * fit.at(around)[0])))
    if fit.isotropic.known:
        series.append(Series("one number", _floats(turn), (factor * fit.isotropic.value,) * len(turn)))
    return Lines(key, title, "direction", "deg", name, unit, tuple(series), notes, polar=True)


def _value(e: Estimate) -> float:
    return e.value


def _floats(values: Iterable[float]) -> tuple[float, ...]:
    return tuple(float(v) for v in values)
