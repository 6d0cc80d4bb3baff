"""What has changed between calibrations of one robot, or between campaigns: parameters, the tool, conditions.

Two estimates a, b with standard deviations differ by d = b - a with sd sqrt(sd_a^2 + sd_b^2); the change is significant
where abs(d) / sd >= 5.  All parameters together: d^T (C_a + C_b)^+ d against chi2 of its rank.  Campaigns of one robot
count as independent.  What both know from the same prior alone differs by less than that sd says: such parameters
never count as changed.

The tool moves by p_b(q) - p_a(q) at the same joint values, over a plane of the workpiece.  Base and tool of each
calibration were registered by its own readings, so that a shift of all places is told apart from a change of shape by
the best rigid fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, nan, sqrt
from typing import overload

import numpy as np

from elastocal.calibration.calibration import Calibration
from elastocal.calibration.campaign import Campaign
from elastocal.calibration.tool import tool_of
from elastocal.errors import ConflictError, InputError, ShapeError
from elastocal.findings import Finding
from elastocal.model.kinematics import kinematics
from elastocal.model.places import Plane, Reached, box_plane, reach
from elastocal.quantities import probability
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose, rigid_fit

SIGNIFICANT = 5.0
CHANCE = 1e-3
"""Probability below which all parameters together count as changed."""
COUNTS = (15, 11)
SAME_Q, SAME_F = 1e-3, 1.0
"""rad or m, and N or N m, by which states of two campaigns may differ."""


@dataclass(frozen=True)
class Change:
    """Of one parameter from the first item to another, SI; nan sd where it was fixed in both."""

    name: str
    unit: str
    before: float
    after: float
    before_sd: float
    after_sd: float

    @property
    def value(self) -> float:
        return self.after - self.before

    @property
    def sd(self) -> float:
        return sqrt(self.before_sd**2 + self.after_sd**2)

    @cached_property
    def ratio(self) -> float:
        if self.sd > 0:
            return self.value / self.sd
        return 0.0 if self.value == 0 else inf

    @property
    def significant(self) -> bool:
        return abs(self.ratio) >= SIGNIFICANT


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


@dataclass(frozen=True, eq=False)
class Step:
    """From the first calibration to another one."""

    name: str
    changes: tuple[Change, ...]
    chi2: float
    rank: int
    probability: float
    tool: ToolChange | None

    @property
    def changed(self) -> bool:
        return self.probability < CHANCE


@dataclass(frozen=True, eq=False)
class Comparison:
    """Of calibrations: ``conditions`` by name, one value for each of ``names``."""

    names: tuple[str, ...]
    steps: tuple[Step, ...]
    conditions: Mapping[str, tuple[str, ...]]

    @property
    def verdict(self) -> tuple[Finding, ...]:
        return tuple(_verdict(self.names[0], s) for s in self.steps)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.names)}: {' '.join(f.text for f in self.verdict)}>"


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

    @property
    def verdict(self) -> tuple[Finding, ...]:
        raw, left = (_rms(v) for v in (self.moved, self.shape))
        worst = float(np.nanmax(np.linalg.norm(self.shape, axis=2)))
        said = (
            f"{self.names[1]} against {self.names[0]}: {len(self.rows)} common states; points moved by "
            f"{1e3 * raw:.3f} mm RMS, of which {1e3 * left:.3f} mm RMS (largest {1e3 * worst:.3f} mm) is no shift or "
            "turn of the whole"
        )
        data = {"moved_rms": raw, "shape_rms": left, "shape_max": worst, "sd": self.sd, "states": len(self.rows)}
        if not np.isfinite(self.sd):
            return (Finding("drift-not-judged", "note", f"{said}. No noise is known to judge it by.", data),)
        expected = sqrt(3) * self.sd
        if left > 1.5 * expected:
            return (Finding("drift", "warning", f"{said}; noise lets expect {1e3 * expected:.3f} mm: CHANGED.", data),)
        return (
            Finding(
                "no-drift", "note", f"{said}; noise lets expect {1e3 * expected:.3f} mm: no change is shown.", data
            ),
        )

    def __repr__(self) -> str:
        return f"<Drift: {self.verdict[0].text}>"


@overload
def compare(first: Calibration, *others: Calibration, names: Sequence[str] = ..., places: Plane | None = ...,
            near: Array | None = ...) -> Comparison: ...  # fmt: skip
@overload
def compare(first: Campaign, *others: Campaign, names: Sequence[str] = ...) -> tuple[Drift, ...]: ...
def compare(
    first: Calibration | Campaign,
    *others: Calibration | Campaign,
    names: Sequence[str] = (),
    places: Plane | None = None,
    near: Array | None = None,
) -> Comparison | tuple[Drift, ...]:
    """Calibrations of one robot, or campaigns; every other one against the first.

    ``places`` is the plane of the workpiece, ``near`` (n,) joint values with the tool held as there.
    """
    if not others:
        raise InputError("one item is nothing to compare; give at least two", code="few")
    every = (first, *others)
    words = tuple(names) or tuple(f"{'ABCDEFGHIJ'[i % 10]}" for i in range(len(every)))
    if len(words) != len(every) or len(set(words)) < len(words):
        raise InputError(f"names: {len(words)} for {len(every)} items; give every one its own", code="names")
    calibrations = [c for c in every if isinstance(c, Calibration)]
    campaigns = [c for c in every if isinstance(c, Campaign)]
    if len(calibrations) == len(every):
        return _calibrations(calibrations, words, places, near)
    if len(campaigns) == len(every):
        return tuple(drift(campaigns[0], c, (words[0], w)) for c, w in zip(campaigns[1:], words[1:], strict=True))
    raise InputError("calibrations and campaigns are not compared with each other; give one kind", code="kinds")


def _calibrations(
    every: list[Calibration], names: tuple[str, ...], places: Plane | None, near: Array | None
) -> Comparison:
    first = every[0]
    for c, name in zip(every[1:], names[1:], strict=True):
        if c.robot.joints != first.robot.joints:
            raise InputError(
                f"{name}: joints {', '.join(c.robot.joints)}, {names[0]}: {', '.join(first.robot.joints)}; only "
                "calibrations of one robot compare", code="other-robot", value=name,
            )  # fmt: skip
    at = _places(first, places, near)
    steps = tuple(_step(first, c, name, at) for c, name in zip(every[1:], names[1:], strict=True))
    return Comparison(names, steps, _conditions(every))


def _step(a: Calibration, b: Calibration, name: str, at: tuple[Reached, Array] | None) -> Step:
    changes = tuple(sorted(_changes(a, b), key=lambda c: -abs(c.ratio)))
    common = [n for n in a.names if n in b.names]
    d = np.array([b.parameters[n].value - a.parameters[n].value for n in common])
    total = _part(a, common) + _part(b, common)
    chi2, rank = _whitened(d, total)
    from scipy.special import chdtrc

    probability = float(chdtrc(rank, chi2)) if rank else 1.0
    return Step(name, changes, chi2, rank, probability, None if at is None else _tool(a, b, *at))


def _changes(a: Calibration, b: Calibration) -> list[Change]:
    out = []
    for n in dict.fromkeys((*a.names, *b.names)):
        values = []
        for c in (a, b):
            known = n in c.names
            index = c.robot.parameters.names.index(n) if n in c.robot.parameters.names else None
            value = (
                c.parameters[n].value if known else 0.0 if index is None else float(c.robot.parameters.values[index])
            )
            values += [value, c.parameters[n].sd if known else 0.0]
        unit = (a.parameters[n] if n in a.names else b.parameters[n]).unit
        out.append(Change(n, unit, values[0], values[2], values[1], values[3]))
    return out


def _part(c: Calibration, names: list[str]) -> Array:
    rows = [c.names.index(n) for n in names]
    return c.covariance[np.ix_(rows, rows)]


def _whitened(d: Array, covariance: Array) -> tuple[float, int]:
    """d^T C^+ d and the rank of C, scaled to unit diagonal first."""
    if not len(d):
        return 0.0, 0
    sd = np.sqrt(np.diag(covariance))
    use = sd > 0
    values, vectors = np.linalg.eigh(covariance[np.ix_(use, use)] / np.outer(sd[use], sd[use]))
    good = values > 1e-9 * values.max(initial=0.0)
    along = vectors[:, good].T @ (d[use] / sd[use])
    return float(np.sum(along**2 / values[good])), int(good.sum())


def _places(c: Calibration, plane: Plane | None, near: Array | None) -> tuple[Reached, Array] | None:
    """The plane given, else a horizontal one about the tool with all joints in the middle of their ranges."""
    robot = c.robot
    start = near if near is not None else np.array([sum(m.limits) / 2 if m.limits else 0.0 for m in robot.motions])
    if plane is None:
        tip = kinematics(robot.nominal, start[None]).position[0]
        side = 0.15 * robot.size
        half = np.array([side, side, 0.0])
        plane = box_plane(tip - half, tip + half, Pose(np.eye(3), np.zeros(3)), COUNTS)
    try:
        found = reach(robot, robot.tool, plane, start)
    except InputError:
        return None
    return (found, start) if int(found.reached.sum()) >= 3 else None


def _tool(a: Calibration, b: Calibration, at: Reached, near: Array) -> ToolChange:
    q = at.q[at.reached]
    (before, own), (after, other) = (tool_places(c, q) for c in (a, b))
    return ToolChange(at, near, after - before, shape_change(before, after), np.sqrt(own + other))


def tool_places(c: Calibration, q: Array) -> tuple[Array, Array]:
    """The tool (N, 3) in base axes at joint values, unloaded, and its variance (N,) without shifts and turns of all."""
    rigid = _rigid_motions(kinematics(c.robot.nominal, q).position)
    values = np.array([c.parameters[n].value for n in c.names])
    warm = np.zeros(len(q)) if "thermal" in c.words else None
    state = tool_of(c.robot, c.names, q, None, None, warm).states(values)
    own = c.covariance[: len(c.names), : len(c.names)]
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


def _conditions(every: list[Calibration]) -> dict[str, tuple[str, ...]]:
    def row(value: object) -> str:
        return str(value)

    return {
        "model": tuple(" + ".join(c.words) or "nominal" for c in every),
        "leave-one-out RMS [mm]": tuple(f"{1e3 * c.leave_one_out.rms:.3f}" for c in every),
        "nominal RMS [mm]": tuple(f"{1e3 * c.before.rms:.3f}" for c in every),
        "points": tuple(row(c.leave_one_out.count) for c in every),
        "outliers": tuple(row(len(c.outliers)) for c in every),
        "temperature [\N{DEGREE SIGN}C]": tuple(
            f"{c.reference_temperature:.1f}" if np.isfinite(c.reference_temperature) else "not read" for c in every
        ),
        "tool frame": tuple(c.robot.tool for c in every),
        "markers": tuple(row(len(c.markers)) for c in every),
        "stations": tuple(row(len(c.stations)) for c in every),
        "model discrepancy [mm]": tuple(f"{1e3 * c.discrepancy:.3f}" for c in every),
    }


def _verdict(first: str, s: Step) -> Finding:
    moved = [c for c in s.changes if c.significant]
    data = {"chi2": s.chi2, "rank": s.rank, "probability": s.probability, "significant": [c.name for c in moved]}
    tool = ""
    if s.tool is not None:
        sizes = s.tool.sizes()
        rms, most = float(np.sqrt(np.mean(sizes**2))), float(sizes.max())
        data |= {"tool_rms": rms, "tool_max": most}
        tool = (
            f" Over the workpiece the tool changes its place by {1e3 * rms:.3f} mm RMS, at most "
            f"{1e3 * most:.3f} mm, once shifts and turns of the whole are taken out."
        )
    tested = f"(chi2 {s.chi2:.4g} for {s.rank} combinations, probability {probability(s.probability)})"
    if not s.changed:
        return Finding("same", "note", f"{s.name} agrees with {first} {tested}.{tool}", data)
    named = ", ".join(c.name for c in moved[:6]) + (f" and {len(moved) - 6} more" if len(moved) > 6 else "")
    which = f"; significant changes: {named}" if moved else "; no single parameter is significant"
    return Finding("changed", "warning", f"{s.name} DIFFERS from {first} {tested}{which}.{tool}", data)


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
    shape = np.full_like(before, np.nan)
    if kind == "position":
        pose, _ = rigid_fit(after[known], before[known])
        shape[known] = after[known] @ pose.rotation.T + pose.translation - before[known]
    else:
        shape = after - before
    sd = sqrt(_noise(a, first) ** 2 + _noise(b, second) ** 2)
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


def _noise(c: Campaign, readings: Array) -> float:
    """Sd of one coordinate by repeats, else as stated; nan where neither tells."""
    groups: dict[tuple[float, ...], list[int]] = {}
    load = np.zeros((c.count, 6)) if c.wrench is None else c.wrench
    for i, key in enumerate(np.round(np.hstack([c.q, load]), 4)):
        groups.setdefault(tuple(key.tolist()), []).append(i)
    freedom, total = 0, 0.0
    for rows in groups.values():
        if len(rows) > 1:
            part = readings[rows]
            good = np.isfinite(part)
            total += float(np.nansum((part - np.nanmean(part, axis=0)) ** 2))
            freedom += int(good.sum() - good.any(axis=0).sum())
    if freedom >= 5:
        return sqrt(total / freedom)
    return float(c.noise) if isinstance(c.noise, float) else nan


def _rms(moved: Array) -> float:
    return float(np.sqrt(np.nanmean(np.sum(moved**2, axis=2))))
