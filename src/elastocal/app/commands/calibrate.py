"""Parameters from a measured campaign, with everything needed to judge them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elastocal.app.cells.roles import REPORT, Fill, Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command, keep
from elastocal.app.cli.progress import Progress
from elastocal.errors import InputError
from elastocal.report.blocks import Fact

if TYPE_CHECKING:
    import numpy as np

    from elastocal.calibration.verdict import Judged
    from elastocal.files.campaign.file import CampaignFile
    from elastocal.model.robot import Robot
    from elastocal.procedures.contact.judgement import ContactJudgement
    from elastocal.study.whole import Study
    from elastocal.uncertainty.ensemble import Ensemble

_CELL = Uses({"campaign": "campaign"}, (Fill("out", "calibration"), REPORT))
STEPS = {"fitting": 0, "judging": 60, "sampling": 80}


@dataclass(frozen=True, eq=False)
class CalibrateResult:
    """``judged`` holds estimates, warnings and verdict; correlations above ``correlated`` are listed."""

    file: CampaignFile
    judged: Judged
    ensemble: Ensemble | None
    correlated: float
    seed: int
    facts: tuple[Fact, ...]
    notes: tuple[str, ...]
    files: Mapping[Path, str] = field(default_factory=dict)

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
        Path, typer.Argument(metavar="CAMPAIGN.yaml", help="Robot, table of readings, errors, what to seek.")
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Write the calibration, which predict reads."), o.WRITTEN
    ] = None,
    correlated: Annotated[float, typer.Option(metavar="R", help="List correlations above this size.")] = 0.8,
    emcee: Annotated[
        int | None, typer.Option(metavar="STEPS", help="Also sample the nonlinear problem by emcee (extra mcmc).")
    ] = None,
    seed: o.Seed = 1,
    progress: Progress | None = None,
) -> CalibrateResult:
    """Parameters from deflections, positions or contacts.

    With their accuracy, what the readings can tell apart, a reduced model that is safe to compensate with, and how
    well it predicts poses that it has not seen.

    \b
    Example:
      elastocal calibrate campaign.yaml --out calibration.json --report found.html
    """
    import numpy as np

    from elastocal.app.calibration_files import calibration
    from elastocal.app.campaign_checks import check_deflections, check_numbers, check_points, given_by
    from elastocal.app.workers import one_thread
    from elastocal.calibration.verdict import Judged
    from elastocal.files.campaign.read import read_campaign

    _check_options(correlated, emcee)
    file = read_campaign(campaign)
    keep(given_by("CAMPAIGN.yaml", file))
    check_numbers(file)
    points = check_points(file)
    check_deflections(file)
    rng = np.random.default_rng(seed)
    with one_thread():
        study = _study(file, rng, correlated, progress)
        sampled = None if emcee is None else _sampled(study, emcee, rng)
    if progress is not None:
        progress(100, 100)
    _check_determined(campaign, study)
    judged = Judged(study, file.model, points, _contacts(file, study))
    notes, facts = (*file.notes, *_exact(study)), _facts(campaign, file, seed)
    result = CalibrateResult(file, judged, sampled, correlated, seed, facts, notes)
    return result if out is None else replace(result, files={out: calibration(result, out)})


def _check_options(correlated: float, emcee: int | None) -> None:
    if not 0 < correlated < 1:
        raise InputError(f"--correlated {correlated:g}: give a number between 0 and 1")
    if emcee is not None and emcee < 10:
        raise InputError(f"--emcee {emcee}: some hundred steps are needed; 2000 is usual")


def _study(file: CampaignFile, rng: np.random.Generator, correlated: float, progress: Progress | None) -> Study:
    from elastocal.identify.rules import ReductionRules
    from elastocal.study.whole import study

    asked = file.requests
    return study(
        file.model,
        file.campaign,
        asked.seek,
        rng=rng,
        hold=asked.hold,
        form=asked.form,
        rules=ReductionRules(asked.thresholds, asked.statistical, asked.loss, asked.outliers == "leave_out"),
        correlated=correlated,
        watch=lambda step: None if progress is None else progress(STEPS[step], 100),
    )


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
    raise InputError(f"{campaign}: {fit.problem.readings} numbers for {len(fit.names)} unknowns {why}")


def _exact(found: Study) -> tuple[str, ...]:
    from elastocal.app.calibration_files import exact_note, taken_as_exact

    named = ((p.name, p.value) for p in found.fit.model.parameters)
    return exact_note(taken_as_exact(named, found.identification.groups.names))


def _contacts(file: CampaignFile, found: Study) -> ContactJudgement | None:
    from elastocal.measure.contact_force import ContactForce
    from elastocal.procedures.contact.judgement import judge

    touched = isinstance(file.campaign.measurement, ContactForce)
    return judge(file.model, found.identification) if touched else None


def _sampled(found: Study, steps: int, rng: np.random.Generator) -> Ensemble:
    from elastocal.uncertainty.nonlinear import sample_nonlinear

    return sample_nonlinear(found.fit, steps, rng)


def _facts(campaign: Path, file: CampaignFile, seed: int) -> tuple[Fact, ...]:
    from elastocal.app.inputs import VERSION

    asked = file.requests
    sought = ", ".join(asked.seek or ("everything",)) + (f" but {', '.join(asked.hold)}" if asked.hold else "")
    kind = file.campaign.measurement
    return (
        VERSION,
        Fact("campaign", "campaign", campaign.as_posix(), campaign.as_posix()),
        Fact("robot", "robot", file.model.name, file.model.name),
        Fact("measurement", "measurement", kind.kind, kind.kind),
        Fact("sought", "sought", sought, sought),
        Fact("errors", "errors stated", tuple(s.label for s in file.campaign.sources), _errors(file)),
        Fact("loss", "loss", asked.loss, asked.loss),
        Fact("seed", "seed of sampling", seed, str(seed)),
    )


def _errors(file: CampaignFile) -> str:
    return "; ".join(s.label for s in file.campaign.sources) or "none: noise is estimated from the residuals"
