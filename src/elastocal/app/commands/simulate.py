"""A virtual campaign from a plan and a robot that is taken as the truth."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elastocal.app.cells.roles import REPORT, Fill, Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command, given_by, protect
from elastocal.errors import ConflictError, FileError, FormatError, RangeError
from elastocal.report.blocks import Column, Fact, Report, Section, Table, Unknown
from elastocal.untrusted import finite_number
from elastocal.values import dataclass

if TYPE_CHECKING:
    import numpy as np

    from elastocal.files.campaign.file import CampaignFile
    from elastocal.measure.measured import Virtual
    from elastocal.model.robot import Robot
    from elastocal.reduction.identify import Bias, LinearBias

_UNSAID = "What the linear model would make of it is not known"
_CELL = Uses(
    {"plan": "planned", "truth": "robot"},
    (Fill("out", "campaign", parent=True), REPORT),
    note="never over anything that is not byte for byte what `simulate` wrote",
)


@dataclass(frozen=True, eq=False)
class SimulateResult:
    """``linear`` is what the linear model would make of it; None for what is no deflection."""

    name: str
    truth: Robot
    virtual: Virtual
    linear: LinearBias | None
    files: dict[Path, str]
    facts: tuple[Fact, ...]
    notes: tuple[str, ...]


@command("daily", 4, _CELL)
def simulate(
    plan: Annotated[Path, o.argument("PLAN.yaml", "A campaign file whose table holds no readings yet.")],
    out: Annotated[Path, o.option("DIR", "Folder for campaign.yaml and readings.csv."), o.FOLDER],
    truth: Annotated[str | None, o.option("ROBOT", "The robot that is measured (default: the plan's own).")] = None,
    vary: Annotated[
        list[str] | None,
        o.option("NAME=FACTOR", "The true robot has this parameter times FACTOR, or +VALUE more; repeatable."),
    ] = None,
    write_truth: Annotated[Path | None, o.option("FILE.yaml", "Write the robot that is measured."), o.WRITTEN] = None,
    outliers: Annotated[int, o.option("N", "Outliers to plant.")] = 0,
    outlier_mm: Annotated[float, o.option("MM", "Their size.")] = 2.0,
    outlier_n: Annotated[float, o.option("N", "Their size in contact forces.", "--outlier-N")] = 20.0,
    seed: o.Seed = 1,
) -> SimulateResult:
    """A virtual campaign: readings of a robot that is known.

    At its loaded equilibrium, with every stated error drawn at random, repeats, backlash if the robot has it, and
    outliers on request. It can be given to calibrate like a measured one.

    \b
    Example:
      elastocal simulate plan.yaml --out virtual --vary "A2.k=1.25" --vary "A3.offset=+5e-4"
    """
    import numpy as np

    from elastocal.app.cli.progress import stage
    from elastocal.files.campaign.read import read_plan
    from elastocal.files.campaign.write import TABLE, campaign_files
    from elastocal.reduction.first_fit import ReductionRules
    from elastocal.reduction.identify import linear_bias

    if outliers < 0 or not min(outlier_mm, outlier_n) > 0:
        raise RangeError("--outliers must not be negative, and --outlier-mm and --outlier-N must be positive")
    stage(0, 3, "reading the plan")
    asked = read_plan(plan)
    _check_out(out, asked)
    robot, varied = _varied(_truth(truth, asked), tuple(vary or ()))
    size = outlier_n if asked.campaign.measurement.touching else 1e-3 * outlier_mm
    stage(1, 3, "loaded equilibria, errors drawn")
    drawn = _drawn(asked, robot, np.random.default_rng(seed), outliers, size)
    stage(2, 3, "bias of a linear model")
    rules = ReductionRules(thresholds=asked.requests.thresholds, leave_out=False)
    linear = linear_bias(robot, asked.campaign, drawn.exact, asked.requests.seek, asked.requests.form, rules)
    files = campaign_files(asked, drawn.campaign, out)
    if write_truth is not None:
        from elastocal.files.robot.write import robot_text

        files[write_truth] = robot_text(robot, ("The true robot of a virtual campaign.", *varied))
    unsaid = "" if linear is None else linear.missing
    notes = (*asked.notes, *varied, *_free(asked, robot), *([f"{_UNSAID}: {unsaid}."] if unsaid else []))
    names = asked.names or ("",) * len(drawn.exact)
    lines = tuple(f"{TABLE} line {i}" + (f" ({name})" if name else "") for i, name in enumerate(names, start=2))
    placed = replace(drawn, campaign=replace(drawn.campaign, places=lines))
    facts = _facts(plan, asked, truth, (outliers, outlier_mm, outlier_n), seed)
    return SimulateResult(asked.name, robot, placed, linear, files, facts, notes)


def _truth(word: str | None, plan: CampaignFile) -> Robot:
    """The robot that is measured."""
    from elastocal.files.robot.read import read_robot

    truth = plan.model if word is None else read_robot(word)
    if truth.joints != plan.model.joints:
        own, planned = ", ".join(truth.joints), ", ".join(plan.model.joints)
        raise ConflictError.of("truth", word, f"its joints ({own}) are not those of the plan's robot ({planned})")
    return truth


def _varied(robot: Robot, words: tuple[str, ...]) -> tuple[Robot, tuple[str, ...]]:
    """The robot with parameters times a factor, or more by a value in SI, and a sentence on each."""
    from elastocal.files.robot.read import selected

    notes: list[str] = []
    for word in words:
        pattern, equals, text = (part.strip() for part in word.partition("="))
        number = finite_number(text)
        if not equals or number is None:
            raise FormatError.of(
                "vary", word, "give NAME=FACTOR such as A2.k=1.25, or NAME=+VALUE in SI such as A3.offset=+5e-4"
            )
        table = list(robot.parameters)
        new = {}
        for row in selected(robot, (pattern,)):
            p = table[row]
            new[p.name] = p.value + number if text[0] in "+-" else p.value * number
            if new[p.name] == p.value and number not in (0.0, 1.0):
                raise RangeError.of(
                    "vary",
                    word,
                    f"{p.name} is 0, and a factor leaves it so; give what it is more by, as +VALUE in {p.unit}",
                )
            notes.append(f"True robot: {p.name} is {new[p.name]:.6g} {p.unit} in place of {p.value:.6g}.")
        robot = robot.with_parameters(new)
    return robot, tuple(notes)


def _drawn(plan: CampaignFile, truth: Robot, rng: np.random.Generator, outliers: int, size: float) -> Virtual:
    """Contacts are pressed by the true robot's own joint values; everything else is read at those of the plan."""
    from elastocal.measure.contacts import contacts_of
    from elastocal.measure.measured import virtual_campaign
    from elastocal.procedures.contact.plan import virtual_contacts

    kind, sources = plan.campaign.measurement, plan.campaign.sources
    if kind.touching:
        return virtual_contacts(
            plan.model, truth, contacts_of(kind), sources, rng, outliers=outliers, outlier_size=size
        )
    return virtual_campaign(truth, kind.at_equilibrium(), sources, rng, outliers=outliers, outlier_size=size)


