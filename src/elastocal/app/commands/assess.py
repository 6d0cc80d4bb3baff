"""What a plan of configurations and loads would tell, before anything is measured."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elastocal.app.cells.roles import REPORT, Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command, given_by, protect
from elastocal.errors import ConflictError, DuplicateError, MissingError, RangeError, UnsupportedError
from elastocal.report.blocks import Fact
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.app.applied_load import LoadRequest
    from elastocal.design.assessing import Assessment
    from elastocal.files.campaign.file import CampaignFile
    from elastocal.model.compliant.link_compliance import Form
    from elastocal.model.robot import Robot
    from elastocal.model.statics.observation import Marker
    from elastocal.procedures.contact.repair import Repair


LOAD = ("force", "moment", "load_frame")


@dataclass(frozen=True)
class _Asked:
    """What is asked of a robot and a table, as typed: ``noise_mm`` and ``noise_mrad`` of one reading."""

    marker: tuple[str, ...]
    pose: bool
    noise_mm: float
    noise_mrad: float | None
    repeats: int
    load: LoadRequest
    parameters: tuple[str, ...]
    form: str | None
    thresholds: tuple[float, float]
    without: tuple[str, ...]
    ignore_limits: bool
    tool: str | None


@dataclass(frozen=True, eq=False)
class AssessResult:
    """``load_text`` and ``noise_text`` are the load and the errors in words; ``repair`` is for plans of contacts."""

    assessment: Assessment
    load_text: str
    noise_text: str
    facts: tuple[Fact, ...]
    notes: tuple[str, ...]
    repair: Repair | None = None


@command(
    "daily", 3, Uses({"robot": "planned"}, (REPORT,), note="a table after `CELL` makes it stand for `robot`"), csv=True
)
def assess(
    robot: Annotated[str, o.argument("ROBOT", "A robot as elsewhere, or a campaign file without readings.")],
    plan: Annotated[
        Path | None, o.argument("[PLAN.csv]", "Configurations and loads: A1_deg,...[,fx_N,...,mz_Nm].")
    ] = None,
    marker: Annotated[list[str] | None, o.option("FRAME", "What is measured; repeatable (default: the tool).")] = None,
    pose: Annotated[bool, o.flag("Orientations are measured too.", "--pose")] = False,
    noise_mm: Annotated[float, o.option("MM", "Standard deviation of a reading, per axis.")] = 0.03,
    noise_mrad: Annotated[float | None, o.option("MRAD", "The same for orientations.")] = None,
    repeats: Annotated[int, o.option("N", "Readings averaged, loaded and unloaded.")] = 1,
    force: o.Force = None,
    moment: o.Moment = None,
    load_frame: o.LoadFrame = None,
    parameters: Annotated[
        list[str] | None, o.option("PATTERN", 'Parameters to seek, such as "A*.k"; repeatable.')
    ] = None,
    form: Annotated[str | None, o.option("FORM", "Describe all 6x6 springs as full, symmetric or beam.")] = None,
    thresholds: Annotated[tuple[float, float], o.option("ABOVE BELOW", "Ratios that part G1+, G1~ and G1-.")] = (
        5.0,
        2.0,
    ),
    without: o.Without = None,
    ignore_limits: o.IgnoreLimits = False,
    tool: o.Tool = None,
) -> AssessResult:
    """What a measurement plan can tell, before it is measured.

    Which parameters it can tell apart and how well. A robot and a table: compliances from deflections, with the
    instrument's noise alone. A campaign file: any parameters, with all its sources of error; its options stand in it.

    \b
    Example:
      elastocal assess kuka-kr270 plan.csv --force "0,0,-2500" --marker marker1
      elastocal assess plan.yaml
    """
    from elastocal.app.applied_load import LoadRequest

    given = locals()
    if plan is None:
        return _campaign(robot, o.typed(assess, given))
    load = LoadRequest(force, moment, load_frame)
    return _table(robot, plan, o.request(_Asked, {**given, "load": load}))


def _campaign(source: str, typed: Iterable[str]) -> AssessResult:
    """The plan of a campaign file, with all its sources of error; it has keys for what options may be ``typed``."""
    from elastocal.app.cli.progress import stage
    from elastocal.design.assessing import assess
    from elastocal.files.campaign.read import read_plan
    from elastocal.model.descriptions import in_form
    from elastocal.reduction.identify import sought_names

    if Path(source).suffix.lower() not in (".yaml", ".yml"):
        raise ConflictError(
            f"{source}: give a table of configurations after the robot, or a campaign file (.yaml) alone"
        )
    for name in typed:
        option = "--force, --moment or --load-frame" if name in LOAD else f"--{name.replace('_', '-')}"
        raise ConflictError(f"{option} goes with a robot and a table; write it into the campaign file {source} instead")
    stage(0, 3, "reading the plan")
    file = read_plan(Path(source))
    protect(given_by("ROBOT", file))
    requests = file.requests
    model = in_form(file.model, requests.form or "beam")
    names = sought_names(file.campaign.measurement, model, requests.seek, requests.hold)
    if not names:
        raise UnsupportedError(
            f"{source}: {model.name} has no parameter to assess; 'elastocal plan --given' says what its poses are "
            "worth for a calibration by priors",
            value=source,
        )
    stage(1, 3, "what would repair it")
    repair = _repair(model, file, names)
    stage(2, 3, "what the plan determines")
    assessment = assess(model, file.campaign, names, thresholds=requests.thresholds)
    noise = "; ".join(s.label for s in file.campaign.sources) or "none stated: 10 um per axis and reading assumed"
    facts = (Fact("campaign", "campaign", source), Fact("robot", "robot", model.name))
    load = f"as in the table, at {file.campaign.measurement.load_frame}"
    return AssessResult(assessment, load, f"Errors: {noise}.", facts, file.notes, repair)


def _repair(model: Robot, file: CampaignFile, names: tuple[str, ...]) -> Repair | None:
    """How a plan of contacts is changed so that everything sought is resolved; None for other kinds."""
    from elastocal.procedures.contact.repair import repair

    if not file.campaign.measurement.touching:
        return None
    if not file.campaign.scattering:
        raise MissingError(
            f"{file.files[0]}: the accuracy of contacts follows from errors, and none are stated; add for example "
            "errors: [{kind: force_sensor, sd_N: 0.5}]"
        )
    return repair(model, file.campaign, names, file.requests.thresholds[0])


def _table(word: str, plan: Path, asked: _Asked) -> AssessResult:
    """Compliances from deflections, with the instrument's noise alone."""
    from elastocal.app.applied_load import applied_load, load_facts
    from elastocal.app.configurations import chosen_configurations
    from elastocal.design.assessing import assess
    from elastocal.files.robot.read import read_robot, selected, without_kinds
    from elastocal.measure.markers import Deflection
    from elastocal.measure.measured import Measured
    from elastocal.measure.setup import Setup
    from elastocal.measure.sources.instrument import Reading

    robot = read_robot(word, asked.tool)
    model = _in_form(without_kinds(robot, asked.without), asked.form)
    at = chosen_configurations(model, (), plan, asked.ignore_limits)
    load = applied_load(model, asked.load, at)
    if load.applied is None or not load.applied.wrench.any():
        raise MissingError(f"{plan}: no load, so nothing bends; add columns fx_N..mz_Nm or give --force")
    selected(model, asked.parameters)
    markers = _markers(model, asked)
    sd, turn_sd = _noise(asked)
    kind = Deflection(Setup(at.q, load.applied, markers), "linear")
    campaign = Measured(kind, kind.predict(model), (Reading(sd=sd, turn_sd=turn_sd),))
    assessment = assess(model, campaign, asked.parameters or None, thresholds=asked.thresholds)
    watched = ", ".join(m.frame for m in markers)
    facts = load_facts(word, model, load, watched, _STATE, asked.without, str(plan))
    notes = (*robot.notes, *at.notes, *load.notes)
    return AssessResult(assessment, load.text, _noise_text(asked), facts, notes)


