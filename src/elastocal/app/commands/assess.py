"""What a plan of configurations and loads would tell, before anything is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.app.applied_load import LoadRequest, applied_load
from elastocal.app.configurations import chosen_configurations
from elastocal.app.inputs import VERSION, inputs_of
from elastocal.app.workers import one_thread
from elastocal.errors import InputError
from elastocal.files.robot.read import read_robot, selected, without_kinds
from elastocal.report.blocks import Fact

if TYPE_CHECKING:
    from elastocal.design.assessing import Assessment
    from elastocal.files.campaign.file import CampaignFile
    from elastocal.model.compliant.link_compliance import Form
    from elastocal.model.robot import RobotModel
    from elastocal.model.statics.observation import Marker
    from elastocal.procedures.contact.repair import Repair


@dataclass(frozen=True)
class AssessRequest:
    """A robot and a table, or (``plan`` None) a campaign file in place of the robot.

    ``noise`` in mm and ``turn_noise`` in mrad are standard deviations of one reading, per axis; ``targets`` are files
    to be written, by option.
    """

    robot: str
    plan: Path | None
    markers: tuple[str, ...] = ()
    pose: bool = False
    noise: float = 0.03
    turn_noise: float | None = None
    repeats: int = 1
    load: LoadRequest = field(default_factory=LoadRequest)
    parameters: tuple[str, ...] = ()
    form: str | None = None
    thresholds: tuple[float, float] = (5.0, 2.0)
    without: tuple[str, ...] = ()
    ignore_limits: bool = False
    tool: str | None = None
    targets: Mapping[str, Path | None] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class AssessResult:
    """``load_text`` and ``noise_text`` are the load and the errors in words; ``repair`` is for plans of contacts."""

    assessment: Assessment
    load_text: str
    noise_text: str
    facts: tuple[Fact, ...]
    notes: tuple[str, ...]
    repair: Repair | None = None


def run(request: AssessRequest) -> AssessResult:
    return _campaign(request) if request.plan is None else _table(request, request.plan)


def _campaign(request: AssessRequest) -> AssessResult:
    """The plan of a campaign file, with all its sources of error."""
    from elastocal.app.campaign_checks import given_by
    from elastocal.design.assessing import assess
    from elastocal.files.campaign.read import read_plan
    from elastocal.files.write import check_targets
    from elastocal.identify.reduction import sought_names
    from elastocal.model.descriptions import in_form

    if Path(request.robot).suffix.lower() not in (".yaml", ".yml"):
        raise InputError(
            f"{request.robot}: give a table of configurations after the robot, or a campaign file (.yaml) alone"
        )
    _check_options(request)
    file = read_plan(Path(request.robot))
    check_targets(request.targets, given_by("ROBOT", file))
    asked = file.requests
    model = in_form(file.model, asked.form or "beam")
    names = sought_names(file.campaign.measurement, model, asked.seek, asked.hold)
    with one_thread():
        repair = _repair(model, file, names)
        found = assess(model, file.campaign, names, thresholds=asked.thresholds)
    noise = "; ".join(s.label for s in file.campaign.sources) or "none stated: 10 um per axis and reading assumed"
    facts = (
        VERSION,
        Fact("campaign", "campaign", request.robot, request.robot),
        Fact("robot", "robot", model.name, model.name),
    )
    load = f"as in the table, at {_load_frame(file)}"
    return AssessResult(found, load, f"Errors: {noise}.", facts, file.notes, repair)


def _load_frame(file: CampaignFile) -> str:
    from elastocal.measure.contact_force import ContactForce

    kind = file.campaign.measurement
    return kind.touches.frame if isinstance(kind, ContactForce) else kind.setup.load.frame


def _repair(model: RobotModel, file: CampaignFile, names: tuple[str, ...]) -> Repair | None:
    """How a plan of contacts is changed so that everything sought is resolved; None for other kinds."""
    from elastocal.measure.contact_force import ContactForce
    from elastocal.procedures.contact.repair import repair

    if not isinstance(file.campaign.measurement, ContactForce):
        return None
    if not file.campaign.scattering:
        raise InputError(
            f"{file.files[0]}: the accuracy of contacts follows from errors, and none are stated; add for example "
            "errors: [{kind: force_sensor, sd_N: 0.5}]"
        )
    return repair(model, file.campaign, names, file.requests.thresholds[0])


_OPTIONS = {
    "markers": "--marker", "pose": "--pose", "noise": "--noise-mm", "turn_noise": "--noise-mrad",
    "repeats": "--repeats", "load": "--force, --moment or --load-frame", "parameters": "--parameters",
    "form": "--form", "thresholds": "--thresholds", "without": "--without", "ignore_limits": "--ignore-limits",
    "tool": "--tool",
}  # fmt: skip


def _check_options(request: AssessRequest) -> None:
    """Refuse options that a campaign file has keys for."""
    plain = AssessRequest(request.robot, None)
    for name, option in _OPTIONS.items():
        if getattr(request, name) != getattr(plain, name):
            raise InputError(
                f"{option} goes with a robot and a table; write it into the campaign file {request.robot} instead"
            )


def _table(request: AssessRequest, plan: Path) -> AssessResult:
    """Compliances from deflections, with the instrument's noise alone."""
    from elastocal.design.assessing import assess
    from elastocal.measure.campaign import Campaign
    from elastocal.measure.deflection import Deflection
    from elastocal.measure.setup import Setup
    from elastocal.measure.sources.reading import Reading

    robot = read_robot(request.robot, request.tool)
    model = _in_form(without_kinds(robot, request.without), request.form)
    at = chosen_configurations(model, (), plan, request.ignore_limits)
    load = applied_load(model, request.load, at)
    if load.applied is None or not load.applied.wrench.any():
        raise InputError(f"{plan}: no load, so nothing bends; add columns fx_N..mz_Nm or give --force")
    selected(model, request.parameters)
    markers = _markers(model, request)
    sd, turn_sd = _noise(request)
    kind = Deflection(Setup(at.q, load.applied, markers), "linear")
    campaign = Campaign(kind, kind.predict(model), (Reading(sd=sd, turn_sd=turn_sd),))
    with one_thread():
        found = assess(model, campaign, request.parameters or None, thresholds=request.thresholds)
    watched = ", ".join(m.frame for m in markers)
    inputs = inputs_of(request.robot, model, load, watched, _STATE, request.without, str(plan))
    notes = (*robot.notes, *at.notes, *load.notes)
    return AssessResult(found, load.text, _noise_text(request), inputs.facts(), notes)


