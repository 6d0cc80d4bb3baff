"""What a new cell takes for granted, in one table: value, where it stands and can be replaced, and where it is from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from elastocal.app.starter.program import Example
    from elastocal.model.robot import Robot

ROBOT, PLAN, CELL = "robot/robot.yaml", "plan/plan.yaml", "cell.yaml"
TOOL = "tool"
ALONG, BESIDE = 0.06, 0.03
"""Place of an assumed measuring point beyond the flange and beside its axis, as shares of the reach."""

OPEN = {
    "force": "force on the tool",
    "base": "base of the program",
    "tool": "tool of the program",
    "orientation": "orientation of the tool, A, B, C in deg",
    "near": "axes before the program",
}
"""What options of ``compensate`` state for a program."""


class Assumption(NamedTuple):
    """``kind`` is what several of them have in common: compliances of joints, masses, loads of the plan."""

    what: str
    value: str
    where: str
    source: str
    kind: str


def with_assumed_tool(model: Robot) -> Robot:
    """The robot with a measuring point beyond its flange and beside the last axis, where its tool is the flange."""
    from elastocal.compensation.run import flange_of
    from elastocal.model.frames import Frame
    from elastocal.model.kinematics import kinematics
    from elastocal.model.limits import extent
    from elastocal.spatial.pose import Pose

    if TOOL in model.tree.names or not model.n or model.motions[-1].kind != "revolute":
        return model
    hand = flange_of(model)
    at = kinematics(model, np.zeros((1, model.n)), hand)
    axis = at.rotation[0].T @ at.jacobian[0, 3:, -1]
    before = kinematics(model, np.zeros((1, model.n)), model.joints[-1 if model.n < 2 else -2]).position[0]
    outward = float(np.sign(at.rotation[0].T @ (at.position[0] - before) @ axis)) or 1.0
    across = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    size = extent(model)
    place = outward * axis * ALONG * size + across / np.linalg.norm(across) * BESIDE * size
    place = np.round(place, 3)
    message = "assumption: a measuring point beyond the flange and beside the last axis, so that every joint moves it"
    frame = Frame(TOOL, hand, Pose(np.eye(3), place), None, message, "assumed")
    return replace(model, tree=replace(model.tree, frames=(*model.tree.frames, frame)), tool=TOOL)


def assumptions(
    model: Robot, text: str, plan: str, notes: Sequence[str], program: Example | None, force: str,
    payload: str | None = None,
) -> tuple[Assumption, ...]:  # fmt: skip
    """All rows for a robot with its file ``text`` and plan request, in the order in which they are met."""
    from elastocal.compensation.posts.post import language
    from elastocal.compensation.run import flange_of, flange_reason

    lines = text.splitlines()
    rows = [Assumption("robot file", note, ROBOT, "the robot's source does not say", ROBOT) for note in notes]
    for frame in model.tree.frames:
        if frame.status == "assumed":
            x, y, z = (f"{1e3 * v:g}" for v in frame.pose.translation)
            rows.append(Assumption(f"frame {frame.name}", f"{x}, {y}, {z} mm in {frame.parent}",
                                   _place(lines, ROBOT, f"name: {frame.name}"), frame.source, "frame"))  # fmt: skip
    for element, own in zip(model.elements, model.parameter_rows, strict=True):
        owner = str(getattr(element, "joint", None) or getattr(element, "frame", ""))
        for p in own:
            if p.status == "assumed":
                place = _place(lines, ROBOT, f"kind: {element.kind}", owner)
                kind = p.kind.replace("_", " ")
                rows.append(Assumption(p.name, f"{p.value:.4g} {p.unit}", place, p.source, kind))
    if model.n:
        hand = flange_of(model)
        why = flange_reason(model, hand) or "by its name"
        rows.append(Assumption("flange", hand, "compensate --flange", why, "flange"))
    spoken = language(model) or payload
    message = "axis names, title or name of the robot" if language(model) else "stated with --language"
    message = "stated in the robot file" if model.controller.language else message if spoken else "nothing tells it"
    rows.append(
        Assumption(
            "program language",
            spoken or "not known: tables (.csv)",
            f"{ROBOT}, controller: language",
            message,
            "program language",
        )
    )
    rows += [
        Assumption(match[1], match[2].strip(), f"{PLAN}, line {n}", "a guess by the size of the robot", PLAN)
        for n, line in enumerate(plan.splitlines(), 1)
        if (match := re.match(r"  - \{kind: (\w+),? ?([^}]*)\}(.*)", line)) and match[1] != "joint_limits"
        if match[1] != "payload" or match[3]  # stated, where no remark follows it
    ]
    if program is not None:
        pushed = {"force": f"{force} N"} if force else {}
        stated = {**pushed, **{key: words.strip('"[]') for key, words in program.options.items()}}
        made = f"made up for programs/{program.name}"
        place = f"{CELL}, options: compensate"
        rows += [Assumption(OPEN[key], value, place, made, f"programs/{program.name}") for key, value in stated.items()]
    return tuple(rows)


def counted(rows: Sequence[Assumption]) -> dict[str, int]:
    """How many there are of each kind, the most first; those of files are named by their file."""
    return dict(Counter(row.kind for row in rows).most_common())


def _place(lines: Sequence[str], file: str, *words: str) -> str:
    """``robot/robot.yaml, line 12``: where all words stand within three lines."""
    for n, line in enumerate(lines):
        near = " ".join(lines[n : n + 3])
        if words[0] in line and all(re.search(rf"(?<![\w.]){re.escape(w)}(?![\w.])", near) for w in words[1:] if w):
            return f"{file}, line {n + 1}"
    return file


def assumptions_text(name: str, rows: Sequence[Assumption]) -> str:
    """ASSUMPTIONS.md of a cell."""
    out = [
        f"# What {name} takes for granted",
        "",
        "Replace these one by one by what you know, at the place that is named; `elastocal status .` then says what is",
        "no longer up to date. `elastocal show .` lists the parameters of the robot as they are now.",
        "",
        "| what | value | where | from |",
        "|---|---|---|---|",
    ]
    out += ["| " + " | ".join(re.sub(r"\s*\|\s*", " / ", cell) for cell in row[:4]) + " |" for row in rows]
    return "\n".join(out) + "\n"
