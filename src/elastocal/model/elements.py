"""What a physical effect must say of itself, and where effects are found by their kind.

An effect is either a compliant coordinate (it bends or is off: ``theta`` from the configuration and from the force
``Q`` conjugate to it) or a load (it pushes: ``Q`` from the state).  Adding an effect is adding one file to
``compliant`` or ``loads``.

It also says how a calibration seeks it: its word, where it is added, on which ``Occasion`` it is tried, and priors of
its parameters (``PriorGroup``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from elastocal.errors import InputError
from elastocal.kinds import kinds_in
from elastocal.model.chain import AXES, JOINT, ChainState, Dof
from elastocal.model.parameters import Parameter, Status
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.model.frames import FrameTree
    from elastocal.model.loads.wrench import Resultant
    from elastocal.model.posture import Posture
    from elastocal.model.robot import Robot


@dataclass(frozen=True)
class Occasion:
    """What a calibration has to go by when it chooses the words to try."""

    robot: Robot
    placed: bool
    """Readings are of places; deflections alone do not see what no load changes."""
    loaded: bool
    """Loads are applied."""
    warms: bool
    """Temperatures are read, and change."""
    weighed: bool
    """The robot file has masses of links."""
    bends: bool
    """Compliances are sought: loads are applied, or masses press on compliances of the robot file."""


@dataclass(frozen=True)
class PriorGroup:
    """Parameters whose prior standard deviations about the robot's values have one scale, which evidence sets."""

    name: str
    sd: float
    """Start of the scale: the sd of a typical robot, in SI."""
    names: tuple[str, ...]
    sizes: tuple[float, ...] = ()
    """Sd of every parameter in parts of the scale; empty: all are 1."""
    pool: str = ""
    """Groups of one pool have scales near each other."""
    positive: bool = False
    """No parameter falls below zero."""
    width: float = 4.0
    """Sd of the logarithm of the scale about its start, or about the mean of its pool; 0 fixes it."""


Terms = tuple[tuple[int, Array | float], ...]
"""Non-zero entries of one column: place among the coordinate's degrees of freedom, value(s)."""