_STATE = "linear model of the unloaded arm, weights not counted"


def _noise_text(request: AssessRequest) -> str:
    sd, turn_sd = (None if v is None else sqrt(2) * 1e3 * v for v in _noise(request))
    turning = f" and {turn_sd:.4g} mrad" if request.pose else ""
    return (
        f"Standard deviation of a deflection (loaded minus unloaded reading): {sd:.4g} mm{turning} per axis. "
        "Only this noise counts here: uncertain loads, repeatability and registration come on top; a campaign file "
        "can state them."
    )


def _in_form(model: RobotModel, form: str | None) -> RobotModel:
    from elastocal.errors import UnknownNameError
    from elastocal.model.compliant.link_compliance import FORMS

    if form is None:
        return model
    chosen: Form | None = next((f for f in FORMS if f == form), None)
    if chosen is None:
        raise UnknownNameError("link form", form, FORMS)
    return model.with_link_form(chosen)


def _markers(model: RobotModel, request: AssessRequest) -> tuple[Marker, ...]:
    from elastocal.model.statics.observation import Marker

    frames = request.markers or (model.tool,)
    for frame in frames:
        model.tree.frame(frame)
    if len(set(frames)) != len(frames):
        raise InputError(f"--marker: {', '.join(frames)} names a frame twice; more readings of one are --repeats")
    return tuple(Marker(frame, "pose" if request.pose else "position") for frame in frames)


def _noise(request: AssessRequest) -> tuple[float, float | None]:
    """Standard deviation of one reading, m and rad: the mean of the repeats."""
    if request.repeats < 1:
        raise InputError(f"--repeats {request.repeats}: at least one reading is needed")
    turn = request.turn_noise
    if request.pose and turn is None:
        raise InputError("--pose measures orientations too; say how well with --noise-mrad")
    if not request.noise > 0 or (turn is not None and not turn > 0):
        raise InputError("--noise-mm and --noise-mrad must be positive; a reading without noise does not exist")
    factor = 1e-3 / sqrt(request.repeats)
    return request.noise * factor, None if turn is None else turn * factor
