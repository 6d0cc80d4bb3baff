"""What to do with a calibration, in one sentence; and whether the values that it is asked about are in its units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from elastocal.calibration.ladder import HARMLESS
from elastocal.findings import Finding
from elastocal.spatial.entries import Array

if TYPE_CHECKING:
    from elastocal.calibration.calibration import Calibration

LIKELY = {
    "angle": {"rad": (0.0, 4 * np.pi), "deg": (2 * np.pi, np.inf)},
    "length": {"m": (0.0, 50.0), "mm": (5.0, np.inf)},
}
"""Between these the largest of several joint values lies, or they are more likely in the other unit."""
FAR_WARM = 100.0
"""K: no shop is that much warmer or colder than at the campaign."""
SEVERAL = 3


def verdict(c: Calibration) -> Finding:
    """By the gain over the nominal robot that is claimed, and what it must exceed not to be chance."""
    claim, refitted = c.claim, c.optimistic
    lower, now = 1e3 * c.before.mean, 1e3 * claim.mean
    unit = c.before.shown
    data = {f"before_{unit}": lower, f"after_{unit}": now}
    if c.ladder.kept_fails:
        text = (
            "The model that was kept does not predict better than the nominal robot with fitted stations and "
            f"markers ({lower:.3f} {unit} mean); choose the model again: calibrate without a start."
        )
        return Finding("kept-fails", "warning", text, data)
    if not c.words:
        text = (
            f"Nothing to gain: no model predicts better than the nominal robot with fitted stations and markers "
            f"({lower:.3f} {unit} mean); keep the nominal robot."
        )
        return Finding("nothing-to-gain", "note", text, data)
    basis = "leave-one-out"
    if refitted:
        left_out = 1e3 * c.leave_one_out.mean
        basis = f"fitted again without a fifth of the poses in turn; leave-one-out {left_out:.3f}"
    gain, half = c.gain
    data |= {f"gain_{unit}": 1e3 * gain, f"half_{unit}": 1e3 * half}
    if not gain > half:
        text = f"No gain is shown: {now:.3f} {unit} ({basis}) against {lower:.3f} {unit} of the nominal robot."
        if gain > 0 and set(c.words) <= HARMLESS:
            text += " Compliances about the priors of the robot file are kept all the same: they do little harm."
            return Finding("within-priors", "note", text, data)
        return Finding("no-gain", "warning", f"{text} Measure more poses, or keep the nominal robot.", data)
    text = (
        f"The calibrated robot predicts a pose it has not seen to {now:.3f} {unit} (mean, {basis}); the "
        f"nominal robot to {lower:.3f} {unit}."
    )
    return Finding("improved", "note", text, data)


def unit_doubt(c: Calibration, raw: Array, what: Literal["angle", "length"]) -> tuple[Finding, ...]:
    """Whether values (N, n) are more likely in another unit than the calibration's."""
    kind = "revolute" if what == "angle" else "prismatic"
    own = [i for i, m in enumerate(c.robot.motions) if m.kind == kind]
    if not own or not len(raw):
        return ()
    unit = getattr(c, what)
    other, (low, high) = next(u for u in LIKELY[what] if u != unit), LIKELY[what][unit]
    most = float(np.abs(raw[:, own]).max())
    few = most == 0 or len(raw) < SEVERAL  # a few poses may well be near home
    if most <= high and (few or most >= low):
        return ()
    axes = [c.robot.controller.axes[i] for i in own]
    text = (
        f"the largest value of {', '.join(axes)} is {most:.4g}; they are taken as {unit}, as in the campaign of this "
        f"calibration ({what}={other!r}?)"
    )
    data = {"largest": most, "unit": unit, "likely": other, "axes": axes}
    return (Finding(f"{what}-unit", "warning", text, data),)


def far_temperature(warm: Array) -> tuple[Finding, ...]:
    """Temperatures so far from those of the campaign that they are likely in another unit."""
    most = float(np.max(np.abs(warm), initial=0.0))
    if most <= FAR_WARM:
        return ()
    text = f"a temperature is {most:.0f} K from the mean of the campaign; is it in the same unit, K or degrees C?"
    return (Finding("far-temperature", "warning", text, {"difference_K": most}),)