@dataclass(frozen=True, kw_only=True)
class Element(ABC):
    """A named physical effect with named parameters."""

    kind: ClassVar[str]
    shorthand: ClassVar[Mapping[str, str]] = {}
    """Other ways to write the effect in a file: key and dimension; ``expand`` turns them into fields."""
    word: ClassVar[str] = ""
    """The model word under which a calibration seeks the effect; without one it has the values of the robot file."""
    prior_sd: ClassVar[float] = 0.0
    """Sd of its parameters in typical robots, in SI, about zero or the value of the robot file."""
    rare: ClassVar[bool] = False
    """Few robots need it: kept only where the leave-one-out error falls clearly."""

    source: str = ""
    status: Status = ""

    @classmethod
    def expand(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Fields (SI) from what a file gives; replaces shorthand keys."""
        return given

    @property
    @abstractmethod
    def place(self) -> str:
        """The joint or frame it belongs to; parameters are called ``place.symbol``."""

    @abstractmethod
    def parameters(self, tree: FrameTree) -> tuple[Parameter, ...]:
        """Its parameters with unit, value and scale."""

    @abstractmethod
    def with_values(self, values: Sequence[float]) -> Self:
        """The same effect with other parameter values, in the order of ``parameters``."""

    def check(self, tree: FrameTree) -> None:  # noqa: B027  most effects fit anywhere
        """Raise an InputError where the effect does not fit the robot."""

    def check_physics(self) -> None:  # noqa: B027  most effects cannot violate any
        """Raise an InputError where the values violate physics; estimates may, what a user states may not."""

    @classmethod
    def neutral(cls, robot: Robot) -> tuple[Element, ...]:
        """Effects of size zero, wherever a calibration seeks it; none: only those of the robot file are sought."""
        return ()

    @classmethod
    def prior_groups(cls, robot: Robot) -> tuple[PriorGroup, ...]:
        """Its parameters in a robot that has them, with their priors: one scale for all of them."""
        return (PriorGroup(cls.word, cls.prior_sd, tuple(p.name for p in robot.parameters if p.kind == cls.kind)),)

    @classmethod
    def applies(cls, occasion: Occasion) -> bool:
        """Whether a calibration tries it unless words are asked for."""
        return occasion.placed

    def parameter(self, symbol: str, unit: str, value: float, scale: float) -> Parameter:
        return Parameter(f"{self.place}.{symbol}", unit, float(value), scale, self.kind, self.source, self.status)


@dataclass(frozen=True, kw_only=True)
class CompliantCoordinate(Element):
    """theta = unloaded(q) + compliance Q + backlash(Q), on its degrees of freedom (d of them)."""

    linear_in_force: ClassVar[bool] = False
    """True where theta is the product of parameters and Q, so that the linear model has columns for it."""

    constant_in_load: ClassVar[bool] = False
    """True where theta does not depend on Q: it moves the state without load."""

    varies: ClassVar[bool] = False
    """True where theta without load depends on the configuration: on joint values or temperature."""

    @classmethod
    def applies(cls, occasion: Occasion) -> bool:
        return occasion.placed if cls.constant_in_load else occasion.bends

    @property
    def sharp(self) -> bool:
        """Whether its backlash, if it has any, flips from side to side at once, so that states may have no side."""
        return True

    @abstractmethod
    def dofs(self) -> tuple[Dof, ...]:
        """Where it acts."""

    def unloaded(self, posture: Posture) -> Array:
        """The part that no load changes, (d,), or (d, N) where it varies; (d,) where it is neutral."""
        return np.zeros(len(self.dofs()))

    def unloaded_slope(self, posture: Posture) -> Array | None:
        """Its derivative (d, n, N) by the joint values; None where they do not move it."""
        return None

    def compliance(self) -> Array:
        """The linear part (d, d)."""
        d = len(self.dofs())
        return np.zeros((d, d))

    def backlash(self, force: Array) -> tuple[Array, Array] | None:
        """Backlash: theta (d, N) and its tangent (d, d, N) for forces (d, N); None where there is none."""
        return None

    @property
    def may_have_backlash(self) -> bool:
        """Whether this kind of coordinate knows of backlash at all."""
        return type(self).backlash is not CompliantCoordinate.backlash

    def undetermined(self, force: Array, noise: Array) -> Bools | None:
        """True (N,) where ``force`` (d, N), known to ``noise`` (d, N), does not tell the side of the backlash."""
        return None

    @abstractmethod
    def sensitivity(self, force: Array, posture: Posture) -> tuple[Terms, ...]:
        """Derivative of theta by each parameter at fixed force (d, N), as the few terms that are not zero."""


@dataclass(frozen=True, kw_only=True)
class JointCoordinate(CompliantCoordinate):
    """A coordinate on one joint, along or about its axis unless it says otherwise."""

    joint: str

    @property
    def place(self) -> str:
        return self.joint

    def dofs(self) -> tuple[Dof, ...]:
        return (Dof(self.joint, JOINT),)

    def check(self, tree: FrameTree) -> None:
        tree.joint(self.joint)

    @classmethod
    def neutral(cls, robot: Robot) -> tuple[Element, ...]:
        """On every joint that it fits."""
        each = (cls(joint=j) for j in robot.joints)
        return tuple(e for e in each if _fits(e, robot.tree))


def _fits(element: Element, tree: FrameTree) -> bool:
    try:
        element.check(tree)
    except InputError:
        return False
    return True


@dataclass(frozen=True, kw_only=True)
class FrameCoordinate(CompliantCoordinate):
    """A coordinate on axes of one frame."""

    axes: ClassVar[Sequence[str]] = AXES
    frame: str

    @property
    def place(self) -> str:
        return self.frame

    def dofs(self) -> tuple[Dof, ...]:
        return tuple(Dof(self.frame, axis) for axis in self.axes)

    def check(self, tree: FrameTree) -> None:
        tree.frame(self.frame)


@dataclass(frozen=True)
class AxisForce:
    """A generalised force on one joint and its derivative by the joint's value, each (N,).

    ``rest_tangent`` is its derivative by the joint's value at rest, where it depends on that too.
    """

    joint: str
    force: Array
    tangent: Array
    rest_tangent: Array | None = None


@dataclass(frozen=True, kw_only=True)
class Load(Element):
    """Pushes on the robot: wrenches at frames, or generalised forces on joints."""

    @classmethod
    def applies(cls, occasion: Occasion) -> bool:
        return occasion.bends

    @abstractmethod
    def sizes(self, gravity: Array) -> tuple[tuple[str, float, float], ...]:
        """Frame, force in N and moment about the frame in N m that its wrenches never exceed (axis forces apart)."""

    def axis_sizes(self) -> tuple[tuple[str, float], ...]:
        """Joint and size of the terms that its axis forces are summed from."""
        return ()

    def resultants(self, state: ChainState, gravity: Array) -> tuple[tuple[str, Resultant], ...]:
        """Frame and wrench acting there."""
        return ()

    def axis_forces(self, value: dict[str, Array], rest: dict[str, Array]) -> tuple[AxisForce, ...]:
        """Forces on joints from their loaded values and their values at rest (without load)."""
        return ()

    def resultant_sensitivity(self, state: ChainState, gravity: Array) -> tuple[tuple[int, str, Resultant], ...]:
        """Parameter number, frame and derivative of the wrench by that parameter."""
        return ()

    def axis_sensitivity(self, value: dict[str, Array], rest: dict[str, Array]) -> tuple[tuple[int, str, Array], ...]:
        """Parameter number, joint and derivative of the force by that parameter."""
        return ()


def element_kinds() -> dict[str, type[Element]]:
    """Every concrete effect by its kind: those of the folders ``compliant`` and ``loads``, and of other packages."""
    from elastocal.model import compliant, loads

    return kinds_in((compliant, loads), Element, group="elastocal.elements")
