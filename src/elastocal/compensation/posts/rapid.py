"""ABB RAPID: modules with robtargets and jointtargets, declared or written in place.

mm, deg, quaternions scalar first; a pose is in the work object uframe * oframe.  Configuration and external axes are
kept.  A quaternion that changes is of unit length and has at least eight decimals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from elastocal.compensation.branches import Branch
from elastocal.compensation.posts.collect import Collector
from elastocal.compensation.posts.digits import numbers_text
from elastocal.compensation.posts.post import (
    START,
    ArcTurn,
    ToolPath,
    plain_lines,
    program_name,
    six_revolute,
    stop_lines,
    windows_lines,
)
from elastocal.compensation.posts.rapid_data import (
    QUARTERS,
    WORDS,
    Statements,
    confdata_at,
    declared,
    four,
    quarter_turns,
)
from elastocal.compensation.posts.rapid_read import STILL, Walk
from elastocal.compensation.posts.text import Edit, Text, opened
from elastocal.compensation.posts.written import Layout, RowPost, Written, arc_edits, layout_of, program_of
from elastocal.compensation.program import Given, Inserted, Move, Program, Target
from elastocal.model.inverse_kinematics import inverse_kinematics, task
from elastocal.model.kinematics import rigid_pose
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose
from elastocal.spatial.rotation import Rotation

if TYPE_CHECKING:
    from elastocal.design.method import Stop

SPEED, SLOW = "v200", "v50"
LOAD = "tool0 has no load: state the load carried (loaddata, GripLoad) before running, and when it changes"
NO_EXTERNAL = "[9E9,9E9,9E9,9E9,9E9,9E9]"
FOREARM, UPPER, WRIST = 2, 1, 4
HOW = Written(form="quaternion")


_LIST = rb"[ \t]*+\[[-+.,\deE \t]++\][ \t]*+"
_ROBTARGET = rb"\[%s(?:,%s){3}\][ \t]*+" % (_LIST, _LIST)
_REST = rb"[^;!\"\r\n]*+;"
_REMARK = rb"[ \t]*+(?:![^\r\n]*+)?+"
_BETWEEN = (
    rb"(?:%s)\b(?:[^;!\"\r\n(]|\"[^\"\r\n]*+\")*+;" % "|".join(sorted(STILL)).encode(),
    rb"MoveC[ \t]++%s,[ \t]*+%s," % (_ROBTARGET, _ROBTARGET) + _REST,
    rb"MoveAbsJ[ \t]++\[%s,%s\]" % (_LIST, _LIST) + _REST,
)


Tails = dict[tuple[str, int], tuple[int, int, int, int]]
"""Where the statement of a move, what follows its points, its end, and the end of its auxiliary point stand, by its
file and line."""


class Rapid(RowPost):
    kind: ClassVar[str] = "rapid"
    title: ClassVar[str] = "ABB RAPID"
    suffixes: ClassVar[tuple[str, ...]] = (".mod", ".prg", ".sys", ".modx", ".sysx")
    alone: ClassVar[bytes] = rb"[ \t]*+Move[LJ][ \t]++" + _ROBTARGET + b"," + _REST + _REMARK
    passed: ClassVar[bytes] = _REMARK + rb"|[ \t]*+(?:%s)" % b"|".join(_BETWEEN) + _REMARK
    motion: ClassVar[bytes] = rb"[ \t]*+Move\w++[^;\r\n]*+;[ \t]*+(?:![^\r\n]*+)?+"
    arc_turn: ClassVar[ArcTurn | None] = ArcTurn("path", np.radians(4.0))
    mark: ClassVar[bytes] = b"!elastocal: what follows is the next piece\n"

    def read(self, files: Mapping[str, bytes], given: Given | None = None) -> Program:
        given = given or Given()
        texts = {name: opened(name, data) for name, data in files.items()}
        modules = [Statements(text) for text in texts.values()]
        data = declared(modules)
        into = Collector()
        tails: Tails = {}
        for module in modules:
            Walk(module, data, into, tails).run()
        into.settle()
        into.changed_frames = {n: where for n, where in data.computed.items() if n in (*data.bases, *data.tools)}
        known = {
            word: {data.spelled.get(n, n): p for n, p in frames.items() if n not in data.computed}
            for word, frames in (("base", data.bases), ("tool", data.tools))
        }
        return program_of(self.kind, files, into, HOW, given, known, tails)

    def points(self, text: Text, program: Program, move: Move, points: Inserted) -> Edit:
        """MoveL to literals that are passed, before the statement of ``move``, with its speed, zone, tool, object."""
        start, tail, end = _tail(text, layout_of(program), move)
        line = text.line_start(start)
        head, rest = text.text[line : start + 5], _passing(text.text[tail:end])
        lines = [f"{head} {pose}{rest};{text.newline}" for pose in _literals(program, move, points)]
        return (line, line, "".join(lines))

    def arcs(self, text: Text, program: Program, move: Move, points: Inserted) -> Iterator[Edit]:
        start, tail, end = _tail(text, layout_of(program), move)
        line = text.line_start(start)
        head, rest = text.text[line : start + 5], _passing(text.text[tail:end])

        def form(aux: str, to: str) -> str:
            return (f"{head} {aux}" if aux else "") + (f",{to}{rest};{text.newline}" if to else "")

        behind = layout_of(program).own[move.file, move.line][3]
        yield from arc_edits(line, behind, _literals(program, move, points), points.before, form)

    def branch(self, target: Target) -> Branch | None:
        """confdata: quarter turns of axes 1, 4 and 6; cfx: behind axis 1 (4), behind the lower arm (2), axis 5 < 0 (1).

        Values other than 0 to 7 (of the two-digit kind for other arms) say nothing.
        """
        *quarters, cfx = four(target.configuration)
        if target.kind != "pose" or not 0 <= cfx <= 7:
            return None
        ranges = {axis: (90 * turn, 90 * turn + 90) for axis, turn in zip(QUARTERS, quarters, strict=True)}
        number = int(cfx)
        return Branch(behind=bool(number & 4), ahead=not number & 2, fifth_negative=bool(number & 1), ranges=ranges)

    def hindrance(self, model: Robot, stops: Sequence[Stop] = ()) -> str:
        if not six_revolute(model):
            return "in RAPID they are written for six revolute axes only"
        if any(s.speed is not None for s in stops):
            return "RAPID sets no speed of a single axis, so sweeps are programmed by hand from plan.csv"
        return ""

    def measuring_program(
        self, name: str, model: Robot, stops: Sequence[Stop], notes: Sequence[str] = (), wait: float = 2.0
    ) -> dict[str, str]:
        """One MoveAbsJ per stop, a Stop where somebody reads or changes the load; ``NAME.mod`` holds all of it."""
        module = program_name(name)
        module = f"P_{module}" if re.fullmatch(WORDS, module, re.IGNORECASE) else module
        width = max(2, len(str(len(stops))))
        points = [f"jm{number:0{width}d}" for number in range(1, len(stops) + 1)]

        def move(number: int, stop: Stop) -> list[str]:
            speed = SLOW if stop.slow or number == 1 else SPEED
            return [f"    MoveAbsJ {points[number - 1]}\\NoEOffs,{speed},fine,tool0;"]

        body = [*_ask(START), *stop_lines(stops, _remarks, _ask, move, [f"    WaitTime {wait:g};"])]
        literals = [
            f"  CONST jointtarget {p}:={_jointtarget(model, stop.q)};" for p, stop in zip(points, stops, strict=True)
        ]
        head = [f"  ! {line}" for note in (*notes, LOAD) for line in plain_lines(note)]
        lines = [f"MODULE {module}", *head, *literals, f"  PROC meas_{module}()", *body, "  ENDPROC", "ENDMODULE"]
        return {f"{module}.mod": windows_lines(lines)}

    def example(self, model: Robot, path: ToolPath) -> dict[str, str]:
        """A module with robtargets, each with the confdata that it is reached with."""
        name = path.name.capitalize()
        different = np.unique(path.positions, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(different[1])
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        corners, visits = different[0][order], rank[different[2].ravel()]
        points = [
            f"  CONST robtarget p{i + 1}:=[{_posed(Pose(path.rotation, corner))[1:-1]},{conf},{NO_EXTERNAL}];"
            for i, (corner, conf) in enumerate(zip(corners, _confdata(model, path, corners), strict=True))
        ]
        lines = [
            f"MODULE {name}",
            f"  ! {path.comment}",
            "  ! load of the tool is not known: set it before running",
            f"  PERS tooldata t{name}:=[TRUE,{_posed(path.tool)},[1,[0,0,1],[1,0,0,0],0,0,0]];",
            f"  CONST jointtarget jStart:={_jointtarget(model, path.q)};",
            *points,
            "  PROC main()",
            f"    MoveAbsJ jStart,v100,fine,t{name};",
            *(f"    MoveL p{i + 1},v50,fine,t{name};" for i in visits),
            "  ENDPROC",
            "ENDMODULE",
        ]
        return {f"{path.name}.mod": windows_lines(lines)}


def _passing(rest: str) -> str:
    """What follows the points of a move, where its end is passed; \\Inpos would make a stop of it."""
    return re.sub(r"(?i)(,\s*)fine\b", r"\1z0", re.sub(r"(?i)\\\s*Inpos\s*:=\s*\w+\s*", "", rest))


def _literals(program: Program, move: Move, points: Inserted) -> list[str]:
    rows, out = HOW.rows(points, layout_of(program).slots.values[move.end]), []
    stated = confdata_at(program.targets[move.end].configuration, points.axes, len(rows))
    for row, configuration in zip(rows, stated, strict=True):
        words = numbers_text(row, HOW.decimals)
        out.append(f"[[{','.join(words[:3])}],[{','.join(words[3:])}],{configuration}]")
    return out


def _remarks(text: str) -> list[str]:
    return [f"    ! {line}" for line in plain_lines(text)]


def _ask(text: str) -> list[str]:
    return [*(f'    TPWrite "{line}";' for line in plain_lines(text)), "    Stop;"]


def _jointtarget(model: Robot, q: Array) -> str:
    """The literal of joint values (6,)."""
    shown = np.degrees(model.controller.to_controller(q[None])[0])
    return f"[[{','.join(f'{v + 0.0:.4f}' for v in shown)}],{NO_EXTERNAL}]"


def _posed(pose: Pose) -> str:
    place = ",".join(f"{v + 0.0:.4f}" for v in np.round(1e3 * pose.translation, 4))
    turn = Rotation.from_matrix(pose.rotation).as_quat(canonical=True, scalar_first=True)
    return f"[[{place}],[{','.join(f'{v + 0.0:.8f}' for v in np.round(turn, 8))}]]"


def _confdata(model: Robot, path: ToolPath, positions: Array) -> list[str]:
    """[cf1, cf4, cf6, cfx] of positions (k, 3), next to where the path starts.

    cfx counts 4 where the wrist is behind axis 1, which it never is here, 2 where it is behind the lower arm, 1 where
    axis 5 stands below zero.
    """
    turn = np.repeat(path.rotation[:, :, None], len(positions), axis=2)
    start = np.repeat(path.q[:, None], len(positions), axis=1)
    q = inverse_kinematics(model.nominal, model.tool, task(model, model.tool), positions.T, turn, start).q
    shoulder, elbow, wrist = (rigid_pose(model.nominal, model.joints[i], q)[0].T for i in (UPPER, FOREARM, WRIST))
    ahead = np.cross(elbow - shoulder, wrist - shoulder)
    forward = np.cross([0.0, 0.0, 1.0], wrist * [1.0, 1.0, 0.0])
    behind = np.einsum("ni,ni->n", ahead, forward) < 0
    axes = np.round(model.controller.to_controller(q.T), 9)
    cfx = 2 * behind + (axes[:, 4] < 0)
    return [f"[{a:.0f},{b:.0f},{c:.0f},{x}]" for (a, b, c), x in zip(quarter_turns(axes), cfx, strict=True)]


def _tail(text: Text, layout: Layout, move: Move) -> tuple[int, int, int]:
    """Of any move; one that repeats a line is shifted from the first such line."""
    tails: Tails = layout.own
    if (move.file, move.line) in tails:
        return tails[move.file, move.line][:3]
    spans = layout.slots.spans
    head = next(r.start for r in layout.slots.runs if move.end in r)
    line = move.line - (move.end - head)
    start, at, end, _ = tails[move.file, line]
    behind = int(spans[move.end].max() - spans[head].max())
    return start + text.starts[move.line - 1] - text.starts[line - 1], at + behind, end + behind
