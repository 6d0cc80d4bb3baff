"""What a new cell adds to a robot, and what it takes for granted.

Added are the controller of its maker, a measuring point, and other springs for a calibration to find.  A URDF or DH
table knows nothing of the controller:

    KUKA     A1 to A6, KRL
    FANUC    J1 to J6, TP; J3 is the angle of the forearm against the horizontal, so that joint 3 = J3 + J2
    Yaskawa  S L U R B T, INFORM

FANUC's world frame and Yaskawa's robot frame lie on axis 1 at the height of axis 2.  By the maker in the robot's name;
six revolute joints only.

What is taken for granted stands in one table: value, where it stands and can be replaced, and where it is from.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, get_args

import numpy as np

from elastocal.errors import UnknownNameError
from elastocal.model.transmission import Language

if TYPE_CHECKING:
    from elastocal.app.starter.program import Example
    from elastocal.model.robot import Robot


AXES = {
    "krl": ("A1", "A2", "A3", "A4", "A5", "A6"),
    "fanuc": ("J1", "J2", "J3", "J4", "J5", "J6"),
    "jbi": ("S", "L", "U", "R", "B", "T"),
}
"""Names of the axes on the pendant, by language."""
WORLDS = ("fanuc", "jbi")
"""Languages whose targets count from such a frame."""
PARALLEL = 1e-6
FACTORS = (1.25, 0.8, 1.15, 0.85, 1.3, 0.9)
"""True over stated compliance, one place after the other."""
CAM = ("apt", "gcode", "csv")
"""Languages of programs that no controller speaks: they need no axes of its own."""
SPRINGS = ("joint_compliance", "motor_compliance", "link_compliance", "foundation_compliance")


def check_language(spoken: str) -> None:
    valid = [*(word for word in get_args(Language) if word), *CAM]
    if spoken not in valid:
        raise UnknownNameError("language of programs", spoken, valid)


def with_controller(model: Robot, asked: str | None = None) -> tuple[Robot, tuple[str, ...]]:
    """The robot with axes as its controller shows them, and what is assumed for it; ``asked`` is its language."""
    from elastocal.compensation.posts.post import language, named_language
    from elastocal.compensation.stations import own_base

    spoken = asked or language(model)
    plain = not model.controller.language and np.array_equal(model.controller.matrix, np.eye(model.n))
    if not spoken or not plain or model.n != 6 or any(m.kind != "revolute" for m in model.motions):
        return model, (
            f"{asked} is left out: its axes are known for arms of six revolute joints only",
        ) if asked else ()
    axes = AXES.get(spoken, model.controller.axes)
    why = f"the name {model.name}" if named_language(model) else "the names of its axes"
    notes = [] if asked else [f"programs are taken to be in {spoken}, by {why}"]
    if axes != model.controller.axes:
        notes.append(
            f"joints {model.joints[0]} to {model.joints[-1]} are taken as axes {', '.join(axes)}, in this order"
        )
    matrix = model.controller.matrix.copy()
    if spoken == "fanuc":
        matrix[2, 1] = _level(model)
        notes.append(
            f"{model.joints[2]} is taken to be coupled to J2, as the pendant of a FANUC shows J3 against the "
            "horizontal; remove the coupling where tables hold joint values of ROS"
        )
    if spoken in WORLDS and own_base(model) is None:
        model = _with_world(model)
        notes.append("the controller's own frame, 'world', is taken to lie on axis 1 at the height of axis 2")
    made = replace(model.controller, axes=axes, matrix=matrix, language=spoken)  # type: ignore[arg-type]
    return replace(model, transmission=made), tuple(notes)


def _with_world(model: Robot) -> Robot:
    """The robot with the frame of its controller: the point of axis 1 that is nearest to axis 2."""
    from elastocal.model.frames import BASE, Frame
    from elastocal.model.kinematics import kinematics, rigid_pose
    from elastocal.spatial.pose import Pose

    zero = np.zeros((model.n, 1))
    first, second = (rigid_pose(model.nominal, joint, zero)[0][:, 0] for joint in model.joints[:2])
    a, b = kinematics(model.nominal, zero.T).jacobian[0, 3:, :2].T
    normal = np.cross(np.cross(a, b), b)
    along = float(normal @ (second - first)) / float(normal @ a) if abs(normal @ a) > PARALLEL else 0.0
    frame = Frame("world", BASE, Pose(np.eye(3), first + along * a), source="assumed: on axis 1, at axis 2")
    return replace(model, tree=replace(model.tree, frames=(*model.tree.frames, frame)))


def _level(model: Robot) -> float:
    """What joint 3 turns with joint 2, so that the forearm keeps its direction."""
    from elastocal.model.kinematics import kinematics

    turns = kinematics(model, np.zeros((1, model.n))).jacobian[0, 3:, 1:3]
    return -float(np.sign(turns[:, 0] @ turns[:, 1])) or 1.0


def made_up_robot(stated: Robot, unloaded: bool = False) -> Robot | None:
    """A robot to try the cell with: every spring softer or stiffer than its file says; None where it has none.

    For a campaign without loads it is drawn from the priors of all that is estimated then.
    """
    if unloaded:
        from elastocal.calibration.planning import drawn_robot

        return drawn_robot(stated, np.random.default_rng(1))
    springs = [p for p in stated.parameters if p.kind in SPRINGS and p.value]
    places = tuple(dict.fromkeys(p.name.rpartition(".")[0] for p in springs))
    factor = {place: FACTORS[i % len(FACTORS)] for i, place in enumerate(places)}
    values = {p.name: factor[p.name.rpartition(".")[0]] * p.value for p in springs}
    return stated.with_parameters(values) if values else None


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
