"""What a robot program is made of, whatever its language: targets, the moves that use them, and what is left alone.

A *target* is a place in a file where the numbers of a pose (or of the axes) stand; it is corrected once, however many
moves use it.  A *move* is a line that drives to a target.  Numbers of targets and moves are their places in the tuples.

    position (3,) in m and rotation (3, 3):  T_base_tool, in the frame ``base`` of the target

Targets of kind ``pose`` give all of it, ``axis`` a position and the third column of the rotation (from tip to spindle;
the turn about it is free), ``point`` a position only (its rotation is the one given by the user, else nan) and
``joints`` the values of the controller's axes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from elastocal.compensation.posts.text import opened
from elastocal.errors import InfeasibleError, NumberError, ShapeError
from elastocal.model.transmission import Drives
from elastocal.spatial.entries import Array, Bools
from elastocal.spatial.pose import Pose
from elastocal.values import dataclass

Kind = Literal["pose", "axis", "point", "joints"]
Motion = Literal["linear", "joint", "arc", "spline"]


class Target(NamedTuple):
    """Where the numbers stand, and what goes with them; ``external`` as written (mm or deg, the files do not say).

    A ``kept`` one stands in a file that other programs use too: it says where the robot is, and stays as it is.
    """

    file: str
    line: int
    name: str
    kind: Kind
    base: str
    tool: str
    configuration: str = ""
    external: tuple[float, ...] = ()
    turn: int | None = None
    kept: bool = False

    @property
    def where(self) -> str:
        return f"{self.file}, line {self.line}" + (f", {self.name}" if self.name else "")


class Arc(NamedTuple):
    """Turn by ``angle`` (rad, right-handed) about coordinate axis ``axis`` through ``centre`` (m), rising along it."""

    centre: tuple[float, float, float]
    axis: int
    angle: float
    rise: float


class Move(NamedTuple):
    """One motion line: from target ``start`` (None: not known), past ``via``, to ``end``; ``feed`` in m/s or nan.

    ``fixed`` says why no intermediate targets can be written before it ("": they can).
    """

    file: str
    line: int
    motion: Motion
    start: int | None
    end: int
    via: int | None = None
    feed: float = np.nan
    fixed: str = ""
    arc: Arc | None = None

    def check_points(self, count: int) -> None:
        """Refuse points on the way, but of a line, and of an arc two for each piece."""
        arc = self.motion == "arc" and self.via is not None
        if self.fixed or not (self.motion == "linear" or (arc and not count % 2)):
            why = self.fixed or ("an arc has two for each piece" if arc else "it is no line and no arc")
            raise InfeasibleError(f"{self.file}, line {self.line}: no points can be put in; {why}", code="no-points")


class Skipped(NamedTuple):
    """A motion that is left as it is, with the reason."""

    file: str
    line: int
    text: str
    reason: str


class ProgramFrame(NamedTuple):
    """A base or tool in use: its pose (None: neither in the files nor given) and where it is first used.

    ``changed`` is where the program changes it: what the files state then holds for a part of it at most.
    """

    name: str
    pose: Pose | None
    where: str
    changed: str = ""


@dataclass(frozen=True, eq=False)
class Given:
    """What the user states: frames that the files leave open, and what their words mean.

    ``bases`` are T_robot_base, of languages with a base of the controller's own T_own_base, ``tools`` T_flange_tool, by
    the names that the program uses.  ``orientation`` is the
    rotation of the tool where a program gives points only, and the nearest turn about the tool axis where it gives
    that axis only.  ``drives`` turn the encoder pulses that some programs state into axis values.
    ``rotary`` says how the words A B C of G-code turn the tool: letters X Y Z for A B C in the order of the machine's
    axes from the part on, such as "ZY" or "ZYX".  ``beside`` are other files of the folder, by name, that are read for
    what the routines in them leave active, and are no part of the program.  ``after`` is what the control holds before
    the first line of a piece of a program, in a language whose lines rest on those before (None: it starts anew);
    ``held`` the same where the lines before are corrected.  ``heading`` is the unit vector, in robot axes, along which
    the tool comes to the first target of such a piece.
    """

    bases: Mapping[str, Pose] = field(default_factory=dict)
    tools: Mapping[str, Pose] = field(default_factory=dict)
    orientation: Array | None = None
    rotary: str = ""
    drives: Drives | None = None
    beside: Mapping[str, bytes] = field(default_factory=dict)
    after: object = None
    held: object = None
    heading: Array | None = None

    @property
    def corrected(self) -> Given:
        """Of the same program when it is corrected."""
        return replace(self, after=self.held)


@dataclass(frozen=True, eq=False)
class Program:
    """Targets (N) in the order of first use, with ``positions`` (N, 3), ``rotations`` (N, 3, 3), ``joints`` (N, n).

    Values that a target does not have are nan.  ``wrenches`` (N, 6) are the loads that a toolpath states.  ``layout``
    is the language's own record of where the digits stand; ``given`` what the user stated, ``origin`` the folder that
    the files were read from.  ``unread`` are routines that it calls and nobody has seen: they are taken not to change
    base and tool.  ``end`` is what the control holds behind the last line, where lines rest on those before.
    """

    language: str
    files: Mapping[str, bytes]
    targets: tuple[Target, ...]
    positions: Array
    rotations: Array
    joints: Array
    moves: tuple[Move, ...]
    skipped: tuple[Skipped, ...]
    bases: Mapping[str, ProgramFrame]
    tools: Mapping[str, ProgramFrame]
    notes: tuple[str, ...]
    layout: object
    wrenches: Array | None = None
    given: Given = field(default_factory=Given)
    origin: str = ""
    unread: tuple[str, ...] = ()
    end: object = None

    def __repr__(self) -> str:
        lines = f"{len(self.moves)} motions to {len(self.targets)} targets, {len(self.skipped)} left alone"
        return f"Program({', '.join(self.files)} in {self.language}: {lines})"

    @cached_property
    def in_process(self) -> Bools:
        """True (N,) for targets that some move goes to in a line, an arc or a spline."""
        out = np.zeros(len(self.targets), dtype=bool)
        out[[t for m in self.moves if m.motion != "joint" for t in (m.via, m.end) if t is not None]] = True
        return out

    def missing_frames(self) -> tuple[str, ...]:
        """``base 2 (part.src, line 14)``: frames in use whose pose nobody has stated."""
        both = (("base", self.bases), ("tool", self.tools))
        return tuple(f"{w} {f.name} ({f.where})" for w, frames in both for f in frames.values() if f.pose is None)


class Inserted(NamedTuple):
    """Targets (k, 3), (k, 3, 3) to be written before the end of a move; ``axes`` (k, n) are their controller values.

    Of an arc they are the auxiliary point and the end of each piece in turn; ``before`` of them come before its own
    auxiliary point, which is that of the next piece, and the last one is that of the piece to its end.
    """

    positions: Array
    rotations: Array
    before: int = 0
    axes: Array | None = None


@dataclass(frozen=True, eq=False)
class Changes:
    """The values that the targets of a program are to have; rows equal to the program's stay as they are.

    ``turns`` are new T values of KRL targets, ``inserted`` intermediate targets by number of the move.
    """

    positions: Array
    rotations: Array
    joints: Array
    turns: Mapping[int, int] = field(default_factory=dict)
    inserted: Mapping[int, Inserted] = field(default_factory=dict)

    @classmethod
    def none(cls, program: Program) -> Changes:
        return cls(program.positions, program.rotations, program.joints)

    def changed(self, program: Program) -> Bools:
        """True (N,) where a target has another value."""
        out = np.zeros(len(program.targets), dtype=bool)
        for name in ("positions", "rotations", "joints"):
            new, old = getattr(self, name), getattr(program, name)
            if new.shape != old.shape:
                raise ShapeError(
                    f"changes: {name} have shape {new.shape}, the program has {old.shape}; give all targets"
                )
            lost = np.isnan(new) & ~np.isnan(old)
            if lost.any():
                where = program.targets[int(np.argwhere(lost)[0, 0])].where
                raise NumberError(
                    f"{where}: the corrected target has no number; leave targets without solution unchanged",
                    code="no-solution",
                )
            out |= np.any((new != old) & ~np.isnan(old), axis=tuple(range(1, old.ndim)))
        return out


def uncorrected(program: Program, changed: Bools) -> tuple[Skipped, ...]:
    """Every motion line that stays uncorrected, in the order of files and lines: skipped ones and unchanged targets."""
    moves = [m for m in program.moves if not changed[m.end]]
    texts = {name: opened(name, program.files[name]) for name in {m.file for m in moves}}
    kept = [
        Skipped(m.file, m.line, texts[m.file].shown(*texts[m.file].span(m.line)), "its target is not changed")
        for m in moves
    ]
    order = {name: i for i, name in enumerate(program.files)}
    return tuple(sorted((*program.skipped, *kept), key=lambda s: (order[s.file], s.line)))
