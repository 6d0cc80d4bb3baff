"""Loads along a path and at the stations of a program: wrenches, changing payloads, and mean cutting forces of milling.

    f_z = v_f / (n z)                        feed per tooth
    phi = arccos(1 - 2 a_e / D)              angle of engagement
    h   = 2 f_z a_e / (D phi)                mean chip thickness over it
    k_c = k_c11 (h / 1 mm)^-m                specific cutting force (Kienzle); m = 0: constant
    F_t = k_c a_p a_e v_f / (pi D n)         power k_c a_p a_e v_f per cutting speed pi D n

F_t is the mean over a revolution of the tangential force of all teeth.  On the robot it acts against the motion; a
radial and an axial part are stated as ratios to it, to the left of the motion (seen with the tool axis pointing up)
and along the tool axis towards the spindle.  A mean for deflections, not a cutting simulation: run-out is not in
it; of entry and exit the way is (``cutting``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from itertools import pairwise

import numpy as np

from elastocal.errors import MissingError, RangeError, ShapeError
from elastocal.model.loads.payload import Payload
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.forces import check_rows
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass


@dataclass(frozen=True)
class PayloadChange:
    """From target ``first`` (counted from 0) on, the robot carries ``payload`` instead of what hung on that frame."""

    first: int
    payload: Payload


@dataclass(frozen=True, eq=False)
class PathLoads:
    """``wrenches`` with one row (constant) or one per target each; ``payloads`` in order of the path."""

    wrenches: tuple[AppliedWrenches, ...] = ()
    payloads: tuple[PayloadChange, ...] = ()

    def check(self, model: Robot, total: int) -> None:
        check_rows(model, total, self.wrenches)
        firsts = [change.first for change in self.payloads]
        if firsts != sorted(set(firsts)) or (firsts and firsts[0] < 0):
            raise ShapeError(
                f"payload changes at targets {firsts}: give them in the order of the path, one per target", value=firsts
            )

    def models(self, model: Robot) -> list[Robot]:
        """The robot before the first change and after each one."""
        out = [model]
        for change in self.payloads:
            new = change.payload
            kept = tuple(e for e in out[-1].elements if not (isinstance(e, Payload) and e.frame == new.frame))
            out.append(replace(out[-1], elements=(*kept, new)))
        return out

    def number(self, rows: slice) -> Ints:
        """Which of the models each target meets."""
        firsts = [change.first for change in self.payloads]
        return np.searchsorted(np.array(firsts, dtype=np.int64), np.arange(rows.start, rows.stop), side="right")

    def pieces(self, rows: slice) -> Iterator[tuple[slice, int, list[AppliedWrenches]]]:
        """Runs of targets within ``rows`` that meet one model: where in the rows, its number, the wrenches."""
        number = self.number(rows)
        cuts = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(number)]
        for a, b in pairwise(cuts):
            there = slice(rows.start + a, rows.start + b)
            yield slice(a, b), int(number[a]), [w.rows(there, b - a) for w in self.wrenches]


@dataclass(frozen=True, eq=False)
class ProgramLoads:
    """``wrench`` (S, 6) acts at ``frame`` (None: at the tip of the tool in use), in robot axes or following it.

    ``mass`` (S,) hangs on ``payload_frame`` from a station on; nan where the robot carries what its file says.
    ``moving`` (M, 3, 6) is the wrench on the moves of the program: just behind the start of each, at its auxiliary
    point, and where it ends.
    """

    wrench: Array
    frame: str | None
    follows: bool
    mass: Array
    payload_frame: str
    moving: Array = field(default_factory=lambda: np.zeros((0, 3, 6)))

    def any(self) -> bool:
        """Whether a wrench acts or a mass is carried at some station, beyond what the robot file says."""
        return bool(self.wrench.any() or (self.mass > 0).any())

    def at(self, rows: Ints, tool: str) -> PathLoads:
        """The loads of some stations of one tool, in order."""
        wrenches: tuple[AppliedWrenches, ...] = ()
        if self.wrench[rows].any() or self.moving.any():
            wrenches = (AppliedWrenches(self.frame or tool, self.wrench[rows], self.follows),)
        return PathLoads(wrenches, tuple(self._changes(self.mass[rows])))

    def _changes(self, mass: Array) -> list[PayloadChange]:
        """A change where the mass is another than before; before a first stated one the file's holds."""
        known = np.flatnonzero(np.isfinite(mass))
        new = [i for n, i in enumerate(known) if n == 0 or mass[i] != mass[known[n - 1]]]
        return [
            PayloadChange(
                int(i), Payload(frame=self.payload_frame, mass=float(mass[i]), source="stated along the program")
            )
            for i in new
        ]


_MILLIMETRE = 1e-3


