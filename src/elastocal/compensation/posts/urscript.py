"""Universal Robots URScript (.script): poses p[x, y, z, rx, ry, rz] in m and as rotation vector, axes in rad.

Poses stand in movel, movep, movec and movej, in place or in a variable that is set once.  The base is the robot's own;
set_tcp(p[...]) states the tool.  movej(get_inverse_kin(pose, qnear=[...])) says with qnear how the arm gets there.
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
    base_pose,
    plain_lines,
    program_name,
    six_revolute,
    speed_of,
    stop_lines,
)
from elastocal.compensation.posts.text import NUMBER, Edit, Text, opened
from elastocal.compensation.posts.urscript_read import BASE, HOW, NO_TOOL, Walk
from elastocal.compensation.posts.written import RowPost, arc_edits, layout_of, program_of
from elastocal.compensation.program import Given, Inserted, Move, Program, Target
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose

if TYPE_CHECKING:
    from elastocal.design.method import Stop

FULL = 2.0
"""rad/s of 100 per cent."""


_REMARK = rb"[ \t]*+(?:#[^\r\n]*+)?+"
_SIX = rb"\[[-+.\deE, \t]++\][ \t]*+"
_OUTPUTS = rb"set_(?:(?:standard|tool|configurable)_)?(?:digital|analog)_out|set_flag"
_BETWEEN = (
    rb"(?:sleep|sync|textmsg|stop[jl]|%s)[ \t]*+\((?:[^()#\"\r\n]|\"[^\"\r\n]*+\")*+\)" % _OUTPUTS,
    rb"move[jlpc]\([ \t]*+p?%s(?:,[ \t]*+p%s)?[^()\[\]#\"\r\n]*+\)" % (_SIX, _SIX),
)


class UrScript(RowPost):
    kind: ClassVar[str] = "urscript"
    title: ClassVar[str] = "URScript"
    suffixes: ClassVar[tuple[str, ...]] = (".script",)
    alone: ClassVar[bytes] = rb"[ \t]*+move[lp]\([ \t]*+p\[[-+.\deE, \t]++\][^()#\"\r\n]*+\)[ \t]*+(?:#[^\r\n]*+)?+"
    passed: ClassVar[bytes] = _REMARK + rb"|[ \t]*+(?:%s)" % b"|".join(_BETWEEN) + _REMARK
    motion: ClassVar[bytes] = rb"[ \t]*+(?:mov[a-z]++|servo[jcl]|speed[jl])[ \t]*+\([^\r\n]*+"
    arc_turn: ClassVar[ArcTurn | None] = ArcTurn("base")
    mark: ClassVar[bytes] = b"# elastocal: what follows is the next piece\n"
    own_base: ClassVar[str] = BASE
    base_at_root: ClassVar[bool] = True

    def read(self, files: Mapping[str, bytes], given: Given | None = None) -> Program:
        given = given or Given()
        into = Collector()
        tools: dict[str, Pose] = {NO_TOOL: Pose()}
        behind: dict[tuple[str, int], int] = {}
        for name, data in files.items():
            Walk(opened(name, data), into, tools, behind=behind).whole()
        into.settle()
        return program_of(self.kind, files, into, HOW, given, {"tool": tools}, behind)

    def points(self, text: Text, program: Program, move: Move, points: Inserted) -> Edit:
        """Moves that are passed with a radius of 0.1 mm, before the line of ``move``."""
        layout = layout_of(program)
        at, end = text.span(move.line)
        line = text.text[at:end].rstrip("\r\n")
        spans = layout.slots.spans[move.end] - at
        first = line.rindex("p", 0, int(spans[0, 0]))
        last = line.index("]", int(spans[-1, 1])) + 1
        tail = _passing(line[last:])
        return (at, at, "".join(f"{line[:first]}{pose}{tail}{text.newline}" for pose in _literals(points)))

    def arcs(self, text: Text, program: Program, move: Move, points: Inserted) -> Iterator[Edit]:
        at, end = text.span(move.line)
        line = text.text[at:end].rstrip("\r\n")
        behind = layout_of(program).own[move.file, move.line]
        head = line[: line.index("(") + 1]
        tail = _passing(line[line.index("]", int(layout_of(program).slots.spans[move.end][-1, 1]) - at) + 1 :])

        def form(aux: str, to: str) -> str:
            return (head + aux if aux else "") + (f", {to}{tail}{text.newline}" if to else "")

        yield from arc_edits(at, behind, _literals(points), points.before, form)

    def branch(self, target: Target) -> Branch | None:
        values = [float(v) for v in re.findall(NUMBER, target.configuration.removeprefix("qnear"))]
        return Branch(near=np.array(values)) if len(values) == 6 else None

    def hindrance(self, model: Robot, stops: Sequence[Stop] = ()) -> str:
        return "" if six_revolute(model) else "in URScript they are written for six revolute axes only"

    def measuring_program(
        self, name: str, model: Robot, stops: Sequence[Stop], notes: Sequence[str] = (), wait: float = 2.0
    ) -> dict[str, str]:
        """One movej to axis values per stop, a popup that blocks where somebody reads or changes the load."""
        module = program_name(name)

        def move(number: int, stop: Stop) -> list[str]:
            return [f"  movej({_axes(model, stop.q)}, a=0.5, v={FULL * speed_of(stop, number) / 100:g})"]

        lines = [f"def {module}():", *(line for note in notes for line in _remarks(note)), *_popup(START)]
        lines += stop_lines(stops, _remarks, _popup, move, [f"  sleep({wait:g})"])
        return {f"{module}.script": "\n".join([*lines, "end", ""])}

    def example(self, model: Robot, path: ToolPath) -> dict[str, str]:
        base = base_pose(model)
        poses = [base.inverse() @ pose for pose in path.poses]
        lines = [
            f"def {path.name}():", f"  # {path.comment}", f"  set_tcp({_posed(path.tool)})",
            f"  movej({_axes(model, path.q)}, a=0.5, v=0.2)",
            *(f"  movel({_posed(p)}, a=0.3, v=0.05)" for p in poses), "end", "",
        ]  # fmt: skip
        return {f"{path.name}.script": "\n".join(lines)}


def _passing(tail: str) -> str:
    """What follows the point of a move, with a radius of 0.1 mm and without a comment."""
    return re.sub(rf",\s*r\s*=\s*{NUMBER}", "", tail.partition(")")[0]) + ", r=0.0001)"


def _literals(points: Inserted) -> list[str]:
    return [_posed(Pose(r, p)) for p, r in zip(points.positions, points.rotations, strict=True)]


def _remarks(text: str) -> list[str]:
    return [f"  # {line}" for line in plain_lines(text)]


def _popup(text: str) -> list[str]:
    return [f'  popup("{" ".join(plain_lines(text))}", title="Elastocal", blocking=True)']


def _axes(model: Robot, q: Array) -> str:
    return "[" + ", ".join(f"{v + 0.0:.7f}" for v in model.controller.to_controller(q[None])[0]) + "]"


def _posed(pose: Pose) -> str:
    return "p[" + ", ".join(numbers_text(HOW.of_pose(pose), HOW.decimals)) + "]"
