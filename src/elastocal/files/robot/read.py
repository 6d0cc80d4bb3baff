"""The word or path that a user gives for a robot becomes a model: a shipped robot, a .yaml or a .urdf file."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from elastocal import robots
from elastocal.arguments import checked
from elastocal.errors import FormatError, UnknownNameError
from elastocal.files.located import parse_yaml, read_text
from elastocal.files.opened import SHIPPED, noted, path_of
from elastocal.files.robot.file import build_robot
from elastocal.files.robot.xacro import split_arguments
from elastocal.model.elements import Element, element_kinds
from elastocal.model.robot import Robot

MOST_NAMES = 12
SHIPPED_FOLDER = Path(robots.__file__).parent
YAML, XML, TABLES = (".yaml", ".yml"), (".urdf", ".xacro"), (".csv", ".xlsx")


@runtime_checkable
class PinocchioModel(Protocol):
    """``pinocchio.Model``, by what no other robot has: that library need not be installed."""

    njoints: int
    jointPlacements: Any


@checked()
def read_robot(
    robot: str | PathLike[str] | PinocchioModel, tool: str | None = None, folder: str | PathLike[str] = ""
) -> Robot:
    """A shipped robot by name, or a .yaml, .urdf or .xacro file or a DH table (.csv, .xlsx), seen from ``folder``.

    Several lines are the text of a robot file itself; a ``pinocchio.Model`` is read as the URDF that it stands for.
    ``tool`` is the frame used by default in place of the one that the file says.  Of a URDF with branches the robot
    is the path from its root to ``tool``; without one the end is inferred.  ``notes`` of the model say what the file
    left open and what was chosen.
    """
    if isinstance(robot, str) and len(robot.splitlines()) > 1:
        model = robot_from_text(robot, "robot")
        return model if tool is None else with_tool(model, tool)
    if isinstance(robot, PinocchioModel):
        from elastocal.files.robot.pinocchio import robot_from_pinocchio

        return robot_from_pinocchio(robot, tool)
    file = robot_file(robot)
    if file is not None and file.suffix.lower() in XML:
        from elastocal.files.robot.urdf import read_urdf

        return read_urdf(Path(folder) / file, tool, arguments=split_arguments(str(robot))[1]).model
    if file is not None and file.suffix.lower() in TABLES:
        from elastocal.files.robot.dh import read_dh

        model = read_dh(Path(folder) / file)
        return model if tool is None else with_tool(model, tool)
    if file is not None:
        path = Path(folder) / file
        model = robot_from_text(read_text(path), path.as_posix())
    else:
        check_word(str(robot), Path(folder) / path_of(str(robot)))
        name = shipped_name(str(robot))
        model = robot_from_text(shipped_text(name), f"{name}.yaml")
    return model if tool is None or tool == model.tool else with_tool(model, tool)


def with_tool(model: Robot, tool: str) -> Robot:
    """The robot with another frame used by default."""
    model.tree.frame(tool)
    return replace(model, tool=tool)


def robot_from_text(text: str, file: str) -> Robot:
    """The robot of a YAML text; ``file`` is what messages call it."""
    return _cached(file, text, tuple(element_kinds().values()))


@lru_cache(maxsize=64)
def _cached(file: str, text: str, kinds: tuple[type[Element], ...]) -> Robot:
    """The model of a text, built once for the same text and the same ``kinds`` of elements: models never change."""
    return build_robot(parse_yaml(text, file))


def shipped_robots() -> tuple[str, ...]:
    """Names of the robots in the package."""
    return tuple(sorted(f.stem for f in SHIPPED_FOLDER.glob("*.yaml")))


def shipped_text(name: str) -> str:
    """The file of a shipped robot as it is written, with its comments and sources."""
    raw = (SHIPPED_FOLDER / f"{name}.yaml").read_bytes()
    return noted(f"{SHIPPED}{name}", raw).decode("utf-8")


def robot_file(word: str | PathLike[str]) -> Path | None:
    """The file that the word stands for, None for a shipped robot."""
    path = path_of(split_arguments(str(word))[0])
    if path.suffix.lower() in TABLES and path.is_file() and not _is_dh(path):
        return None
    return path if path.suffix.lower() in (*YAML, *XML, *TABLES) else None


def _is_dh(path: Path) -> bool:
    """Whether a table says by its words that it is one of DH parameters; tables of readings are no robots."""
    from html import unescape
    from zipfile import BadZipFile, ZipFile

    try:
        if path.suffix.lower() == ".csv":
            with path.open("rb") as file:
                start = file.read(4096).lower()
        else:
            with ZipFile(path) as book:
                names = [n for n in book.namelist() if n.endswith(("sharedStrings.xml", "sheet1.xml"))]
                member = book.open  # bytes, and no more of them than it takes
                start = b"".join(member(n).read(65536).lower() for n in names)
    except (OSError, BadZipFile, KeyError):
        return False
    text = unescape(start.decode("utf-8", "replace"))  # workbooks write Greek letters as &#945;
    return ("alpha" in text or "\u03b1" in text) and any(word in text for word in ("convention", "theta", "θ"))


def shipped_name(word: str) -> str:
    """The shipped robot that the word names: its name, or a part between dashes that no other name has (kr270)."""
    names = shipped_robots()
    if word in names:
        return word
    matches = [name for name in names if f"-{word.lower()}-" in f"-{name}-"]
    if len(matches) > 1:
        raise FormatError(f"robot {word!r} may be {' or '.join(matches)}; write more of its name")
    if not matches:
        raise UnknownNameError("robot", word, [*names, "or the path of a .yaml, .urdf or .xacro file or a DH table"])
    return matches[0]


def check_word(word: str, path: Path) -> None:
    """Refuse a word that names no shipped robot; ``path`` is where it would lead if it were a file."""
    if os.path.exists(path) and word not in shipped_robots():
        raise FormatError(
            f"{path}: is not a robot file; give a .yaml or .urdf file (or .xacro, or a DH table), or one of "
            f"{', '.join(shipped_robots())}"
        )
    shipped_name(word)


def without_kinds(model: Robot, kinds: tuple[str, ...]) -> Robot:
    """The model without these kinds of effect; each must be one that it has."""
    present = sorted({e.kind for e in model.elements})
    for kind in kinds:
        if kind not in present:
            raise UnknownNameError("kind of effect", kind, present, f"robot {model.name}")
    return model.without(*kinds)


def selected(model: Robot, patterns: tuple[str, ...]) -> tuple[int, ...]:
    """Rows of the parameters that the patterns name, all without any; of many valid names only the nearest are told."""
    from difflib import SequenceMatcher

    try:
        return model.parameters.select(patterns or None)
    except UnknownNameError as error:
        wanted = error.value.strip("*?").lower()
        near = sorted(error.allowed, key=lambda n: -SequenceMatcher(None, wanted, n.lower()).ratio())
        more = f" ... and {len(near) - MOST_NAMES} more; see elastocal show" if len(near) > MOST_NAMES else ""
        what = "parameter matching" if any(c in error.value for c in "*?[") else "parameter"
        hint = f"did you mean {near[0]!r}? " if near else "this robot has none"
        names = f"valid: {', '.join(near[:MOST_NAMES])}{more}" if near else ""
        raise error.reworded(f"there is no {what} {error.value!r} in robot {model.name}; {hint}{names}") from None
