"""Campaign files: their keys, and the campaign as read.

``HeadEntry`` are the keys that plans and campaigns share, ``ReadingsEntry`` those of all campaigns with readings, and
``CampaignEntry`` those of markers.  ``Requests`` is what is to be done with the readings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from elastocal.errors import UnknownNameError
from elastocal.files.located import Located
from elastocal.files.opened import existing, seen_from
from elastocal.files.robot.read import read_robot, robot_file, without_kinds
from elastocal.files.schema import Units
from elastocal.files.tables.raw import RawTable
from elastocal.measure.kind import Statics
from elastocal.measure.measured import Measured
from elastocal.model.descriptions import Form
from elastocal.model.parameters import quantity
from elastocal.model.robot import Robot
from elastocal.solve.identifiability import ABOVE, BELOW
from elastocal.solve.summary import Loss
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose
from elastocal.values import dataclass

Words = str | tuple[str, ...]
Outliers = Literal["leave_out", "keep"]


@dataclass(frozen=True, kw_only=True)
class HeadEntry:
    """Head of a plan or campaign file: of which robot, what is sought, with which errors."""

    format: str
    name: str
    robot: str
    tool: str | None = None
    without: Words = ()
    units: dict[str, str] = field(default_factory=dict)
    seek: Words | None = None
    hold: Words = ()
    form: Form | None = None
    errors: list[Any] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class ReadingsEntry(HeadEntry):
    """What every campaign file has, whatever was measured; ``elastocal.files.tables.named`` reads ``table``."""

    table: Any
    missing: Literal["refuse", "skip"] = "refuse"
    limits: Literal["apply", "ignore"] = "apply"
    thresholds: tuple[float, float] = quantity("number", default=(ABOVE, BELOW))
    loss: Loss = "linear"
    reduce: bool = True
    outliers: Outliers = "leave_out"


@dataclass(frozen=True)
class Requests:
    """What is to be done with the readings; ``seek`` and ``hold`` are names or patterns of parameters.

    ``seek`` is None where everything is sought that the kind of measurement has columns for.  ``outliers``
    says whether numbers that do not belong are left out or kept.  ``model`` are the words of the best predictor, where
    that is asked for: ``seek`` is what the poses were chosen for then.
    """

    seek: tuple[str, ...] | None = None
    hold: tuple[str, ...] = ()
    form: Form | None = None
    thresholds: tuple[float, float] = (ABOVE, BELOW)
    loss: Loss = "linear"
    statistical: bool = True
    outliers: Outliers = "leave_out"
    model: Words | None = None


def listed(words: Words | None) -> tuple[str, ...]:
    """One word or several."""
    return (words,) if isinstance(words, str) else words or ()


Vector = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class CampaignEntry(ReadingsEntry):
    """Top level of a campaign file of markers; the keys from ``model`` on are of calibrations without ``seek``."""

    name: str = ""
    measurement: Literal["deflection", "position"] | None = None
    statics: Statics | None = None
    load: dict[str, Any] | None = None
    markers: Words = ()
    tracker_frame: dict[str, Any] | str | None = None
    repeats: int = 1
    euler: str | None = None
    model: Words | None = None
    noise: float | None = quantity("length", default=None)
    orientation_noise: float | None = quantity("angle", default=None)
    station: str | None = None
    priors: list[Any] = field(default_factory=list)
    accept: Words = ()
    validation: Any = None
    exclude: list[Any] = field(default_factory=list)
    keep: list[Any] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class CampaignKeys:
    """The keys of a campaign file, where they stand, and the units it declares; a ``plan`` has no readings yet."""

    located: Located
    entry: CampaignEntry
    units: Units
    plan: bool


@dataclass(frozen=True, kw_only=True)
class LoadEntry:
    """Where the load acts and in which axes, and the load itself where it is the same in all rows."""

    frame: str | None = None
    follows: bool = False
    force: Vector | None = quantity("force", default=None)
    moment: Vector | None = quantity("moment", default=None)


@dataclass(frozen=True, kw_only=True)
class PoseEntry:
    """Pose of the instrument's axes in base axes."""

    xyz: Vector = quantity("length", default=(0.0, 0.0, 0.0))
    rpy: Vector = quantity("angle", default=(0.0, 0.0, 0.0))


FORMAT = "elastocal-campaign/1"
REDUCTION = ("seek", "hold", "form", "thresholds", "loss", "reduce", "outliers")
"""Keys that ask for single parameters."""
PLANNED = ("seek", "hold", "form")
"""Keys that tell what a plan was made for, beside ``model``."""
PREDICTION = ("noise", "orientation_noise", "station", "priors", "accept", "validation", "exclude", "keep")
"""Keys that only the best predictor has a use for."""
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
    model: Robot
    campaign: Measured
    requests: Requests
    notes: tuple[str, ...]
    files: tuple[Path, ...]
    words: Mapping[str, Any]
    names: tuple[str, ...] = ()
    points: ReadPoints | None = None


def named_robot(located: Located, word: str, tool: str | None, without: Words, folder: Path) -> Robot:
    """The robot that a campaign file names, seen from its folder."""
    if robot_file(word) is not None:
        existing(located, ("robot",), word)
    try:
        loaded = read_robot(word, tool, folder)
    except UnknownNameError as error:
        raise located.error(("tool" if error.value == tool else "robot",), str(error), error) from None
    with located.at(("without",)):
        return without_kinds(loaded, listed(without))


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
