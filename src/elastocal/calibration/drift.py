"""What has moved: the tool from one calibration to another, over a plane of the workpiece; points from one campaign to
another, read in the same poses and loads.

Of calibrations it is p_b(q) - p_a(q) at the same joint values.  Base and tool of each were registered by its own
readings, so that a shift of all places is told apart from a change of shape by the best rigid fit.
"""

from __future__ import annotations

from math import nan, sqrt

import numpy as np

from elastocal.arguments import vector
from elastocal.calibration.calibration import Calibration
from elastocal.calibration.campaign import Campaign
from elastocal.calibration.states import repeat_scatter
from elastocal.calibration.tool import tool_of
from elastocal.errors import ConflictError, InputError, ShapeError
from elastocal.model.kinematics import kinematics
from elastocal.model.places import Plane, Reached, box_plane, reach
from elastocal.results import Finding
from elastocal.solve.nested import ENOUGH
from elastocal.solve.summary import ErrorSummary
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose, rigid_fit
from elastocal.values import dataclass

COUNTS = (15, 11)


@dataclass(frozen=True, eq=False)
class ToolChange:
    """``moved`` (N, 3) in m at places reached, ``shape`` without the best rigid fit, ``sd`` (N,) of its size."""

    at: Reached
    near: Array
    moved: Array
    shape: Array
    sd: Array

    def sizes(self, rigid: bool = False) -> Array:
        return np.asarray(np.linalg.norm(self.moved if rigid else self.shape, axis=1))

    def summary(self, rigid: bool = False) -> ErrorSummary:
        return ErrorSummary.of(self.sizes(rigid))

    @property
    def uncertainty(self) -> ErrorSummary:
        """Of the sizes without rigid motion, k = 2."""
        return ErrorSummary.of(2 * self.sd)

    @property
    def over_plane(self) -> Array:
        """Sizes at all places of the plane, nan where the robot does not reach."""
        out = np.full(len(self.at.reached), np.nan)
        out[self.at.reached] = self.sizes()
        return out


def workpiece(c: Calibration, plane: Plane | None, near: Array | None) -> tuple[Reached, Array] | None:
    """The plane given, else a horizontal one about the tool with all joints in the middle of their ranges."""
    robot = c.robot
    start = (
        vector("near", near, robot.n)
        if near is not None
        else np.array([sum(m.limits) / 2 if m.limits else 0.0 for m in robot.motions])
    )
    if plane is None:
        tip = kinematics(robot.nominal, start[None]).position[0]
        side = 0.15 * robot.size
        half = np.array([side, side, 0.0])
        plane = box_plane(tip - half, tip + half, Pose(np.eye(3), np.zeros(3)), COUNTS)
    try:
        places = reach(robot, robot.tool, plane, start)
    except InputError:
        return None
    return (places, start) if int(places.reached.sum()) >= 3 else None


def tool_change(a: Calibration, b: Calibration, at: Reached, near: Array) -> ToolChange:
    q = at.q[at.reached]
    (before, own), (after, other) = (tool_places(c, q) for c in (a, b))
    return ToolChange(at, near, after - before, shape_change(before, after), np.sqrt(own + other))


def tool_places(c: Calibration, q: Array) -> tuple[Array, Array]:
    """The tool (N, 3) in base axes at joint values, unloaded, and its variance (N,) without shifts and turns of all."""
    rigid = _rigid_motions(kinematics(c.robot.nominal, q).position)
    values = np.array([c.parameters[n].value for n in c.names])
    warm = np.zeros(len(q)) if "thermal" in c.words else None
    state = tool_of(c.robot, c.names, q, None, None, warm).states(values)
    own = c.inflation**2 * c.covariance[: len(c.names), : len(c.names)]
    flat = state.slope[:, :3].reshape(3 * len(q), -1)
    slope = (flat - rigid @ (rigid.T @ flat)).reshape(len(q), 3, -1)
    return state.origin, np.einsum("nip,pq,niq->n", slope, own, slope)


def shape_change(before: Array, after: Array) -> Array:
    """By how much points (N, 3) moved, once the best rigid fit of all is taken out."""
    pose, _ = rigid_fit(after, before)
    return np.asarray(after @ pose.rotation.T + pose.translation - before)


def _rigid_motions(points: Array) -> Array:
    """Orthonormal columns (3 N, 6) of small shifts and turns of points (N, 3) together."""
    centred = points - points.mean(axis=0)
    columns = [np.tile(e, len(points)) for e in np.eye(3)]
    columns += [np.cross(e, centred).ravel() for e in np.eye(3)]
    return np.asarray(np.linalg.qr(np.stack(columns, axis=1))[0])


SAME_Q, SAME_F = 1e-3, 1.0
"""rad or m, and N or N m, by which states of two campaigns may differ."""


