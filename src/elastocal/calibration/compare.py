"""One door for what compares: calibrations of one robot, or campaigns; every other one against the first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from elastocal.calibration.calibration import Calibration
from elastocal.calibration.campaign import Campaign
from elastocal.calibration.comparison import Comparison, comparison
from elastocal.calibration.drift import Drift, drift
from elastocal.errors import InputError
from elastocal.model.places import Plane
from elastocal.spatial.entries import Array


@overload
def compare(first: Calibration, *others: Calibration, names: Sequence[str] = ..., places: Plane | None = ...,
            near: Array | None = ...) -> Comparison: ...  # fmt: skip
@overload
def compare(first: Campaign, *others: Campaign, names: Sequence[str] = ...) -> tuple[Drift, ...]: ...
def compare(
    first: Calibration | Campaign,
    *others: Calibration | Campaign,
    names: Sequence[str] = (),
    places: Plane | None = None,
    near: Array | None = None,
) -> Comparison | tuple[Drift, ...]:
    """Calibrations of one robot, or campaigns; every other one against the first.

    ``places`` is the plane of the workpiece, ``near`` (n,) joint values with the tool held as there.
    """
    if not others:
        raise InputError("one item is nothing to compare; give at least two", code="few")
    every = (first, *others)
    words = tuple(names) or tuple(f"{'ABCDEFGHIJ'[i % 10]}" for i in range(len(every)))
    if len(words) != len(every) or len(set(words)) < len(words):
        raise InputError(f"names: {len(words)} for {len(every)} items; give every one its own", code="names")
    calibrations = [c for c in every if isinstance(c, Calibration)]
    campaigns = [c for c in every if isinstance(c, Campaign)]
    if len(calibrations) == len(every):
        return comparison(calibrations, words, places, near)
    if len(campaigns) == len(every):
        return tuple(drift(campaigns[0], c, (words[0], w)) for c, w in zip(campaigns[1:], words[1:], strict=True))
    raise InputError("calibrations and campaigns are not compared with each other; give one kind", code="kinds")
