"""The plan of a cell: poses are left out or added, and the effect is seen before anything is kept."""

from __future__ import annotations

import csv
import io
from functools import lru_cache
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from elastocal.desk.files import edit, sha256_of, text_of, within, write
from elastocal.errors import InputError, MissingError, ShapeError
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.files.cell import CellFolder

SEED = 1
"""Of the test poses, where the plan file states none: the same for all plans that are compared."""
TRIAL = Path("plan") / "changed"
"""Folder, beside the plan, of poses that are tried, or kept, in place of those that were searched for."""
LOADS = ("fx", "fy", "fz", "mx", "my", "mz", "payload")


@dataclass(frozen=True)
class Pose:
    """Rows of one name in the table of the plan; ``load`` and ``joints`` as they stand there."""

    name: str
    joints: tuple[str, ...]
    load: tuple[str, ...]


@dataclass(frozen=True)
class Planned:
    """The table of a planned campaign: its name, titles and rows as they stand."""

    name: str
    header: list[str]
    rows: list[list[str]]

    @property
    def axes(self) -> tuple[str, ...]:
        """Titles of joint values."""
        return tuple(h for h in self.header if h.rpartition("_")[2] in ("deg", "mm", "rad") and "." not in h)

    @property
    def poses(self) -> tuple[Pose, ...]:
        if "name" not in self.header:
            return ()
        poses: dict[str, Pose] = {}
        for row in self.rows:
            cells = dict(zip(self.header, row, strict=False))
            some = [h for h in self.header if h.startswith(LOADS) and cells.get(h) not in (None, "", "0")]
            load = tuple(f"{h.partition('_')[0]} {cells[h]} {h.partition('_')[2]}" for h in some)
            poses.setdefault(cells["name"], Pose(cells["name"], tuple(cells.get(a, "") for a in self.axes), load))
        return tuple(poses.values())

    def changed(self, out: tuple[str, ...], added: str, like: str) -> str:
        """The table without poses, and with another at joint values ``added``, loaded like one of them."""
        at = self.header.index("name") if "name" in self.header else None
        if at is None:
            raise MissingError(f"{self.name}: has no column 'name', so that poses cannot be told apart; plan again")
        kept = [row for row in self.rows if row[at] not in out]
        if added.strip():
            model = next((row for row in self.rows if row[at] == like), self.rows[0])
            values, axes = [v.strip() for v in added.replace(";", ",").split(",")], self.axes
            if len(values) != len(axes):
                raise ShapeError(f"a pose needs {len(axes)} joint values ({', '.join(axes)}), not {len(values)}")
            new, taken = list(model), {row[at] for row in self.rows}
            new[at] = _free(f"P{len(taken) + 1}", taken)
            for axis, value in zip(axes, values, strict=True):
                new[self.header.index(axis)] = value
            kept += [new] * sum(row[at] == model[at] for row in self.rows)
        if not kept:
            raise InputError("no pose is left; leave some in the plan", code="few-poses")
        written = io.StringIO()
        csv.writer(written, lineterminator="\n").writerows([self.header, *kept])
        return written.getvalue()


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "x"
    return name


def planned(cell: CellFolder) -> Planned:
    """What the plan of a cell wants measured."""
    from elastocal.files.campaign.read import read_plan

    table = str(read_plan(cell.path("planned")).words["table"])
    raw = text_of(within(cell, cell.place("planned").parent / table))
    header, *rows = csv.reader(io.StringIO(raw))
    return Planned(table, header, rows)


def save_plan(cell: CellFolder, text: str) -> None:
    """The plan file with this text, if it is one."""
    from elastocal.files.plan.read import read_plan_file

    edit(cell, cell.place("plan"), text, read_plan_file)


@dataclass(frozen=True)
class Change:
    """A number by the whole plan, and by the plan that is tried: value over sd of a parameter, or an error in mm."""

    name: str
    before: float
    after: float

    @property
    def growth(self) -> str:
        """Of the number itself."""
        return _percent(self.before, self.after)

    @property
    def sd_growth(self) -> str:
        """Of the standard deviation, where it is a value over one."""
        return _percent(self.after, self.before)


def _percent(before: float, after: float) -> str:
    if not (isfinite(before) and isfinite(after)) or not before or not after:
        return "not determined" if after and not before else ""
    return f"{100 * (after / before - 1):+.1f} %"


@dataclass(frozen=True)
class Tried:
    """What a changed plan, of ``campaign``, does: to the position ``errors`` at ``tests``, and to every parameter."""

    campaign: Path
    errors: tuple[Change, ...]
    tests: str
    parameters: tuple[Change, ...]


def try_plan(cell: CellFolder, out: tuple[str, ...], added: str, like: str) -> Tried:
    """The plan without poses and with another: written beside it, refused where the plan file does not allow it."""
    from elastocal.app.plan_request import given_task, read_request

    table, place = planned(cell), TRIAL / cell.place("planned").name
    plan, old, new = within(cell, cell.place("plan")), cell.path("planned"), cell.root / place
    write(cell, {TRIAL / table.name: table.changed(out, added, like), place: _moved(old, cell.root / TRIAL)})
    given_task(read_request(plan).task, new, SEED, tests=False)
    before, after = _expected(plan, old), _expected(plan, new)
    errors = Change("RMS", before.rms_mm, after.rms_mm), Change("worst", before.worst_mm, after.worst_mm)
    ratios = tuple(Change(n, r, after.ratios.get(n, 0.0)) for n, r in before.ratios.items())
    return Tried(place, errors, before.tests, ratios)


def _moved(campaign: Path, folder: Path) -> str:
    """The text of a planned campaign file, as it must be written in another folder."""
    from elastocal.files.located import read_yaml
    from elastocal.files.opened import seen_from
    from elastocal.files.robot.read import robot_file

    words = dict(read_yaml(campaign, "").data)
    own = robot_file(str(words["robot"]))
    if own is not None:
        words["robot"] = seen_from(campaign.parent / own, folder)
    return str(yaml.safe_dump(words, sort_keys=False, allow_unicode=True))


@dataclass(frozen=True)
class _Expected:
    """What poses would tell: value over sd by parameter; position error after compensation at the test poses."""

    ratios: dict[str, float]
    rms_mm: float
    worst_mm: float
    tests: str


def _expected(plan: Path, campaign: Path) -> _Expected:
    """Of the poses of a planned campaign, judged as the plan file says."""
    from elastocal.files.campaign.read import read_plan

    return _judged(plan, campaign, tuple(sha256_of(f) for f in (plan, *read_plan(campaign).files)))


@lru_cache(maxsize=32)
def _judged(plan: Path, campaign: Path, marks: tuple[str, ...]) -> _Expected:
    from elastocal.app.plan_request import given_task, read_request
    from elastocal.design.planning import planned

    file = read_request(plan)
    task = given_task(file.task, campaign, SEED, tests=file.tests is None)
    assessment = planned(task, tests=file.tests, restarts=1, seed=SEED)
    ratios = {p.name: abs(p.value) / p.sd for p in assessment.parameters if not p.nuisance and p.value}
    return _Expected(
        ratios, 1e3 * assessment.rms_error, 1e3 * float(assessment.errors.max()), assessment.problem.tests.words
    )
