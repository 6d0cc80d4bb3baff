"""What an identified model says of poses that were not measured, and how well it knows it.

    deflection = f(pi),    covariance = F C F^T + d^2 I

F is the derivative by the estimated parameters, C their covariance and d the model discrepancy: what the residuals show
beyond noise, which no number of readings makes smaller.  The result is the error ellipsoid of a compensated tool point.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

import numpy as np

from elastocal.measure.kind import Statics
from elastocal.measure.markers import Deflection
from elastocal.measure.setup import Setup
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.observation import Marker
from elastocal.quantities import quantile_95
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False)
class IdentifiedModel:
    """An identified model with the covariance of the parameters that were estimated.

    ``discrepancy`` is a standard deviation in m per axis; nan where it could not be told from noise (and is not added).
    ``freedom`` is that of an estimated noise, inf where it was stated: it widens intervals.  ``registered``: parameters
    of base and flange are among the names and stand for the registration of instrument and tool.
    """

    model: Robot
    names: tuple[str, ...]
    covariance: Array
    discrepancy: float
    statics: Statics = "loaded"
    freedom: float = math.inf
    registered: bool = False


@dataclass(frozen=True, eq=False)
class Prediction:
    """Deflection (N, 6) of a frame and its covariance (N, 6, 6), translation first; nan without a determined state.

    ``floats`` (N,): without the load the arm floats in its backlash; the deflection is from the middle of it.
    """

    frame: str
    twist: Array
    covariance: Array
    freedom: float = math.inf
    floats: Bools | None = None

    @cached_property
    def distance(self) -> Array:
        """Of the deflection, (N,) in m."""
        return np.asarray(np.linalg.norm(self.twist[:, :3], axis=1))

    @property
    def sd(self) -> Array:
        """Standard deviations (N, 6)."""
        return np.asarray(np.sqrt(np.einsum("nii->ni", self.covariance)))

    @property
    def half_width(self) -> Array:
        """Half of the 95 % interval of each component, (N, 6)."""
        return quantile_95(self.freedom) * self.sd

    def picked(self, rows: Ints) -> Prediction:
        floats = None if self.floats is None else self.floats[rows]
        return replace(self, twist=self.twist[rows], covariance=self.covariance[rows], floats=floats)

    def ellipsoid(self) -> tuple[Array, Array]:
        """Semi-axes (N, 3) in m of the translation's one-sigma ellipsoid, the longest first, and their directions."""
        known = np.nan_to_num(self.covariance[:, :3, :3])
        values, vectors = np.linalg.eigh(known)
        axes = np.sqrt(np.clip(values[:, ::-1], 0.0, None))
        return np.where(np.isnan(self.covariance[:, :1, 0]), np.nan, axes), vectors[:, :, ::-1]


def predict(identified: IdentifiedModel, q: Array, load: AppliedWrenches, frame: str | None = None) -> Prediction:
    """Predicted deflection under a load, with its covariance."""
    at = frame or identified.model.tool
    return _predicted(identified, Deflection(Setup(q, load, (Marker(at, "pose"),)), identified.statics), at)


def predict_from_rest(
    identified: IdentifiedModel, q: Array, load: AppliedWrenches, frame: str | None = None
) -> Prediction:
    """The same; where the unloaded arm floats in its backlash, from the middle of every backlash."""
    prediction = predict(identified, q, load, frame)
    kind = Deflection(Setup(q, load, (Marker(prediction.frame, "pose"),)), identified.statics)
    floats = kind.floating(identified.model) & np.isnan(prediction.twist).any(axis=1)
    if not floats.any():
        return replace(prediction, floats=floats)
    middle = _predicted(identified, replace(kind, centred=True), prediction.frame)
    twist = np.where(floats[:, None], middle.twist, prediction.twist)
    covariance = np.where(floats[:, None, None], middle.covariance, prediction.covariance)
    return replace(prediction, twist=twist, covariance=covariance, floats=floats)


def _predicted(identified: IdentifiedModel, kind: Deflection, frame: str) -> Prediction:
    twist = kind.predict(identified.model)
    slope = kind.derivative(identified.model, identified.names)
    covariance = slope @ identified.covariance @ slope.swapaxes(1, 2)
    covariance[:, range(3), range(3)] += np.nan_to_num(identified.discrepancy) ** 2
    covariance[np.isnan(twist).any(axis=1)] = np.nan
    return Prediction(frame, twist, covariance, identified.freedom)


def same_size_loads(wrenches: Array) -> Array:
    """Forces of the largest size among ``wrenches`` along both senses of every base axis, (6, 6)."""
    size = float(np.linalg.norm(wrenches[:, :3], axis=1).max())
    out = np.zeros((6, 6))
    out[:3, :3], out[3:, :3] = size * np.eye(3), -size * np.eye(3)
    return out
