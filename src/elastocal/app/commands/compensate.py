"""A robot program with corrected targets, and how far each was off, is now, and with what confidence."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elastocal.app.cells.roles import REPORT, Fill, Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.app.cli.progress import Progress
from elastocal.errors import ConflictError, InputError, UnsupportedError
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.app.calibrated import Calibrated
    from elastocal.compensation.correction import Correction
    from elastocal.compensation.process import ProcessLoad
    from elastocal.results import Finding

_CELL = Uses(
    {"program": "programs", "calibration": "calibration", "robot": "robot", "truth": "robot"},
    (Fill("calibration", "calibration", output=False, unless=("robot",)), Fill("out", "corrected"), REPORT),
    (("force", "moment"), ("loads",), ("milling", "lead_mm")),
    by_line=("load_lines", "lead_lines", "loads"),
)
_FRAME = "NAME=X,Y,Z,A,B,C"


@dataclass(frozen=True, eq=False)
class CompensateResult:
    """``correction`` as the library gives it; ``files`` are the bytes of the new program by their place.

    Where nothing could be corrected there are none, and the command ends with 1.
    """

    program: Path
    calibration: Path | None
    truth: str | None
    robot: Calibrated
    correction: Correction
    files: dict[Path, bytes] = field(default_factory=dict)
    doubts: tuple[Finding, ...] = ()

    @property
    def failed(self) -> bool:
        return self.correction.unchanged

    @property
    def notes(self) -> tuple[str, ...]:
        return (*self.robot.notes, *(sentence(w) for w in (*self.doubts, *self.correction.warnings)))


_OPTIONS = {"(chord)": "(--chord-um)", "(densify)": "(--densify-um)", "(lead_lines)": "(--lead-lines, --lead-mm)"}


def sentence(finding: Finding) -> str:
    """With options in place of the arguments of the library that it names."""
    text = finding.text
    for argument, option in _OPTIONS.items():
        text = text.replace(argument, option)
    return text


@command("daily", 9, _CELL, csv=True, progress="correcting {program.name}")
def compensate(
    program: Annotated[Path, o.argument("PROGRAM", ".src (with its .dat), .mod, .ls, .script, .jbi, .apt, .nc, .csv.")],
    calibration: Annotated[Path | None, o.option("FILE.json", "What 'elastocal calibrate --out' wrote.")] = None,
    robot: Annotated[
        str | None, o.option("ROBOT", "The robot; with a calibration it must be the calibrated one.")
    ] = None,
    serial: Annotated[str | None, o.option("NUMBER", "Of the robot that will run it; another one is refused.")] = None,
    base: Annotated[
        list[str] | None, o.option(_FRAME, "A base that the files leave open (mm, deg), as the pendant shows it.")
    ] = None,
    tool: Annotated[list[str] | None, o.option(_FRAME, "A tool on the flange, or NAME=FRAME of the robot.")] = None,
    flange: Annotated[
        str | None,
        o.option("FRAME", "Frame that tools are mounted on (default: tool0, flange or the last that moves)."),
    ] = None,
    orientation: Annotated[
        str | None, o.option("A,B,C", "Of the tool where the program gives points only (deg).")
    ] = None,
    rotary: Annotated[str, o.option("AXES", "What A B C of G-code turn, such as ZY or ZYX.")] = "",
    near: Annotated[
        str | None, o.option("VALUES", "Controller values before the program starts, where nothing in it says them.")
    ] = None,
    force: o.Force = None,
    moment: o.Moment = None,
    load_frame: Annotated[
        str | None, o.option("FRAME", "Where the load acts (default: tip of the program's tool).")
    ] = None,
    follow: o.Follow = False,
    load_lines: Annotated[
        list[str] | None, o.option("FIRST-LAST", "Lines with load (default: lines, arcs, splines); repeatable.")
    ] = None,
    air_moves: Annotated[bool, o.flag("The force acts on joint and rapid moves too.", "--air-moves")] = False,
    loads: Annotated[Path | None, o.option("FILE.csv", "Loads from a line on: line,fx_N,...,payload_kg.")] = None,
    milling: Annotated[
        str | None,
        o.option("WORDS", "kc_MPa=,ap_mm=,ae_mm=,D_mm=,teeth=,spindle_rpm=[,m=,radial=,axial=,feed_mm_min=]"),
    ] = None,
    lead_lines: Annotated[
        list[str] | None, o.option("FIRST-LAST", "Milling: lines on which the cutter enters or leaves; repeatable.")
    ] = None,
    lead_mm: Annotated[
        float | None, o.option("MM", "Milling: first and last moves of each cut up to this length are leads.")
    ] = None,
    payload: o.Payload = None,
    payload_frame: o.PayloadFrame = None,
    rated_kg: Annotated[float | None, o.option("KG", "Refuse loads beyond the robot's rated payload.")] = None,
    position_only: Annotated[bool, o.flag("Keep the orientation as it is.", "--position-only")] = False,
    taught: Annotated[
        bool, o.flag("Targets are where the unloaded arm stands: correct what the load adds only.", "--taught")
    ] = False,
    first_order: Annotated[bool, o.flag("For comparison: desired - deflection.", "--first-order")] = False,
    densify_um: Annotated[
        float | None, o.option("UM", "Put points into lines and arcs that would be off by more.")
    ] = None,
    again: Annotated[
        bool, o.flag("Correct a program that an earlier run in the cell wrote once more.", "--again")
    ] = False,
    chord_um: Annotated[float, o.option("UM", "How far chords may be from arcs of G-code.")] = 5.0,
    truth: Annotated[str | None, o.option("ROBOT", "Also run both programs on this simulated (true) robot.")] = None,
    out: Annotated[
        Path | None, o.option("DIR|FILE", "Write the corrected program; never over the old one."), o.FOLDER
    ] = None,
    robodk: Annotated[
        Path | None,
        o.option("FILE.csv", "Write joints, corrected poses and tools as RoboDK's tables have them."),
        o.WRITTEN,
    ] = None,
    progress: Progress | None = None,
) -> CompensateResult:
    """A robot program with corrected targets.

    The command is solved whose LOADED pose is the desired one. Per target: how far the tool would be off, the
    correction, and the residual error predicted after it. Only numbers of targets change; what cannot be corrected
    is listed.

    \b
    Example:
      elastocal compensate contour.src --calibration calibration.json --force "-400,0,-150" --out corrected
    """
    from functools import partial

    from elastocal.app.calibrated import calibrated
    from elastocal.app.cells.freshness import corrected_before
    from elastocal.app.configurations import typed_near
    from elastocal.app.typed_program import typed_frames, typed_orientation
    from elastocal.compensation.program import Given
    from elastocal.compensation.run import compensate as library_call
    from elastocal.compensation.run import flange_of
    from elastocal.files.programs import corrected_program, correction_files
    from elastocal.files.robot.read import read_robot

    doubts = corrected_before(program, calibration, again)
    known = calibrated(calibration, robot, serial)
    model = known.model
    hand = flange_of(model, flange)
    given = Given(
        typed_frames("--base", base or (), hand), typed_frames("--tool", tool or (), hand, model),
        typed_orientation(orientation), rotary,
    )  # fmt: skip
    load = _load(force, moment, load_frame, follow, load_lines, air_moves, loads, milling, lead_lines, lead_mm,
                 payload, payload_frame, rated_kg)  # fmt: skip
    correct = partial(
        library_call, known.known or model, load=load, flange=flange, position_only=position_only, taught=taught,
        first_order=first_order, densify=None if densify_um is None else 1e-6 * densify_um, chord=1e-6 * chord_um,
    )  # fmt: skip
    correction = corrected_program(
        program, given, out, correct, typed_near(model, near), None if truth is None else read_robot(truth), progress
    )
    written = not correction.unchanged
    files = correction_files(correction, out) if written and out is not None else {}
    if written and robodk is not None:
        files[robodk] = _robodk(correction, robodk)
    return CompensateResult(program, calibration, truth, known, correction, files, doubts)


def _robodk(correction: Correction, file: Path) -> bytes:
    """Corrected targets as a table of RoboDK: controller values, poses in the robot's base, tools on the flange."""
    import numpy as np

    from elastocal.files.formats.robodk import robodk_table
    from elastocal.model.kinematics import rigid_pose
    from elastocal.spatial.pose import Pose

    model, at = correction.model, correction.job.placed
    if model.n != 6 or any(m.kind != "revolute" for m in model.motions):
        raise UnsupportedError(
            f"--robodk {file}: RoboDK's tables have six joints that turn; {model.name} has others",
            parameter="robodk",
            value=file,
        )
    rows = np.flatnonzero(correction.corrected & at.stations.whole)
    commands, program = correction.commands, at.stations.program
    poses, tools = [], []
    for row in rows:
        place, turn = rigid_pose(model.nominal, at.frames[row], commands.command[row][:, None])
        poses.append(Pose(turn[..., 0], place[:, 0]))
        held = program.tools[program.targets[int(at.stations.target[row])].tool].pose
        assert held is not None
        tools.append(held)
    return robodk_table(model.controller.to_controller(commands.command[rows]), poses, tools).encode()


