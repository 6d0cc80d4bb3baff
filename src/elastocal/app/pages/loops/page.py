"""Force-deflection loops as a report."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from elastocal.app.commands.loops import LoopsResult
from elastocal.app.pages.loops.figures import graphs, maps
from elastocal.app.pages.loops.tables import (
    bad_table,
    departure_table,
    direction_table,
    joint_table,
    loop_table,
    principal_table,
)
from elastocal.report.blocks import Block, Code, Fact, Lines, Report, Section

if TYPE_CHECKING:
    from elastocal.loops.directions import DirectionFit
    from elastocal.loops.estimate import Estimate


def page(result: LoopsResult) -> Report:
    sections = [Section("Loops", (loop_table(result),))]
    if result.directions is not None:
        blocks: tuple[Block, ...] = (direction_table(result.directions), principal_table(result.directions))
        sections.append(Section("All directions together", (*blocks, *maps(result))))
    if result.joints:
        sections.append(Section("Joints", (joint_table(result),)))
    bad = bad_table(result)
    sections += [Section("Readings that the others contradict", (bad,))] if bad.rows else []
    sections.append(Section("Are the loops straight and parallel?", (departure_table(result), *graphs(result))))
    if result.yaml:
        sections.append(Section("For the robot file", (Code("yaml", result.yaml),)))
    return Report("Force-deflection loops", verdict(result), tuple(sections), result.notes, facts(result))


def on_screen(result: LoopsResult) -> Report:
    """The page without drawings, of which a terminal shows only ends and extremes."""
    full = page(result)
    kept = [replace(s, blocks=tuple(b for b in s.blocks if not isinstance(b, Lines))) for s in full.sections]
    return replace(full, sections=tuple(kept))


def facts(result: LoopsResult) -> tuple[Fact, ...]:
    from elastocal.app.version import VERSION

    r, noise = result.request, None if result.noise is None else 1e6 * result.noise
    axes = f"directions in the axes of {r.frame}"
    return (
        VERSION,
        Fact("data", "data", result.table.file, f"{result.table.file}, {len(result.fits)} loops"),
        Fact("frame", "frame", r.frame, axes),
        Fact("levers", "levers", r.levers, ", ".join(r.levers) or "from the file, if any"),
        Fact("noise_um", "noise", noise, "from the residuals" if noise is None else f"{noise:g} um per reading"),
        Fact("threshold_N", "zero force", r.threshold, f"up to {r.threshold:g} N"),
        Fact("at_gripper", "joints read at", "gripper" if r.at_gripper else "joint", "the gripper" if r.at_gripper else
             "the link"),
    )  # fmt: skip


def verdict(result: LoopsResult) -> tuple[str, ...]:
    out = []
    if result.directions is not None:
        out.append(_sentence("Gripper compliance", "um/N", 1e6, result.directions.compliance))
        out.append(_sentence("Gripper backlash", "um", 2e6, result.directions.half_gap))
    for j in result.joints:
        k, gap = _number(j.values.compliance, 1e6, "urad/(N m)"), _number(j.values.half_gap, 2e6, "urad")
        out.append(f"Joint {j.joint}: compliance {k}, backlash {gap}.")
    odd = sum(not f.departures.straight for f in result.fits)
    bad = sum(len(f.outliers) for f in result.fits)
    if odd:
        out.append(f"Loops that are not straight parallel lines: {odd} of {len(result.fits)}; the notes say how.")
    if bad:
        out.append(
            f"The others contradict {'one reading' if bad == 1 else f'{bad} readings'}, named below and left out."
        )
    return tuple(out)


def _sentence(name: str, unit: str, factor: float, fit: DirectionFit) -> str:
    mean = _number(fit.isotropic, factor, unit)
    if fit.suffices == "one number" or fit.principal is None:
        said = "the same in all directions" if not fit.one.rejected else "on average; the directions differ"
        if not fit.isotropic.known:
            said = "in every direction"
        return f"{name}: {mean} {said}."
    v, sd = factor * fit.principal.values, factor * fit.principal.sd
    span = f"{v[-1]:.4g} +- {sd[-1]:.2g} to {v[0]:.4g} +- {sd[0]:.2g} {unit}"
    if fit.suffices == "matrix":
        return f"{name}: {span} by direction; one number for all is rejected (probability {fit.one.chance})."
    return f"{name}: about {span} by direction, but that description is rejected as well; use the table of loops."


def _number(e: Estimate, factor: float, unit: str) -> str:
    if not e.known:
        return f"not known ({e.reason})"
    sd = f" +- {factor * e.sd:.2g}" if e.sd == e.sd else ""
    return f"{factor * e.value:.4g}{sd} {unit}"
