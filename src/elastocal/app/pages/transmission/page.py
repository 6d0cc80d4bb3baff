"""A transmission as a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.pages.transmission.noise import compared_table, noise_table, residual_lines
from elastocal.app.pages.transmission.tables import (
    counts_table,
    entry_table,
    gross_table,
    matrix_table,
    ratio_table,
    regularity_table,
)
from elastocal.report.blocks import Code, Fact, Report, Section

if TYPE_CHECKING:
    from elastocal.app.commands.transmission import TransmissionResult
    from elastocal.encoders.identify import TransmissionFit


def page(result: TransmissionResult) -> Report:
    fit = result.fit
    sections = [
        Section("Structure matrix", (matrix_table(result), regularity_table(fit))),
        Section("Entries", (entry_table(result),)),
        Section("Counts per motor turn", (counts_table(fit),)),
        Section("Gear ratios", (ratio_table(result),)),
    ]
    if fit.bad:
        sections.append(Section("Readings that the others contradict", (gross_table(fit),)))
    sections += [
        Section("Tables compared", (compared_table(fit),)),
        Section("Noise", (noise_table(result), residual_lines(fit))),
    ]
    if result.fragment:
        sections.append(Section("For the robot file", (Code("controller", result.fragment),)))
    return Report("Motors and joints", verdict(result), tuple(sections), result.notes, facts(result))


def facts(result: TransmissionResult) -> tuple[Fact, ...]:
    from elastocal.app.version import VERSION

    tables = tuple(str(t) for t in result.tables)
    zero = result.fit.zero
    if zero.probability is None:
        offsets = "as asked: " + ("zero" if zero.accepted else "free")
    else:
        offsets = (
            f"{'zero' if zero.accepted else 'free'}, by a test (probability {zero.probability:.2g} if all are zero)"
        )
    return (
        VERSION,
        Fact("tables", "tables", tables, ", ".join(tables)),
        Fact("robot", "robot", result.robot, result.robot or ""),
        Fact("offsets", "counts at joint value zero", offsets, offsets),
    )


def verdict(result: TransmissionResult) -> tuple[str, ...]:
    fit = result.fit
    out = [_coupling(fit), *(_bad(fit)), _simple(result)]
    r = fit.regularity
    if r.rank < len(fit.axes) or r.sigmas < 3:
        out.append(
            f"THE MATRIX IS NOT REGULAR: rank {r.rank} of {len(fit.axes)}, and its determinant is {r.sigmas:.2g} "
            "standard deviations from zero; motors do not determine the joints."
        )
    return tuple(out)


def _coupling(fit: TransmissionFit) -> str:
    beside = [(i, j) for i, j in fit.coupled() if i != j]
    if not beside:
        return "No coupling between axes stands out of the noise: every motor moves its own joint only."
    said = []
    for motor in fit.axes:
        joints = [j for i, j in beside if i == motor]
        if joints:
            said.append(f"motor {motor} also turns with {' and '.join(joints)}")
    return f"{'; '.join(said)}."[:1].upper() + f"{'; '.join(said)}."[1:]


def _bad(fit: TransmissionFit) -> tuple[str, ...]:
    if not fit.bad:
        return ("No reading is contradicted by the others.",)
    count = "One reading is" if len(fit.bad) == 1 else f"{len(fit.bad)} readings are"
    return (f"{count} contradicted by the others and left out:", *(f"{b.text()}." for b in fit.bad))


def _simple(result: TransmissionResult) -> str:
    from elastocal.encoders.rational import together

    fit = result.fit
    found = [(i, j, s) for (i, j), s in fit.ratios.fractions.items() if s is not None and fit.ratios.proposed[i, j]]
    if not found:
        return "No simple gear ratio is supported by these data."
    unit = {j: " turns/mm" if result.kinds.get(j) == "prismatic" else "" for j in fit.axes}
    named = ", ".join(f"{i} {'' if i == j else f'by {j} '}{s.text()}{unit[j]}" for i, j, s in found)
    every = f" for {len(found)} of {len(fit.ratios.fractions)} entries"
    return (
        f"Simple ratios are supported{every}: {named}. Chance would do as well for all {len(found)} together with the "
        f"probability {together([s for _, _, s in found]):.1g}, for the least certain one with "
        f"{max(s.chance for _, _, s in found):.2g}."
    )