@dataclass(frozen=True, eq=False)
class Drift:
    """Readings of one campaign at the states of another: ``moved`` (N, markers, 3) in m, ``shape`` after a rigid fit.

    ``sd`` of the length of one such difference by the noise, nan where no campaign tells it.
    """

    names: tuple[str, str]
    rows: tuple[tuple[int, int], ...]
    moved: Array
    shape: Array
    sd: float
    places: tuple[str, ...]

    def sizes(self, rigid: bool = False) -> Array:
        """Distance (N,) in m of the marker that moved farthest in each state; nan where none was read in both."""
        each = np.linalg.norm(self.moved if rigid else self.shape, axis=2)
        read = np.isfinite(each)
        return np.where(read.any(axis=1), np.max(each, axis=1, where=read, initial=0.0), np.nan)

    @property
    def expected(self) -> float:
        """RMS distance in m that noise alone lets expect."""
        return sqrt(3) * self.sd

    @property
    def verdict(self) -> tuple[Finding, ...]:
        raw, left = (_rms(v) for v in (self.moved, self.shape))
        worst = float(np.nanmax(self.sizes()))
        message = (
            f"{self.names[1]} against {self.names[0]}: {len(self.rows)} common states; points moved by "
            f"{1e3 * raw:.3f} mm RMS, of which {1e3 * left:.3f} mm RMS (largest {1e3 * worst:.3f} mm) is no shift or "
            "turn of the whole"
        )
        data = {"moved_rms": raw, "shape_rms": left, "shape_max": worst, "sd": self.sd, "states": len(self.rows)}
        if not np.isfinite(self.sd):
            return (Finding("drift-not-judged", "note", f"{message}. No noise is known to judge it by.", data),)
        message = f"{message}; noise lets expect {1e3 * self.expected:.3f} mm"
        if left > 1.5 * self.expected:
            return (Finding("drift", "warning", f"{message}: CHANGED.", data),)
        return (Finding("no-drift", "note", f"{message}: no change is shown.", data),)

    def __repr__(self) -> str:
        return f"<Drift: {self.verdict[0].text}>"


def drift(a: Campaign, b: Campaign, names: tuple[str, str] = ("A", "B")) -> Drift:
    """Positions or deflections that both campaigns read in the same states."""
    kind = "position" if a.position is not None and b.position is not None else "deflection"
    first, second = (getattr(c, kind) for c in (a, b))
    if first is None or second is None:
        raise ConflictError(f"{names[0]} and {names[1]} have no kind of reading in common; give positions of both")
    if tuple(a.markers) != tuple(b.markers):
        raise ConflictError(
            f"{names[1]}: markers {', '.join(b.markers)}, {names[0]}: {', '.join(a.markers)}; name the same in both"
        )
    rows = _common(a, b)
    if len(rows) < 3:
        raise InputError(
            f"{names[0]} and {names[1]} have {len(rows)} states in common; measure at least 3 alike",
            code="few", value=len(rows),
        )  # fmt: skip
    before, after = first[[i for i, _ in rows]], second[[j for _, j in rows]]
    known = np.isfinite(before).all(axis=2) & np.isfinite(after).all(axis=2)
    shape = after - before
    if kind == "position":
        shape = np.full_like(before, np.nan)
        shape[known] = shape_change(before[known], after[known])
    pair = 2 if kind == "deflection" else 1
    sd = sqrt(_noise(a, first, pair) ** 2 + _noise(b, second, pair) ** 2)
    return Drift(names, tuple(rows), after - before, shape, sd, tuple(a.line(i) for i, _ in rows))


def _common(a: Campaign, b: Campaign) -> list[tuple[int, int]]:
    """Rows of both with the same joint values and load, every row once."""
    if a.q.shape[1] != b.q.shape[1]:
        raise ShapeError(
            f"the campaigns have {a.q.shape[1]} and {b.q.shape[1]} joints; only those of one robot compare"
        )
    turn = {"rad": 1.0, "deg": np.pi / 180}
    qa, qb = a.q * turn[a.angle], b.q * turn[b.angle]
    fa, fb = (np.zeros((c.count, 6)) if c.wrench is None else c.wrench for c in (a, b))
    free, out = set(range(b.count)), []
    for i in range(a.count):
        near = [
            j for j in sorted(free) if np.abs(qa[i] - qb[j]).max() < SAME_Q and np.abs(fa[i] - fb[j]).max() < SAME_F
        ]
        if near:
            out.append((i, near[0]))
            free.discard(near[0])
    return out


def _noise(c: Campaign, readings: Array, pair: int) -> float:
    """Sd of one coordinate by repeats, else as stated for one reading; a deflection is a ``pair`` of them.

    nan where neither tells.
    """
    groups: dict[tuple[float, ...], list[int]] = {}
    load = np.zeros((c.count, 6)) if c.wrench is None else c.wrench
    for i, key in enumerate(np.round(np.hstack([c.q, load]), 4)):
        groups.setdefault(tuple(key.tolist()), []).append(i)
    squares, freedom = repeat_scatter(readings, (np.array(rows) for rows in groups.values() if len(rows) > 1))
    if freedom >= ENOUGH:
        return sqrt(squares / freedom)
    return sqrt(pair) * c.noise if isinstance(c.noise, float) else nan


def _rms(moved: Array) -> float:
    return float(np.sqrt(np.nanmean(np.sum(moved**2, axis=2))))
