"""What was commanded, as elements and engine see it: joint values, temperature, and the robot that stands there.

``Configurations`` is what a caller hands over, a row each; wherever a function takes joint values it takes these too.
``Posture`` is a batch of them for one robot, configurations last.  Elements ask it for joint values, temperature and
the nominal geometry; the engine asks it for theta without load, c(q), and for dc/dq.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from elastocal.errors import MissingError
from elastocal.model.chain import ChainState
from elastocal.spatial import entries as en
from elastocal.spatial.entries import Array, Bools, Entry, Ints
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.model.elements import Element
    from elastocal.model.robot import Robot

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Configurations:
    """Joint values (N, n) in rad and m; ``temperature`` (N,) above the reference in K, None where nobody knows it."""

    q: Array
    temperature: Array | None = None

    def __len__(self) -> int:
        return len(self.q)

    @cached_property
    def memo(self) -> dict[Any, Any]:
        """What was worked out at these joint values, which a fit asks for again and again (see ``Posture.kept``)."""
        return {}

    @cached_property
    def postures(self) -> list[Posture]:
        """That of the robot that was asked last: a state is solved for, then its slopes are wanted."""
        return []

    def __getitem__(self, rows: slice | Bools | Ints) -> Configurations:
        if isinstance(rows, slice) and rows == slice(0, len(self)):
            return self
        return Configurations(self.q[rows], None if self.temperature is None else self.temperature[rows])


@dataclass(frozen=True, eq=False)
class Posture:
    """N configurations of a robot: commanded joint values ``q`` (n, N), ``temperature`` (N,) or None."""

    model: Robot
    q: Array
    temperature: Array | None = None
    memo: dict[Any, Any] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return int(self.q.shape[1])

    def take(self, rows: Bools | Ints) -> Posture:
        """Some of the configurations, with what is known of them."""
        some = Posture(self.model, self.q[:, rows], None if self.temperature is None else self.temperature[rows])
        if "offsets" in vars(self):
            vars(some)["offsets"] = tuple(c if isinstance(c, float) else c[rows] for c in self.offsets)
        if "slopes" in vars(self):
            vars(some)["slopes"] = {dof: slope[:, rows] for dof, slope in self.slopes.items()}
        return some

    # for elements

    def value(self, joint: str) -> Array:
        """Commanded value (N,) of a joint, of one that follows another too."""
        motion = self.model.tree.joint(joint)
        row = self.q[self.model.joints.index(motion.follows or joint)]
        return row if motion.follows is None else np.asarray(motion.ratio * row + motion.offset)

    def value_slope(self, joint: str) -> Array:
        """Its derivative (n,) by the joint values."""
        motion = self.model.tree.joint(joint)
        out = np.zeros(self.model.n)
        out[self.model.joints.index(motion.follows or joint)] = 1.0 if motion.follows is None else motion.ratio
        return out

    def temperature_for(self, element: Element) -> Array:
        """The temperature (N,); an InputError names the element that needs it where it is not known."""
        known = self.model.temperature if self.temperature is None else self.temperature
        if known is None:
            raise MissingError(
                f"{element.kind} at {element.place} needs the temperature of every configuration; give it with the "
                "joint values, or the robot's own",
                value=(element.kind, element.place),
            )
        return np.broadcast_to(np.asarray(known, dtype=np.float64), (self.size,))

    @property
    def down(self) -> Array:
        """Unit vector (3,) of gravity in base axes; zero where nothing weighs."""
        size = float(np.linalg.norm(self.model.gravity))
        return np.asarray(self.model.gravity / size) if size > 0 else np.zeros(3)

    def kept(self, key: Hashable, make: Callable[[], T]) -> T:
        """What the nominal robot and the joint values decide alone: worked out once for all values of parameters."""
        nominal = self.model.nominal
        known = self.memo.setdefault(id(nominal), (nominal, {}))[1]  # held, so that its id is nobody else's
        if key not in known:
            known[key] = make()
        return known[key]  # type: ignore[no-any-return]

    @property
    def rest(self) -> ChainState:
        """The nominal robot: nothing is off, bends or weighs."""
        chain = self.model.nominal.chain
        values = partial(chain.values, self.q, [0.0] * len(chain.dofs))
        return self.kept("rest", lambda: chain.evaluate(values(), self.size))

    def axis(self, joint: str) -> Array:
        """Unit vector (3, N) of a joint's axis in base axes."""
        axis = self.model.tree.joint(joint).unit_axis
        return np.asarray(np.einsum("ijn,j->in", self.rest.rotation(joint), axis))

    def jacobian(self, frame: str) -> Array:
        """Twist (6, n, N) of a frame's origin by the joint values."""
        return self.kept(("jacobian", frame), lambda: self._jacobian(frame))

    def _jacobian(self, frame: str) -> Array:
        leads, rest = self.model.leads, self.rest
        jacobian = rest.jacobian(frame, range(len(rest.chain.dofs)))
        return jacobian if leads is None else np.asarray(np.einsum("adn,dj->ajn", jacobian, leads))

    # for the engine

    @cached_property
    def resting(self) -> dict[str, Array]:
        """Every joint's value without any load: commanded, plus its offset."""
        dofs = self.model.chain.dofs
        return {dofs[i].frame: self.value(dofs[i].frame) + self.offsets[i] for i in self.model.joint_dofs}

    @cached_property
    def offsets(self) -> tuple[Entry, ...]:
        """theta without load of every degree of freedom of the chain: floats where it is the same everywhere."""
        out: list[Entry] = [float(c) for c in self.model.constants]
        for element, places in self.model.varying:
            for dof, part in zip(places, element.unloaded(self), strict=True):
                out[dof] = out[dof] + (part if np.ndim(part) else float(part))
        return tuple(out)

    @cached_property
    def slopes(self) -> dict[int, Array]:
        """d theta/dq (n, N) of those degrees of freedom whose theta without load moves with the joint values."""
        out: dict[int, Array] = {}
        for element, places in self.model.varying:
            slope = element.unloaded_slope(self)
            for dof, part in zip(places, () if slope is None else slope, strict=slope is not None):
                out[dof] = out[dof] + part if dof in out else part
        return out

    def unloaded(self, dofs: tuple[int, ...]) -> Array:
        """theta without load of some degrees of freedom, (len, N), or (len, 1) where it is the same everywhere."""
        known = self._unloaded.get(dofs)
        if known is None:
            entries = [self.offsets[i] for i in dofs]
            size = 1 if all(isinstance(c, float) for c in entries) else self.size
            known = self._unloaded[dofs] = en.dense(entries, size)
        return known

    @cached_property
    def _unloaded(self) -> dict[tuple[int, ...], Array]:
        return {}

    def start(self, dofs: tuple[int, ...]) -> Array:
        """The same for every configuration, to be changed (len, N)."""
        return np.array(np.broadcast_to(self.unloaded(dofs), (len(dofs), self.size)))

    def add_slopes(self, columns: Array, dofs: Sequence[int], out: Array) -> None:
        """Add to derivatives by the joint values (r, n, N) what moving offsets do: columns (r, len, N) times slopes."""
        for dof, slope in self.slopes.items():
            out += columns[:, dofs.index(dof), None] * slope
