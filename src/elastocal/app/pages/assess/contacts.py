"""What a plan of contacts can tell, and the cheapest change that lets it tell more."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from elastocal.report.blocks import Cell, Column, Table, Unknown

if TYPE_CHECKING:
    from elastocal.app.commands.assess import AssessResult
    from elastocal.contacts.repair import Repair, RepairOption

_TOGETHER = "not separated from others at this plan"


def plan_paragraphs(result: AssessResult) -> tuple[str, ...]:
    from elastocal.measure.contact_force import ContactForce

    kind, repair = result.campaign.measurement, result.repair
    assert isinstance(kind, ContactForce)
    assert repair is not None
    sizes = sorted({round(float(s), 6) for s in repair.options[0].plan.sizes})
    forces = ", ".join(f"{s:.4g}" for s in sizes[:6]) + (" ..." if len(sizes) > 6 else "")
    used = ", ".join(s.label for i, s in enumerate(kind.touches.surfaces) if i in set(kind.touches.which))
    return (
        f"{kind.count} contacts of {kind.touches.frame} with {used}; {result.expected.equations} equations.",
        f"Forces: {forces} N.",
        result.noise_text,
    )


def changes(result: AssessResult) -> tuple[Table, ...]:
    """Nothing for plans of other measurements, and for those that need no repair."""
    if result.repair is None or result.repair.chosen is None:
        return ()
    return (change_table(result, result.repair.chosen),)


def repair_verdict(result: AssessResult) -> tuple[str, ...]:
    from elastocal.contacts.combined import combinations

    repair = result.repair
    if repair is None:
        return ()
    now = repair.options[0].accuracy
    units = {p.name: p.unit for p in result.expected.parameters}
    good = now.resolved(repair.threshold)
    lines = [
        f"{int(good.sum())} of {len(good)} parameters are resolved by the plan as it is: their standard deviation is "
        f"at most their size / {repair.threshold:g}."
    ]
    lines += [f"NOT SEPARABLE: {text}; they cannot be told apart." for text in combinations(now.groups, units)]
    if repair.chosen is None:
        return tuple(lines)
    change = f"{repair.chosen.title}{_levels(repair)}"
    if not repair.unresolved:
        return (*lines, f"REPAIR: {change}.")
    return (
        *lines,
        f"NO REPAIR FOUND: neither a second force nor more contacts between these resolve everything; after {change}, "
        f"the last that was tried, {_listed(repair.unresolved)} still above size / {repair.threshold:g}. Lower the "
        "noise, touch other objects or places, or seek fewer parameters.",
    )


def _listed(names: tuple[str, ...]) -> str:
    return f"{names[0]} is" if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} are"


def _levels(repair: Repair) -> str:
    chosen = repair.chosen
    assert chosen is not None
    levels = sorted({round(float(s), 6) for s in chosen.plan.sizes})
    return f" ({' and '.join(f'{s:.4g} N' for s in levels)})" if len(levels) <= 3 else ""


def accuracy_table(repair: Repair) -> Table:
    """Standard deviations by option."""
    columns = (
        Column("parameter", "parameter"),
        Column("unit", "unit"),
        Column("size", "size", digits=3),
        *(Column(f"sd_{i}", f"sd, {o.title}", digits=3) for i, o in enumerate(repair.options)),
    )
    first = repair.options[0].accuracy
    rows = tuple(
        (name, first.units[i], float(first.size[i]), *(_sd(float(o.accuracy.sd[i])) for o in repair.options))
        for i, name in enumerate(first.names)
    )
    notes = (
        "Size: the larger of a parameter's value and of a change that matters in practice (nominal backlash is 0). "
        f"Resolved is an sd of at most size / {repair.threshold:g}.",
        "Changes are tried from cheap to dear and the first that resolves everything is proposed: half the force on as "
        "few contacts as resolve what is not separable, then on every second contact, then more contacts between them.",
    )
    return Table("parameters", "", columns, rows, notes)


def _sd(value: float) -> Cell:
    return value if isfinite(value) else Unknown(_TOGETHER)


def change_table(result: AssessResult, option: RepairOption) -> Table:
    """Rows of the plan that press with another force, and new contacts."""
    repair = result.repair
    assert repair is not None
    columns = (
        Column("place", "contact"),
        Column("object", "object"),
        *(Column(f"{a}_mm", a, "mm", 1, "place") for a in "xyz"),
        Column("force_N", "force", "N", digits=4),
    )
    places = result.campaign.places or tuple(f"contact {i + 1}" for i in range(result.campaign.measurement.count))
    plan, before = option.plan, repair.options[0].plan.sizes
    cells = tuple(
        (
            "new" if origin < 0 else places[repair.rows[origin]],
            plan.touches.surfaces[plan.touches.which[i]].name,
            *(1e3 * float(v) for v in plan.points[i]),
            float(plan.sizes[i]),
        )
        for i, origin in enumerate(option.origin)
        if origin < 0 or plan.sizes[i] != before[origin]
    )
    return Table("changes", option.title, columns, cells)
