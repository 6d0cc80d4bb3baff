"""Parameters from a measured campaign, with everything needed to judge them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elastocal.app.cells.roles import REPORT, Fill, Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command, given_by, protect
from elastocal.app.cli.progress import Progress
from elastocal.errors import ConflictError, InputError, RangeError, TooFewError, UnsupportedError
from elastocal.report.blocks import Fact
from elastocal.values import dataclass

if TYPE_CHECKING:
    import numpy as np

    from elastocal.app.predictor import Predictor
    from elastocal.files.campaign.file import CampaignFile
    from elastocal.files.campaign.observed import Observed
    from elastocal.model.robot import Robot
    from elastocal.procedures.contact.calibrate import ContactCalibration
    from elastocal.reduction.study import Study, StudyOptions
    from elastocal.reduction.verdict import Judged
    from elastocal.results import Finding
    from elastocal.solve.nonlinear_sampling import Ensemble

_CELL = Uses({"campaign": "campaign"}, (Fill("out", "calibration"), REPORT), either=(("model",), ("start",)))
STEPS = {"fitting": 0, "judging": 60, "sampling": 80}


@dataclass(frozen=True, eq=False)
class CalibrateResult:
    """``judged`` holds estimates, warnings and verdict; correlations above ``correlated`` are listed.

    ``contacts`` is None for other kinds of measurement.
    """

    file: CampaignFile
    judged: Judged
    ensemble: Ensemble | None
    correlated: float
    seed: int
    facts: tuple[Fact, ...]
    notes: tuple[str, ...]
    files: Mapping[Path, str] = field(default_factory=dict)
    contacts: ContactCalibration | None = None

    @property
    def name(self) -> str:
        return self.file.name

    @property
    def study(self) -> Study:
        return self.judged.study

    @property
    def model(self) -> Robot:
        return self.file.model


@command("daily", 5, _CELL, csv=True, progress="calibrating")
def calibrate(
    campaign: Annotated[
        Path, o.argument("CAMPAIGN.yaml|ROBOT", "A campaign file; or a robot, and its tables after it.")
    ],
    tables: Annotated[
        list[Path] | None, o.argument("[TABLE|CAMPAIGN.yaml]...", "Tables of the robot, or more campaign files.")
    ] = None,
    out: Annotated[Path | None, o.option("FILE.json", "Write the calibration, which predict reads."), o.WRITTEN] = None,
    units: o.ColumnUnits = None,
    tool: o.Tool = None,
    euler: o.Euler = None,
    ignore_limits: o.IgnoreLimits = False,
    model: Annotated[
        str | None, o.option("WORDS", "Effects to choose from: geometry,weight,... (default: auto).")
    ] = None,
    start: Annotated[
        Path | None,
        o.option("CALIBRATION.json", "Keep its model and start from its estimates: a quick refit."),
        o.REPLACED,
    ] = None,
    validate: Annotated[
        Path | None, o.option("CAMPAIGN.yaml|TABLE", "Readings that take no part, to judge the result by.")
    ] = None,
    check: Annotated[
        str | None, o.option("kfold=6", "Calibrate again without every fold of the poses in turn.")
    ] = None,
    tolerance: o.Tolerance = None,
    accept: Annotated[list[str] | None, o.option("WORDS", "A slip of the table that was proposed is accepted.")] = None,
    reduce: Annotated[
        bool, o.flag("Identify single parameters and drop what the readings do not tell (seek in the file).")
    ] = False,
    correlated: Annotated[float, o.option("R", "List correlations above this size.")] = 0.8,
    emcee: Annotated[int | None, o.option("STEPS", "Also sample the nonlinear problem by emcee (extra mcmc).")] = None,
    seed: o.Seed = 1,
    progress: Progress | None = None,
) -> CalibrateResult | Predictor:
    """The best predictor that positions or deflections support, or single parameters.

    Geometry, own weight, gears, compliance and backlash in one fit; what is kept is what predicts poses best that took
    no part. A robot and a table are enough. With seek in the campaign file, --reduce or contacts: parameters with
    their accuracy, what the readings can tell apart, and a reduced model.

    \b
    Example:
      elastocal calibrate arm.urdf points.csv --units mm,deg --out calibration.json
      elastocal calibrate campaign.yaml --out calibration.json --report found.html
    """
    from elastocal.app.cells.trace import stated_for_certificate
    from elastocal.app.predictor import Asked, observed_of, of_tables, predictor, typed_keys
    from elastocal.calibration.readings import why_unfit

    _check_options(correlated, emcee)
    others, keys = tuple(tables or ()), typed_keys(units, tool, euler, ignore_limits)
    unfit = ""
    observed: tuple[Observed, ...] = ()
    if not (reduce or emcee is not None or _asks_for_parameters(campaign, others)):
        observed = observed_of(campaign, others, keys)
        unfit = "" if others or of_tables(campaign, others) else why_unfit(observed[0])
    if observed and not unfit:
        protect({f"{p.name} as input": p for o in observed for p in o.files})
        asked = Asked(model, start, validate, check, tuple(accept or ()), stated_for_certificate(tolerance))
        return predictor(observed, (campaign, *others), out, asked, progress)

    import numpy as np

    from elastocal.app.calibrated import reduction_text
    from elastocal.files.campaign.checks import check_deflections, check_numbers, check_points
    from elastocal.files.campaign.read import read_campaign
    from elastocal.reduction.study import sample_nonlinear
    from elastocal.reduction.verdict import Judged

    if tolerance is not None:
        raise UnsupportedError(
            "a tolerance is of positions, not of single parameters; calibrate without seek and --reduce"
        )
    if start is not None:
        raise UnsupportedError(
            "single parameters are identified without a start; leave it out, or seek and --reduce", parameter="start"
        )
    if others or keys:
        raise ConflictError("the reduction takes one campaign file; leave out everything else, or seek and --reduce")
    file = read_campaign(campaign)
    protect(given_by("CAMPAIGN.yaml", file))
    check_numbers(file)
    file, points = check_points(file)
    check_deflections(file)
    rng = np.random.default_rng(seed)
    contacts = _contacts(file, rng, correlated, progress)
    study = _study(file, rng, correlated, progress) if contacts is None else contacts.study
    sampled = None if emcee is None else sample_nonlinear(study.fit, emcee, rng)
    if progress is not None:
        progress(100, 100)
    _check_determined(campaign, study)
    cost = _cost(campaign, study) if reduce and contacts is None else ()
    judged = Judged(study, file.model, points, cost) if contacts is None else contacts
    why = (f"Single parameters are identified: {unfit}.",) if unfit else ()
    notes, facts = (*file.notes, *why, *_exact(study)), _facts(campaign, file, seed)
    result = CalibrateResult(file, judged, sampled, correlated, seed, facts, notes, contacts=contacts)
    return result if out is None else replace(result, files={out: reduction_text(result, out)})


def _asks_for_parameters(campaign: Path, others: tuple[Path, ...]) -> bool:
    from elastocal.app.predictor import of_tables
    from elastocal.files.campaign.observed import asks_for_reduction

    return not (others or of_tables(campaign, others)) and asks_for_reduction(campaign)


def _check_options(correlated: float, emcee: int | None) -> None:
    if not 0 < correlated < 1:
        raise RangeError.of("correlated", correlated, "give a number between 0 and 1")
    if emcee is not None and emcee < 10:
        raise RangeError.of("emcee", emcee, "some hundred steps are needed; 2000 is usual")


def _study(file: CampaignFile, rng: np.random.Generator, correlated: float, progress: Progress | None) -> Study:
    from elastocal.reduction.study import study

    return study(file.model, file.campaign, file.requests.seek, rng=rng, **_asked(file, correlated, progress))


def _contacts(
    file: CampaignFile, rng: np.random.Generator, correlated: float, progress: Progress | None
) -> ContactCalibration | None:
    from elastocal.procedures.contact.calibrate import calibrate_contacts

    if not file.campaign.measurement.touching:
        return None
    asked = _asked(file, correlated, progress)
    return calibrate_contacts(file.model, file.campaign, file.requests.seek, rng=rng, **asked)


def _asked(file: CampaignFile, correlated: float, progress: Progress | None) -> StudyOptions:
    """What the campaign file asks of the reduction."""
    from elastocal.reduction.first_fit import ReductionRules

    asked = file.requests
    return {
        "hold": asked.hold,
        "form": asked.form,
        "rules": ReductionRules(asked.thresholds, asked.statistical, asked.loss, asked.outliers == "leave_out"),
        "correlated": correlated,
        "watch": lambda step: None if progress is None else progress(STEPS[step], 100, step),
    }


def _cost(campaign: Path, study: Study) -> tuple[Finding, ...]:
    """Leave-one-out error of the reduced model beside that of the best predictor of the same readings."""
    from math import sqrt

    from elastocal.calibration.readings import campaign_of, why_unfit
    from elastocal.calibration.run import calibrate
    from elastocal.files.campaign.observed import read_observed
    from elastocal.measure.kind import reading_unit
    from elastocal.results import note

    observed = read_observed(campaign)
    if why_unfit(observed):
        return ()
    reduced, shown = study.identification.stages[-1].left_out, reading_unit(study.fit.campaign.measurement)
    try:
        best = calibrate(*campaign_of(observed)).leave_one_out.rms / sqrt(3)
    except InputError as error:
        return (note("reduction-cost", f"There is no best predictor to compare with: {error}.", reduced=reduced),)
    text = (
        f"Cost of the reduction: leave-one-out error {shown.text(reduced)} per axis, where the best predictor of the "
        f"same readings (without --reduce) has {shown.text(best)}."
    )
    return (note("reduction-cost", text, reduced=reduced, best=best),)


def _check_determined(campaign: Path, study: Study) -> None:
    import numpy as np

    fit = study.fit
    if np.isfinite(fit.unit_covariance * fit.inflation).all():
        return
    why = (
        "do not determine them; measure in other places and directions, or seek fewer"
        if fit.stated
        else "leave none to show the noise, and none is stated; measure more, seek fewer, or add errors to the "
        "campaign file"
    )
    raise TooFewError(f"{campaign}: {fit.problem.readings} numbers for {len(fit.names)} unknowns {why}")


def _exact(study: Study) -> tuple[str, ...]:
    from elastocal.app.calibrated import exact_note, taken_as_exact

    named = ((p.name, p.value) for p in study.fit.model.parameters)
    return exact_note(taken_as_exact(named, study.identification.groups.names))


def _facts(campaign: Path, file: CampaignFile, seed: int) -> tuple[Fact, ...]:
    asked = file.requests
    sought = ", ".join(asked.seek or ("everything",)) + (f" but {', '.join(asked.hold)}" if asked.hold else "")
    kind = file.campaign.measurement
    return (
        Fact("campaign", "campaign", campaign.as_posix()),
        Fact("robot", "robot", file.model.name),
        Fact("measurement", "measurement", kind.kind),
        Fact("sought", "sought", sought),
        Fact("errors", "errors stated", tuple(s.label for s in file.campaign.sources), _errors(file)),
        Fact("loss", "loss", asked.loss),
        Fact("seed", "seed of sampling", seed),
    )


def _errors(file: CampaignFile) -> str:
    return "; ".join(s.label for s in file.campaign.sources) or "none: noise is estimated from the residuals"
