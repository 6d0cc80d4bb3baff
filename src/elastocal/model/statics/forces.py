"""Where the chain is for given theta, the generalised forces of all loads on it, and their tangent.

Let J_i be the screw of coordinate i, W_i the wrench of all loads beyond it.  Then

    Q_i = J_i . W_i.

A motion of coordinate j carries everything beyond j along the twist J_j.  For i <= j only the loads
beyond j move: dQ_i = J_i . G_j.  For i > j the screw J_i and its loads move together:
dQ_i = H_i . J_j.  G and H are columns (6, n) that ``Resultant.tangents_into`` gives, so

    D_ij = dQ_i/dtheta_j = J_i . G_j  (i <= j),   H_i . J_j  (i > j),   plus axis tangents on the diagonal.

G = H, and D is symmetric, exactly where the loads have a potential.  H has no force part, and G has one
only under following loads: dead loads change their moments, not their forces.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from elastocal.errors import ShapeError
from elastocal.model import straight_line
from elastocal.model.chain import ChainState
from elastocal.model.elements import AxisForce
from elastocal.model.loads.wrench import AppliedWrenches, Resultant
from elastocal.model.posture import Configurations, Posture
from elastocal.model.robot import Robot
from elastocal.model.statics.flexibility import Flexibility
from elastocal.model.statics.force_code import ForceRows, Placed
from elastocal.spatial import entries as en
from elastocal.spatial.entries import Array, Bools, Entry, Ints
from elastocal.values import dataclass

CHUNK = 5000
"""Configurations per chunk: enough that numpy's cost per call is small, few enough for some tens of MB, and not a
power of two, whose rows would fall on the same cache lines."""


def chunk_size(n: int) -> int:
    """Fewer configurations per chunk for many coordinates."""
    return CHUNK if n <= 16 else 3000 if n <= 64 else CHUNK // 4


Chunk = tuple[slice, Posture, tuple[AppliedWrenches, ...]]
"""Rows, what stands there and what is applied to it."""


def chunks(model: Robot, q: Configurations, applied: Sequence[AppliedWrenches], size: int) -> Iterator[Chunk]:
    """All configurations, some at a time: memory does not grow with their number."""
    for first in range(0, len(q), size):
        rows = slice(first, min(first + size, len(q)))
        count = rows.stop - rows.start
        yield rows, model.posture(q[rows]), tuple(w.rows(rows, count) for w in applied)


def check_rows(model: Robot, total: int, applied: Sequence[AppliedWrenches]) -> None:
    for w in applied:
        model.tree.frame(w.frame)
        if len(w.wrench) not in (1, total):
            raise ShapeError(
                f"{len(w.wrench)} wrenches at {w.frame} for {total} configurations; give one, or one each",
                value=(len(w.wrench), w.frame, total),
            )


def state_at(flex: Flexibility, at: Posture, theta: Array) -> tuple[ChainState, list[Entry]]:
    """Chain state with the flexible coordinates at theta (n, N) and all others as they are without load."""
    values = values_at(flex, at, theta)
    return at.model.chain.evaluate(values, at.size), values


@dataclass(frozen=True, eq=False)
class Forces:
    """Q (n, N), screws J (6, n, N), the columns G and H, and the axis tangents (n, N).

    G and H hold moments only (3, n, N) unless loads follow: then (6, n, N).
    """

    q: Array
    screws: Array
    g: Array
    h: Array
    axis: Array

    def add_axis_forces(self, acting: Sequence[tuple[int, AxisForce]]) -> None:
        for i, axis in acting:
            self.q[i] += axis.force
            self.axis[i] += axis.tangent

    @property
    def top(self) -> int:
        """First row of a wrench that G and H hold."""
        return 6 - len(self.g)

    def take(self, some: Ints) -> Forces:
        """Of some coordinates."""
        g = self.g[:, some]
        return Forces(
            self.q[some], self.screws[:, some], g, g if self.h is self.g else self.h[:, some], self.axis[some]
        )

    def product(self, x: Array) -> Array:
        """D x (n, N): the moments that what lies beyond each screw brings, and the way that what lies within makes."""
        turns = self.screws[self.top :]
        beyond = np.cumsum((self.g * x)[:, ::-1], axis=1)[:, ::-1]
        within = np.cumsum(turns * x, axis=1)
        out = np.einsum("ain,ain->in", turns, beyond) + self.axis * x
        out[1:] += np.einsum("ain,ain->in", self.h[:, 1:], within[:, :-1])
        return np.asarray(out)

    def dense(self) -> Array:
        """D (n, n, N) written out; products use ``sweep`` instead."""
        n, screws = len(self.q), self.screws[self.top :]
        d: Array = np.einsum("ain,ajn->ijn", screws, self.g)
        lower = d.swapaxes(0, 1) if self.h is self.g else np.einsum("ain,ajn->ijn", self.h, screws)
        for i in range(1, n):
            d[i, :i] = lower[i, :i]
        diagonal = np.einsum("iin->in", d)
        diagonal += self.axis
        return d


def shifted(screws: Array, point: Array, out: Array) -> None:
    """Twists (6, n, N), or their first three rows, at a point (3, N) of what spatial screws move: v + w x p."""
    (x, y, z), (_, _, _, a, b, c) = point, screws
    out[:] = screws[: len(out)]
    out[0] += b * z - c * y
    out[1] += c * x - a * z
    out[2] += a * y - b * x


def loaded_joints(model: Robot, values: Sequence[Entry], size: int) -> dict[str, Array]:
    """Loaded value of every joint by name."""
    dofs = model.chain.dofs
    joints = ((dofs[i].frame, values[i]) for i in model.joint_dofs)
    return {joint: np.full(size, v) if isinstance(v, float) else v for joint, v in joints}


def placed_loads(model: Robot, state: ChainState) -> list[Placed]:
    """The model's own loads (weights, standing wrenches) with the level where each acts."""
    chain = model.chain
    return [
        (chain.level(frame), resultant)
        for load in model.loads
        for frame, resultant in load.resultants(state, model.gravity)
    ]