_STATE = "linear model of the unloaded arm, weights not counted"


def _noise_text(asked: _Asked) -> str:
    sd, turn_sd = (None if v is None else sqrt(2) * 1e3 * v for v in _noise(asked))
    turning = f" and {turn_sd:.4g} mrad" if asked.pose else ""
    return (
        f"Standard deviation of a deflection (loaded minus unloaded reading): {sd:.4g} mm{turning} per axis. "
        "Only this noise counts here: uncertain loads, repeatability and registration come on top; a campaign file "
        "can state them."
    )


def _in_form(model: Robot, form: str | None) -> Robot:
    from elastocal.errors import UnknownNameError
    from elastocal.model.compliant.link_compliance import FORMS

    if form is None:
        return model
    chosen: Form | None = next((f for f in FORMS if f == form), None)
    if chosen is None:
        raise UnknownNameError("link form", form, FORMS)
    return model.with_link_form(chosen)


def _markers(model: Robot, asked: _Asked) -> tuple[Marker, ...]:
    from elastocal.model.statics.observation import Marker

    frames = asked.marker or (model.tool,)
    for frame in frames:
        model.tree.frame(frame)
    if len(set(frames)) != len(frames):
        raise DuplicateError(f"--marker: {', '.join(frames)} names a frame twice; more readings of one are --repeats")
    return tuple(Marker(frame, "pose" if asked.pose else "position") for frame in frames)


def _noise(asked: _Asked) -> tuple[float, float | None]:
    """Standard deviation of one reading, m and rad: the mean of the repeats."""
    if asked.repeats < 1:
        raise RangeError.of("repeats", asked.repeats, "at least one reading is needed")
    turn = asked.noise_mrad
    if asked.pose and turn is None:
        raise MissingError("--pose measures orientations too; say how well with --noise-mrad")
    if not asked.noise_mm > 0 or (turn is not None and not turn > 0):
        raise RangeError("--noise-mm and --noise-mrad must be positive; a reading without noise does not exist")
    factor = 1e-3 / sqrt(asked.repeats)
    return asked.noise_mm * factor, None if turn is None else turn * factor
