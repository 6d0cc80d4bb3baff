"""A controller language: files to targets, new values of targets back to files, and new programs.

    write(read(files), no changes) = files, byte by byte

A post finds where the digits of targets stand and exchanges nothing else; what it does not understand it leaves as it
is and names with its line.  Adding a language is adding one file here with a class that has a ``kind``.  A language
that robots are measured in also writes new programs: ``measuring_program`` and ``example``.
"""

from __future__ import annotations

import re
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, cast

import numpy as np

from elastocal.compensation.branches import Branch
from elastocal.compensation.program import Changes, Given, Motion, Program, Target
from elastocal.errors import InputError, MissingError, UnknownNameError, UnsupportedError
from elastocal.kinds import kind_in, kinds_in
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.compensation.streamed import Long
    from elastocal.design.method import Stop

START = "Is everything clear? The first moves are slow. Continue: the arm moves"
"""Said before the first motion of a measuring program, which then waits."""
SPEED, SLOW = 20, 5
"""Per cent of the moves of a measuring program, and of the first ones."""
Lines = Callable[[str], Sequence[str]]
"""A sentence in lines of the language."""
LONGEST = 24
"""Characters of a program's name, as KRL takes them."""
LONG = 50_000
"""Lines from which a program is corrected in pieces."""
PIECE = 20_000
SHOWN = 5_000
"""Lines that are shown of it."""
WIDEST = 80
"""Characters of a message."""
DEVICES = r"con|prn|aux|nul|(com|lpt)\d"
"""Names that no file can have on Windows, whatever its ending; controllers run on it."""
OTHERS = {
    ".tp": "a binary FANUC program", ".urp": "a Polyscope program of Universal Robots", ".pgx": "Staubli VAL 3",
    ".dtx": "data of Staubli VAL 3", ".val3": "Staubli VAL 3", ".v2": "Staubli VAL II", ".pdl": "Comau PDL2",
    ".cod": "compiled Comau PDL2", ".as": "Kawasaki AS", ".pg": "Kawasaki AS", ".kl": "FANUC KAREL",
    ".pc": "compiled FANUC KAREL", ".drl": "Doosan DRL", ".mb5": "Mitsubishi MELFA-BASIC V",
    ".mb6": "Mitsubishi MELFA-BASIC VI", ".pac": "Denso PAC", ".pcs": "Denso PacScript", ".spel": "Epson SPEL+",
    ".hrbasic": "Hyundai HR-Basic", ".job": "a Hyundai or Nachi job", ".src3": "Nachi SLIM", ".lua": "a Lua script",
    ".jbr": "a Yaskawa relative job in binary form", ".step": "CAD geometry, no program",
    ".stp": "CAD geometry, no program", ".igs": "CAD geometry, no program", ".stl": "a mesh, no program",
}  # fmt: skip
"""Languages without a post, by the endings of their files."""
WAYS = {
    ".tp": "save it as ASCII (.ls)", ".urp": "use the .script file that Polyscope writes beside it",
    ".jbr": "save it as .jbi", ".pc": "write the program as .ls", ".dtx": "write its points as .csv",
}  # fmt: skip
ENDINGS = {
    ".src": "krl", ".dat": "krl", ".mod": "rapid", ".prg": "rapid", ".sys": "rapid", ".modx": "rapid", ".sysx": "rapid",
    ".ls": "fanuc", ".jbi": "jbi", ".script": "urscript", ".csv": "csv", ".apt": "apt", ".cls": "apt", ".nc": "gcode",
    ".ngc": "gcode", ".tap": "gcode", ".mpf": "gcode",
}  # fmt: skip
"""Languages by the usual endings of their files, which are found so without loading all the others."""
_NAMES = {
    "rapid": r"(?<![a-z])(abb|irb)(?![a-z])",
    "fanuc": r"(?<![a-z])(fanuc|m-?\d+i[a-d]|r-?2000i[a-d]|lr ?mate)",
    "jbi": r"(?<![a-z])(yaskawa|motoman)(?![a-z])",
    "krl": r"(?<![a-z])kr ?-?\d+",
    "urscript": r"(?<![a-z])(universal robots?|ur ?(3|5|7|8|10|12|15|16|20|30)(e|long)?)(?![a-z0-9])",
}
_KUKA = (*(f"A{i}" for i in range(1, 7)), *(f"E{i}" for i in range(1, 7)))


class ArcTurn(NamedTuple):
    """How controllers of a language turn the tool on an arc: ``by`` one axis of the ``base``, or seen from the
    ``path``, or so that it may pass through the orientation of the ``via``; no arc is shorter than ``least`` (rad)."""

    by: Literal["base", "path", "via"]
    least: float = np.radians(0.5)


