"""KUKA KRL: a .src file with its .dat file (and $config.dat for BASE_DATA and TOOL_DATA, where given).

Literals of moves and of variables that are set once are targets; mm, deg, A B C about z, y, x in turn.  Keys that a
literal leaves out mean "as before"; where a correction makes them differ, they are added.  S is kept, T is written
anew only where ``Changes.turns`` says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from elastocal.compensation.branches import Branch
from elastocal.compensation.posts.collect import Collector
from elastocal.compensation.posts.digits import new_text, number_text
from elastocal.compensation.posts.krl_data import (
    AXES,
    CARTESIAN,
    EXTERNAL,
    WHOLE,
    Lookup,
    Variables,
    integer_text,
    stem,
    variables,
)
from elastocal.compensation.posts.krl_elsewhere import Elsewhere
from elastocal.compensation.posts.krl_read import Walk
from elastocal.compensation.posts.poses import kuka_angles
from elastocal.compensation.posts.post import (
    SLOW,
    SPEED,
    START,
    ArcTurn,
    ToolPath,
    plain_lines,
    program_name,
    windows_lines,
)
from elastocal.compensation.posts.text import Edit, Text, opened
from elastocal.compensation.posts.written import (
    Added,
    RowPost,
    Written,
    arc_edits,
    layout_of,
    least_decimals,
    program_of,
)
from elastocal.compensation.program import Changes, Given, Inserted, Motion, Move, Program, Target
from elastocal.errors import MissingError, UnsupportedError
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose

if TYPE_CHECKING:
    from elastocal.design.method import Stop

HOW = Written()
"""mm and deg, angles about z, y and x in turn."""
_DATA = re.compile(r"(BASE|TOOL)_DATA\[(\d+)\]")
_DEFDAT = re.compile(r"(?<!\w)DEFDAT\b", re.A | re.I)
_CALL = re.compile(rb"^[ \t]*+([A-Za-z_]\w*+)[ \t]*\(", re.M)
_MOTION = re.compile(r"([ \t]*)([A-Za-z]+)", re.A)
_REMARK = rb"[ \t]*+(?:;[^\r\n]*+)?+"
_PLAIN = rb"[^\r\n;(\"]*+"
_BRACKETS = rb"[ \t]*+\([^()\r\n;\"]*+\)"
_BRACES = rb"\{[^{}\r\n\";]*+\}[ \t]*+"
_PASSED = rb"(?:C_\w++[ \t]*+)*+"
_BETWEEN = (
    rb"\$(?!(?:BASE|TOOL|LOAD|IPO_MODE|VEL)\b)\w[^\r\n=;(\"]*+=" + _PLAIN,
    rb"(?:WAIT[ \t]++(?:SEC\b|FOR\b(?:%s)?+)|TRIGGER[ \t]|CONTINUE\b|HALT\b)" % _BRACKETS + _PLAIN,
    rb"BAS[ \t]*+(?=\([ \t]*+\#(?:ACC|APO|OV|ORI|VEL_PTP))" + _BRACKETS,
    rb"S?(?:LIN|PTP)(?:_REL)?[ \t]++%s(?:\#(?:BASE|TOOL)[ \t]*+)?" % _BRACES + _PASSED,
    rb"S?CIRC[ \t]++%s,[ \t]*+%s(?:,[ \t]*+CA[^\r\n;({\"C]*+)?" % (_BRACES, _BRACES) + _PASSED,
)
_SPEED = rb"(?:\$VEL(?![\w$])[^\r\n=;(\"]*+=%s|BAS[ \t]*+(?=\([ \t]*+\#VEL_CP\b)%s)" % (_PLAIN, _BRACKETS)


class Own(NamedTuple):
    """Spans of T, and where keys that a literal leaves out can be added, by target; where auxiliary points end."""

    turns: dict[int, tuple[int, int]]
    omitted: dict[int, int]
    behind: dict[tuple[str, int], int]


class Krl(RowPost):
    kind: ClassVar[str] = "krl"
    title: ClassVar[str] = "KUKA KRL"
    suffixes: ClassVar[tuple[str, ...]] = (".src",)
    companions: ClassVar[tuple[str, ...]] = (".dat",)
    judged: ClassVar[tuple[Motion, ...]] = ("joint",)
    alone: ClassVar[bytes] = rb"[ \t]*+S?(?:LIN|PTP)[ \t]++%s[ \t]*+(?:C_\w++[ \t]*+)*+(?:;[^\r\n]*+)?+" % WHOLE
    passed: ClassVar[bytes] = _REMARK + rb"|[ \t]*+(?:%s)" % b"|".join(_BETWEEN) + _REMARK
    settings: ClassVar[tuple[bytes, ...]] = (rb"[ \t]*+" + _SPEED + _REMARK,)
    motion: ClassVar[bytes] = rb"[ \t]*+(?:S?(?:PTP|LIN|CIRC)(?:_REL)?|SPL)\b[^\r\n]*+"
    arc_turn: ClassVar[ArcTurn | None] = ArcTurn("base")
    mark: ClassVar[bytes] = b";elastocal: what follows is the next piece\n"

    def read(self, files: Mapping[str, bytes], given: Given | None = None) -> Program:
        given = given or Given()
        texts = {name: opened(name, data) for name, data in files.items()}
        sources = [t for name, t in texts.items() if not name.lower().endswith(".dat")]
        if not sources:
            raise MissingError(
                f"{', '.join(files) or 'no files'}: a .dat file moves nothing; give its .src file too",
                code="no-source-file",
            )
        modules = variables(texts.values())
        frames = frames_found(modules)
        into = Collector()
        for name, text in texts.items():
            if name.lower().endswith(".dat") and not _DEFDAT.search(text.text):
                into.note(f"{name}: has no line DEFDAT, as data lists of KUKA have; check that it is the right file")
        omitted: dict[int, int] = {}
        turns: dict[int, tuple[int, int]] = {}
        behind: dict[tuple[str, int], int] = {}
        beside = {name: opened(name, data) for name, data in given.beside.items()}
        elsewhere = Elsewhere.of(beside, texts, frames, into)
        for text in sources:
            names = Lookup(modules, stem(text.name))
            Walk(text, texts, names, into, frames, omitted, turns, behind=behind, elsewhere=elsewhere).run()
        into.settle(omitted, turns)
        return program_of(self.kind, files, into, HOW, given, frames, Own(turns, omitted, behind))

    def calls(self, data: bytes) -> set[str]:
        return {m[1].decode("ascii").upper() for m in _CALL.finditer(data)}

    def added(self, texts: Mapping[str, Text], program: Program, changes: Changes, values: Array) -> Added:
        yield from _keys(program, values, changes.inserted)
        for number, turn in changes.turns.items():
            if turn != program.targets[number].turn:
                yield program.targets[number].file, _turn(texts, program, number, turn)
        yield from super().added(texts, program, changes, values)

    def points(self, text: Text, program: Program, move: Move, points: Inserted) -> Edit:
        """Linear moves to be passed without a stop, before the line of ``move``."""
        at = text.starts[move.line - 1]
        word, passing = _passing(text, at, "LIN")
        lines = [f"{word} {pose} {passing}{text.newline}" for pose in _literals(program, move, points)]
        return (at, at, "".join(lines))

    def arcs(self, text: Text, program: Program, move: Move, points: Inserted) -> Iterator[Edit]:
        at = text.starts[move.line - 1]
        word, passing = _passing(text, at, "CIRC")

        def form(aux: str, end: str) -> str:
            return (f"{word} {aux}" if aux else "") + (f",{end} {passing}{text.newline}" if end else "")

        behind = layout_of(program).own.behind[move.file, move.line]
        yield from arc_edits(at, behind, _literals(program, move, points), points.before, form)

    def branch(self, target: Target) -> Branch | None:
        """S: bit 0 wrist behind axis 1, bit 1 forearm bent forward, bit 2 A5 below zero.  T: signs of the axes.

        Manuals are ambiguous about bit 2; published programs agree in that it is set where bit 4 of T is, which is
        the sign of A5.
        """
        if not target.configuration:
            return None
        status = int(target.configuration.removeprefix("S "))
        bits = {} if target.turn is None else {i: target.turn >> i & 1 for i in range(6)}
        signs = {i: (-720.0, 0.0) if negative else (0.0, 720.0) for i, negative in bits.items()}
        return Branch(behind=bool(status & 1), ahead=bool(status & 2), fifth_negative=bool(status & 4), ranges=signs)

    def hindrance(self, model: Robot, stops: Sequence[Stop] = ()) -> str:
        known = {*AXES, *EXTERNAL}
        axes = ", ".join(model.controller.axes)
        return "" if known >= set(model.controller.axes) else f"KRL knows A1 to A6 and E1 to E6, not {axes}"

    def measuring_program(
        self, name: str, model: Robot, stops: Sequence[Stop], notes: Sequence[str] = (), wait: float = 2.0
    ) -> dict[str, str]:
        """One PTP to axis values per stop, a halt where somebody reads or changes the load.

        ``NAME.src`` holds the motions, ``NAME.dat`` the points as E6AXIS.  The messages need KSS 8 or newer.
        """
        module = program_name(name)
        width = max(2, len(str(len(stops))))
        head = [f"; {line}" for note in notes for line in plain_lines(note)]
        source = [f"DEF {module}( )", *head, "BAS(#INITMOV, 0)", f"BAS(#VEL_PTP, {SPEED})"]
        source += [*(f'MsgNotify("{line}")' for line in plain_lines(START)), "HALT", ""]
        points = []
        for number, stop in enumerate(stops, 1):
            point = f"XM{number:0{width}d}"
            points.append(f"DECL E6AXIS {point}={_all_axes(model, stop.q)}")
            source += [
                f"; stop {number} of {len(stops)}",
                *_stop_lines(point, replace(stop, slow=stop.slow or number == 1), wait),
                "",
            ]
        return {
            f"{module}.src": windows_lines(["&ACCESS RVP", *source, "END"]),
            f"{module}.dat": windows_lines(["&ACCESS RVP", f"DEFDAT {module}", *points, "ENDDAT"]),
        }

    def example(self, model: Robot, path: ToolPath) -> dict[str, str]:
        axes = np.degrees(model.controller.to_controller(path.q[None])[0])
        start = ",".join(f"A{i + 1} {v + 0.0:.4f}" for i, v in enumerate(np.round(axes, 4)))
        lines = [
            f"DEF {path.name.upper()}( )",
            f"; {path.comment}",
            "$BASE={X 0,Y 0,Z 0,A 0,B 0,C 0}",
            f"$TOOL={_frame(path.tool)}",
            "$VEL.CP=0.05",
            f"PTP {{{start}}}",
            *(f"LIN {_frame(pose)}" for pose in path.poses),
            "END",
        ]
        return {f"{path.name}.src": windows_lines(lines)}


def _passing(text: Text, at: int, word: str) -> tuple[str, str]:
    """What a line in place of the one at ``at`` begins with, and what makes its end be passed."""
    match = _MOTION.match(text.text, at)
    indent = match[1] if match else ""
    return (f"{indent}S{word}", "C_SPL") if match and match[2].upper() == f"S{word}" else (indent + word, "C_DIS")


def _literals(program: Program, move: Move, points: Inserted) -> list[str]:
    out = []
    for row in HOW.rows(points, layout_of(program).slots.values[move.end]):
        pairs = zip(CARTESIAN, row, HOW.decimals, strict=True)
        out.append("{" + ",".join(f"{k} {number_text('', v, int(d))}" for k, v, d in pairs) + "}")
    return out


def _stop_lines(point: str, stop: Stop, wait: float) -> list[str]:
    speed = SLOW if stop.slow and stop.speed is None else stop.speed
    lines = [f"; {line}" for line in plain_lines(stop.note)] if stop.note else []
    lines += [f"BAS(#VEL_PTP, {speed:g})"] if speed is not None else []
    lines += [f"PTP {point}", *([f"BAS(#VEL_PTP, {SPEED})"] if speed is not None else ()), f"WAIT SEC {wait:g}"]
    for sentence in stop.sentences:
        lines += [*(f'MsgNotify("{line}")' for line in plain_lines(sentence)), "HALT"]
    return lines


def _all_axes(model: Robot, q: Array) -> str:
    """Joint values (n,) as E6AXIS, deg and mm."""
    shown = model.controller.to_controller(q[None])[0]
    values = {}
    for axis, value, motion in zip(model.controller.axes, shown, model.motions, strict=True):
        values[axis] = float(np.degrees(value) if motion.kind == "revolute" else 1e3 * value)
    return "{" + ",".join(f"{a} {values.get(a, 0.0) + 0.0:.4f}" for a in (*AXES, *EXTERNAL)) + "}"


def _frame(pose: Pose) -> str:
    numbers = [*(1e3 * pose.translation), *kuka_angles(pose.rotation)]
    return "{" + ",".join(f"{k} {round(v, 4) + 0.0:.4f}" for k, v in zip(CARTESIAN, numbers, strict=True)) + "}"


def frames_found(modules: Mapping[str, Variables]) -> dict[str, dict[str, Pose]]:
    """BASE_DATA and TOOL_DATA with literals; number 0 is the robot's own base and flange."""
    out = {"base": {"0": Pose()}, "tool": {"0": Pose()}}
    for module in modules.values():
        for name, value in module.literals.items():
            match = _DATA.fullmatch(name)
            pose = value.pose() if match and name not in module.computed else None
            if match and pose is not None:
                out[match[1].lower()][match[2]] = pose
    return out


