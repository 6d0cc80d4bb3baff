"""A robot as a frozen value: frames, effects, transmission.  Everything else is computed from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from elastocal.arguments import by_name, check_type
from elastocal.errors import DuplicateError, NumberError, RangeError, ShapeError, UnknownNameError
from elastocal.model.chain import JOINT, Chain, Dof
from elastocal.model.compliant.link_compliance import Form, LinkCompliance
from elastocal.model.elements import CompliantCoordinate, Element, Load, element_kinds
from elastocal.model.frames import Body, FrameTree, JointMotion, Shape
from elastocal.model.parameters import Parameter, ParameterTable, Status
from elastocal.model.posture import Configurations, Posture
from elastocal.model.transmission import Transmission
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

if TYPE_CHECKING:  # what is computed of a robot stands on it
    from elastocal.model.kinematics import Kinematics
    from elastocal.model.loads.wrench import AppliedWrenches
    from elastocal.model.statics.deflection import FrameDeflection
    from elastocal.model.statics.equilibrium import Progress
    from elastocal.model.statics.flexibility import Flexibility
    from elastocal.model.statics.stiffness import CartesianStiffness

OF_FRAMES = ("chain", "places", "nominal", "size", "joint_dofs", "parameter_names", "parameter_counts")
"""What a robot has whatever its parameters are worth."""


@dataclass(frozen=True, eq=False)
class CompliantPart:
    """A coordinate that a load may move: where it acts, the non-zeros (row, column, value) of its compliance, which of
    its degrees of freedom they reach, whether it has backlash."""

    coordinate: CompliantCoordinate
    dofs: tuple[Dof, ...]
    terms: tuple[tuple[int, int, float], ...]
    active: tuple[int, ...]
    has_backlash: bool

    @classmethod
    def of(cls, c: CompliantCoordinate) -> CompliantPart:
        rows = c.compliance().tolist()
        terms = tuple((i, j, value) for i, row in enumerate(rows) for j, value in enumerate(row) if value)
        active = sorted({i for term in terms for i in term[:2]})
        loose = c.may_have_backlash and c.backlash(np.ones((len(rows), 1))) is not None
        return cls(c, c.dofs(), terms, tuple(active), loose)


@dataclass(frozen=True, eq=False, repr=False)
class Robot:
    """The model; ``gravity`` is the acceleration in base axes, ``tool`` the frame used by default.

    ``temperature`` above the reference, in K, counts where configurations come without one of their own.
    """

    name: str
    tree: FrameTree
    tool: str
    elements: tuple[Element, ...] = ()
    gravity: Array = field(default_factory=lambda: np.array([0.0, 0.0, -9.80665]))
    transmission: Transmission | None = None
    title: str = ""
    source: str = ""
    serial: str = ""
    status: Status = ""
    temperature: float | None = None
    estimated: bool = False
    """True where parameters were set from outside: estimates may violate physics (003 section 3.2)."""
    notes: tuple[str, ...] = ()
    """What the file left open and what was chosen for it, a sentence each."""
    bodies: tuple[Body, ...] = ()
    """How the file draws the links, for pictures; nothing where it does not."""
    shapes: tuple[Shape, ...] = ()
    """The room that links take, for collisions; a link without any is taken to be a capsule by the robot's size."""
    rated_payload: float | None = None
    """In kg, as the maker states it; None where it is not known."""

    def __post_init__(self) -> None:
        self.tree.frame(self.tool)
        gravity = np.asarray(self.gravity, dtype=np.float64)
        if gravity.shape != (3,) or not np.all(np.isfinite(gravity)):
            raise ShapeError(f"robot {self.name}: gravity must be three finite numbers", code="gravity")
        if self.rated_payload is not None and not 0 < self.rated_payload < np.inf:
            raise RangeError(f"robot {self.name}: the rated payload must be a positive mass", value=self.rated_payload)
        gravity.setflags(write=False)
        object.__setattr__(self, "gravity", gravity)
        for shape in self.shapes:
            self.tree.frame(shape.frame)
            if not shape.radius > 0:
                raise RangeError(f"robot {self.name}: a shape of {shape.frame!r} needs a positive radius")
        for element in self.elements:
            element.check(self.tree)
            if not self.estimated:
                element.check_physics()
        self._check_one_compliance()
        self.parameters  # noqa: B018  names must be unique from the start
        if self.transmission is not None and len(self.transmission.axes) != self.n:
            raise ShapeError(
                f"robot {self.name}: the controller has {len(self.transmission.axes)} axes for {self.n} joints",
                value=(len(self.transmission.axes), self.n),
            )

    def _check_one_compliance(self) -> None:
        owner: dict[Dof, str] = {}
        for y in (y for y in self.compliant if y.active):
            for dof in y.dofs:
                if dof in owner:
                    raise DuplicateError(
                        f"robot {self.name}: {dof} has two compliances ({owner[dof]} and {y.coordinate.kind}); "
                        "keep one",
                        value=(dof, owner[dof], y.coordinate.kind),
                    )
                owner[dof] = y.coordinate.kind

    def __repr__(self) -> str:
        kinds = Counter(e.kind for e in self.elements)
        effects = ", ".join(f"{n} {kind}" for kind, n in kinds.items()) or "nothing bends, weighs or is off"
        joints = ", ".join(self.joints[:12]) + " ..." * (self.n > 12)
        return f"<Robot {self.name}: {self.n} joints ({joints}) to {self.tool}; {effects}>"

    @property
    def joints(self) -> tuple[str, ...]:
        return self.tree.joint_names

    @cached_property
    def revolute_joints(self) -> tuple[str, ...]:
        return tuple(j for j in self.joints if self.tree.joint(j).kind == "revolute")

    @property
    def n(self) -> int:
        """Number of joints that take a value."""
        return len(self.joints)

    @cached_property
    def motions(self) -> tuple[JointMotion, ...]:
        return tuple(self.tree.joint(j) for j in self.joints)

    @cached_property
    def axis_kinds(self) -> dict[str, str]:
        """Axes of the controller with the kinds of their joints."""
        return dict(zip(self.controller.axes, (m.kind for m in self.motions), strict=True))

    @cached_property
    def coordinates(self) -> tuple[CompliantCoordinate, ...]:
        return tuple(e for e in self.elements if isinstance(e, CompliantCoordinate))

    @cached_property
    def compliant(self) -> tuple[CompliantPart, ...]:
        """The coordinates that a load may move."""
        return tuple(CompliantPart.of(c) for c in self.coordinates if not c.constant_in_load)

    @cached_property
    def loads(self) -> tuple[Load, ...]:
        return tuple(e for e in self.elements if isinstance(e, Load))

    @cached_property
    def axis_loads(self) -> tuple[Load, ...]:
        """The loads that push joints."""
        return tuple(load for load in self.loads if type(load).axis_forces is not Load.axis_forces)

    @cached_property
    def nominal(self) -> Robot:
        """The robot as its controller knows it: nothing bends, weighs or is off."""
        return replace(self, elements=())

    @cached_property
    def chain(self) -> Chain:
        virtual = [d for c in self.coordinates for d in c.dofs() if d.axis != JOINT]
        return Chain.build(self.tree, virtual)

    @cached_property
    def places(self) -> tuple[tuple[int, ...], ...]:
        """Numbers in the chain of the degrees of freedom that each element acts on; none of a load."""
        index = self.chain.index
        return tuple(
            tuple(index[d] for d in e.dofs()) if isinstance(e, CompliantCoordinate) else () for e in self.elements
        )

    @cached_property
    def size(self) -> float:
        """The longest way from the base to a frame, in m (at least 1 mm): what a length is compared with."""
        return max(1e-3, *(self.chain.length(f) for f in self.tree.names))

    @cached_property
    def joint_dofs(self) -> tuple[int, ...]:
        """Numbers in the chain of all joints, of those that follow others too."""
        return tuple(i for i, d in enumerate(self.chain.dofs) if d.axis == JOINT)

    @cached_property
    def leads(self) -> Array | None:
        """(joints, n): how joint values move the joints of ``joint_dofs``; None when no joint follows another."""
        names = [self.chain.dofs[i].frame for i in self.joint_dofs]
        motions = [self.tree.joint(name) for name in names]
        if all(m.follows is None for m in motions):
            return None
        out = np.zeros((len(names), self.n))
        for row, name, m in zip(out, names, motions, strict=True):
            row[self.joints.index(m.follows or name)] = 1.0 if m.follows is None else m.ratio
        return out

    @cached_property
    def varying(self) -> tuple[tuple[CompliantCoordinate, tuple[int, ...]], ...]:
        """Coordinates whose theta without load depends on the configuration, and where in the chain they act."""
        pairs = zip(self.elements, self.places, strict=True)
        return tuple((e, at) for e, at in pairs if isinstance(e, CompliantCoordinate) and e.varies)

    @cached_property
    def varying_dofs(self) -> frozenset[int]:
        return frozenset(i for _, at in self.varying for i in at)

    @cached_property
    def constants(self) -> Array:
        """Geometric errors and joint offsets, one per degree of freedom: theta without load but for what varies."""
        out = np.zeros(len(self.chain.dofs))
        anywhere = Posture(self, np.zeros((self.n, 1)))
        for element, at in zip(self.elements, self.places, strict=True):
            if isinstance(element, CompliantCoordinate) and not element.varies:
                out[list(at)] += element.unloaded(anywhere)
        out.setflags(write=False)
        return out

    @cached_property
    def as_commanded(self) -> bool:
        """Whether without load every joint is where it is commanded to be, and nothing else moves or is off."""
        in_order = self.joints == tuple(self.chain.dofs[i].frame for i in self.joint_dofs)
        return in_order and self.leads is None and not self.varying and not self.constants.any()

    @cached_property
    def controller(self) -> Transmission:
        return self.transmission or Transmission.identity(self.joints)

    @cached_property
    def parameters(self) -> ParameterTable:
        return ParameterTable(tuple(p for rows in self.parameter_rows for p in rows))

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:
        return self.parameters.names

    @cached_property
    def parameter_counts(self) -> tuple[int, ...]:
        """How many parameters each element has."""
        return tuple(map(len, self.parameter_rows))

    @cached_property
    def joint_parameters(self) -> tuple[str, ...]:
        """Parameters of actuated joints and motors, which stand for others where only a combination is known."""
        return tuple(
            p.name
            for element, rows in zip(self.elements, self.parameter_rows, strict=True)
            if isinstance(element, CompliantCoordinate) and all(d.axis == JOINT for d in element.dofs())
            for p in rows
        )

    @cached_property
    def parameter_rows(self) -> tuple[tuple[Parameter, ...], ...]:
        """The parameters of each element."""
        return tuple(e.parameters(self.tree) for e in self.elements)

    @cached_property
    def assembled(self) -> dict[tuple[int, ...], Flexibility]:
        """What was put together of its compliances, by the coordinates that were asked for beside them."""
        return {}

    @cached_property
    def load_values(self) -> tuple[tuple[Load, ...], tuple[float, ...]]:
        """Loads that are wrenches, with ones for their parameters, and the values of these."""
        loads, numbers = [], list[float]()
        for load in self.loads:
            if type(load).resultants is not Load.resultants:
                values = [p.value for p in load.parameters(self.tree)]
                loads.append(load.with_values([1.0] * len(values)))
                numbers += values
        return tuple(loads), tuple(numbers)

    @cached_property
    def load_sizes(self) -> tuple[tuple[str, float, float], ...]:
        """Frame, and upper bounds of force and moment there, of all loads."""
        return tuple(acting for load in self.loads for acting in load.sizes(self.gravity))

    def with_parameters(self, values: Mapping[str, float] | Sequence[float] | Array) -> Self:
        """The same robot with other parameter values (by name, or all in table order), which a robot may have."""
        new = self.with_estimates(values)
        for was, element in zip(self.elements, new.elements, strict=True):
            if element is not was:
                element.check_physics()
        return new

    def with_estimates(self, values: Mapping[str, float] | Sequence[float] | Array) -> Self:
        """The same of values on the way of a search, or of estimates, which noise may take beyond what is possible."""
        updated = self.parameters.updated(values)
        full: list[float] = updated.tolist()
        elements: list[Element] = []
        start = 0
        for element, rows in zip(self.elements, self.parameter_rows, strict=True):
            chosen = full[start : start + len(rows)]
            start += len(rows)
            if any(p.value != v for p, v in zip(rows, chosen, strict=True)):
                element = element.with_values(chosen)
            elements.append(element)
        if not np.isfinite(updated).all():
            return replace(self, elements=tuple(elements), estimated=True)  # which says whose value it is
        # values change no frame and no name: what was checked and built of those holds, and searches need it fast
        same = {name: getattr(self, name) for name in (*self.__dataclass_fields__, *OF_FRAMES)}
        new = object.__new__(type(self))
        vars(new).update(same | {"elements": tuple(elements), "estimated": True})
        if [y.active for y in new.compliant] != [y.active for y in self.compliant]:
            new._check_one_compliance()
        return new

    def with_elements(self, *added: Element) -> Self:
        return replace(self, elements=(*self.elements, *added))

    def with_joint_compliance(self, rated_payload: float | None = None, mass: float | None = None) -> Robot:
        """A start value, by the size of the robot, for every joint that has no compliance: see ``start_values``."""
        from elastocal.model.start_values import with_joint_compliance

        return with_joint_compliance(self, rated_payload, mass)

    def with_masses(self, rated_payload: float | None = None, mass: float | None = None) -> Robot:
        """A start value, by the size of the robot, for every link that has no mass: see ``start_values``."""
        from elastocal.model.start_values import with_masses

        return with_masses(self, rated_payload, mass)

    def without(self, *kinds: str) -> Self:
        """The same robot without the effects of these kinds, which it need not have."""
        check_type("kinds", kinds, tuple[str, ...])
        for kind in set(kinds) - {e.kind for e in self.elements}:
            if kind not in element_kinds():
                raise UnknownNameError("kind of effect", kind, element_kinds(), f"robot {self.name}")
        return replace(self, elements=tuple(e for e in self.elements if e.kind not in kinds))

    def with_link_form(self, form: Form) -> Self:
        """All 6x6 springs described by 36, 21 or 8 parameters (003 section 4.2)."""
        return replace(
            self, elements=tuple(e.in_form(form) if isinstance(e, LinkCompliance) else e for e in self.elements)
        )

    def kinematics(self, q: object, frame: str | None = None) -> Kinematics:
        """Pose and Jacobian of a frame (default: the tool) at joint values (N, n), without load."""
        from elastocal.model.kinematics import kinematics

        return kinematics(self, q, frame)

    def deflection(
        self,
        q: object,
        wrench: Sequence[AppliedWrenches] | Array | Sequence[float],
        frame: str | None = None,
        progress: Progress | None = None,
    ) -> FrameDeflection:
        """What a load moves a frame (default: the tool) by, between two equilibria: see ``statics.deflection``.

        ``wrench`` (6,) or (N, 6) in N and N m on the tool, base axes; or wrenches at named frames.
        """
        from elastocal.model.statics.deflection import deflection

        return deflection(self, q, wrench, frame, progress)

    def stiffness(self, q: object, frame: str | None = None, progress: Progress | None = None) -> CartesianStiffness:
        """Cartesian compliance and stiffness of a frame (default: the tool), without load."""
        from elastocal.model.statics.stiffness import stiffness

        return stiffness(self, q, frame, progress)

    def configurations(self, q: object) -> Configurations:
        """Joint values, or ``Configurations`` with their temperature, checked; limits are not judged here."""
        if not isinstance(q, Configurations):
            return Configurations(self.joint_values(q))
        values = self.joint_values(q.q)
        if q.temperature is None:
            return q if values is q.q else Configurations(values)
        warm = np.broadcast_to(np.asarray(q.temperature, dtype=np.float64), (len(values),))
        bad = np.flatnonzero(~np.isfinite(warm))
        if len(bad):
            raise NumberError(f"configuration {bad[0] + 1}: the temperature is {warm[bad[0]]}; give a finite number")
        return q if values is q.q and warm is q.temperature else Configurations(values, warm)

    def posture(self, at: Configurations | Array) -> Posture:
        """A batch as the engine sees it: ``Configurations``, or joint values with the configurations last (n, N)."""
        if not isinstance(at, Configurations):
            return Posture(self, at)
        for posture in at.postures:
            if posture.model is self:
                return posture
        made = Posture(self, np.ascontiguousarray(at.q.T), at.temperature, at.memo)
        at.postures[:] = [made]  # another thread may put its own there at once
        return made

    def joint_values(self, q: object) -> Array:
        """Joint values as a checked (N, n) array in rad and m."""
        if isinstance(q, Configurations):
            q = q.q
        try:
            array = np.asarray(by_name("q", q, self.joints), dtype=np.float64)
            array = array if array.ndim == 2 else np.atleast_2d(array)
        except (TypeError, ValueError):
            raise ShapeError(f"robot {self.name}: joint values must be a table of numbers, one row each") from None
        if array.ndim != 2:
            raise ShapeError(f"robot {self.name}: joint values must be (N, {self.n}), but {array.shape} was given")
        if array.shape[1] != self.n:
            raise ShapeError(
                f"robot {self.name} has {self.n} joints ({', '.join(self.joints) or 'none'}), "
                f"but {array.shape[-1]} values were given",
                value=(self.n, array.shape[-1]),
            )
        known = np.isfinite(array)
        if not known.all():
            row, col = (int(v) for v in np.argwhere(~known)[0])
            raise NumberError(
                f"configuration {row + 1}: {self.joints[col]} is {array[row, col]}; give a finite number",
                value=(row + 1, self.joints[col], array[row, col]),
            )
        return array

    def beyond_limits(self, q: Array) -> tuple[tuple[int, str, float], ...]:
        """Row, joint and value of everything outside the joint limits."""
        out = []
        for frame in self.tree.frames:
            motion = frame.joint
            if motion is not None and motion.limits is not None:
                column = q[:, self.joints.index(motion.follows or frame.name)]
                value = column if motion.follows is None else motion.ratio * column + motion.offset
                low, high = motion.limits
                slack = 1e-9 * max(1.0, abs(low), abs(high))
                rows = np.flatnonzero((value < low - slack) | (value > high + slack))
                out += [(int(r), frame.name, float(value[r])) for r in rows]
        return tuple(sorted(out, key=lambda hit: hit[0]))