@dataclass(frozen=True, eq=False)
class ToolPath:
    """Lines between ``positions`` (k, 3) of the tool in robot axes, in m, with one ``rotation``, from ``q`` (n,) on.

    ``tool`` is the pose of the tool on the flange; ``comment`` stands at the head of the program.  ``turns`` (k, 3, 3)
    are the orientations of an arm that cannot hold one.
    """

    name: str
    q: Array
    positions: Array
    rotation: Array
    tool: Pose
    comment: str = ""
    turns: Array | None = None

    @property
    def poses(self) -> tuple[Pose, ...]:
        turns = [self.rotation] * len(self.positions) if self.turns is None else self.turns
        return tuple(Pose(turn, place) for turn, place in zip(turns, self.positions, strict=True))


class Post(ABC):
    """Reads and rewrites the programs of one language, and writes new ones where it can."""

    kind: ClassVar[str]
    title: ClassVar[str] = ""
    """What people call the language."""
    suffixes: ClassVar[tuple[str, ...]]
    companions: ClassVar[tuple[str, ...]] = ()
    """Endings of files of the same stem that belong to a program, such as .dat to .src."""
    own_base: ClassVar[str] = ""
    """Name of the base that is the controller's own, where files do not state it: the robot's frame ``world``."""
    base_at_root: ClassVar[bool] = False
    """Whether a robot without a frame ``world`` has the controller's own base in its root."""

    alone: ClassVar[bytes] = b""
    """Pattern of a line, without its end, with one whole target that needs no line before it; else empty."""
    passed: ClassVar[bytes] = b""
    """Pattern of a line that may stand between them: what it does to later lines goes through the target after it."""
    settings: ClassVar[tuple[bytes, ...]] = ()
    """Patterns of lines that may stand there too, each of what the last such line alone decides."""
    once: ClassVar[bytes] = rb"(?!)"
    """Pattern of lines among those passed that say something of the next target alone."""
    motion: ClassVar[bytes] = b""
    """Pattern of a line that moves, without its end, where there are lines that stand alone."""
    mark: ClassVar[bytes] = b""
    """A line that says nothing, where there are lines that stand alone."""
    judged: ClassVar[tuple[Motion, ...]] = ()
    """Motions to whose targets the controller goes by their configuration data, or not at all."""
    arc_turn: ClassVar[ArcTurn | None] = None
    """Where an arc can be written as several."""
    pulses: ClassVar[bool] = False
    """Whether files may state encoder pulses, so that reading them takes the drives of the robot."""

    @abstractmethod
    def read(self, files: Mapping[str, bytes], given: Given | None = None) -> Program:
        """Targets, moves and frames of the files of one program, by file name."""

    @abstractmethod
    def write(self, program: Program, changes: Changes) -> dict[str, bytes]:
        """The same files with the new values."""

    def long(self, files: Mapping[str, bytes], least: int = LONG, size: int = PIECE, most: int = SHOWN) -> Long | None:
        """A program of at least so many lines that can be cut into pieces, so that it need not be held at once."""
        from elastocal.compensation.runs import Run

        return Run.of(self, files, least, size, most)

    def calls(self, data: bytes) -> set[str]:
        """Names (upper case) that a file calls and that may be those of other files of its folder."""
        return set()

    def branch(self, target: Target) -> Branch | None:
        """What the configuration data of a target say about the way that the arm reaches it; None: nothing."""
        return None

    def hindrance(self, model: Robot, stops: Sequence[Stop] = ()) -> str:
        """Why no new program can be written for a robot; "" where it can."""
        return f"no new programs are written in {self.kind}"

    def check(self, name: str, model: Robot, stops: Sequence[Stop] = ()) -> None:
        """Refuse to write a new program."""
        why = self.hindrance(model, stops)
        if why:
            raise UnsupportedError(f"{name}: {why}", value=name)

    def cautions(self, model: Robot, stops: Sequence[Stop]) -> tuple[str, ...]:
        """What a measuring program leaves to others: stands at its head and is said where it is made."""
        return ()

    def measuring_program(
        self, name: str, model: Robot, stops: Sequence[Stop], notes: Sequence[str] = (), wait: float = 2.0
    ) -> dict[str, str]:
        """Texts by file name; ``wait`` seconds pass at every stop before anybody is asked to read."""
        raise UnsupportedError(f"{name}: {self.hindrance(model, stops)}", value=name)

    def example(self, model: Robot, path: ToolPath) -> dict[str, str]:
        """A program along a path, as texts by file name."""
        raise UnsupportedError(f"{path.name}: {self.hindrance(model)}", value=path.name)

    def left_open(self, model: Robot, path: ToolPath) -> dict[str, str | list[str]]:
        """What an example does not state, as options of ``compensate``: base, tool, orientation, near."""
        return {}


def listed(values: Array) -> str:
    return ",".join(f"{v + 0.0:.4f}" for v in values)


@cache
def post_kinds() -> dict[str, type[Post]]:
    """Every language by its kind."""
    from elastocal.compensation import posts

    return kinds_in(posts, Post, group="elastocal.posts")