@dataclass(frozen=True, kw_only=True)
class Milling:
    """``specific_force`` k_c11 in Pa (at 1 mm chip thickness) and its ``exponent`` m; lengths in m, ``spindle`` in 1/s.

    ``radial`` and ``axial`` are ratios to the tangential force; a negative radial ratio pushes to the right.
    """

    specific_force: float
    axial_depth: float
    radial_engagement: float
    diameter: float
    teeth: int
    spindle: float
    exponent: float = 0.0
    radial: float = 0.0
    axial: float = 0.0

    def __post_init__(self) -> None:
        for name in ("specific_force", "axial_depth", "radial_engagement", "diameter", "teeth", "spindle"):
            if not getattr(self, name) > 0 or not np.isfinite(getattr(self, name)):
                raise RangeError(f"milling: {name} = {getattr(self, name)} must be a positive number", value=name)
        if self.radial_engagement > self.diameter:
            raise RangeError(
                f"milling: radial engagement {self.radial_engagement} m is wider than the tool, {self.diameter} m",
                value=(self.radial_engagement, self.diameter),
            )

    @property
    def words(self) -> str:
        """``kc 900 MPa, ap 4 mm, ae 8 mm, D 20 mm, 2 teeth, 6000 rpm``, with what is not neutral."""
        lengths = (("ap", self.axial_depth), ("ae", self.radial_engagement), ("D", self.diameter))
        ratios = (("m", self.exponent), ("radial", self.radial), ("axial", self.axial))
        return ", ".join(
            [
                f"kc {1e-6 * self.specific_force:g} MPa",
                *(f"{name} {1e3 * value:g} mm" for name, value in lengths),
                f"{self.teeth} teeth, {60 * self.spindle:g} rpm",
                *(f"{name} {value:g}" for name, value in ratios if value),
            ]
        )

    def tangential(self, feed: Array) -> Array:
        """Mean tangential force in N for feeds in m/s."""
        per_tooth = feed / (self.spindle * self.teeth)
        angle = np.arccos(1 - 2 * self.radial_engagement / self.diameter)
        chip = 2 * per_tooth * self.radial_engagement / (self.diameter * angle)
        thickness = np.where(chip > 0, chip, 1.0) / _MILLIMETRE
        specific = self.specific_force * thickness**-self.exponent
        removed = self.axial_depth * self.radial_engagement * feed
        return np.asarray(np.where(chip > 0, specific * removed / (np.pi * self.diameter * self.spindle), 0.0))


def milling_wrenches(
    process: Milling,
    frame: str,
    position: Array,
    spindle_axis: Array,
    feed: Array | float,
    cutting: Bools | None = None,
    heading: Array | None = None,
) -> AppliedWrenches:
    """Forces on the robot (N, 6) along positions (N, 3), zero where it does not cut.

    ``spindle_axis`` (N, 3) or (3,) points from the tool's tip to the spindle, ``feed`` (N,) is in m/s.  Motion at a
    target is along ``heading`` (N, 3) where that is given, else along the ``headings`` of lines.
    """
    total = len(position)
    axis = np.broadcast_to(np.asarray(spindle_axis, dtype=float), (total, 3))
    size = np.linalg.norm(axis, axis=1, keepdims=True)
    if np.any(size == 0):
        raise MissingError(
            f"milling: target {int(np.argmin(size)) + 1} has no tool axis", value=int(np.argmin(size)) + 1
        )
    axis = axis / size
    speed = np.broadcast_to(np.asarray(feed, dtype=float), (total,))
    if not np.all(speed >= 0):
        row = int(np.argmin(speed >= 0))
        raise RangeError(
            f"milling: target {row + 1} has feed {speed[row]} m/s; give a number that is not negative",
            value=(row + 1, speed[row]),
        )
    along = headings(position) if heading is None else heading
    left = np.cross(axis, along)
    force = process.tangential(speed)[:, None] * (-along + process.radial * left + process.axial * axis)
    if cutting is not None:
        force = np.where(cutting[:, None], force, 0.0)
    return AppliedWrenches(frame, np.concatenate([force, np.zeros((total, 3))], axis=1))


def headings(position: Array, came: Array | None = None) -> Array:
    """Unit vectors (N, 3) of motion in lines to places (N, 3); to the first it ``came`` so, or as it goes on from it.

    Where nothing moves it keeps that of the one before."""
    if came is not None:
        return headings(np.concatenate([[position[0] - came], position]))[1:]
    if len(position) < 2:
        raise MissingError(
            "milling: the force acts against the motion, and one target has none; give a path", code="no-motion"
        )
    steps = np.diff(position, axis=0)
    length = np.linalg.norm(steps, axis=1)
    moves = np.flatnonzero(length > 0)
    if not len(moves):
        raise RangeError("milling: all targets are at one place, so the force has no direction", code="no-motion")
    last = np.maximum.accumulate(np.where(length > 0, np.arange(len(length)), moves[0]))
    unit = steps[last] / length[last][:, None]
    return np.concatenate([unit[:1], unit])