def _load(
    force: str | None, moment: str | None, frame: str | None, follow: bool, lines: list[str] | None, air_moves: bool,
    table: Path | None, milling: str | None, leads: list[str] | None, lead: float | None, payload: float | None,
    payload_frame: str | None, rated: float | None,
) -> ProcessLoad:  # fmt: skip
    from elastocal.app.applied_load import LoadRequest
    from elastocal.app.typed_program import typed_lines, typed_milling
    from elastocal.compensation.process import ProcessLoad
    from elastocal.files.programs import read_line_loads

    typed = LoadRequest(force, moment, frame, follow)
    if sum((typed.given, table is not None, milling is not None)) > 1:
        raise ConflictError("give the load once: --force and --moment, or --loads, or --milling", code="load-twice")
    process, feed = (None, None) if milling is None else typed_milling(milling)
    try:
        return ProcessLoad(
            wrench=typed.wrench() if typed.given else None, frame=frame, follows=follow,
            lines=typed_lines(lines or (), "load_lines"), air_moves=air_moves,
            by_line=None if table is None else read_line_loads(table), milling=process, feed=feed,
            lead_lines=typed_lines(leads or (), "lead_lines"), lead_length=None if lead is None else 1e-3 * lead,
            payload=payload, payload_frame=payload_frame, rated=rated,
        )  # fmt: skip
    except InputError as error:
        if error.parameter == "lead_length":  # the option is in mm
            error.parameter = "lead_mm"
        raise
