"""Parameters from a measured campaign, with everything needed to judge them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.app.threads import one_thread
from elastocal.app.version import VERSION
from elastocal.errors import InputError
from elastocal.report.blocks import Fact

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from elastocal.app.points_check import PointsCheck
    from elastocal.contacts.judgement import ContactJudgement
    from elastocal.files.campaign.file import CampaignFile
    from elastocal.model.robot import RobotModel
    from elastocal.study.whole import Study
    from elastocal.uncertainty.ensemble import Ensemble

STEPS = {"fitting": 0, "judging": 60, "sampling": 80}


@dataclass(frozen=True)
class CalibrateRequest:
    """``correlated`` is the size above which correlations are listed; ``emcee`` a number of steps; ``seed`` serves
    sampling only; ``targets`` are files to be written, by option."""

    campaign: Path
    correlated: float = 0.8
    emcee: int | None = None
    seed: int = 1
    targets: Mapping[str, Path | None] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class CalibrateResult:
    """``residual_rms`` per axis in SI; ``explained`` is the part of the measured deflection that the model explains.

    ``contacts`` judges a calibration by contact, None for other kinds of measurement; ``points`` compares the points
    read with the robot file, None where only differences were read.
    """

    file: CampaignFile
    study: Study
    ensemble: Ensemble | None
    residual_rms: float
    explained: float
    correlated: float
    seed: int
    facts: tuple[Fact, ...]
    notes: tuple[str, ...]
    contacts: ContactJudgement | None = None
    points: PointsCheck | None = None

    @property
    def name(self) -> str:
        return self.file.name

    @property
    def standing(self) -> frozenset[str]:
        """Names of estimates that stand for a combination with what M3 holds."""
        return frozenset() if self.contacts is None else frozenset(c.kept for c in self.contacts.standing)

    @property
    def model(self) -> RobotModel:
        return self.file.model


def run(request: CalibrateRequest, progress: Callable[[int, int], None]) -> CalibrateResult:
    import numpy as np

    from elastocal.app.campaign_inputs import given_by
    from elastocal.app.campaign_sanity import check_deflections, check_numbers
    from elastocal.app.points_check import check_points
    from elastocal.files.campaign.read import read_campaign
    from elastocal.files.write import check_targets
    from elastocal.identify.rules import ReductionRules
    from elastocal.study.whole import study

    if not 0 < request.correlated < 1:
        raise InputError(f"--correlated {request.correlated:g}: give a number between 0 and 1")
    if request.emcee is not None and request.emcee < 10:
        raise InputError(f"--emcee {request.emcee}: some hundred steps are needed; 2000 is usual")
    file = read_campaign(request.campaign)
    check_targets(request.targets, given_by("CAMPAIGN.yaml", file))
    check_numbers(file)
    points = check_points(file)
    check_deflections(file)
    asked = file.requests
    rng = np.random.default_rng(request.seed)
    with one_thread():
        found = study(
            file.model,
            file.campaign,
            asked.seek,
            rng=rng,
            hold=asked.hold,
            form=asked.form,
            rules=ReductionRules(asked.thresholds, asked.statistical, asked.loss, asked.outliers == "leave_out"),
            correlated=request.correlated,
            watch=lambda step: progress(STEPS[step], 100),
        )
        sampled = None if request.emcee is None else _sampled(found, request.emcee, rng)
    progress(100, 100)
    if not np.isfinite(found.fit.unit_covariance * found.fit.inflation).all():
        why = (
            "do not determine them; measure in other places and directions, or seek fewer"
            if found.fit.stated
            else "leave none to show the noise, and none is stated; measure more, seek fewer, or add errors to the "
            "campaign file"
        )
        raise InputError(
            f"{request.campaign}: {found.fit.problem.readings} numbers for {len(found.fit.names)} unknowns {why}"
        )
    residual, explained = _sizes(found)
    return CalibrateResult(
        file, found, sampled, residual, explained, request.correlated, request.seed, _facts(request, file),
        (*file.notes, *_exact(found)),
        _contacts(file, found), points,
    )  # fmt: skip


def _exact(found: Study) -> tuple[str, ...]:
    from elastocal.app.taken_as_exact import exact_note, taken_as_exact

    named = ((p.name, p.value) for p in found.fit.model.parameters)
    return exact_note(taken_as_exact(named, found.identification.groups.names))


def _contacts(file: CampaignFile, found: Study) -> ContactJudgement | None:
    from elastocal.contacts.judgement import judged_contacts
    from elastocal.contacts.standing import standing
    from elastocal.measure.contact_force import ContactForce

    touched = isinstance(file.campaign.measurement, ContactForce)
    return judged_contacts(file.model, found.fit, standing(found.identification)) if touched else None


def _sampled(found: Study, steps: int, rng: np.random.Generator) -> Ensemble:
    from elastocal.uncertainty.nonlinear import sample_nonlinear

    return sample_nonlinear(found.fit, steps, rng)


def _sizes(found: Study) -> tuple[float, float]:
    """Residual rms per axis in SI; explained share of what was read, for differences only."""
    import numpy as np

    fit = found.fit
    kind = fit.campaign.measurement
    used = fit.problem.used[:, kind.judged]
    left = fit.residuals[:, kind.judged][used]
    read = fit.campaign.readings[:, kind.judged][used]
    residual = float(np.sqrt(np.mean(left**2))) if left.size else float("nan")
    if kind.states != 2 or not read.size:
        return residual, float("nan")
    return residual, 1 - residual / float(np.sqrt(np.mean(read**2)))


def _facts(request: CalibrateRequest, file: CampaignFile) -> tuple[Fact, ...]:
    asked = file.requests
    sought = ", ".join(asked.seek or ("everything",)) + (f" but {', '.join(asked.hold)}" if asked.hold else "")
    kind = file.campaign.measurement
    return (
        VERSION,
        Fact("campaign", "campaign", request.campaign.as_posix(), request.campaign.as_posix()),
        Fact("robot", "robot", file.model.name, file.model.name),
        Fact("measurement", "measurement", kind.kind, kind.kind),
        Fact("sought", "sought", sought, sought),
        Fact("errors", "errors stated", tuple(s.label for s in file.campaign.sources), _errors(file)),
        Fact("loss", "loss", asked.loss, asked.loss),
        Fact("seed", "seed of sampling", request.seed, str(request.seed)),
    )


def _errors(file: CampaignFile) -> str:
    return "; ".join(s.label for s in file.campaign.sources) or "none: noise is estimated from the residuals"