def placed_wrenches(model: Robot, state: ChainState, applied: Sequence[AppliedWrenches]) -> list[Placed]:
    return [(model.chain.level(w.frame), w.resultant(state)) for w in applied]


def runs(flex: Flexibility, placed: Sequence[Placed]) -> list[tuple[slice, list[Placed]]]:
    """Consecutive coordinates that feel the same loads, outermost first, with the loads new to each."""
    levels = sorted({level for level, _ in placed}, reverse=True)
    out: list[tuple[slice, list[Placed]]] = []
    stop = flex.n
    for i, level in enumerate(levels):
        below = levels[i + 1] if i + 1 < len(levels) else 0
        first = bisect_left(flex.dofs, below)
        last = min(stop, bisect_left(flex.dofs, level))
        out.append((slice(first, last), [p for p in placed if p[0] == level]))
        stop = first
    return out


def generalised(flex: Flexibility, screws: Array, placed: Sequence[Placed]) -> Array:
    """Q (n, N) of wrenches at frames."""
    q = np.zeros(screws.shape[1:])
    total = Resultant()
    for run, new in runs(flex, placed):
        for _, resultant in new:
            total = total + resultant
        if run.start < run.stop:
            q[run] = total.power(screws[:, run])
    return q


def frame_forces(flex: Flexibility, screws: Array, placed: Sequence[Placed]) -> Forces:
    """Q and tangent columns of wrenches at frames."""
    rows = 6 if any(r.follows for _, r in placed) else 3
    q = np.zeros(screws.shape[1:])
    g = np.empty((rows, *screws.shape[1:]))
    h = g if all(r.potential for _, r in placed) else np.empty_like(g)
    total = Resultant()
    outside = flex.n
    for run, new in runs(flex, placed):
        g[:, run.stop : outside] = h[:, run.stop : outside] = 0.0
        for _, resultant in new:
            total = total + resultant
        if run.start < run.stop:
            q[run] = total.power(screws[:, run])
            at = g[:, run]
            total.tangents_into(screws[:, run], at, at if h is g else h[:, run])
        outside = run.start
    g[:, :outside] = h[:, :outside] = 0.0
    return Forces(q, screws, g, h, np.zeros_like(q))


def evaluate(
    flex: Flexibility, at: Posture, state: ChainState, placed: Sequence[Placed], values: Sequence[Entry]
) -> Forces:
    """Forces of placed loads and of the model's axis loads at a state."""
    out = frame_forces(flex, state.columns(flex.dofs), placed)
    out.add_axis_forces(axis_forces(flex, at, values))
    return out


def values_at(flex: Flexibility, at: Posture, theta: Array) -> list[Entry]:
    """Values of all degrees of freedom with the flexible coordinates at theta (n, N), the others as without load."""
    bends = list(at.offsets)
    for row, dof in enumerate(flex.dofs):
        bends[dof] = theta[row]
    return at.model.chain.values(at.q, bends)


