"""Models of markers about one axis, from the freest to the strictest, and whether the points agree with each.

    own axes          every marker turns about an axis of its own; only tests whether there is a common one
    concentric        every marker turns by an angle of its own (000 eq. 18)
    common rotation   all markers turn by one angle per pose: they sit on one rigid body
    pointing          and that angle is the direction from the axis to the spring's other end

Each is the one before with fewer unknowns, and is tested against it (``solve.nested``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from elastocal.errors import InputError, TooFewError
from elastocal.procedures.compensator.arc_problem import FitQuality, Markers, minimise
from elastocal.procedures.compensator.concentric import ConcentricArcs, ConcentricProblem, algebraic, fit_concentric
from elastocal.procedures.compensator.rigid_body import RigidBody, fit_common_rotation, fit_pointing
from elastocal.solve.nested import NestedTest, f_test, undecided
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False)
class Variant:
    """One model fitted; ``test`` against the one before it, None for the first."""

    name: str
    fit: ConcentricArcs | RigidBody
    test: NestedTest | None

    @property
    def centre_sd(self) -> Array:
        """(d,) of the centre's coordinates."""
        return np.asarray(np.sqrt(np.diag(self.fit.centre_covariance)))


@dataclass(frozen=True, eq=False)
class Variants:
    """All models of the same points, the freest first; ``axes``: the test of a common axis, None with one marker.

    Where the points reject a common axis there is only the first model, since the others are on that axis too.
    """

    models: tuple[Variant, ...]
    axes: NestedTest | None

    @property
    def apart(self) -> bool:
        """Whether the markers do not turn about one axis."""
        return self.axes is not None and self.axes.rejected

    def sentences(self) -> tuple[str, ...]:
        """One sentence for each model, lengths in mm."""
        models = tuple(_sentence(m, b) for m, b in zip(self.models, (None, *self.models), strict=False))
        return (*self.axes_sentences(), *models)

    def axes_sentences(self) -> tuple[str, ...]:
        """Whether the markers share an axis."""
        if self.axes is None:
            return ()
        if self.apart:
            return (
                f"The markers do not turn about one axis: the points reject it ({self.axes.text()}). Fit markers of "
                "different bodies apart; as one rigid body they are not tested.",
            )
        if np.isnan(self.axes.probability):
            return ("Whether the markers turn about one axis cannot be told from so few points.",)
        return (f"The points agree with one axis for all markers ({self.axes.text()}).",)


def compare_variants(
    markers: Sequence[ArrayLike], targets: ArrayLike | None = None, *, noise: float | None = None
) -> Variants:
    """Fit all models; the last one only where ``targets`` (m, d), the spring's other end in each pose, are given."""
    free = fit_concentric(markers, noise=noise, method="geometric")
    axes = _axes_test(free)
    if axes is not None and axes.rejected:
        return Variants((Variant("concentric", free, None),), axes)
    common = fit_common_rotation(markers, noise=noise)
    models = [
        Variant("concentric", free, None),
        Variant("common rotation", common, nested_test(common.estimate, free.estimate)),
    ]
    if targets is not None:
        pointing = fit_pointing(markers, targets, noise=noise)
        models.append(Variant("pointing", pointing, nested_test(pointing.estimate, common.estimate)))
    return Variants(tuple(models), axes)


def _axes_test(common: ConcentricArcs) -> NestedTest | None:
    """Of a common axis with an own one for each marker; nan where a marker has no circle of its own."""
    if common.problem.markers.count < 2:
        return None
    try:
        return nested_test(common.estimate, own_axes(common))
    except InputError:
        return undecided(1, 0, "a marker has no circle of its own")


def own_axes(common: ConcentricArcs) -> FitQuality:
    """What is left when every marker has the circle nearest to its own points.

    A marker seen three times or less lies on a circle of its own whatever its points are.  There is no covariance.
    """
    data = common.problem.markers
    squares, freedom = 0.0, 0
    for j in range(data.count):
        rows = data.marker == j
        if np.sum(rows) <= 3:
            continue
        one = Markers(data.points[rows], np.zeros(np.sum(rows), dtype=np.int64), data.pose[rows], 1, data.poses)
        shared = replace(common.problem, radii=common.radii[[j]], heights=common.heights[[j]], markers=one)
        squares += _least(one, shared)
        freedom += (data.dimension - 1) * (int(np.sum(rows)) - 3)
    return FitQuality(np.zeros((0, 0)), squares, freedom, data.points.size, common.estimate.noise)


def _least(one: Markers, shared: ConcentricProblem) -> float:
    """The lower of the minima reached from the marker's own algebraic circle and from the common axis."""
    left = []
    for start in (algebraic, lambda _: shared):
        try:
            left.append(float(np.sum(minimise(start(one)).residuals() ** 2)))
        except InputError:
            continue
    if not left:
        raise TooFewError("a marker has no circle of its own; measure a longer arc")
    return min(left)


def nested_test(strict: FitQuality, free: FitQuality) -> NestedTest:
    """Test of a model against a freer one for the same points: chi^2 where the noise is stated and the freer one agrees
    with it, which has more power with few points."""
    added, rise = strict.freedom - free.freedom, strict.squares - free.squares
    if free.noise is not None and not free.disturbed:
        return f_test(rise / free.noise**2, added, inf)
    return f_test(rise / (free.squares / free.freedom) if free.freedom > 0 else 0.0, added, free.freedom)


def _sentence(model: Variant, before: Variant | None) -> str:
    sd, centre = model.centre_sd, model.fit.centre
    place = ", ".join(f"{1e3 * c:.3f} +- {1e3 * s:.2f}" for c, s in zip(centre, sd, strict=True))
    out = f"{model.name}: residuals {1e3 * model.fit.residual_sd:.3f} mm, centre ({place}) mm"
    if model.test is None or before is None:
        return out + "."
    if model.test.added < 1:
        return out + "; it demands no more of these points."
    if np.isnan(model.test.probability):
        return out + f"; whether the points agree with it cannot be told, {before.name} leaves no equation to spare."
    ratio = float(np.sqrt(np.sum(sd**2) / np.sum(before.centre_sd**2)))
    if model.test.rejected:
        return out + f"; the points reject it ({model.test.text()}), so its accuracy means nothing."
    return out + f"; the points agree with it ({model.test.text()}), the centre's spread is {ratio:.2f} times as large."
