"""Any robot as a complete robot file: the start for one's own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.errors import InputError

if TYPE_CHECKING:
    from elastocal.model.robot import RobotModel

UNKNOWN = "not known: 0 means rigid; replace by a measured value"
TO_FILL = "Compliances that are not known are 0, which means rigid. Replace them by measured values, with their source."
YAML = (".yaml", ".yml")


@dataclass(frozen=True)
class ConvertResult:
    """What was written, what the source left open, and the joints whose compliance is still to be filled in."""

    target: Path
    joints: int
    frames: int
    elements: int
    notes: tuple[str, ...]
    to_fill: tuple[str, ...]


def run(source: str, target: Path, tool: str | None = None) -> ConvertResult:
    """Write the robot ``source`` to ``target``; a file that exists is never replaced."""
    from elastocal.files.robot.read import read_robot
    from elastocal.files.write import check_targets, write_files

    if target.suffix.lower() not in YAML:
        raise InputError(f"TARGET.yaml {target}: must end in .yaml; choose such a name")
    check_targets({"TARGET.yaml": target})
    if target.exists():
        raise InputError(f"TARGET.yaml {target}: exists already and is not replaced; choose another name or remove it")
    robot = read_robot(source, tool)
    model, to_fill, text = complete_file(source, robot)
    write_files({target: text})
    return ConvertResult(target, model.n, len(model.tree.frames), len(model.elements), robot.notes, to_fill)


def complete_file(source: str, robot: RobotModel) -> tuple[RobotModel, tuple[str, ...], str]:
    """The robot, the joints whose compliance is to be filled in, and its robot file."""
    from elastocal.files.robot.write import robot_text

    urdf = Path(source).suffix.lower() == ".urdf"
    model, to_fill = _with_compliances(robot) if urdf else (robot, ())
    return model, to_fill, robot_text(model, _head(source, robot), (TO_FILL,) if to_fill else ())


def _head(source: str, robot: RobotModel) -> tuple[str, ...]:
    notes = tuple(f"Note: {note}." for note in robot.notes)
    return (f"Made from {source} by 'elastocal convert'; the format is described in docs/robots.md.", *notes)


def _with_compliances(model: RobotModel) -> tuple[RobotModel, tuple[str, ...]]:
    """The robot with a rigid compliance on every moving joint, as a place to write the measured one."""
    from elastocal.model.compliant.joint_compliance import JointCompliance

    joints = tuple(f.name for f in model.tree.frames if f.joint is not None)
    return model.with_elements(*(JointCompliance(joint=j, k=0.0, source=UNKNOWN) for j in joints)), joints
