"""The command from a calibrated model to a corrected program: compensate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from elastocal.app.cli import options as o

_POSE = "NAME=X,Y,Z,A,B,C"


def compensate(
    program: Annotated[
        Path, typer.Argument(metavar="PROGRAM", help=".src (with its .dat), .mod, .nc, .csv and their kin.")
    ],
    calibration: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="What 'elastocal calibrate --out' wrote.")
    ] = None,
    robot: Annotated[
        str | None, typer.Option(metavar="ROBOT", help="The robot; with a calibration it must be the calibrated one.")
    ] = None,
    serial: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Of the robot that will run it; another one is refused.")
    ] = None,
    base: Annotated[
        list[str] | None, typer.Option(metavar=_POSE, help="A base that the files leave open (mm, deg); repeatable.")
    ] = None,
    tool: Annotated[
        list[str] | None, typer.Option(metavar=_POSE, help="A tool on the flange, or NAME=FRAME of the robot.")
    ] = None,
    flange: Annotated[
        str | None, typer.Option(metavar="FRAME", help="Frame that tools are mounted on (default: flange).")
    ] = None,
    orientation: Annotated[
        str | None, typer.Option(metavar="A,B,C", help="Of the tool where the program gives points only (deg).")
    ] = None,
    rotary: Annotated[str, typer.Option(metavar="AXES", help="What A B C of G-code turn, such as ZY or ZYX.")] = "",
    near: Annotated[
        str | None, typer.Option(metavar="VALUES", help="Controller values before the program starts.")
    ] = None,
    force: o.Force = None,
    moment: o.Moment = None,
    load_frame: Annotated[
        str | None, typer.Option(metavar="FRAME", help="Where the load acts (default: tip of the program's tool).")
    ] = None,
    follow: o.Follow = False,
    load_lines: Annotated[
        list[str] | None, typer.Option(metavar="FIRST-LAST", help="Lines with load (default: all); repeatable.")
    ] = None,
    loads: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Loads from a line on: line,fx_N,...,payload_kg.")
    ] = None,
    milling: Annotated[
        str | None,
        typer.Option(
            metavar="WORDS", help="kc_MPa=,ap_mm=,ae_mm=,D_mm=,teeth=,spindle_rpm=[,m=,radial=,axial=,feed_mm_min=]"
        ),
    ] = None,
    payload: o.Payload = None,
    payload_frame: o.PayloadFrame = None,
    rated_kg: Annotated[
        float | None, typer.Option(metavar="KG", help="Refuse loads beyond the robot's rated payload.")
    ] = None,
    position_only: Annotated[bool, typer.Option("--position-only", help="Keep the orientation as it is.")] = False,
    taught: Annotated[
        bool,
        typer.Option("--taught", help="Targets are where the unloaded arm stands: correct what the load adds only."),
    ] = False,
    first_order: Annotated[bool, typer.Option("--first-order", help="For comparison: desired - deflection.")] = False,
    densify_um: Annotated[
        float | None, typer.Option(metavar="UM", help="Put points into lines that would be off by more than this.")
    ] = None,
    chord_um: Annotated[float, typer.Option(metavar="UM", help="How far chords may be from arcs of G-code.")] = 5.0,
    truth: Annotated[
        str | None, typer.Option(metavar="ROBOT", help="Also run both programs on this robot, taken for true.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR|FILE", help="Write the corrected program; never over the old one.")
    ] = None,
    report: o.ReportFile = None,
    csv: o.CsvFile = None,
    json: o.Json = False,
) -> None:
    """A robot program with corrected targets.

    The command is solved whose LOADED pose is the desired one. Per target: how far the tool would be off, how far it
    is now, with what confidence. Only numbers of targets change; what cannot be corrected is listed.

    \b
    Example:
      elastocal compensate contour.src --calibration calibration.json --force "-400,0,-150" --out corrected
    """
    from elastocal.app.cli.output import deliver, warn
    from elastocal.app.cli.progress import progress
    from elastocal.app.commands import compensate as command
    from elastocal.app.pages.compensate import page as pages
    from elastocal.app.pages.compensate.tables import target_table
    from elastocal.app.programs.pushing import ProgramLoadRequest
    from elastocal.app.pushing import LoadRequest
    from elastocal.files.write import check_targets, make_folder

    inputs = {"PROGRAM": program, "--calibration": calibration, "--loads": loads}
    check_targets({"--report": report, "--csv": csv}, inputs)
    load = LoadRequest(force, moment, load_frame, follow)
    request = command.CompensateRequest(
        program=program, calibration=calibration, robot=robot, serial=serial,
        bases=tuple(base or ()), tools=tuple(tool or ()), flange=flange, orientation=orientation,
        rotary=rotary, near=near, position_only=position_only,
        loads=ProgramLoadRequest(load, tuple(load_lines or ()), loads, milling, payload, payload_frame, rated_kg),
        first_order=first_order, taught=taught, densify=densify_um, chord=chord_um, truth=truth, out=out,
    )  # fmt: skip
    with progress(f"correcting {program.name}") as callback:
        result = command.run(request, callback)
    for place in result.written:
        make_folder(place.parent)
        check_targets({"--out": place, "--report": report, "--csv": csv}, inputs)
    if json:
        warn(result.notes)
    deliver(pages.page(result), json, report, (csv, target_table(result)), pages.screen(result), more=result.written)


def iso9283(
    measured: Annotated[
        Path, typer.Argument(metavar="MEASURED.csv", help="pose,command_x_mm,...,x_mm,...; a row per visit.")
    ],
    path: Annotated[bool, typer.Option("--path", help="The poses are points of one path: also AT and RT.")] = False,
    report: o.ReportFile = None,
    csv: o.CsvFile = None,
    json: o.Json = False,
) -> None:
    """Accuracy and repeatability from measured poses.

    In the style of ISO 9283 (AP, RP, AD, RD, vAP, AT, RT), from validation data; no statement of conformity.

    \b
    Example:
      elastocal iso9283 validation.csv --path
    """
    from elastocal.app.cli.output import deliver, warn
    from elastocal.app.commands import iso9283 as command
    from elastocal.app.pages import iso9283 as pages
    from elastocal.files.write import check_targets

    check_targets({"--report": report, "--csv": csv}, {"MEASURED.csv": measured})
    result = command.run(measured, path)
    if json:
        warn(result.notes)
    deliver(pages.page(result), json, report, (csv, pages.pose_table(result)))


def export(
    calibration: Annotated[
        Path, typer.Argument(metavar="CALIBRATION.json", help="What 'elastocal calibrate --out' wrote.")
    ],
    yaml: Annotated[
        Path | None, typer.Option(metavar="FILE.yaml", help="Write the robot file with the values found.")
    ] = None,
    urdf: Annotated[
        Path | None, typer.Option(metavar="FILE.urdf", help="Write the corrected URDF, compliances beside it.")
    ] = None,
    source: Annotated[
        Path | None, typer.Option("--from", metavar="FILE.urdf", help="The URDF that the robot file was made from.")
    ] = None,
    kinematics: Annotated[
        Path | None, typer.Option(metavar="FILE.yaml", help="Joint origins like kinematics.yaml of Universal Robots.")
    ] = None,
    schema: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="The JSON schema of calibration files.")
    ] = None,
    json: o.Json = False,
) -> None:
    """A calibration in formats of others.

    The robot file holds everything. In the others geometry goes into the origins of joints; compliances into a
    JSON file beside the URDF, which has no words for them.

    \b
    Example:
      elastocal export calibration.json --yaml calibrated.yaml --kinematics kinematics.yaml
    """
    from elastocal.app.cli.output import deliver, warn
    from elastocal.app.commands import export as command
    from elastocal.app.pages import export as pages
    from elastocal.files.write import check_targets

    result = command.run(command.ExportRequest(calibration, urdf, source, kinematics, schema, yaml))
    targets = {f"target {i + 1},": file for i, file in enumerate(result.files)}
    check_targets(targets, {"CALIBRATION.json": calibration, "--from": source, "the robot": result.robot_file})
    if json:
        warn(result.notes)
    deliver(pages.page(result), json, more=result.files)
