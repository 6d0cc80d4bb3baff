"""Any robot as a complete robot file: the start for one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elastocal.app.cells.roles import Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.errors import FileError, FormatError
from elastocal.report.blocks import Column, Report, Section, Table
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.model.robot import Robot

UNKNOWN = "not known: 0 means rigid; replace by a measured value"
TO_FILL = "Compliances that are not known are 0, which means rigid. Replace them by measured values, with their source."
YAML = (".yaml", ".yml")


@dataclass(frozen=True)
class ConvertResult:
    """What was written, what the source left open, and the joints whose compliance is still to be filled in."""

    source: str
    target: Path
    joints: int
    frames: int
    elements: int
    notes: tuple[str, ...]
    to_fill: tuple[str, ...]
    files: dict[Path, str]


@command("robots", 5, Uses({"source": "robot"}), report=False)
def convert(
    source: Annotated[str, o.argument("SOURCE", "A .urdf or .yaml file, or a shipped name.")],
    target: Annotated[Path, o.argument("TARGET.yaml", "The robot file to write; it must not exist."), o.WRITTEN],
    tool: o.Tool = None,
) -> ConvertResult:
    """Write any robot as a complete robot file.

    It is the start for a file of one's own, to be filled in and changed by hand.

    \b
    Example:
      elastocal convert arm.urdf arm.yaml
    """
    from elastocal.files.robot.read import read_robot

    if target.suffix.lower() not in YAML:
        raise FormatError(f"TARGET.yaml {target}: must end in .yaml; choose such a name")
    if target.exists():
        raise FileError(f"TARGET.yaml {target}: exists already and is not replaced; choose another name or remove it")
    robot = read_robot(source, tool)
    model, to_fill, text = complete_file(source, robot)
    size = (model.n, len(model.tree.frames), len(model.elements))
    return ConvertResult(source, target, *size, robot.notes, to_fill, {target: text})


def complete_file(source: str, robot: Robot) -> tuple[Robot, tuple[str, ...], str]:
    """The robot, the joints whose compliance is to be filled in, and its robot file."""
    from elastocal.files.robot.read import robot_file
    from elastocal.files.robot.write import robot_text

    urdf = robot_file(source) is not None and Path(source).suffix.lower() not in YAML
    model, to_fill = _with_compliances(robot) if urdf else (robot, ())
    return model, to_fill, robot_text(model, _head(source, robot), (TO_FILL,) if to_fill else ())


def _head(source: str, robot: Robot) -> tuple[str, ...]:
    notes = tuple(f"Note: {note}." for note in robot.notes)
    return (f"Made from {source} by 'elastocal convert'; the format is described in docs/robots.md.", *notes)


def _with_compliances(model: Robot) -> tuple[Robot, tuple[str, ...]]:
    """The robot with a rigid compliance on every moving joint, as a place to write the measured one."""
    from elastocal.model.compliant.joint_compliance import JointCompliance

    joints = tuple(f.name for f in model.tree.frames if f.joint is not None)
    return model.with_elements(*(JointCompliance(joint=j, k=0.0, source=UNKNOWN) for j in joints)), joints


def page(result: ConvertResult) -> Report:
    size = f"{result.joints} joints, {result.frames} frames, {result.elements} elements"
    verdict = [f"{result.target} is written: {size}. Read again it gives the same robot."]
    if result.to_fill:
        verdict.append(
            f"{Path(result.source).name} holds no compliance: k is 0 (rigid) for {', '.join(result.to_fill)}; "
            "write measured values there, with their source."
        )
    notes = Table(
        "left_open", "What the source left open", (Column("note", "note"),), tuple((n,) for n in result.notes)
    )
    return Report("Robot file", tuple(verdict), (Section("", (notes,)),) if result.notes else ())