def _keys(program: Program, values: Array, inserted: Mapping[int, Inserted]) -> Added:
    """Keys that literals leave out, where "as before" is no longer what they should be."""
    layout = layout_of(program)
    omitted = layout.own.omitted
    if not omitted:
        return
    least = least_decimals(program, HOW)
    before = {t: (i, m.start) for i, m in enumerate(program.moves) for t in (m.end, m.via) if t in omitted}
    for number, place in omitted.items():
        move, start = before.get(number, (-1, None))
        shifted = number in layout.derived
        had = layout.slots.values[number] if start is None or shifted else values[start]
        if move in inserted and not shifted:
            had = _standing(program, inserted[move], program.moves[move], number, had, values)
        keys = AXES if program.targets[number].kind == "joints" else CARTESIAN
        for key, span, was, value, d in zip(
            keys, layout.slots.spans[number], had, values[number], least[number].tolist(), strict=True
        ):
            new = new_text("", was, value, d) if span[0] < 0 else None
            if new is not None:
                yield program.targets[number].file, (place, place, f",{key} {new}")


def _standing(program: Program, points: Inserted, move: Move, number: int, start: Array, values: Array) -> Array:
    """Numbers of the point where the line of a target begins, behind points that are put in."""
    rows = HOW.rows(points, values[number])
    if move.motion == "linear":
        return np.asarray(rows[-1])
    ends = (
        rows[: points.before][1::2]
        if number == move.via
        else np.concatenate([rows[: points.before][1::2], rows[points.before :][::2]])
    )
    return np.asarray(ends[-1]) if len(ends) else start


def _turn(texts: Mapping[str, Text], program: Program, number: int, turn: int) -> Edit:
    target, spans = program.targets[number], layout_of(program).own.turns
    if number not in spans:
        raise UnsupportedError(
            f"{target.where}: has no T that could become {turn}; leave it out of the turns", value=turn
        )
    start, end = spans[number]
    return (start, end, integer_text(texts[target.file].text[start:end], turn))


def turn_bits(joints: Array) -> int:
    """T of controller values (6,)."""
    return int(sum(1 << i for i, q in enumerate(joints[:6]) if q < 0))


def new_turn(turn: int, old: Array, new: Array) -> tuple[int, tuple[int, ...]]:
    """T after the axes went from ``old`` to ``new`` (6,), and the axes (from 1) whose bit it had to flip.

    Only bits of axes that change sign are touched: T stays as it was taught otherwise, even where it disagrees.
    """
    crossed = [i for i in range(min(6, len(old))) if (old[i] < 0) != (new[i] < 0) and np.isfinite(new[i])]
    wanted = turn_bits(new)
    flipped = tuple(i + 1 for i in crossed if (turn ^ wanted) >> i & 1)
    for i in flipped:
        turn ^= 1 << (i - 1)
    return turn, flipped
