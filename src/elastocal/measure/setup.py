"""A loaded arm and what is watched of it: configurations, one load, markers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from elastocal.errors import MissingError, ShapeError
from elastocal.model.kinematics import kinematics, rigid_state
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.equilibrium import Equilibrium, equilibrium
from elastocal.model.statics.observation import Marker, load_observation, loaded_observation
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass

AT_ONCE = 8192
"""Configurations whose frames are held at once."""
P = ParamSpec("P")
S = TypeVar("S")
R = TypeVar("R")


def remembered(answer: Callable[Concatenate[S, Robot, P], R]) -> Callable[Concatenate[S, Robot, P], R]:
    """A method that keeps what it has answered for the last model asked for, by its other arguments."""
    kept: WeakKeyDictionary[S, dict[Any, tuple[Robot, R]]] = WeakKeyDictionary()

    @wraps(answer)
    def known(self: S, model: Robot, /, *args: P.args, **kwargs: P.kwargs) -> R:
        own, key = kept.setdefault(self, {}), (*args, *kwargs.values())
        last = own.get(key)
        if last is None or last[0] is not model:
            last = own[key] = (model, answer(self, model, *args, **kwargs))
        return last[1]

    return known


@dataclass(frozen=True, eq=False)
class Setup:
    """Joint values (N, n), the external load on them, and the markers in order of the reading's rows."""

    q: Array
    load: AppliedWrenches
    markers: tuple[Marker, ...]

    def __post_init__(self) -> None:
        if not self.markers:
            raise MissingError("no marker is watched; name at least one frame", code="no-markers")
        if len(self.load.wrench) not in (1, len(self.q)):
            raise ShapeError(
                f"{len(self.load.wrench)} wrenches for {len(self.q)} configurations; give one, or one each",
                value=(len(self.load.wrench), len(self.q)),
            )

    @property
    def count(self) -> int:
        return len(self.q)

    @property
    def height(self) -> int:
        """R"""
        return sum(m.rows for m in self.markers)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """First row of every marker."""
        return tuple(int(n) for n in np.cumsum([0, *(m.rows for m in self.markers[:-1])]))

    @property
    def turning(self) -> Iterator[tuple[int, slice]]:
        """Number and rows of the orientation of every marker that is read as a pose."""
        starts = enumerate(zip(self.markers, self.starts, strict=True))
        return ((i, slice(start + 3, start + 6)) for i, (marker, start) in starts if marker.rows == 6)

    @cached_property
    def wrenches(self) -> Array:
        """The load of every reading, (N, 6)."""
        return np.broadcast_to(self.load.wrench, (self.count, 6))

    @cached_property
    def pose(self) -> Ints:
        """Number of the configuration of every reading: readings at equal joint values share it."""
        return np.unique(np.round(self.q, 12), axis=0, return_inverse=True)[1].reshape(-1)

    @cached_property
    def state(self) -> Ints:
        """Number of the configuration and load: readings that share it are repeats."""
        both = np.concatenate([np.round(self.q, 12), np.round(self.wrenches, 9)], axis=1)
        return np.unique(both, axis=0, return_inverse=True)[1].reshape(-1)

    def picked(self, rows: Ints) -> Setup:
        wrench = self.load.wrench if len(self.load.wrench) == 1 else self.load.wrench[rows]
        return Setup(self.q[rows], AppliedWrenches(self.load.frame, wrench, self.load.follows), self.markers)

    @remembered
    def bent(self, model: Robot, loaded: bool = True) -> Equilibrium:
        """The equilibrium with or without the load."""
        return equilibrium(model, self.q, [self.load] if loaded else ())

    def observation(self, model: Robot, names: Sequence[str], loaded: bool = True) -> Array:
        """Derivative (N, R, p) of the markers' poses by parameters, with or without the load."""
        applied = [self.load] if loaded else []
        predicted, columns, _ = loaded_observation(
            model, self.q, applied, self.markers, names, self.bent(model, loaded)
        )
        return in_order(names, predicted, columns)

    def positions(self, model: Robot) -> Array:
        """Where the markers are without load, (N, markers, 3)."""
        return origins(model, self.q, [m.frame for m in self.markers])

    def by_joints(self, model: Robot) -> Array:
        """Rows moved by the joints, (N, R, n)."""
        parts = [kinematics(model, self.q, m.frame).jacobian[:, : m.rows] for m in self.markers]
        return np.concatenate(parts, axis=1)

    @remembered
    def by_load(self, model: Robot) -> Array:
        """Rows moved by the six components of the load in its own axes, at the loaded state, (N, R, 6).

        Size, direction and point of the load are sources that all need it.
        """
        return load_observation(model, self.q, self.load, self.markers, self.bent(model))

    def in_load_axes(self, model: Robot, vectors: Array) -> Array:
        """Vectors of the load frame (k, 3) in the axes that the load is given in, (N, k, 3)."""
        if self.load.follows:
            return np.broadcast_to(vectors, (self.count, *vectors.shape))
        turn = kinematics(model, self.q, self.load.frame).rotation
        return np.asarray(np.einsum("nij,kj->nki", turn, vectors))


def origins(model: Robot, q: Array, frames: Sequence[str]) -> Array:
    """Where frames are without load, (N, frames, 3): of many configurations one part after another."""
    out = np.empty((len(q), len(frames), 3))
    for at in range(0, len(q), AT_ONCE):
        state = rigid_state(model.posture(model.configurations(q[at : at + AT_ONCE])))
        for i, frame in enumerate(frames):
            out[at : at + AT_ONCE, i] = state.origin(frame).T
    return out


def stacked(markers: Sequence[Marker], parts: Sequence[Array]) -> Array:
    """Twists (N, 6) of the markers as rows (N, R)."""
    return np.concatenate([part[:, : m.rows] for m, part in zip(markers, parts, strict=True)], axis=1)


def in_order(names: Sequence[str], given: Sequence[str], columns: Array) -> Array:
    """Columns (N, R, p) of the parameters ``given`` in the order asked for: matrices come in the table's order."""
    if tuple(given) == tuple(names):
        return columns
    return columns[:, :, [given.index(name) for name in names]]
