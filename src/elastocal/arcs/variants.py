"""Models of markers about one axis, from the freest to the strictest, and whether the points agree with each.

    own axes          every marker turns about an axis of its own; only tells whether there is a common one
    concentric        every marker turns by an angle of its own (000 eq. 18)
    common rotation   all markers turn by one angle per pose: they sit on one rigid body
    pointing          and that angle is the direction from the axis to the spring's other end

Each is the one before with D fewer unknowns.  If it is true and the noise is normal, the rise of the sum of squares
follows F = (dS / D) / (S / f) on D and f, with S and f of the freer model; where the noise is stated and the
freer model agrees with it, chi^2 = dS / noise^2 on D instead, which tells more with few points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from elastocal.arcs.concentric import ConcentricArcs, fit_concentric
from elastocal.arcs.estimate import FitQuality
from elastocal.arcs.own_axes import own_axes
from elastocal.arcs.rigid import RigidBody, fit_common_rotation, fit_pointing
from elastocal.errors import InputError
from elastocal.spatial.entries import Array

LEVEL = 0.01


@dataclass(frozen=True)
class Tension:
    """How badly a stricter model fits: ``statistic`` of ``test``, and the probability of more if it were true."""

    test: str
    statistic: float
    added: int
    freedom: int
    probability: float

    @property
    def rejected(self) -> bool:
        return self.probability < LEVEL

    def text(self) -> str:
        on = f"{self.added} and {self.freedom}" if self.test == "F" else f"{self.added}"
        return f"{self.test} = {self.statistic:.3g} on {on}, probability {self.probability:.2g}"


@dataclass(frozen=True, eq=False)
class Variant:
    """One model fitted; ``tension`` with the one before it, None for the first."""

    name: str
    fit: ConcentricArcs | RigidBody
    tension: Tension | None

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
    axes: Tension | None

    @property
    def apart(self) -> bool:
        """Whether the markers do not turn about one axis."""
        return self.axes is not None and self.axes.rejected

    @property
    def best(self) -> Variant:
        """The strictest model that the points agree with, all freer ones included."""
        out = self.models[0]
        for model in self.models[1:]:
            if model.tension is None or model.tension.rejected:
                break
            out = model
        return out

    def words(self) -> tuple[str, ...]:
        """One sentence for each model, lengths in mm."""
        models = tuple(_sentence(m, b) for m, b in zip(self.models, (None, *self.models), strict=False))
        return (*self.axes_words(), *models)

    def axes_words(self) -> tuple[str, ...]:
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
    axes = _axes_tension(free)
    if axes is not None and axes.rejected:
        return Variants((Variant("concentric", free, None),), axes)
    common = fit_common_rotation(markers, noise=noise)
    models = [
        Variant("concentric", free, None),
        Variant("common rotation", common, tension(common.estimate, free.estimate)),
    ]
    if targets is not None:
        pointing = fit_pointing(markers, targets, noise=noise)
        models.append(Variant("pointing", pointing, tension(pointing.estimate, common.estimate)))
    return Variants(tuple(models), axes)


def _axes_tension(common: ConcentricArcs) -> Tension | None:
    """Of a common axis with an own one for each marker; nan where a marker has no circle of its own."""
    if common.problem.markers.count < 2:
        return None
    try:
        return tension(common.estimate, own_axes(common))
    except InputError:
        return Tension("F", float("nan"), 1, 0, float("nan"))


def tension(strict: FitQuality, free: FitQuality) -> Tension:
    """Test of a model against a freer one for the same points."""
    from scipy.special import chdtrc, fdtrc

    added = strict.freedom - free.freedom
    if added < 1:
        return Tension("F", float("nan"), added, free.freedom, float("nan"))
    rise = max(strict.squares - free.squares, 0.0)
    if free.noise is not None and not free.disturbed:
        value = rise / free.noise**2
        return Tension("chi^2", value, added, free.freedom, float(chdtrc(added, value)))
    if free.freedom < 1:
        return Tension("F", float("nan"), added, free.freedom, float("nan"))
    value = rise / added / (free.squares / free.freedom)
    return Tension("F", value, added, free.freedom, float(fdtrc(added, free.freedom, value)))


def _sentence(model: Variant, before: Variant | None) -> str:
    sd, centre = model.centre_sd, model.fit.centre
    place = ", ".join(f"{1e3 * c:.3f} +- {1e3 * s:.2f}" for c, s in zip(centre, sd, strict=True))
    out = f"{model.name}: residuals {1e3 * model.fit.residual_sd:.3f} mm, centre ({place}) mm"
    if model.tension is None or before is None:
        return out + "."
    if model.tension.added < 1:
        return out + "; it demands no more of these points."
    if np.isnan(model.tension.probability):
        return out + f"; whether the points agree with it cannot be told, {before.name} leaves no equation to spare."
    ratio = float(np.sqrt(np.sum(sd**2) / np.sum(before.centre_sd**2)))
    if model.tension.rejected:
        return out + f"; the points reject it ({model.tension.text()}), so its accuracy means nothing."
    return (
        out + f"; the points agree with it ({model.tension.text()}), the centre's spread is {ratio:.2f} times as large."
    )
