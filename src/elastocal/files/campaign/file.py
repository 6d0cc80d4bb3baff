"""What every campaign file has, whatever was measured: name, robot, tables, requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elastocal.errors import UnknownNameError
from elastocal.files.campaign.readings_entry import Requests, Words, listed
from elastocal.files.located import Located
from elastocal.files.place import existing, seen_from
from elastocal.files.robot.read import read_robot, robot_file, without_kinds
from elastocal.files.tables.raw import RawTable
from elastocal.measure.campaign import Campaign
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose

FORMAT = "elastocal-campaign/1"
UNSTATED = "No errors are stated: all readings weigh the same, and their scatter is estimated from the residuals."


@dataclass(frozen=True, eq=False)
class ReadPoints:
    """Where markers were, (N, markers, 3) in base axes, nan where only shifts were read.

    ``places`` name where a point stands, by reading and marker; ``pose`` leads from the instrument's axes to the base's
    (None: they are the base's).
    """

    values: Array
    places: Mapping[tuple[int, str], str]
    pose: Pose | None = None


@dataclass(frozen=True, eq=False)
class CampaignFile:
    """A campaign as read: ``robot`` is the word that names the robot, ``words`` everything as it was written.

    ``notes`` say what was assumed or left out; ``files`` are all that were read, the campaign's own first; ``names``
    are those of the readings of a plan, where they have some; ``points`` are where the markers were, if that was read.
    """

    name: str
    robot: str
    model: RobotModel
    campaign: Campaign
    requests: Requests
    notes: tuple[str, ...]
    files: tuple[Path, ...]
    words: Mapping[str, Any]
    names: tuple[str, ...] = ()
    points: ReadPoints | None = None


def named_robot(located: Located, word: str, tool: str | None, without: Words, folder: Path) -> RobotModel:
    """The robot that a campaign file names, seen from its folder."""
    if robot_file(word) is not None:
        existing(located, ("robot",), word)
    try:
        loaded = read_robot(word, tool, folder)
    except UnknownNameError as error:
        raise located.error(("tool" if error.value == tool else "robot",), str(error)) from None
    try:
        return without_kinds(loaded, listed(without))
    except UnknownNameError as error:
        raise located.error(("without",), str(error)) from None


def all_files(path: Path, robot: str, tables: Mapping[str, RawTable]) -> tuple[Path, ...]:
    """The campaign file, its robot's if it has one, and those of its tables."""
    own = robot_file(robot)
    read = (file for table in tables.values() for file in (Path(table.file), *table.more))
    return (path, *(() if own is None else (path.parent / own,)), *read)


def table_notes(tables: Mapping[str, RawTable]) -> tuple[str, ...]:
    """What was assumed of the tables, each once."""
    return tuple(dict.fromkeys(note for table in tables.values() for note in table.notes))


def robot_seen_from(file: CampaignFile, folder: Path) -> str:
    """The word for the robot in a campaign file that stands in another folder."""
    own = robot_file(file.robot)
    return file.robot if own is None else seen_from(file.files[0].parent / own, folder)
