"""Plan: which poses to measure, what to expect of them, and what happens without one or with another."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Form
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from elastocal.app.desk.plan import check_plan, expected_accuracy, moved_campaign, planned_table
from elastocal.errors import ElastocalError, InputError, MissingError, NumberError, ShapeError
from elastocal.studio import jobs
from elastocal.studio.folder import text_of, within
from elastocal.studio.render import page
from elastocal.studio.uploads import put
from elastocal.studio.work import Cell, begin, stale

router = APIRouter()
TRIAL = Path("plan") / "changed"
"""Folder, beside the plan, of poses that are tried, or kept, in place of those that were searched for."""
CHECKED = ".edited.yaml"
"""The plan file while it is checked, beside it, so that what it names is found."""


@dataclass(frozen=True)
class Pose:
    """Rows of one name in the table of the plan; ``load`` and ``joints`` as they stand there."""

    name: str
    joints: tuple[str, ...]
    load: tuple[str, ...]
    out: bool = False


@dataclass(frozen=True)
class Effect:
    """A number by the whole plan, and by the plan that is tried: value over sd of a parameter, or an error in mm."""

    name: str
    before: float
    after: float

    @property
    def growth(self) -> str:
        """Of the number itself."""
        return _percent(self.before, self.after)

    @property
    def change(self) -> str:
        """Of the standard deviation, where it is a value over one."""
        return _percent(self.after, self.before)


def _percent(before: float, after: float) -> str:
    if not (isfinite(before) and isfinite(after)) or not before or not after:
        return "not determined" if after and not before else ""
    return f"{100 * (after / before - 1):+.1f} %"


@dataclass(frozen=True)
class Tried:
    """What a changed plan does: to the position ``errors`` at ``tests``, and to every parameter."""

    errors: tuple[Effect, ...]
    tests: str
    parameters: tuple[Effect, ...]


@router.get("/cell/{name}/plan")
def plan(request: Request, cell: Cell) -> Response:
    return _show(request, cell)


def _show(
    request: Request, cell: Cell, problem: ElastocalError | None = None, tried: Tried | None = None,
    out: tuple[str, ...] = (), added: str = "", text: str | None = None,
) -> Response:  # fmt: skip
    planned = cell.path("planned").exists()
    folder = cell.place("planned").parent
    source = text_of(within(cell, cell.place("plan"))) if text is None else text
    files = sorted(p.name for p in within(cell, folder).iterdir() if p.is_file() and not p.name.startswith("."))
    return page(
        request, "plan", "plan", cell, problem, planned=planned, tried=tried, added=added, source=source,
        edited=text is not None, changed=_is_changed(cell), stale=stale(cell, "plan") if planned else "",
        poses=_poses(cell, out) if planned else (), axes=_axes(cell) if planned else (),
        reported=(cell.path("reports") / "plan.html").is_file() and planned,
        files=[(folder / f).as_posix() for f in files if f != cell.place("plan").name],
    )  # fmt: skip


def _table(cell: Cell) -> tuple[str, list[str], list[list[str]]]:
    """Name, header and rows of the plan's table, as they stand."""
    table = planned_table(cell.path("planned"))
    raw = text_of(within(cell, cell.place("planned").parent / table))
    header, *rows = csv.reader(io.StringIO(raw))
    return table, header, rows


def _axes(cell: Cell) -> tuple[str, ...]:
    header = _table(cell)[1]
    return tuple(h for h in header if h.rpartition("_")[2] in ("deg", "mm", "rad") and "." not in h)


def _poses(cell: Cell, out: tuple[str, ...] = ()) -> tuple[Pose, ...]:
    _, header, rows = _table(cell)
    if "name" not in header:
        return ()
    axes = _axes(cell)
    loads = [h for h in header if h.startswith(("fx", "fy", "fz", "mx", "my", "mz", "payload"))]
    found: dict[str, Pose] = {}
    for row in rows:
        said = dict(zip(header, row, strict=False))
        some = [h for h in loads if said.get(h) not in (None, "", "0")]
        load = tuple(f"{h.partition('_')[0]} {said[h]} {h.partition('_')[2]}" for h in some)
        name = said["name"]
        found.setdefault(name, Pose(name, tuple(said.get(a, "") for a in axes), load, name in out))
    return tuple(found.values())


