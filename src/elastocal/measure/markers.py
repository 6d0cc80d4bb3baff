"""What an instrument reads of markers on a loaded arm: where they are, or how far they move when the load comes on.

Orientations are read as rotation vectors phi; a turn w of the marker moves one by Jl^-1(phi) w.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from elastocal.errors import MissingError
from elastocal.measure.kind import Column, MarkerMeasurement, Measurement, Statics
from elastocal.measure.setup import in_order, remembered, stacked
from elastocal.model.elements import CompliantCoordinate, Element
from elastocal.model.robot import Robot
from elastocal.model.statics.deflection import frame_poses, linear_deflection
from elastocal.model.statics.equilibrium import Status
from elastocal.model.statics.observation import linear_names, linear_observation
from elastocal.spatial.entries import Array, Bools
from elastocal.spatial.rotation import left_jacobian_inverse, rotation_vector, rotations
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False)
class Position(MarkerMeasurement):
    """Origin of every marker in base axes and, for a pose, its turn away from ``turned``, the measured orientation.

    ``turned`` (N, markers, 3, 3) holds rotations measured in base axes; the reading of an orientation is then zero
    by definition and its prediction the rotation vector from measured to predicted.
    """

    kind: ClassVar[str] = "position"
    symbols = ("x", "y", "z", "rx", "ry", "rz")
    turned: Array | None = None

    def __post_init__(self) -> None:
        if self.turned is None and any(m.rows == 6 for m in self.where.markers):
            raise MissingError(
                "poses are measured but no orientations are given; watch positions or add them", code="no-orientations"
            )

    @property
    def affine(self) -> bool:
        return False

    def predict(self, model: Robot) -> Array:
        at = self.where
        bent = at.bent(model)
        poses = frame_poses(model, at.q, bent, [m.frame for m in at.markers])
        out = stacked(at.markers, [np.concatenate([place, place]).T for place, _ in poses])
        for number, w in at.turning:
            out[:, w] = self._away(number, poses[number][1]).T
        out[bent.status != Status.CONVERGED] = np.nan
        return out

    def _away(self, number: int, turn: Array) -> Array:
        assert self.turned is not None
        return rotation_vector(np.einsum("ijn,nkj->ikn", turn, self.turned[:, number]))

    def written(self, readings: Array) -> Iterator[Column]:
        """With orientations as rotation vectors of what was measured: the reference turned by the reading."""
        out = readings.copy()
        for number, w in self.where.turning:
            assert self.turned is not None
            known = np.isfinite(readings[:, w]).all(axis=1, keepdims=True)
            turn = rotations(np.where(known, readings[:, w], 0.0).T)
            whole = rotation_vector(np.einsum("ijn,njk->ikn", turn, self.turned[:, number])).T
            out[:, w] = np.where(known, whole, np.nan)
        return super().written(out)

    def derivative(self, model: Robot, names: Sequence[str]) -> Array:
        at = self.where
        out = at.observation(model, names)
        if self.turned is None:
            return out
        away = self.predict(model)
        for _, w in at.turning:
            out[:, w] = np.einsum("ijn,njp->nip", left_jacobian_inverse(np.nan_to_num(away[:, w].T)), out[:, w])
        return out


Moves = tuple[list[Array], list[Array], Array]


@dataclass(frozen=True, eq=False)
class Deflection(MarkerMeasurement):
    """Translation, and for a pose the rotation vector, of every marker in base axes.

    ``linear`` is the sum of J k J^T W at the commanded configuration (003 eq. 8), affine in the compliances;
    ``loaded`` takes both equilibria and knows every parameter of the model.  An arm that floats in its backlash without
    the load has no unloaded state; ``centred`` measures from the one with every backlash in its middle.
    """

    kind: ClassVar[str] = "deflection"
    symbols = ("dx", "dy", "dz", "drx", "dry", "drz")
    states: ClassVar[int] = 2
    statics: Statics = "loaded"
    centred: bool = False

    @property
    def affine(self) -> bool:
        return self.statics == "linear"

    def names(self, model: Robot, wanted: Sequence[str] | None) -> tuple[str, ...]:
        if self.statics == "linear":
            return linear_names(model, wanted)
        return super().names(model, wanted)

    def at_equilibrium(self) -> Deflection:
        return replace(self, statics="loaded")

    def linear(self) -> Deflection:
        return Deflection(self.where, "linear")

    def structure(self, model: Robot, names: Sequence[str]) -> Measurement:
        """The linear model, where it knows all the names."""
        if self.statics == "linear":
            return self
        known = {p.name for e in model.elements if _yields(e) for p in e.parameters(model.tree)}
        return self.linear() if set(names) <= known else self

    def predict(self, model: Robot) -> Array:
        at = self.where
        if self.statics == "linear":
            return stacked(at.markers, [linear_deflection(model, at.q, [at.load], m.frame).twist for m in at.markers])
        turns, shifts, lost = self._moves(model)
        out = stacked(at.markers, [np.concatenate([s, t]).T for s, t in zip(shifts, turns, strict=True)])
        out[lost] = np.nan
        return out

    def derivative(self, model: Robot, names: Sequence[str]) -> Array:
        """By the loaded matrix minus the unloaded one; rotation vectors by d phi = Jl^-1(phi) (w1 - R w0)."""
        at = self.where
        if self.statics == "linear":
            return in_order(names, *linear_observation(model, at.q, [at.load], at.markers, names))
        loaded, unloaded = at.observation(model, names, True), at.observation(self._resting(model), names, False)
        if self.centred:
            unloaded[:, :, [n in _gaps(model) for n in names]] = 0.0
        out = loaded - unloaded
        for i, w in at.turning:
            turns, _, lost = self._moves(model)
            known = np.where(lost, 0.0, turns[i])
            back = np.einsum("ijn,njp->nip", rotations(known), unloaded[:, w])
            out[:, w] = np.einsum("ijn,njp->nip", left_jacobian_inverse(known), loaded[:, w] - back)
        return out

    @remembered
    def _moves(self, model: Robot) -> Moves:
        """Rotation vectors (none of points) and shifts (3, N) of every marker, and readings without a known state."""
        at = self.where
        rest = self._resting(model)
        bent, free = at.bent(model), at.bent(rest, loaded=False)
        frames = [m.frame for m in at.markers]
        loaded, unloaded = frame_poses(model, at.q, bent, frames), frame_poses(rest, at.q, free, frames)
        turns, shifts = [], []
        for m, (place, turned), (before, straight) in zip(at.markers, loaded, unloaded, strict=True):
            shifts.append(place - before)
            turn = np.zeros((0, at.count))
            if m.rows == 6:
                turn = rotation_vector(np.einsum("ijn,kjn->ikn", turned, straight))
            turns.append(turn)
        return turns, shifts, (bent.status != Status.CONVERGED) | (free.status != Status.CONVERGED)

    def floating(self, model: Robot) -> Bools:
        """Readings (N,) whose loaded state is determined, while without the load a backlash carries no force."""
        at = self.where
        loaded, unloaded = at.bent(model).status, at.bent(model, loaded=False).status
        return np.asarray((loaded == Status.CONVERGED) & (unloaded == Status.UNDETERMINED_BACKLASH))

    def _resting(self, model: Robot) -> Robot:
        """The model whose unloaded state is the reference."""
        return model.with_estimates(dict.fromkeys(_gaps(model), 0.0)) if self.centred else model


def _gaps(model: Robot) -> set[str]:
    return {p.name for p in model.parameters if p.kind.endswith("backlash")}


def _yields(element: Element) -> bool:
    return isinstance(element, CompliantCoordinate) and element.linear_in_force