def _check_out(out: Path, plan: CampaignFile) -> None:
    """Virtual readings may replace virtual ones, never what someone measured or wrote."""
    from elastocal.files.campaign.write import CAMPAIGN, TABLE, own_files
    from elastocal.files.write import check_targets

    protect(given_by("PLAN.yaml", plan))
    if not out.is_dir():
        return
    check_targets({f"--out ({name})": out / name for name in (CAMPAIGN, TABLE)}, given_by("PLAN.yaml", plan))
    for name, known in own_files(out).items():
        raise FileError.of("out", out, f"holds a {name} that {known} and would be lost; choose another folder")


def _facts(
    file: Path, plan: CampaignFile, truth: str | None, outliers: tuple[int, float, float], seed: int
) -> tuple[Fact, ...]:
    errors = tuple(s.label for s in plan.campaign.sources)
    count, mm, newton = outliers
    size = f"{newton:g} N" if plan.campaign.measurement.touching else f"{mm:g} mm"
    return (
        Fact("plan", "plan", file.as_posix()),
        Fact("robot", "robot of the plan", plan.robot),
        Fact("truth", "robot that is measured", truth or plan.robot, truth or "the same"),
        Fact("errors", "errors drawn", errors, "; ".join(errors) or "none"),
        Fact("outliers", "outliers", count, f"{count} of {size}"),
        Fact("outlier_mm", "", mm),
        Fact("outlier_N", "", newton),
        Fact("seed", "seed", seed),
    )


