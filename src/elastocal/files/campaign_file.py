"""What every campaign file has, whatever was measured: name, robot, tables, requests."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elastocal.errors import UnknownNameError
from elastocal.files.campaign_entry import Requests, Words, listed
from elastocal.files.located import Located, Path_
from elastocal.files.robot_word import LoadedRobot, load_robot, robot_file, without_kinds
from elastocal.measure.campaign import Campaign
from elastocal.model.robot import RobotModel

FORMAT = "elastocal-campaign/1"
UNSTATED = "No errors are stated: all readings weigh the same, and their scatter is estimated from the residuals."


@dataclass(frozen=True, eq=False)
class CampaignFile:
    """A campaign as read: ``robot`` is the word that names the robot, ``words`` everything as it was written.

    ``notes`` say what was assumed or left out; ``files`` are all that were read, the campaign's own first.
    """

    name: str
    robot: str
    model: RobotModel
    campaign: Campaign
    requests: Requests
    notes: tuple[str, ...]
    files: tuple[Path, ...]
    words: Mapping[str, Any]


def named_robot(located: Located, word: str, tool: str | None, without: Words, folder: Path) -> LoadedRobot:
    """The robot that a campaign file names, seen from its folder."""
    if (own := robot_file(word)) is not None:
        existing(located, ("robot",), folder / own)
    try:
        loaded = load_robot(word, tool, folder)
    except UnknownNameError as error:
        raise located.error(("tool" if error.name == tool else "robot",), str(error)) from None
    try:
        return LoadedRobot(without_kinds(loaded.model, listed(without)), loaded.notes)
    except UnknownNameError as error:
        raise located.error(("without",), str(error)) from None


def named_tables(located: Located, words: tuple[str, ...], folder: Path) -> dict[str, Path]:
    """Tables by the words that name them."""
    if len(set(words)) != len(words) or not words:
        raise located.error(("table",), "must name at least one CSV file, and none twice")
    return {word: existing(located, ("table",), folder / word) for word in words}


def existing(located: Located, place: Path_, path: Path) -> Path:
    if not path.is_file():
        raise located.error(place, f"there is no file {path}; give its name as seen from the campaign file")
    return path


def all_files(path: Path, robot: str, tables: Mapping[str, Path]) -> tuple[Path, ...]:
    """The campaign file, its robot's if it has one, and its tables."""
    own = robot_file(robot)
    return (path, *(() if own is None else (path.parent / own,)), *tables.values())


def robot_seen_from(file: CampaignFile, folder: Path) -> str:
    """The word for the robot in a campaign file that stands in another folder."""
    if robot_file(file.robot) is None:
        return file.robot
    return Path(os.path.relpath(file.files[0].parent / file.robot, folder)).as_posix()
