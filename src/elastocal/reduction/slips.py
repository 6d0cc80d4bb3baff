"""Points that were read against where the robot file puts them, and the slips that would bring them there.

Differences of points do not tell: a turned frame, axes in another unit or rows that are shifted leave deflections that
look like those of some arm.  The points themselves do.  The rigid arm is near enough, or the arm that sags as its file
says, whichever is nearer: an uncalibrated arm is off by millimetres, a slip by a good part of its reach.

Slips are tried one by one: each is undone in the joint values, in the markers or in the points, and the points are
compared again.  A slip is named where the misfit falls to a fifth: errors of the geometry are not undone by swapping
two axes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import combinations, permutations

import numpy as np

from elastocal.errors import InputError
from elastocal.measure.setup import Setup
from elastocal.measure.slips import MIRROR, axis_slips, coordinate_slips, length_slips
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot
from elastocal.model.statics.deflection import frame_poses
from elastocal.model.statics.equilibrium import Status
from elastocal.solve.linear import solve_linear
from elastocal.spatial.entries import Array, Bools
from elastocal.spatial.pose import Pose, rigid_fit
from elastocal.spatial.rotation import rotation_vector
from elastocal.values import dataclass

FAR = 0.01
"""Share of the reach that no sound table is off by: a joint zero that is wrong by half a degree at full stretch, and
five times what arms are off as delivered (a few mm on 2.5 m)."""


@dataclass(frozen=True, eq=False)
class Placement:
    """Points read and expected (N, markers, 3) in base axes, nan where not read.

    ``shifted``: all may be shifted together, since only differences of points are used or the shift is an unknown of
    the campaign; ``away`` is then without the mean.  ``reach`` is the farthest point expected from the base.
    """

    read: Array
    expected: Array
    shifted: bool

    @cached_property
    def known(self) -> Bools:
        return np.asarray(np.isfinite(self.read).all(axis=2))

    @property
    def reach(self) -> float:
        return float(np.linalg.norm(self.expected[self.known], axis=1).max())

    @cached_property
    def shift(self) -> Array:
        """By which all points are off together (3,); zero where that matters."""
        return (self.read - self.expected)[self.known].mean(axis=0) if self.shifted else np.zeros(3)

    @cached_property
    def away(self) -> Array:
        """Distances (N, markers) from where the robot file puts the points."""
        return np.asarray(np.linalg.norm(self.read - self.expected - self.shift, axis=2))

    @property
    def rms(self) -> float:
        return float(np.sqrt(np.mean(self.away[self.known] ** 2)))

    @property
    def worst(self) -> tuple[int, int]:
        """Reading and marker that is farthest off."""
        reading, marker = np.unravel_index(np.nanargmax(self.away), self.away.shape)
        return int(reading), int(marker)

    @property
    def others(self) -> float:
        """The rms of all but the worst."""
        rest = np.delete(self.away[self.known], np.argmax(self.away[self.known]))
        return float(np.sqrt(np.mean(rest**2))) if len(rest) else 0.0

    @cached_property
    def fitted(self) -> tuple[Pose, float] | None:
        """Shift and turn that bring the points read closest to those expected, and the rms left; None if in line."""
        try:
            return rigid_fit(self.read[self.known], self.expected[self.known])
        except InputError:
            return None

    @property
    def turn(self) -> float:
        """Angle in rad of that turn, nan without one."""
        if self.fitted is None:
            return float("nan")
        return float(np.linalg.norm(rotation_vector(self.fitted[0].rotation[:, :, None])))

    @property
    def far(self) -> bool:
        return self.rms > FAR * self.reach


def placement(model: Robot, where: Setup, read: Array, *, loaded: bool, shifted: bool) -> Placement | None:
    """Points read (N, markers, 3) in base axes against those of the robot file; None where no point was read.

    ``loaded``: the points are those under load; ``shifted``: a shift of all is not counted.
    """
    rigid = Placement(read, where.positions(model), shifted)
    if not rigid.known.any():
        return None
    bent = where.bent(model, loaded=loaded)
    poses = frame_poses(model, where.q, bent, [m.frame for m in where.markers])
    sagged = replace(rigid, expected=np.stack([place.T for place, _ in poses], axis=1))
    return sagged if np.all(bent.status == Status.CONVERGED) and sagged.rms < rigid.rms else rigid


FITS = 5.0
"""How many times smaller the misfit is without the slip."""
ALIKE = 1.5
"""Frames whose shifts leave no more than this times the least explain a misfit alike."""
RIGHT = 0.03
"""Frobenius norm of R less one of right angles within which those are tried: a turn of 1.2 deg between the two."""
SLIGHT = 1e-3
"""rad below which a turn is not worth a word."""
SMALL = 1e-3
"""Misfit as a share of the reach below which nothing is tried: so far off is every arm."""
MARKERS = 4
"""Most markers whose every order is tried; of more, pairs."""


@dataclass(frozen=True, eq=False)
class Slip:
    """``text`` is what is likely wrong and what to do; ``rms`` is what is left without it, in m.

    ``fitted`` where numbers were fitted to undo it; a slip without any that fits the arm comes first.  ``table`` is
    False where the robot file is in doubt, not the table.  ``pose`` is the one that turned points lack.
    """

    text: str
    rms: float
    fitted: bool = False
    table: bool = True
    pose: Pose | None = None


def likely_slip(model: Robot, where: Setup, placement: Placement) -> Slip | None:
    """The slip that explains the misfit best; None where none does, or where there is none worth the name."""
    if placement.rms < SMALL * placement.reach:
        return None
    tried = [*_axes(model, where, placement), *_markers(where, placement), *_points(placement)]
    if placement.far:
        tried += [*_turned(placement), *_frames(model, where, placement)]
    good = [s for s in tried if FITS * s.rms < placement.rms]
    plain = [s for s in good if not s.fitted and s.rms < FAR * placement.reach]
    return min(plain or good, key=lambda s: s.rms, default=None)


def _axes(model: Robot, where: Setup, placement: Placement) -> Iterator[Slip]:
    """Other joint values at the same points."""
    shown = model.controller.to_controller(where.q)
    for slip in axis_slips(model):
        if slip.shift.any():
            continue  # another zero of the first axis is what turned axes of the points are
        q = model.controller.to_joints(slip.undone(shown))
        moved = replace(placement, expected=replace(where, q=q).positions(model))
        yield Slip(slip.text, moved.rms, table=not slip.coupling)
    yield from _rows(model, where, placement)


def _rows(model: Robot, where: Setup, placement: Placement) -> Iterator[Slip]:
    """Axes of the neighbouring pose; the pose at the end has none."""
    first = np.sort(np.unique(where.pose, return_index=True)[1])
    rank = {int(where.pose[i]): k for k, i in enumerate(first)}
    order = np.array([rank[int(p)] for p in where.pose])
    for step, word in ((-1, "next"), (1, "previous")):
        inside = (order + step >= 0) & (order + step < len(first))
        if inside.sum() < 2:
            continue
        q = where.q[first[(order + step)[inside]]]
        expected = replace(where, q=q, load=where.picked(np.flatnonzero(inside)).load).positions(model)
        moved = replace(placement, read=placement.read[inside], expected=expected)
        if moved.known.any():
            yield Slip(f"every pose has the axes of the {word} one; shift their rows by one", moved.rms)


def _markers(where: Setup, placement: Placement) -> Iterator[Slip]:
    """Markers under each other's names."""
    names = [m.frame for m in where.markers]
    own = list(range(len(names)))
    if len(names) > MARKERS:
        orders = [[j if k == i else i if k == j else k for k in own] for i, j in combinations(own, 2)]
    else:
        orders = [list(p) for p in permutations(own)]
    for order in orders:
        if order != own:
            mixed = ", ".join(f"{names[i]} is {names[j]}" for i, j in enumerate(order) if i != j)
            renamed = replace(placement, expected=placement.expected[:, order])
            yield Slip(f"markers are mixed up: what the table calls {mixed}", renamed.rms)