def forces_at(flex: Flexibility, at: Posture, theta: Array, applied: Sequence[AppliedWrenches]) -> Forces:
    """All forces and their tangent at theta (n, N)."""
    values, n = values_at(flex, at, theta), flex.n
    rows = ForceRows(flex, at.model, applied, at.model.chain.pattern(values), at.size, tangent=True).at(values)
    parts = rows[n:].reshape(-1, n, at.size) if n else np.zeros((9, 0, at.size))
    columns = parts[6:]  # moments of G and H in one, moments of each, or forces and moments of each
    half = 6 if len(columns) == 12 else 3
    g, h = columns[:half], columns[-half:]
    out = Forces(rows[:n], parts[:6], g, h if len(columns) > half else g, np.zeros((n, at.size)))
    out.add_axis_forces(axis_forces(flex, at, values))
    return out


@dataclass(frozen=True, eq=False)
class Bends:
    """Q and k Q of N configurations at one theta after the other: what does not change is laid out once."""

    flex: Flexibility
    posture: Posture
    forces: ForceRows
    commanded: Array
    values: list[Entry]
    """Of all degrees of freedom: rows of ``inputs`` where they are not the same everywhere."""
    inputs: Array

    @classmethod
    def of(cls, flex: Flexibility, posture: Posture, applied: Sequence[AppliedWrenches]) -> Bends:
        chain = posture.model.chain
        values = values_at(flex, posture, np.zeros((flex.n, posture.size)))
        forces = ForceRows(flex, posture.model, applied, chain.pattern(values), posture.size)
        inputs = en.dense([*straight_line.moved(values), *forces.wrenches], posture.size)
        still = chain.values(posture.q, [0.0] * len(values))
        commanded = en.dense([still[dof] for dof in flex.dofs], posture.size)
        return cls(flex, posture, forces, commanded, values, inputs)

    def __post_init__(self) -> None:
        for i, row in zip(self._moving, self.inputs, strict=False):
            if not isinstance(self.values[i], float):
                self.values[i] = row

    @cached_property
    def _moving(self) -> list[int]:
        """The degrees of freedom whose values are rows of ``inputs``, in order."""
        return [i for i, v in enumerate(self.values) if not isinstance(v, float) or v != 0.0]

    @cached_property
    def _bending(self) -> slice | Ints:
        """The rows that theta is in."""
        rows = np.searchsorted(self._moving, self.flex.dofs)
        together = len(rows) and rows[-1] - rows[0] + 1 == len(rows)
        return slice(rows[0], rows[-1] + 1) if together else rows

    def take(self, some: Posture, rows: Bools) -> Bends:
        """For some of the configurations."""
        return Bends(
            self.flex,
            some,
            self.forces.take(rows),
            np.compress(rows, self.commanded, axis=1),
            list(self.values),
            np.compress(rows, self.inputs, axis=1),
        )

    def at(self, theta: Array) -> tuple[Array, Array]:
        """Q and k Q (n, N) at theta (n, N)."""
        flex, n = self.flex, self.flex.n
        self.inputs[self._bending] = self.commanded + theta
        code = self.forces.code
        rows = self.forces.on_numbers(self.values) if code is None else self.forces.by(code, self.inputs)
        force, bends = rows[:n], rows[n:]
        for i, axis in axis_forces(flex, self.posture, self.values):
            force[i] += axis.force
            flex.add_bends(bends, i, axis.force)
        return force, bends


def axis_forces(flex: Flexibility, at: Posture, values: Sequence[Entry]) -> list[tuple[int, AxisForce]]:
    """The forces on joints, each with the number of its coordinate; a force on a rigid joint moves nothing."""
    model = at.model
    if not model.axis_loads:
        return []
    loaded, place, joint_dof = loaded_joints(model, values, at.size), flex.place, model.chain.joint_dof
    acting = [axis for load in model.axis_loads for axis in load.axis_forces(loaded, at.resting)]
    return [(place[dof], axis) for axis in acting if (dof := joint_dof(axis.joint)) in place]


Acting = tuple[str, float | Array, float | Array]
"""Frame, and the sizes of force and moment there, each a number or (N,)."""


def force_noise(model: Robot, flex: Flexibility, screws: Array, applied: Sequence[Acting]) -> Array:
    """How large rounding may make a force that should vanish (n, N): 1e-10 of |v| |f| + |w| |m| of all that is summed.

    Lengths, not components: an axis that should be at right angles to a force is so to rounding only.
    """
    push, twist = np.zeros(screws.shape[1:]), np.zeros(screws.shape[1:])
    for frame, force, moment in (*model.load_sizes, *applied):
        felt = bisect_left(flex.dofs, model.chain.level(frame))
        push[:felt] += force
        twist[:felt] += force * model.chain.length(frame) + moment
    out = np.linalg.norm(screws[:3], axis=0) * push + np.linalg.norm(screws[3:], axis=0) * twist
    for load in model.loads:
        for joint, size in load.axis_sizes():
            i = flex.place.get(model.chain.joint_dof(joint))
            if i is not None:
                out[i] += size
    return np.asarray(1e-10 * out)
