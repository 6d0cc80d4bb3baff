"""What commands really do: the residual error on a simulated (true) robot, before and after correction.

    residual = loaded pose of the true model at the command - desired pose

How large it is expected to be follows from how well the compensation model is known.  With F the derivative of the
loaded pose by the estimated parameters, C their covariance and d the model discrepancy, its covariance is F C F^T +
d^2 I: at the targets, and with the stiffness over the places of the workpiece that a program works on.

Targets may have been taught, or their base measured, with the arm that works there: its weight bends it already.
Such a target is not where the nominal geometry puts the tool but where the unloaded arm really stood,

    T = pose of the model at the nominal command, under weights, payload and springs, without external wrenches

and only what the wrenches add is to be corrected.  Deflections of loaded minus unloaded arms tell a model just that;
how far weights bend an arm they leave half open.  With F_l and F_u the derivatives of the loaded and the unloaded pose,
the covariance of the residual is (F_l - F_u) C (F_l - F_u)^T + d^2 I.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from elastocal.compensation.loads import PathLoads
from elastocal.compensation.targets import Targets
from elastocal.model.kinematics import kinematics
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.parameters import selected
from elastocal.model.places import Plane, Reached, box_plane, reach
from elastocal.model.robot import Robot
from elastocal.model.statics.deflection import frame_pose, joint_looseness
from elastocal.model.statics.equilibrium import Equilibrium, Status, equilibrium
from elastocal.model.statics.flexibility import Flexibility, assemble
from elastocal.model.statics.forces import chunk_size
from elastocal.model.statics.observation import Marker, Response, parameter_derivatives, response
from elastocal.model.statics.stiffness import softest_of
from elastocal.reduction.prediction import IdentifiedModel, Prediction
from elastocal.solve.summary import ErrorSummary
from elastocal.spatial import batch
from elastocal.spatial.entries import Array, Ints
from elastocal.spatial.pose import Pose, missing
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.compensation.correction import Correction


@dataclass(frozen=True, eq=False)
class Residual:
    """Loaded minus desired pose: ``position`` (N, 3) in m, ``rotation`` vector (N, 3) in rad, base axes.

    nan where no command was given or the equilibrium's ``status`` is not converged.
    """

    position: Array
    rotation: Array
    status: Ints

    @cached_property
    def distance(self) -> Array:
        """(N,) in m."""
        return np.asarray(np.linalg.norm(self.position, axis=1))

    @cached_property
    def angle(self) -> Array:
        """(N,) in rad."""
        return np.asarray(np.linalg.norm(self.rotation, axis=1))

    def distances(self) -> ErrorSummary:
        return ErrorSummary.of(self.distance)

    def angles(self) -> ErrorSummary:
        return ErrorSummary.of(self.angle, "rad")


@dataclass(frozen=True, eq=False)
class Verification:
    """Residuals of the nominal and of the corrected commands, over the targets for which both are known."""

    before: Residual
    after: Residual

    @property
    def compensated_percent(self) -> float:
        """100 (1 - rms after / rms before) of the distances."""
        both = np.isfinite(self.before.position[:, 0]) & np.isfinite(self.after.position[:, 0])
        first, last = (np.sqrt(np.sum(r.position[both] ** 2)) for r in (self.before, self.after))
        return float(100 * (1 - last / first)) if first > 0 else np.nan


def verify(
    true: Robot, nominal: Array, command: Array, targets: Targets, loads: PathLoads | None = None
) -> Verification:
    """Residuals of joint values (N, n) as a controller would command them alone, and of corrected ones."""
    return Verification(residual(true, nominal, targets, loads), residual(true, command, targets, loads))


@dataclass(frozen=True, eq=False)
class Standing:
    """Commands (K, n) of some ``rows`` of a path, the model and the wrenches that they meet, and their equilibrium."""

    rows: Ints
    model: Robot
    command: Array
    applied: Sequence[AppliedWrenches]
    bent: Equilibrium

    def picked(self, some: Ints) -> Standing:
        """Wrenches that are zero there are none."""
        picked = [w.picked(some) for w in self.applied]
        loaded = [w for w in picked if w.wrench.any()]
        return Standing(self.rows[some], self.model, self.command[some], loaded, self.bent.picked(some))

    @cached_property
    def flex(self) -> Flexibility:
        """All that may bend, and what parameters move though it does not."""
        return assemble(self.model, sorted({i for at in self.model.places for i in at}))

    @cached_property
    def _answers(self) -> dict[str, Response]:
        return {}

    def answer(self, frame: str) -> Response:
        """How the pose of a frame answers to all of that; of no use where the state is not determined."""
        if frame not in self._answers:
            posture = self.model.posture(self.model.configurations(self.command))
            theta = np.where(self.bent.status == Status.CONVERGED, self.bent.theta.T[list(self.flex.dofs)], 0.0)
            applied = [w.rows(slice(0, posture.size), posture.size) for w in self.applied]
            self._answers[frame] = response(self.flex, posture, theta, applied, [Marker(frame, "pose")])
        return self._answers[frame]

    def softest(self, frame: str) -> Array:
        """Stiffness (K,) in N/m of a frame in its softest direction; nan where the state is not determined."""
        held = self.answer(frame)
        compliance = batch.matmul(held.direct, held.bent).swapaxes(0, 1)
        return np.where(self.bent.status == Status.CONVERGED, softest_of(compliance), np.nan)


def standings(model: Robot, command: Array, loads: PathLoads, bends: Array | None = None) -> Iterator[Standing]:
    """Where a model stands with commands (N, n), rows of nan left out, in pieces; sought near ``bends`` (N, m)."""
    total = len(command)
    loads.check(model, total)
    models = loads.models(model)
    size = chunk_size(len(model.chain.dofs))
    for first in range(0, total, size):
        for some, number, applied in loads.pieces(slice(first, min(first + size, total))):
            at = np.arange(first + some.start, first + some.stop)
            known = np.flatnonzero(np.isfinite(command[at]).all(axis=1))
            if len(known):
                at, push = at[known], [w.picked(known) for w in applied]
                near = None if bends is None else bends[at]
                bent = equilibrium(models[number], command[at], push, start=near)
                yield Standing(at, models[number], command[at], push, bent)


def residual(
    true: Robot, command: Array, targets: Targets, loads: PathLoads | None = None, bends: Array | None = None
) -> Residual:
    """Residual of commands (N, n), rows of nan left out, on a model taken for true, sought near ``bends`` (N, m)."""
    return residual_at(standings(true, command, loads or PathLoads(), bends), targets)


def residual_at(pieces: Iterable[Standing], targets: Targets) -> Residual:
    """The same of where a model stands."""
    out = np.full((6, len(targets)), np.nan)
    status = np.full(len(targets), int(Status.NOT_CONVERGED), dtype=np.int64)
    for piece in pieces:
        at = piece.rows
        place, turn = frame_pose(piece.model, piece.command, piece.bent, targets.frame)
        good = piece.bent.status == Status.CONVERGED
        wanted = targets.position[at].T, np.moveaxis(targets.rotation[at], 0, -1)
        gap = missing(place, np.where(good, turn, 1.0), *wanted)
        out[:, at[good]] = gap[:, good]
        status[at] = piece.bent.status
    return Residual(out[:3].T, out[3:].T, status)


def within(pieces: Iterable[Standing], first: int, count: int) -> list[Standing]:
    """Those of some rows, counted from the first of these."""
    here = (p.picked(np.flatnonzero((p.rows >= first) & (p.rows < first + count))) for p in pieces)
    return [replace(p, rows=p.rows - first) for p in here if len(p.rows)]


def expected_residual(
    identified: IdentifiedModel, command: Array, frame: str, loads: PathLoads | None = None
) -> Prediction:
    """Residual (zero) that a compensation model expects of its own commands (N, n), with its covariance (N, 6, 6)."""
    pieces = standings(identified.model, command, loads or PathLoads())
    return expected_at(identified, pieces, frame, len(command))


def expected_at(identified: IdentifiedModel, pieces: Iterable[Standing], frame: str, total: int) -> Prediction:
    """The same of where the model stands."""
    covariance = _covariance(identified, *pose_slopes(identified.names, pieces, frame, total))
    twist = np.where(np.isnan(covariance[:, 0]), np.nan, 0.0)
    return Prediction(frame, twist, covariance, identified.freedom)


def _covariance(known: IdentifiedModel, slope: Array, loose: Array) -> Array:
    """F C F^T + d^2 I, and what loose joints add (N, 6, 6)."""
    out = slope @ known.covariance @ slope.swapaxes(1, 2) + loose
    out[:, range(3), range(3)] += np.nan_to_num(known.discrepancy) ** 2
    return np.asarray(out)


def pose_slopes(names: Sequence[str], pieces: Iterable[Standing], frame: str, total: int) -> tuple[Array, Array]:
    """Derivative (N, 6, p) of the loaded pose by parameters, zero by those that a model does not have, and the
    covariance (N, 6, 6) of the pose by joints that may lie on either side of their backlash.

    nan where no command was given and where there is no determined state.
    """
    slopes, loose = np.full((total, 6, len(names)), np.nan), np.zeros((total, 6, 6))
    place = {n: i for i, n in enumerate(names)}
    for piece in pieces:
        model, at = piece.model, piece.rows
        own = model.parameter_names
        picked = selected(own, set(names) & set(own))
        slope = parameter_derivatives(piece.flex, piece.answer(frame), picked)
        slope[:, :, piece.bent.status != Status.CONVERGED] = np.nan
        slopes[at] = 0.0
        slopes[at[:, None], :, [place[own[i]] for i in picked]] = np.moveaxis(slope, 2, 0).swapaxes(1, 2)
        sizes = joint_looseness(model, piece.bent)
        if sizes is not None:
            turns = kinematics(model.nominal, piece.command, frame).jacobian * sizes[:, None]
            loose[at] = turns @ turns.transpose(0, 2, 1)
    return slopes, loose


def taught(model: Robot, targets: Targets, nominal: Array, loads: PathLoads) -> Targets:
    """The targets as the unloaded arm reaches them with commands (N, n); where it has no rest they stay."""
    position, rotation = targets.position.copy(), targets.rotation.copy()
    for rest in at_rest(model, nominal, loads):
        place, turn = frame_pose(rest.model, rest.command, rest.bent, targets.frame)
        good = rest.bent.status == Status.CONVERGED
        position[rest.rows[good]] = place.T[good]
        rotation[rest.rows[good]] = np.moveaxis(turn, -1, 0)[good]
    return Targets(targets.frame, position, rotation, np.where(np.isfinite(nominal), nominal, 0.0))


def at_rest(model: Robot, command: Array, loads: PathLoads) -> Iterator[Standing]:
    """Where the unloaded arm stands."""
    return standings(model, command, replace(loads, wrenches=()))


def taught_covariance(known: IdentifiedModel, nominal: Array, command: Array, frame: str, loads: PathLoads) -> Array:
    """Covariance (N, 6, 6) of what is left of taught targets with commands (N, n); nan without a determined state."""
    loaded, rest = standings(known.model, command, loads), at_rest(known.model, nominal, loads)
    return taught_at(known, loaded, rest, frame, len(command))


def taught_at(
    known: IdentifiedModel, loaded: Iterable[Standing], rest: Iterable[Standing], frame: str, total: int
) -> Array:
    """The same of where the model stands under load and without."""
    (slope, loose), (free, loose_free) = (pose_slopes(known.names, at, frame, total) for at in (loaded, rest))
    return _covariance(known, slope - free, loose + loose_free)


COUNTS = (25, 17)
MARGIN = 0.12
"""Beyond the program on every side, as a share of its longest side."""


@dataclass(frozen=True, eq=False)
class Workpiece:
    """``stiffness`` (N,) in the softest direction, N/m; ``predicted`` (N,) residual error, k = 2, m, or None."""

    at: Reached
    frame: str
    near: Array
    stiffness: Array
    predicted: Array | None


def workpiece(result: Correction, plane: Plane | None = None) -> Workpiece | None:
    """Each place under the load of the nearest target, over ``plane``, else over the places of the program; None where
    that has no extent in two directions, or nothing is reached."""
    job, model = result.job, result.model
    usable = np.isfinite(result.commands.command).all(axis=1)
    loaded = np.flatnonzero(job.loads.wrench.any(axis=1) & usable)
    rows = loaded if len(loaded) > 2 else np.flatnonzero(usable)
    plane = plane or _plane(result, rows)
    if plane is None or not len(rows):
        return None
    middle = rows[len(rows) // 2]
    frame, near = job.placed.frames[middle], result.commands.command[middle]
    at = reach(model, frame, plane, near)
    if not at.reached.any():
        return None
    q, nearest = at.q[at.reached], rows[_nearest(plane.position[at.reached], job.placed.position[rows])]
    wrench = job.loads.wrench[nearest]
    load = () if not wrench.any() else (AppliedWrenches(job.loads.frame or frame, wrench, job.loads.follows),)
    bent = equilibrium(model, q, load, start=result.commands.bends[nearest], judged=False)
    standing = Standing(np.arange(len(q)), model, q, load, bent)
    stiff = _spread(at, standing.softest(frame))
    if result.covariance is None or result.known is None:
        return Workpiece(at, frame, near, stiff, None)
    known = replace(result.known, model=model)
    residual = expected_at(known, [standing], frame, len(q))
    sizes = 2 * np.sqrt(np.einsum("nii->n", residual.covariance[:, :3, :3]))
    return Workpiece(at, frame, near, stiff, _spread(at, sizes))


def _nearest(places: Array, others: Array) -> Ints:
    """The nearest (N,) of others (K, 3) to each place (N, 3)."""
    chunks = np.array_split(places, 1 + len(places) * len(others) // 1_000_000)
    return np.concatenate([np.argmin(((c[:, None] - others) ** 2).sum(axis=2), axis=1) for c in chunks])


def _plane(result: Correction, rows: Ints) -> Plane | None:
    """In the base of the program's first such target, a little larger than the program."""
    if len(rows) < 3:
        return None
    placed = result.job.placed
    program, first = placed.stations.program, int(rows[0])
    named = program.targets[int(placed.stations.target[first])].base in program.bases  # axis targets have none
    base = placed.base(first) if named else Pose()
    seen = (placed.position[rows] - base.translation) @ base.rotation
    low, high = seen.min(axis=0), seen.max(axis=0)
    air = MARGIN * float(np.max(high - low))
    if np.count_nonzero(high - low > 1e-3) < 2:
        return None
    wide = high - low > 1e-3 * np.max(high - low)
    wide[int(np.argmin(high - low))] = False
    return box_plane(np.where(wide, low - air, low), np.where(wide, high + air, high), base, COUNTS)


def _spread(reached: Reached, values: Array) -> Array:
    out = np.full(len(reached.reached), np.nan)
    out[reached.reached] = values
    return out
