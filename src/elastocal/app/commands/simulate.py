"""A virtual campaign from a plan and a robot that is taken as the truth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.app.threads import one_thread
from elastocal.app.version import VERSION
from elastocal.errors import InputError
from elastocal.files.robot.read import read_robot
from elastocal.report.blocks import Fact

if TYPE_CHECKING:
    import numpy as np

    from elastocal.files.campaign.file import CampaignFile
    from elastocal.measure.kind import Measurement
    from elastocal.measure.virtual import Virtual
    from elastocal.model.robot import RobotModel


@dataclass(frozen=True)
class SimulateRequest:
    """``truth`` is a robot (default the plan's own); ``gross`` errors of ``gross_mm``, or ``gross_N``, are planted."""

    plan: Path
    out: Path
    truth: str | None = None
    seed: int = 1
    gross: int = 0
    gross_mm: float = 2.0
    gross_N: float = 20.0


@dataclass(frozen=True)
class Bias:
    """What the linear model makes of exact readings: an estimate against the truth."""

    name: str
    unit: str
    truth: float
    estimate: float


@dataclass(frozen=True, eq=False)
class SimulateResult:
    """``bend`` is the rms difference (m) between loaded and linear deflection; ``biases`` what it does to estimates."""

    name: str
    truth: RobotModel
    virtual: Virtual
    bend: float
    biases: tuple[Bias, ...]
    files: dict[Path, str]
    facts: tuple[Fact, ...]
    notes: tuple[str, ...]


def run(request: SimulateRequest) -> SimulateResult:
    import numpy as np

    from elastocal.app.campaign_inputs import given_by
    from elastocal.files.campaign.read import read_plan
    from elastocal.files.campaign.virtual import CAMPAIGN, TABLE
    from elastocal.files.campaign.write import campaign_files
    from elastocal.files.write import check_targets

    if request.gross < 0 or not min(request.gross_mm, request.gross_N) > 0:
        raise InputError("--gross must not be negative, and --gross-mm and --gross-N must be positive")
    plan = read_plan(request.plan)
    if request.out.is_dir():
        written = {f"--out ({name})": request.out / name for name in (CAMPAIGN, TABLE)}
        check_targets(written, given_by("PLAN.yaml", plan))
        _check_folder(request.out)
    truth = plan.model if request.truth is None else read_robot(request.truth)
    if truth.joints != plan.model.joints:
        raise InputError(
            f"--truth {request.truth}: its joints ({', '.join(truth.joints)}) are not those of the plan's robot "
            f"({', '.join(plan.model.joints)})"
        )
    with one_thread():
        drawn = _drawn(request, plan, truth, np.random.default_rng(request.seed))
        bend, biases, unsaid = _bias(plan, truth, drawn)
    files = campaign_files(plan, drawn.campaign, request.out)
    notes = (*plan.notes, *_free(plan, truth), *unsaid)
    names = plan.names or ("",) * len(drawn.exact)
    lines = tuple(f"{TABLE} line {i}" + (f" ({name})" if name else "") for i, name in enumerate(names, start=2))
    placed = replace(drawn, campaign=replace(drawn.campaign, places=lines))
    return SimulateResult(plan.name, truth, placed, bend, biases, files, _facts(request, plan, truth), notes)


def _drawn(request: SimulateRequest, plan: CampaignFile, truth: RobotModel, rng: np.random.Generator) -> Virtual:
    """Contacts are pressed by the true robot's own joint values; everything else is read at those of the plan."""
    from elastocal.contacts.virtual import virtual_contacts
    from elastocal.measure.contact_force import ContactForce
    from elastocal.measure.virtual import virtual_campaign

    kind, sources = plan.campaign.measurement, plan.campaign.sources
    if isinstance(kind, ContactForce):
        return virtual_contacts(
            plan.model, truth, kind, sources, rng, gross=request.gross, gross_size=request.gross_N
        )  # fmt: skip
    size = 1e-3 * request.gross_mm
    return virtual_campaign(truth, _loaded(plan), sources, rng, gross=request.gross, gross_size=size)


def _check_folder(out: Path) -> None:
    """Virtual readings may replace virtual ones, never what someone measured or wrote."""
    from elastocal.files.campaign.virtual import own_files

    for name, known in own_files(out).items():
        raise InputError(f"--out {out}: holds a {name} that {known} and would be lost; choose another folder")


def _facts(request: SimulateRequest, plan: CampaignFile, truth: RobotModel) -> tuple[Fact, ...]:
    from elastocal.measure.contact_force import ContactForce

    errors = tuple(s.label for s in plan.campaign.sources)
    forces = isinstance(plan.campaign.measurement, ContactForce)
    size = f"{request.gross_N:g} N" if forces else f"{request.gross_mm:g} mm"
    return (
        VERSION,
        Fact("plan", "plan", request.plan.as_posix(), request.plan.as_posix()),
        Fact("robot", "robot of the plan", plan.robot, plan.robot),
        Fact("truth", "robot that is measured", request.truth or plan.robot, request.truth or "the same"),
        Fact("errors", "errors drawn", errors, "; ".join(errors) or "none"),
        Fact("gross", "gross errors", request.gross, f"{request.gross} of {size}"),
        Fact("gross_mm", "", request.gross_mm),
        Fact("gross_N", "", request.gross_N),
        Fact("seed", "seed", request.seed, str(request.seed)),
    )


def _loaded(plan: CampaignFile) -> Measurement:
    """The truth is always the loaded equilibrium, whatever the fit will use."""
    from elastocal.measure.deflection import Deflection

    kind = plan.campaign.measurement
    return replace(kind, statics="loaded") if isinstance(kind, Deflection) else kind


def _free(plan: CampaignFile, truth: RobotModel) -> tuple[str, ...]:
    """Unknowns without a size cannot be drawn."""
    kind = plan.campaign.measurement
    names = [u.name for s in plan.campaign.common for u in s.unknowns(kind, truth) if u.sd == float("inf")]
    if not names:
        return ()
    return (f"Drawn as zero, because no sd is stated for them: {', '.join(names)}.",)


def _bias(plan: CampaignFile, truth: RobotModel, drawn: Virtual) -> tuple[float, tuple[Bias, ...], tuple[str, ...]]:
    """The linear model fitted to exact readings of the compliances sought, all others held at the truth.

    Last is why there is no such fit, where there is none.
    """
    import numpy as np

    from elastocal.identify.reduction import identify
    from elastocal.identify.rules import ReductionRules
    from elastocal.measure.campaign import Campaign
    from elastocal.measure.deflection import Deflection
    from elastocal.model.descriptions import descriptions
    from elastocal.model.statics.linear_observation import linear_names

    kind = plan.campaign.measurement
    if not isinstance(kind, Deflection):
        return float("nan"), (), ()
    linear = Deflection(kind.where, "linear")
    bend = float(np.sqrt(np.mean((drawn.exact - linear.predict(truth)) ** 2)))
    described = descriptions(truth, plan.requests.form)[-1:]
    table = {p.name: p for p in described[0].model.parameters}
    exact = Campaign(linear, drawn.exact, plan.campaign.scattering)
    try:
        wanted = {tuple(table)[i] for i in described[0].model.parameters.select(plan.requests.seek)}
        names = [n for n in linear_names(described[0].model) if n in wanted]
        rules = ReductionRules(thresholds=plan.requests.thresholds, leave_out=False)
        fit = identify(described, exact, names, rules=rules).fit
    except InputError as error:  # the readings stand all the same
        return bend, (), (f"What the linear model would make of it is not known: {error}.",)
    pairs = zip(fit.names, fit.values, strict=True)
    return bend, tuple(Bias(n, table[n].unit, table[n].value, float(v)) for n, v in pairs), ()