def _points(placement: Placement) -> Iterator[Slip]:
    """Points in another unit of length, with two coordinates swapped, or mirrored."""
    for slip in (*length_slips(), *coordinate_slips()):
        yield Slip(slip.text, replace(placement, read=slip.undone(placement.read)).rms)
    mirrored = replace(placement, read=MIRROR.undone(placement.read))
    plain = placement.fitted  # points in a plane fit their mirror image too, turned out of the plane
    if mirrored.fitted is not None and plain is not None and FITS * mirrored.fitted[1] < plain[1]:
        yield Slip(MIRROR.text, mirrored.fitted[1], fitted=True)


def _turned(placement: Placement) -> Iterator[Slip]:
    if placement.fitted is None:
        return
    pose, left = _square(placement) or placement.fitted
    vector = rotation_vector(pose.rotation[:, :, None])[:, 0]
    angle = float(np.linalg.norm(vector))
    how = []
    if angle >= SLIGHT:
        axis = ", ".join(f"{v + 0.0:.2g}" for v in np.round(vector / angle, 2))
        how.append(f"turned by {np.degrees(angle):.4g} deg about ({axis})")
    if not placement.shifted:
        how.append(f"shifted by {1e3 * float(np.linalg.norm(pose.translation)):.4g} mm")
    if how:
        yield Slip(f"the axes of the points are {' and '.join(how)} from the base's", left, fitted=True, pose=pose)


