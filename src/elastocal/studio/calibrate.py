"""Calibrate: start it, look at the result, decide on readings with a reason, switch model words on and off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Form
from starlette.requests import Request
from starlette.responses import Response

import elastocal as ec
from elastocal.app.desk.readings import EFFECTS, Decision, decisions_of, place_of, probability
from elastocal.errors import ElastocalError, InputError, MissingError, NumberError
from elastocal.studio import jobs
from elastocal.studio.folder import data_of, text_of
from elastocal.studio.render import page
from elastocal.studio.uploads import put, with_block
from elastocal.studio.work import Cell, begin, stale

router = APIRouter()
DOUBTFUL = 2.5
"""Deletion residual in sd from which a reading that was kept is listed."""
MOST = 12


@dataclass(frozen=True)
class Reading:
    """A reading to decide on: ``evidence`` is what speaks against it, ``state`` what was done with it."""

    place: str
    evidence: str
    state: str
    reason: str = ""


@router.get("/cell/{name}/calibrate")
def calibrate(request: Request, cell: Cell) -> Response:
    return _show(request, cell)


def _show(request: Request, cell: Cell, problem: ElastocalError | None = None) -> Response:
    said = _report(cell)
    return page(
        request, "calibrate", "calibrate", cell, problem,
        said=said, words=_words(said), unit=_unit(said), readings=_readings(cell, said), kept=_kept(said),
        measured=cell.path("campaign").exists(), stale=stale(cell, "calibrate") if said else "",
        tried=[j for j in jobs.every(cell.root) if j.words[0] == "calibrate" and j.data.get("errors")],
    )  # fmt: skip


@dataclass(frozen=True)
class Word:
    """An effect: whether the model has it, and the best leave-one-out error of models tried with it and without."""

    name: str
    used: bool = False
    with_it: float | None = None
    without: float | None = None


def _words(said: dict[str, Any] | None) -> tuple[Word, ...]:
    """As the last calibration has tried them."""
    tried = [] if said is None else said.get("models", [])
    key, out = f"loo_{_unit(said)}", []
    for name in EFFECTS:
        errors: dict[bool, list[float]] = {True: [], False: []}
        for row in tried:
            if isinstance(row.get(key), float):
                errors[name in row["model"].split(" + ")].append(row[key])
        used = any(row.get("chosen") and name in row["model"].split(" + ") for row in tried)
        with_it, without = (min(errors[has], default=None) for has in (True, False))
        out.append(Word(name, used, with_it, without if errors[True] else None))
    return tuple(out)


def _kept(said: dict[str, Any] | None) -> bool:
    """Whether the model is that of an earlier calibration, by other readings."""
    return any(f.get("code") == "model-kept" for f in (said or {}).get("findings", ()))


def _unit(said: dict[str, Any] | None) -> str:
    """In which the report gives errors."""
    row: dict[str, Any] = next(iter(said.get("models", [])), {}) if said else {}
    return next((k.removeprefix("loo_") for k in row if k.startswith("loo_")), "mm")


def _report(cell: Cell) -> dict[str, Any] | None:
    return data_of(cell.path("reports") / "calibrate.json") or None if cell.path("calibration").is_file() else None


def _decisions(cell: Cell) -> tuple[tuple[Decision, ...], tuple[Decision, ...]]:
    try:
        found = decisions_of(cell.path("campaign"))
    except ElastocalError:
        return (), ()
    return found.excluded, found.kept


def _readings(cell: Cell, said: dict[str, Any] | None) -> tuple[Reading, ...]:
    """Decided by hand first, then outliers of the test, then those that are nearest to being one."""
    if said is None:
        return ()
    excluded, kept = _decisions(cell)
    out = [Reading(d.reading, "", "excluded by hand", d.reason) for d in excluded]
    out += [Reading(d.reading, "", "kept by hand", d.reason) for d in kept]
    known = {r.place for r in out}
    for o in said.get("outliers", ()):
        place = place_of(str(o["place"]))
        if place not in known:
            known.add(place)
            what = " ".join(str(o[k]) for k in ("marker", "axis") if o.get(k) not in (None, "all"))
            text = "farther away than the arm reaches"
            if o["deviations"] is not None:
                chance = probability(float(o["probability"]))
                text = f"{o['deviations']:.1f} sd from what all others predict, probability {chance}"
            out.append(Reading(place, f"{what}: {text}" if what else text, "left out by the test"))
    return (*out, *_doubtful(cell, said, known))


def _doubtful(cell: Cell, said: dict[str, Any], known: set[str]) -> tuple[Reading, ...]:
    """Rows whose largest deletion residual stands out, the largest first."""
    series = [s for s in said.get("residuals_order", {}).get("series", ()) if s["name"] == "deletion residual"]
    worst: dict[int, float] = {}
    for row, size in (pair for s in series for pair in zip(s["x"], s["y"], strict=True)):
        worst[int(row)] = max(worst.get(int(row), 0.0), abs(float(size)))
    try:
        data = ec.read_campaign(cell.path("campaign"))[1]
    except ElastocalError:
        return ()
    rows = sorted((r for r, size in worst.items() if size > DOUBTFUL and r <= data.count), key=lambda r: -worst[r])
    places = ((place_of(data.line(r - 1)), worst[r]) for r in rows)
    text = "largest deletion residual {:.1f} sd"
    return tuple(Reading(p, text.format(size), "used") for p, size in places if p not in known)[:MOST]


@router.post("/cell/{name}/calibrate")
def start(
    request: Request,
    cell: Cell,
    word: Annotated[list[str] | None, Form()] = None,
    automatic: Annotated[str, Form()] = "",
    folds: Annotated[str, Form()] = "",
) -> Response:
    """Begin with the words that are ticked, or with those that the readings choose."""
    try:
        words: tuple[str, ...] = ("calibrate", ".")
        chosen = [w for w in word or () if w in EFFECTS]
        if not automatic:
            if not chosen:
                raise MissingError("tick at least one effect of the model, or let the readings choose")
            words += ("--model", ",".join(chosen))
        if folds.strip():
            if not (folds.strip().isdecimal() and 2 <= int(folds) <= 50):
                raise NumberError(f"folds {folds!r}: give a whole number from 2 to 50, or nothing")
            words += ("--check", f"kfold={int(folds)}")
        return begin(request, cell, words, "Calibration", "calibrate")
    except ElastocalError as error:
        return _show(request, cell, error)


@router.post("/cell/{name}/calibrate/decide")
def decide(
    request: Request,
    cell: Cell,
    reading: Annotated[str, Form()],
    what: Annotated[str, Form()],
    reason: Annotated[str, Form()] = "",
) -> Response:
    """Exclude a reading, keep it, or leave it to the test again: in the campaign file; then refit the same model."""
    try:
        if what in ("exclude", "keep") and not reason.strip():
            raise InputError(
                f"{reading}: give a reason; it stands in the campaign file and in the report", code="reason"
            )
        lists = dict(zip(("exclude", "keep"), _decisions(cell), strict=True))
        place = place_of(reading)
        new = {key: [d for d in found if d.reading != place] for key, found in lists.items()}
        if what in new:
            new[what].append(Decision(place, " ".join(reason.split())[:300]))
        _write(cell, new)
        words: tuple[str, ...] = ("calibrate", ".")
        if (_report(cell) or {}).get("models"):
            words += ("--start", cell.place("calibration").as_posix())
        return begin(request, cell, words, "Calibration", "calibrate")
    except ElastocalError as error:
        return _show(request, cell, error)


def _write(cell: Cell, lists: dict[str, list[Decision]]) -> None:
    """All else in the campaign file stays as it is, comments too; what cannot be read back is not written."""
    path, place = cell.path("campaign"), cell.place("campaign")
    old = text_of(path)
    text = old
    for key, decisions in lists.items():
        text = with_block(text, key, [{"reading": d.reading, "reason": d.reason} for d in decisions])
    put(cell, {place: text})
    try:
        ec.read_campaign(path)
    except ElastocalError:
        put(cell, {place: old})
        raise
