"""Options that several commands share, with their help."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

T = TypeVar("T")

WRITTEN = "written"
"""Beside an option: the file that it names is written."""
REPLACED = "replaced"
"""Beside an option: the file that it names is read, and may be the one that the result replaces."""
FOLDER = "folder"
"""Beside an option: it names a folder, which is made where it does not exist."""


def argument(metavar: str, help: str) -> Any:
    """What stands behind a command without a name."""
    return typer.Argument(metavar=metavar, help=help)


def option(metavar: str, help: str, *names: str, **limits: Any) -> Any:
    """One with a value; named after its parameter unless ``names`` say otherwise."""
    return typer.Option(*names, metavar=metavar, help=help, **limits)


def flag(help: str, *names: str) -> Any:
    """One that is there or not; without ``names`` also its opposite."""
    return typer.Option(*names, help=help)


def typed(command: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Of the values of a command those that somebody typed for its options, in the order of the help."""
    own = inspect.signature(command).parameters
    given = {n: values[n] for n, p in own.items() if p.default is not p.empty and n not in ("progress", "live")}
    return {n: v for n, v in given.items() if v != own[n].default and v not in ((), [])}


def request(kind: type[T], values: Mapping[str, Any]) -> T:
    """A request with the options of a command that it has fields for; what may be given several times is a tuple."""
    own = {f.name: str(f.type).startswith("tuple[") for f in fields(kind) if f.name in values}  # type: ignore[arg-type]
    return kind(**{n: tuple(values[n] or ()) if several else values[n] for n, several in own.items()})


Robot = Annotated[str, argument("ROBOT", "A shipped name (see 'elastocal robots') or a .yaml or .urdf file.")]
Calibration = Annotated[Path, argument("CALIBRATION.json", "What 'elastocal calibrate --out' wrote.")]
Refit = Annotated[bool, flag("The instrument was moved: fit where it stands to these readings.", "--refit")]
Json = Annotated[bool, flag("Print one JSON object and nothing else.", "--json")]
Tool = Annotated[str | None, option("FRAME", "Use this frame as tool; for URDF, the link that carries it.")]
At = Annotated[
    list[str] | None,
    option("VALUES", 'Controller values, degrees or mm, such as "0,-90,90,0,30,0"; may be given several times.'),
]
File = Annotated[Path | None, option("FILE.csv", "CSV with a header such as A1_deg,A2_deg,...[,fx_N,...,mz_Nm].")]
Force = Annotated[str | None, option("FX,FY,FZ", "Force on the robot in N.")]
Moment = Annotated[str | None, option("MX,MY,MZ", "Moment on the robot in N m.")]
LoadFrame = Annotated[str | None, option("FRAME", "Where the load acts (default: the tool).")]
Frame = Annotated[str | None, option("FRAME", "What is watched (default: the tool).")]
Follow = Annotated[bool, flag("The load turns with its frame and is given in its axes.", "--follow")]
Payload = Annotated[float | None, option("KG", "Mass carried in all states, at the robot's payload frame.")]
PayloadFrame = Annotated[str | None, option("FRAME", "Where the payload hangs.")]
Without = Annotated[list[str] | None, option("KIND", "Leave out a kind of effect; may be given several times.")]
ColumnUnits = Annotated[str | None, option("mm,deg", "Units of columns of a bare table that do not tell theirs.")]
Euler = Annotated[
    str | None, option("ZYX", "What three angles of a bare table are (xyz, rotvec, none); capitals: moving axes.")
]
IgnoreLimits = Annotated[bool, flag("Compute beyond the joint limits, and say so.", "--ignore-limits")]
ReportFile = Annotated[Path | None, option("FILE.html", "Write an HTML report.", "--report"), WRITTEN]
WorkObject = Annotated[
    str | None, option("X,Y,Z,A,B,C", "Work object of the map in base: mm, deg about z, y, x in turn.", "--object")
]
Tolerance = Annotated[
    float | None,
    option("MM", "Error allowed on validation points: pass or fail, certificate (default: that of cell.yaml)."),
]
Standalone = Annotated[
    bool, flag("Put the script of turnable pictures into the report (4.8 MB) for sending.", "--standalone")
]
CsvFile = Annotated[Path | None, option("FILE.csv", "Write the table as CSV, or as .xlsx.", "--csv"), WRITTEN]
Full = Annotated[bool, flag("Print the whole report, in place of one screen of it.", "--full")]
Seed = Annotated[int, option("N", "Start of the random numbers; the same seed, the same result.", min=0)]