def post_of(kind: str) -> Post | None:
    """The language of that kind, None where there is none."""
    from elastocal.compensation import posts

    language_class = kind_in(posts, Post, kind, group="elastocal.posts")
    return None if language_class is None else cast("type[Post]", language_class)()


def post_in(kind: str) -> Post:
    """The language of that kind, one of those that there are."""
    post = post_of(kind)
    if post is None:
        raise UnknownNameError("controller language", kind, post_kinds())
    return post


def is_program(file: str) -> bool:
    """Whether a file has the ending of a program in any language; what belongs to one has not."""
    ending = PurePath(file).suffix.lower()
    own = ENDINGS.get(ending)
    return any(ending in post.suffixes for post in (post_kinds().values() if own is None else [post_in(own)]))


def post_for(file: str) -> Post:
    """The language of a file by its ending."""
    ending = PurePath(file).suffix.lower()
    if ending in ENDINGS:
        return post_in(ENDINGS[ending])
    for post in post_kinds().values():
        if ending in (*post.suffixes, *post.companions):
            return post()
    own = OTHERS.get(ending, "")
    known = ", ".join(f"{p.title or p.kind} ({p.suffixes[0]})" for p in post_kinds().values())
    way = WAYS.get(ending, "write its targets as .csv") if own else "give it the ending of its language"
    what = f"is {own}, which is not read" if own else f"ends in {ending!r}, which no language does; read are {known}"
    raise InputError(
        f"{file}: {what}; {way}, or add the language as one file (docs/extending.md)",
        code="no-post", file=file, value=own or ending, allowed=tuple(post_kinds()),
    )  # fmt: skip


def parsed(files: Mapping[str, bytes], given: Given | None = None, kind: str = "", origin: str = "") -> Program:
    """The program of some files by name; its language is that of the first file's ending, or ``kind``."""
    named = post_in(kind) if kind else None
    if not files:
        raise MissingError("a program has at least one file; none is given")
    post = named or post_for(next(iter(files)))
    return replace(post.read(files, given), given=given or Given(), origin=origin)


def language(model: Robot) -> str:
    """What the robot file states, else what the maker in name or title takes, else KRL for axes called as on a KUKA.

    Names come before axes, since A1 to A6 are used by others as well; of KUKA the KR arms take KRL, others do not.
    Empty where nothing tells.
    """
    if model.controller.language or named_language(model):
        return model.controller.language or named_language(model)
    return "krl" if model.controller.axes and set(model.controller.axes) <= set(_KUKA) else ""


def named_language(model: Robot) -> str:
    """Of the maker in name or title; empty where there is none."""
    names = f"{model.name} {model.title}".replace("_", " ")
    for kind, pattern in _NAMES.items():
        if re.search(pattern, names, re.IGNORECASE):
            return kind
    return ""


def six_revolute(model: Robot) -> bool:
    return model.n == 6 and all(m.kind == "revolute" for m in model.motions)


def base_pose(model: Robot) -> Pose:
    """The controller's own base in the robot's, where the robot file states it."""
    from elastocal.compensation.stations import own_base

    return own_base(model) or Pose()


def speed_of(stop: Stop, number: int) -> float:
    """Per cent of the move to a stop; the first one is slow."""
    return SLOW if (stop.slow or number == 1) and stop.speed is None else stop.speed or SPEED


def stop_lines(
    stops: Sequence[Stop], remark: Lines, ask: Lines, move: Callable[[int, Stop], Sequence[str]], end: Sequence[str]
) -> list[str]:
    """Every stop of a measuring program: what it is, the move to it, what ends it, and what somebody is asked to do."""
    out: list[str] = []
    for number, stop in enumerate(stops, 1):
        out += [*remark(f"stop {number} of {len(stops)}"), *(remark(stop.note) if stop.note else ())]
        out += [*move(number, stop), *end, *(line for sentence in stop.sentences for line in ask(sentence))]
    return out


def pendant_values(model: Robot, q: Array) -> Array:
    """Controller values (n,) of joint values (n,), in deg and mm."""
    units = np.array([np.degrees(1.0) if m.kind == "revolute" else 1e3 for m in model.motions])
    return np.asarray(units * model.controller.to_controller(q[None])[0] + 0.0)


def program_name(name: str) -> str:
    """A name that controllers take, for a program and for its files."""
    word = re.sub(r"\W", "_", name, flags=re.ASCII)[:LONGEST]
    fits = re.match(r"[A-Za-z]", word) and not re.fullmatch(DEVICES, word, re.IGNORECASE)
    return word if fits else f"P_{word}"[:LONGEST]


def plain_lines(text: str, width: int = WIDEST) -> list[str]:
    """ASCII without quotes and backslashes, in lines that a controller shows whole."""
    return textwrap.wrap(re.sub(r"[^ -!#-\[\]-~]", "", text), width, break_on_hyphens=False) or [""]


def windows_lines(lines: Sequence[str]) -> str:
    """With the line ends of the controllers' systems."""
    return "\r\n".join(lines) + "\r\n"
