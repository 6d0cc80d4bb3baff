"""The one place where the word that a user gives for a robot becomes a model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.errors import InputError, UnknownNameError
from elastocal.files.place import path_of

if TYPE_CHECKING:
    from elastocal.model.robot import RobotModel

MOST_NAMES = 12
YAML = (".yaml", ".yml")


@dataclass(frozen=True, eq=False)
class ReadRobot:
    """The model and what its file left open."""

    model: RobotModel
    notes: tuple[str, ...] = ()


def robot_file(word: str) -> Path | None:
    """The file that the word stands for, None for a shipped robot."""
    path = path_of(word)
    return path if path.suffix.lower() in (*YAML, ".urdf") else None


def shipped_name(word: str) -> str:
    """The shipped robot that the word names: its name, or a part between dashes that no other name has (kr270)."""
    from elastocal.files.robot.read import shipped_robots

    names = shipped_robots()
    if word in names:
        return word
    found = [name for name in names if f"-{word.lower()}-" in f"-{name}-"]
    if len(found) > 1:
        raise InputError(f"robot {word!r} may be {' or '.join(found)}; write more of its name")
    if not found:
        raise UnknownNameError("robot", word, [*names, "or the path of a .yaml or .urdf file"])
    return found[0]


def check_word(word: str, path: Path) -> None:
    """Refuse a word that names no shipped robot; ``path`` is where it would lead if it were a file."""
    from elastocal.files.robot.read import shipped_robots

    if path.exists() and word not in shipped_robots():
        raise InputError(
            f"{path}: is not a robot file; give a .yaml or .urdf file, or one of {', '.join(shipped_robots())}"
        )
    shipped_name(word)


def load_robot(word: str, tool: str | None = None, folder: Path = Path()) -> ReadRobot:
    """A shipped name, or a .yaml or .urdf path, seen from ``folder``; ``tool`` replaces the frame used by default."""
    from elastocal.files.robot.read import read_robot

    path = folder / path_of(word)
    suffix = path.suffix.lower()
    if suffix == ".urdf":
        from elastocal.files.robot.urdf import read_urdf

        robot = read_urdf(path, tool)
        return ReadRobot(robot.model, robot.notes)
    if suffix in YAML:
        model = read_robot(path)
    else:
        check_word(word, path)
        model = read_robot(shipped_name(word))
    if tool is not None:
        model.tree.frame(tool)
        model = replace(model, tool=tool)
    return ReadRobot(model)


def without_kinds(model: RobotModel, kinds: tuple[str, ...]) -> RobotModel:
    """The model without these kinds of effect; each must be one that it has."""
    present = sorted({e.kind for e in model.elements})
    for kind in kinds:
        if kind not in present:
            raise UnknownNameError("kind of effect", kind, present, f"robot {model.name}")
    return model.without(*kinds)


def selected(model: RobotModel, patterns: tuple[str, ...]) -> tuple[int, ...]:
    """Rows of the parameters that the patterns name, all without any; of many valid names only the nearest are told."""
    from difflib import SequenceMatcher

    try:
        return model.parameters.select(patterns or None)
    except UnknownNameError as error:
        wanted = error.name.strip("*?").lower()
        near = sorted(error.valid, key=lambda n: -SequenceMatcher(None, wanted, n.lower()).ratio())
        more = f" ... and {len(near) - MOST_NAMES} more; see elastocal show" if len(near) > MOST_NAMES else ""
        what = "parameter matching" if any(c in error.name for c in "*?[") else "parameter"
        hint = f"did you mean {near[0]!r}? " if near else "this robot has none"
        names = f"valid: {', '.join(near[:MOST_NAMES])}{more}" if near else ""
        raise InputError(f"there is no {what} {error.name!r} in robot {model.name}; {hint}{names}") from None