def _free(plan: CampaignFile, truth: Robot) -> tuple[str, ...]:
    """Unknowns without a size cannot be drawn."""
    kind = plan.campaign.measurement
    names = [u.name for s in plan.campaign.common for u in s.unknowns(kind, truth) if u.sd == float("inf")]
    if not names:
        return ()
    return (f"Drawn as zero, because no sd is stated for them: {', '.join(names)}.",)


def page(result: SimulateResult) -> Report:
    linear = result.linear
    sections = (
        Section("Simulated outliers", (_planted(result),) if result.virtual.planted else ()),
        Section("Common errors", (_drawn_table(result),) if result.virtual.drawn else ()),
        Section("Bias of the linear model", (_biases(linear.estimates),) if linear and linear.estimates else ()),
    )
    title = f"Virtual campaign {result.name} with {result.truth.name}"
    return Report(title, _verdict(result), sections, result.notes, result.facts)


def _verdict(result: SimulateResult) -> tuple[str, ...]:
    readings = result.virtual.campaign.readings
    out = [
        f"{readings.shape[0]} {_what(result)} of {readings.shape[1]} numbers at the loaded equilibrium of "
        f"{result.truth.name}"
        f", with {_count(len(result.virtual.campaign.sources), 'source of error', 'sources of error')} and "
        f"{_count(len(result.virtual.planted), 'outlier', 'outliers')}."
    ]
    if result.linear is not None:
        from elastocal.quantities import length

        bend = length(result.linear.bend)
        out.append(f"The linear formula differs from the loaded deflection by {bend} RMS per axis.")
    return tuple(out)


def _what(result: SimulateResult) -> str:
    return "contacts" if result.virtual.campaign.measurement.kind == "contact_force" else "readings"


def _count(number: int, one: str, many: str) -> str:
    return f"{number or 'no'} {one if number == 1 else many}"


def _planted(result: SimulateResult) -> Table:
    campaign = result.virtual.campaign
    factor, unit = (1.0, "N") if campaign.measurement.rows[0].unit == "N" else (1e3, "mm")
    return Table.of("planted", result.virtual.planted, {
        Column("place", "reading"): lambda p: campaign.place(p.reading, p.row),
        Column(f"size_{unit}", "off by", unit, 3): lambda p: factor * p.size,
    })  # fmt: skip


def _drawn_table(result: SimulateResult) -> Table:
    campaign, drawn = result.virtual.campaign, result.virtual.drawn
    known = (u for s in campaign.sources for u in s.unknowns(campaign.measurement, result.truth))
    return Table.of("drawn", (u for u in known if u.name in drawn), {
        Column("unknown", "unknown"): lambda u: u.name,
        Column("value", "value", digits=4, si=True): lambda u: drawn[u.name],
        Column("unit", "unit"): lambda u: u.unit,
    })  # fmt: skip


def _biases(estimates: tuple[Bias, ...]) -> Table:
    note = (
        "Exact readings fitted by the linear model: bias without any noise. What is not listed is fixed at the truth."
    )
    return Table.of("bias", estimates, {
        Column("parameter", "parameter"): lambda b: b.name,
        Column("truth", "truth", digits=4, si=True): lambda b: b.truth,
        Column("estimate", "linear estimate", digits=4, si=True): lambda b: b.estimate,
        Column("unit", "unit"): lambda b: b.unit,
        Column("bias_percent", "bias", "%", 2):
            lambda b: 100 * (b.estimate / b.truth - 1) if b.truth else Unknown("is zero"),
    }, note)  # fmt: skip
