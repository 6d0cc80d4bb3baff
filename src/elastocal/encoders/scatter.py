"""Noise that is none: equations that scatter more than any display, counter or hand explains."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from elastocal.encoders.fit import BlockFit, SystemFit

SHARE = 0.01
"""Standard deviation in parts of the range of the counts."""
ANGLE = np.radians(0.5)
"""Standard deviation of a joint angle."""


def scattered(fit: SystemFit, prismatic: Collection[str] = ()) -> tuple[str, ...]:
    """A sentence for each table and relation whose residuals are too large to be noise: by its worst motor."""
    out = []
    for n, (table, relation) in enumerate(fit.system.levels):
        found = [(share, angle, b) for b in fit.blocks for share, angle in _scatter(b, n, prismatic)]
        bad = [f for f in found if f[0] > SHARE or f[1] > ANGLE]
        if bad and fit.levels[n] is not None:
            share, angle, b = max(bad, key=lambda f: f[0])
            amount = "" if np.isnan(angle) else f"{np.degrees(angle):.2g} deg, "
            out.append(
                f"{table}: counts of {b.block.axis} scatter by {amount}{100 * share:.2g} % of their range about the "
                f"{relation} values, which is no noise; counters may run over (--wrap), columns be mixed up or units "
                "differ, so do not rely on this result."
            )
    return tuple(out)


def _scatter(b: BlockFit, level: int, prismatic: Collection[str]) -> Iterator[tuple[float, float]]:
    """Standard deviation of a motor's equations over the range of its counts, and as an angle of its joint."""
    at = b.kept & (b.block.noise == level)
    if not at.any() or np.ptp(b.block.y[at]) == 0:
        return
    sd = float(np.max(b.sd[at]))
    revolute = b.block.relation == "joint" and not set(b.block.inputs) & set(prismatic)
    yield sd / float(np.ptp(b.block.y[at])), sd / b.size if revolute else float("nan")
