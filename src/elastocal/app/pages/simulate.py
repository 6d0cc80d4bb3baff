"""A virtual campaign as a report."""

from __future__ import annotations

from elastocal.app.commands.simulate import SimulateResult
from elastocal.app.pages.result_columns import or_reason
from elastocal.quantities import length
from elastocal.reduction.identify import Bias
from elastocal.report.blocks import Column, Report, Section, Table


def page(result: SimulateResult) -> Report:
    linear = result.linear
    sections = (
        Section("Simulated outliers", (_planted(result),) if result.virtual.planted else ()),
        Section("Common errors", (_drawn(result),) if result.virtual.drawn else ()),
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
        f"{_count(len(result.virtual.planted), 'outlier', 'outliers')}.",
    ]
    if result.linear is not None:
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
    columns = (Column("place", "reading"), Column(f"size_{unit}", "off by", unit, 3))
    rows = tuple((campaign.place(p.reading, p.row), factor * p.size) for p in result.virtual.planted)
    return Table("planted", "", columns, rows)


def _drawn(result: SimulateResult) -> Table:
    columns = (Column("unknown", "unknown"), Column("value", "value", digits=4, si=True), Column("unit", "unit"))
    campaign, drawn = result.virtual.campaign, result.virtual.drawn
    known = (u for s in campaign.sources for u in s.unknowns(campaign.measurement, result.truth))
    return Table("drawn", "", columns, tuple((u.name, drawn[u.name], u.unit) for u in known if u.name in drawn))


def _biases(estimates: tuple[Bias, ...]) -> Table:
    columns = (
        Column("parameter", "parameter"),
        Column("truth", "truth", digits=4, si=True),
        Column("estimate", "linear estimate", digits=4, si=True),
        Column("unit", "unit"),
        Column("bias_percent", "bias", "%", 2),
    )
    rows = tuple(
        (
            b.name,
            b.truth,
            b.estimate,
            b.unit,
            or_reason(100 * (b.estimate / b.truth - 1) if b.truth else float("nan"), "is zero"),
        )
        for b in estimates
    )
    notes = (
        "Exact readings fitted by the linear model: bias without any noise. What is not listed is fixed at the truth.",
    )
    return Table("bias", "", columns, rows, notes)