@router.post("/cell/{name}/plan")
def start(
    request: Request, cell: Cell, poses: Annotated[str, Form()] = "", curve: Annotated[str, Form()] = ""
) -> Response:
    try:
        words: tuple[str, ...] = ("plan", ".")
        if poses.strip():
            if not (poses.strip().isdecimal() and 1 <= int(poses) <= 1000):
                raise NumberError(f"poses {poses!r}: give a whole number", value=poses)
            words += ("--poses", str(int(poses)))
        return begin(request, cell, (*words, "--curve") if curve else words, "Planning", "plan")
    except ElastocalError as error:
        return _show(request, cell, error)


@router.post("/cell/{name}/plan/try")
def attempt(
    request: Request,
    cell: Cell,
    out: Annotated[list[str] | None, Form()] = None,
    added: Annotated[str, Form()] = "",
    like: Annotated[str, Form()] = "",
    keep: Annotated[str, Form()] = "",
) -> Response:
    """What the plan tells without poses, and with another; kept where that is asked for."""
    left = tuple(out or ())
    try:
        table, text = _changed(cell, left, added, like)
        campaign = TRIAL / cell.place("planned").name
        put(cell, {TRIAL / table: text, campaign: moved_campaign(cell.path("planned"), cell.root / TRIAL)})
        check_plan(within(cell, cell.place("plan")), cell.root / campaign)
        effects = _effects(cell)
        if keep:  # table, campaign file, program and report anew, so that all say the same
            return begin(request, cell, ("plan", ".", "--given", campaign.as_posix()), "Changed plan", "plan")
    except ElastocalError as error:
        return _show(request, cell, error, None, left, added)
    return _show(request, cell, None, effects, left, added)


@router.post("/cell/{name}/plan/file")
def edit(request: Request, cell: Cell, source: Annotated[str, Form()]) -> Response:
    """The plan file as it was edited, if it is one."""
    text, place = source.replace("\r\n", "\n"), cell.place("plan")
    trial = place.with_name(CHECKED)
    try:
        put(cell, {trial: text})
        try:
            check_plan(within(cell, trial))
        except InputError as error:
            raise error.reworded(str(error).replace(str(cell.root / trial), place.name)) from None
        finally:
            (cell.root / trial).unlink()
        put(cell, {place: text})
    except ElastocalError as error:
        return _show(request, cell, error, text=text)
    return RedirectResponse(f"/cell/{cell.root.name}/plan", 303)


def _is_changed(cell: Cell) -> bool:
    """Whether the last plan took poses that were given."""
    last = next((j for j in jobs.every(cell.root) if j.words[0] == "plan" and j.phase == "done"), None)
    return last is not None and "--given" in last.words


def _changed(cell: Cell, out: tuple[str, ...], added: str, like: str) -> tuple[str, str]:
    table, header, rows = _table(cell)
    at = header.index("name") if "name" in header else None
    if at is None:
        raise MissingError(f"{table}: has no column 'name', so that poses cannot be told apart; plan again")
    kept = [row for row in rows if row[at] not in out]
    if added.strip():
        model = next((row for row in rows if row[at] == like), rows[0])
        values, axes = [v.strip() for v in added.replace(";", ",").split(",")], _axes(cell)
        if len(values) != len(axes):
            raise ShapeError(f"a pose needs {len(axes)} joint values ({', '.join(axes)}), not {len(values)}")
        new = list(model)
        new[at] = _free(f"P{len({r[at] for r in rows}) + 1}", {r[at] for r in rows})
        for axis, value in zip(axes, values, strict=True):
            new[header.index(axis)] = value
        kept += [new] * sum(row[at] == model[at] for row in rows)
    if not kept:
        raise InputError("no pose is left; leave some in the plan", code="few-poses")
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows([header, *kept])
    return table, written.getvalue()


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "x"
    return name


def _effects(cell: Cell) -> Tried:
    plan = within(cell, cell.place("plan"))
    before = expected_accuracy(plan, cell.path("planned"))
    after = expected_accuracy(plan, cell.root / TRIAL / cell.place("planned").name)
    errors = Effect("RMS", 1e3 * before.rms, 1e3 * after.rms), Effect("worst", 1e3 * before.worst, 1e3 * after.worst)
    return Tried(errors, before.tests, tuple(Effect(n, r, after.ratios.get(n, 0.0)) for n, r in before.ratios.items()))