def _square(placement: Placement) -> tuple[Pose, float] | None:
    """The pose of right angles S with t = mean(expected) - S mean(read), and the rms left; None if it fits worse."""
    if placement.fitted is None:
        return None
    best, least = placement.fitted
    square = np.round(best.rotation)
    if np.linalg.norm(best.rotation - square) > RIGHT or abs(np.linalg.det(square) - 1) > 1e-9:
        return None
    read, expected = placement.read[placement.known], placement.expected[placement.known]
    pose = Pose(square, expected.mean(axis=0) - square @ read.mean(axis=0))
    left = replace(placement, read=placement.read @ square.T + pose.translation).rms
    return (pose, left) if left <= ALIKE * least else None


def _frames(model: Robot, where: Setup, placement: Placement) -> Iterator[Slip]:
    """One frame of the robot file elsewhere in its parent: p = p_file + R_parent d (+ a shift of all).

    Of frames that explain it alike, such as two in line, it is the one that is farthest from its parent.
    """
    known, off = placement.known, placement.read - placement.expected
    paths = [{f.name for f in model.tree.path(m.frame)} for m in where.markers]
    tried: list[tuple[float, Slip]] = []
    for frame in model.tree.frames:
        behind = [i for i, path in enumerate(paths) if frame.name in path]
        moves = any(f.joint is not None for f in model.tree.path(frame.parent))  # else all points are shifted together
        if not moves or not behind:
            continue
        turn = kinematics(model, where.q, frame.parent).rotation
        columns = np.zeros((*placement.read.shape, 6))
        columns[:, behind, :, :3] = turn[:, None]
        columns[..., 3:] = np.eye(3) if placement.shifted else 0.0
        fit = solve_linear(columns[known].reshape(-1, 6), off[known].reshape(-1))
        left = float(np.sqrt(3 * np.mean(fit.residuals**2)))
        moved = ", ".join(f"{1e3 * v:.1f}" for v in fit.values[:3])
        text = f"frame {frame.name} stands [{moved}] mm from its place in the robot file; check its xyz there"
        tried.append((float(np.linalg.norm(frame.pose.translation)), Slip(text, left, fitted=True, table=False)))
    best = min((s.rms for _, s in tried), default=0.0)
    yield from [s for _, s in sorted(tried, key=lambda t: -t[0]) if s.rms <= ALIKE * best][:1]
