"""What a slip of units leaves in an identification that looks sound: too little scatter, values far from the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastocal.app.commands.calibrate import CalibrateResult

QUIET, SPARE = 0.2, 20
"""Scatter in units of the stated noise below which something is wrong, and the spare equations to say so."""
OTHER_UNIT = 30.0
"""Times the robot file's value, up or down: more than a guess of a compliance is off."""


def unit_flags(result: CalibrateResult) -> list[str]:
    fit = result.study.fit
    out = []
    if fit.stated and fit.freedom >= SPARE and fit.scatter < QUIET:
        out.append(
            f"NOISE: residuals scatter only {fit.scatter:.2g} of what is stated. Either the stated noise is far too "
            "large, or the readings are in another unit than their columns say (m in columns of mm?)."
        )
    if far := _far(result):
        named = ", ".join(f"{n} is {v:.2g} times" for n, v in far[:4]) + (", ..." if far[4:] else "")
        even = max(v for _, v in far) < 2 * min(v for _, v in far) and len(far) > 1
        out.append(
            f"FAR FROM THE ROBOT FILE: {named} what the file says{', all by about the same factor' if even else ''}. "
            "Check the units of readings, loads and the robot file."
        )
    return out


def _far(result: CalibrateResult) -> list[tuple[str, float]]:
    """Joint compliances that were found far above or below those of the robot file, and by which factor."""
    fit, table = result.study.fit, result.model.parameters
    file = {p.name: p.value for p in table if "joint_compliance" in p.kind and p.value > 0}
    pairs = zip(fit.names, fit.values, strict=True)
    times = [(n, float(v) / file[n]) for n, v in pairs if n in file and v > 0]
    return [(n, v) for n, v in times if not 1 / OTHER_UNIT < v < OTHER_UNIT]
