"""Options that several commands share, with their help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

WRITTEN = "written"
"""Beside an option: the file that it names is written."""
REPLACED = "replaced"
"""Beside an option: the file that it names is read, and may be the one that the result replaces."""
FOLDER = "folder"
"""Beside an option: it names a folder, which is made where it does not exist."""

Robot = Annotated[
    str, typer.Argument(metavar="ROBOT", help="A shipped name (see 'elastocal robots') or a .yaml or .urdf file.")
]
Calibration = Annotated[
    Path, typer.Argument(metavar="CALIBRATION.json", help="What 'elastocal calibrate --out' wrote.")
]
Refit = Annotated[
    bool, typer.Option("--refit", help="The instrument was moved: fit where it stands to these readings.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Tool = Annotated[
    str | None, typer.Option(metavar="FRAME", help="Use this frame as tool; for URDF, the link that carries it.")
]
At = Annotated[
    list[str] | None,
    typer.Option(
        metavar="VALUES",
        help='Controller values, degrees or mm, such as "0,-90,90,0,30,0"; may be given several times.',
    ),
]
File = Annotated[
    Path | None, typer.Option(metavar="FILE.csv", help="CSV with a header such as A1_deg,A2_deg,...[,fx_N,...,mz_Nm].")
]
Force = Annotated[str | None, typer.Option(metavar="FX,FY,FZ", help="Force on the robot in N.")]
Moment = Annotated[str | None, typer.Option(metavar="MX,MY,MZ", help="Moment on the robot in N m.")]
LoadFrame = Annotated[str | None, typer.Option(metavar="FRAME", help="Where the load acts (default: the tool).")]
Frame = Annotated[str | None, typer.Option(metavar="FRAME", help="What is watched (default: the tool).")]
Follow = Annotated[bool, typer.Option("--follow", help="The load turns with its frame and is given in its axes.")]
Payload = Annotated[
    float | None, typer.Option(metavar="KG", help="Mass carried in all states, at the robot's payload frame.")
]
PayloadFrame = Annotated[str | None, typer.Option(metavar="FRAME", help="Where the payload hangs.")]
Without = Annotated[
    list[str] | None, typer.Option(metavar="KIND", help="Leave out a kind of effect; may be given several times.")
]
ColumnUnits = Annotated[
    str | None, typer.Option(metavar="mm,deg", help="Units of columns of a bare table that do not tell theirs.")
]
Euler = Annotated[
    str | None,
    typer.Option(
        metavar="ZYX", help="What three angles of a bare table are (xyz, rotvec, none); capitals: moving axes."
    ),
]
IgnoreLimits = Annotated[bool, typer.Option("--ignore-limits", help="Compute beyond the joint limits, and say so.")]
ReportFile = Annotated[
    Path | None, typer.Option("--report", metavar="FILE.html", help="Write an HTML report."), WRITTEN
]
WorkObject = Annotated[
    str | None,
    typer.Option(
        "--object", metavar="X,Y,Z,A,B,C", help="Work object of the map in base: mm, deg about z, y, x in turn."
    ),
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        metavar="MM", help="Error allowed on validation points: pass or fail, certificate (default: that of cell.yaml)."
    ),
]
Standalone = Annotated[
    bool, typer.Option("--standalone", help="Put the script of turnable pictures into the report (4.8 MB) for sending.")
]
CsvFile = Annotated[
    Path | None, typer.Option("--csv", metavar="FILE.csv", help="Write the table as CSV, or as .xlsx."), WRITTEN
]
Full = Annotated[bool, typer.Option("--full", help="Print the whole report, in place of one screen of it.")]
Seed = Annotated[
    int, typer.Option(metavar="N", min=0, help="Start of the random numbers; the same seed, the same result.")
]
