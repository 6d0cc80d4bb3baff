"""The calibration of a cell, as its report says: effects with their errors, readings to decide on, and decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elastocal.desk.files import data_of, edit, text_of, with_block
from elastocal.errors import InputError
from elastocal.quantities import probability
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.files.campaign.priors import Decision
    from elastocal.files.cell import CellFolder

DOUBTFUL = 2.5
"""Deletion residual in sd from which a reading that was kept is listed."""
MOST = 12
ReportData = dict[str, Any]


@dataclass(frozen=True)
class Effect:
    """An effect: whether the model has it, and the best leave-one-out error of models tried with it and without."""

    name: str
    used: bool = False
    with_it: float | None = None
    without: float | None = None


@dataclass(frozen=True)
class Reading:
    """A reading to decide on: ``evidence`` is what speaks against it, ``state`` what was done with it."""

    place: str
    evidence: str
    state: str
    reason: str = ""


def reported(cell: CellFolder) -> ReportData:
    """What the report of the last calibration says; nothing where there is none."""
    return data_of(cell.path("reports") / "calibrate.json") if cell.path("calibration").is_file() else {}


def effects(report: ReportData) -> tuple[Effect, ...]:
    """Every effect of a model, in the order in which they are tried, as the last calibration has tried them."""
    from elastocal.calibration.words import model_words

    tried, key, out = report.get("models", []), f"loo_{error_unit(report)}", []
    for name in model_words():
        errors: dict[bool, list[float]] = {True: [], False: []}
        for row in tried:
            if isinstance(row.get(key), float):
                errors[name in row["model"].split(" + ")].append(row[key])
        used = any(row.get("chosen") and name in row["model"].split(" + ") for row in tried)
        with_it, without = (min(errors[has], default=None) for has in (True, False))
        out.append(Effect(name, used, with_it, without if errors[True] else None))
    return tuple(out)


def model_was_kept(report: ReportData) -> bool:
    """Whether the model is that of an earlier calibration, by other readings."""
    return any(f.get("code") == "model-kept" for f in report.get("findings", ()))


def error_unit(report: ReportData) -> str:
    """In which the report gives errors."""
    row: ReportData = next(iter(report.get("models", [])), {})
    return next((k.removeprefix("loo_") for k in row if k.startswith("loo_")), "mm")


def decisions(cell: CellFolder) -> dict[str, tuple[Decision, ...]]:
    """Readings of the campaign that were excluded and kept by hand; none where it cannot be read."""
    from elastocal.files.campaign.observed import read_observed

    try:
        observed = read_observed(cell.path("campaign"))
    except InputError:
        return {"exclude": (), "keep": ()}
    return {"exclude": observed.excluded, "keep": observed.kept}


def to_decide(cell: CellFolder, report: ReportData) -> tuple[Reading, ...]:
    """Decided by hand first, then outliers of the test, then those that are nearest to being one."""
    from elastocal.files.campaign.priors import place_of

    if not report:
        return ()
    by_hand = decisions(cell)
    out = [Reading(d.reading, "", "excluded by hand", d.reason) for d in by_hand["exclude"]]
    out += [Reading(d.reading, "", "kept by hand", d.reason) for d in by_hand["keep"]]
    known = {r.place for r in out}
    for o in report.get("outliers", ()):
        place = place_of(str(o["place"]))
        if place not in known:
            known.add(place)
            what = " ".join(str(o[k]) for k in ("marker", "axis") if o.get(k) not in (None, "all"))
            text = str(o.get("cause") or "farther away than the arm reaches")
            if o["deviations"] is not None:
                chance = probability(float(o["probability"]))
                text = f"{o['deviations']:.1f} sd from what all others predict, probability {chance}"
            out.append(Reading(place, f"{what}: {text}" if what else text, "left out by the test"))
    return (*out, *_doubtful(cell, report, known))


def _doubtful(cell: CellFolder, report: ReportData, known: set[str]) -> tuple[Reading, ...]:
    """Rows whose largest deletion residual stands out, the largest first."""
    from elastocal.calibration.readings import read_campaign
    from elastocal.files.campaign.priors import place_of

    series = [s for s in report.get("residuals_order", {}).get("series", ()) if s["name"] == "deletion residual"]
    worst: dict[int, float] = {}
    for row, size in (pair for s in series for pair in zip(s["x"], s["y"], strict=True)):
        worst[int(row)] = max(worst.get(int(row), 0.0), abs(float(size)))
    try:
        data = read_campaign(cell.path("campaign"))[1]
    except InputError:
        return ()
    rows = sorted((r for r, size in worst.items() if size > DOUBTFUL and r <= data.count), key=lambda r: -worst[r])
    places = ((place_of(data.line(r - 1)), worst[r]) for r in rows)
    text = "largest deletion residual {:.1f} sd"
    return tuple(Reading(p, text.format(size), "used") for p, size in places if p not in known)[:MOST]


def decide(cell: CellFolder, reading: str, what: str, reason: str) -> None:
    """Exclude a reading, keep it, or leave it to the test again: in the campaign file, where all else stays."""
    from elastocal.calibration.readings import read_campaign
    from elastocal.files.campaign.priors import Decision, place_of

    if what in ("exclude", "keep") and not reason.strip():
        raise InputError(f"{reading}: give a reason; it stands in the campaign file and in the report", code="reason")
    place = place_of(reading)
    new = {key: [d for d in entries if d.reading != place] for key, entries in decisions(cell).items()}
    if what in new:
        new[what].append(Decision(place, " ".join(reason.split())[:300]))
    text = text_of(cell.path("campaign"))
    for key, decided in new.items():
        text = with_block(text, key, [{"reading": d.reading, "reason": d.reason} for d in decided])
    edit(cell, cell.place("campaign"), text, read_campaign)
