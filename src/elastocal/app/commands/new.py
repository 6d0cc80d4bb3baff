"""A cell to start from: a folder with a robot, a plan request, an example program, and places for the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.errors import InputError

if TYPE_CHECKING:
    from elastocal.model.robot import RobotModel


@dataclass(frozen=True)
class NewResult:
    """``contents`` are texts by place in the cell; ``to_fill`` are joints without a known compliance."""

    folder: Path
    name: str
    robot: str
    contents: dict[Path, str]
    to_fill: tuple[str, ...]
    notes: tuple[str, ...]


@command("daily", 1, report=False)
def new(
    cell: Annotated[
        Path, typer.Argument(metavar="CELL", help="The folder to make; it must be empty or not exist."), o.FOLDER
    ],
    robot: Annotated[
        str, typer.Option(metavar="ROBOT", help="A shipped name or a part of it, or a .yaml or .urdf file.")
    ],
) -> NewResult:
    """A folder for one robot in its cell, to keep in git.

    With the robot, a plan request, an example program where the robot has six revolute joints, and a README. All other
    commands take the folder in place of a robot, plan, campaign, calibration or program.

    \b
    Example:
      elastocal new mycell --robot kr270
    """
    from elastocal.files.write import make_folder, write_files

    check_empty(cell)
    made = replace(cell_contents(cell.resolve().name, robot), folder=cell)
    for place in {p.parent for p in made.contents}:
        make_folder(cell / place)
    write_files({cell / place: text for place, text in made.contents.items()})
    return made


def cell_contents(name: str, robot: str) -> NewResult:
    """What a cell of this name and robot starts with; nothing is written."""
    from elastocal.app.starter.plan import plan_text
    from elastocal.app.starter.program import square_program
    from elastocal.app.starter.texts import ATTRIBUTES, IGNORED, KEPT, cell_text, readme_text
    from elastocal.files.cell_yaml import NAME as CELL

    model, notes, to_fill, text = _robot(robot)
    program = square_program(model)
    shown = None if program is None else program[0]
    files = {
        Path(CELL): cell_text(name, shown, _force(model)),
        Path("README.md"): readme_text(name, model.title, shown, to_fill),
        Path(".gitignore"): IGNORED,
        Path(".gitattributes"): ATTRIBUTES,
        Path("robot/robot.yaml"): text,
        Path("plan/plan.yaml"): plan_text(model, name, "../robot/robot.yaml"),
        **{Path(folder) / KEPT: "" for folder in ("campaign", "calibration", "programs", "reports")},
    }
    if program is not None:
        files[Path("programs") / program[0]] = program[1]
    return NewResult(Path(), name, model.name, files, to_fill, notes)


def _robot(word: str) -> tuple[RobotModel, tuple[str, ...], tuple[str, ...], str]:
    """The robot, what its file left open, joints to fill in, and the text of its file in the cell."""
    from elastocal.app.commands.convert import complete_file
    from elastocal.files.located import read_text
    from elastocal.files.robot.read import read_robot, robot_file, shipped_name, shipped_text

    robot, file = read_robot(word), robot_file(word)
    if file is None:
        return robot, robot.notes, (), shipped_text(shipped_name(word))
    if file.suffix.lower() == ".urdf":
        model, to_fill, text = complete_file(word, robot)
        return model, robot.notes, to_fill, text
    return robot, robot.notes, (), read_text(file)


def _force(model: RobotModel) -> str:
    """A cutting force for the example: mostly sideways, some of it down."""
    from elastocal.app.starter.plan import visible_force

    size = visible_force(model)
    return f"{-0.4 * size:g},0,{-0.2 * size:g}"


def check_empty(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; choose another name for the cell")
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(f"{folder}: is not empty, and nothing in it is written over; choose another name for the cell")
