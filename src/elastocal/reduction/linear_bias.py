"""What the linear model of the unloaded arm makes of exact readings at the loaded equilibrium."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastocal.errors import InputError
from elastocal.measure.measured import Measured
from elastocal.model.descriptions import Form, descriptions
from elastocal.model.robot import Robot
from elastocal.model.statics.linear_observation import linear_names
from elastocal.reduction.first_fit import ReductionRules
from elastocal.reduction.identify import identify
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True)
class Bias:
    """An estimate of the linear model against the truth."""

    name: str
    unit: str
    truth: float
    estimate: float


@dataclass(frozen=True)
class LinearBias:
    """``bend`` is the rms difference (m) between loaded and linear deflection, ``estimates`` what it does to them.

    ``missing`` says why there are no estimates.
    """

    bend: float
    estimates: tuple[Bias, ...] = ()
    missing: str = ""


def linear_bias(
    truth: Robot, planned: Measured, exact: Array, seek: Sequence[str] | None, form: Form | None, rules: ReductionRules
) -> LinearBias | None:
    """Of the compliances sought, all others held at the truth; None for what is no deflection."""
    linear = planned.measurement.linear()
    if linear is None:
        return None
    bend = float(np.sqrt(np.mean((exact - linear.predict(truth)) ** 2)))
    described = descriptions(truth, form)[-1:]
    table = {p.name: p for p in described[0].model.parameters}
    try:
        wanted = {tuple(table)[i] for i in described[0].model.parameters.select(seek)}
        names = [n for n in linear_names(described[0].model) if n in wanted]
        fit = identify(described, Measured(linear, exact, planned.scattering), names, rules=rules).fit
    except InputError as error:  # the readings stand all the same
        return LinearBias(bend, missing=str(error))
    pairs = zip(fit.names, fit.values, strict=True)
    return LinearBias(bend, tuple(Bias(n, table[n].unit, table[n].value, float(v)) for n, v in pairs))
