"""What is typed first: the robot or the calibration that acts, then the data that it acts on.

    elastocal calibrate arm.urdf points.csv        elastocal validate calibration.json later.csv

Files tell by themselves what they are, so the other way round is understood too; and where a command knows robot or
calibration by an option only, as ``compensate`` does, they may stand before the data as well.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

_ROBOT = re.compile(r"^\s*format\s*:\s*[\"']?elastocal-robot/", re.MULTILINE)
ACTS = ("calibration", "robot", "campaign")
DATA = ("table", "tables", "measured", "plan", "log")
"""Parameters of commands, and those that stand beside them."""


def in_order(values: dict[str, Any], arguments: Collection[str]) -> dict[str, Any]:
    """Values of a command with the first two of its ``arguments`` exchanged, where files say that they should be."""
    first = next((p for p in ACTS if p in arguments), "robot")
    second = next((p for p in DATA if p in arguments), None)
    if first not in values or second is None or not values[second]:
        return values
    before, several = values[first], isinstance(values[second], list)
    data = values[second] if several else [values[second]]
    acting = [w for w in data if _acts(first, str(w))]
    if len(acting) != 1 or (_acts(first, str(before)) if first in arguments else before is not None):
        return values
    rest = [w for w in data if w is not acting[0]]
    rest = rest if before is None else [type(data[0])(before), *rest]
    if not rest:
        return values
    own = str(acting[0]) if before is None else type(before)(acting[0])
    return {**values, first: own, second: rest if several else rest[0]}


def with_options(words: Sequence[str], options: Collection[str]) -> list[str] | None:
    """Words of a command line with --calibration or --robot before a file that was typed as an argument; else None."""
    for name in ("calibration", "robot"):
        for i in range(1, len(words)) if f"--{name}" in options and f"--{name}" not in words else ():
            if not words[i].startswith("-") and not words[i - 1].startswith("--") and _acts(name, words[i]):
                return [*words[:i], *words[i + 1 :], f"--{name}", words[i]]
    return None


def _acts(parameter: str, word: str) -> bool:
    """Whether a word is a calibration, or a robot."""
    if parameter == "calibration":
        return Path(word).suffix.lower() == ".json"
    from elastocal.files.located import read_text
    from elastocal.files.robot.read import TABLES, XML, YAML, robot_file, shipped_robots

    file = robot_file(word)
    if file is None:
        return not Path(word).suffix and any(f"-{word.lower()}-" in f"-{name}-" for name in shipped_robots())
    if file.suffix.lower() in YAML:
        return file.is_file() and _ROBOT.search(read_text(file)) is not None
    return file.suffix.lower() in XML or (file.suffix.lower() in TABLES and file.is_file())
