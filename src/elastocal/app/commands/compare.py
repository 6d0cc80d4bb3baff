"""Calibrations of one robot, or campaigns: what has changed, and whether more than by chance."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.errors import InputError, UnsupportedError
from elastocal.report.blocks import Block, Cell, Column, Fact, Lines, Report, Section, Series, State, Table, Tile
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.calibration.comparison import Comparison, Step
    from elastocal.calibration.drift import Drift
    from elastocal.model.robot import Robot


@dataclass(frozen=True, eq=False)
class CompareResult:
    """``comparison`` is a comparison of calibrations, or one drift for every campaign after the first."""

    paths: tuple[Path, ...]
    robot: Robot
    comparison: Comparison | tuple[Drift, ...]
    notes: tuple[str, ...] = ()


@command("daily", 13, csv=True)
def compare(
    items: Annotated[list[Path], o.argument("A.json B.json ...", "Calibrations, or campaign files (.yaml).")],
    map: Annotated[
        str | None, o.option("PLACES", 'Places of the workpiece in mm, "x:1600:2100:15,y:-150:150:11,z:800".')
    ] = None,
    at: o.At = None,
    object: o.WorkObject = None,
) -> CompareResult:
    """What has changed between calibrations or campaigns, against the first one.

    Calibrations: parameters with the significance of their change, the change of the tool over the workpiece, and the
    conditions. Campaigns: readings in the same poses and loads, before and after a repair or over time.

    \b
    Example:
      elastocal compare january.json november.json --report compared.html
    """
    from elastocal.app.cli.progress import stage
    from elastocal.app.configurations import typed_places
    from elastocal.calibration.comparison import compare as compared
    from elastocal.calibration.readings import read_campaign
    from elastocal.calibration.store import read_calibration

    if len(items) < 2:
        raise InputError(f"{items[0]}: one file or folder alone is nothing to compare; give at least two", code="few")
    tables = {p.suffix.lower() in (".yaml", ".yml") for p in items}
    if len(tables) > 1:
        raise InputError("calibrations (.json) and campaigns (.yaml) do not compare; give one kind", code="kinds")
    names = _names(items)
    stage(0, 2, "reading")
    if tables == {True}:
        if map is not None or at:
            raise UnsupportedError(
                "--map and --at are of calibrations; campaigns are compared where they were measured"
            )
        read = [read_campaign(p) for p in items]
        stage(1, 2, "common poses and loads")
        return CompareResult(
            tuple(items),
            read[0][0],
            compared(*(data.written_in(robot, "m", "rad") for robot, data in read), names=names),
        )
    calibrations = [read_calibration(p) for p in items]
    robot = calibrations[0].robot
    plane, near = (None, None) if map is None and not at else typed_places(robot, map, tuple(at or ()), object)
    stage(1, 2, "parameters, tool over the workpiece")
    return CompareResult(tuple(items), robot, compared(*calibrations, names=names, places=plane, near=near))


def _names(items: list[Path]) -> tuple[str, ...]:
    """File names, with their folders where these alone differ."""
    short = [p.stem for p in items]
    return tuple(short if len(set(short)) == len(short) else [p.as_posix() for p in items])


SHOWN = 15


def page(result: CompareResult) -> Report:
    from elastocal.calibration.comparison import Comparison

    comparison = result.comparison
    facts = tuple(Fact(f"item_{i}", f"item {i}", p.as_posix()) for i, p in enumerate(result.paths, 1))
    title = f"Comparison: {result.robot.title or result.robot.name}"
    if isinstance(comparison, Comparison):
        verdict = tuple(f.text for f in comparison.verdict)
        data = {"findings": [vars(f) for f in comparison.verdict]}
        return Report(title, verdict, _sections(result, comparison), result.notes, facts, data, _tiles(comparison))
    verdict = tuple(f.text for d in comparison for f in d.verdict)
    sections = tuple(Section(f"{d.names[1]} against {d.names[0]}", _drift(d, i)) for i, d in enumerate(comparison, 1))
    data = {"findings": [vars(f) for d in comparison for f in d.verdict]}
    tiles = tuple(tile for d in comparison for tile in _drift_tiles(d))
    return Report(title, verdict, sections, result.notes, facts, data, tiles)


def table(result: CompareResult) -> Table:
    """What --csv writes: all changes of the first pair."""
    from elastocal.calibration.comparison import Comparison

    comparison = result.comparison
    return _changes(comparison.steps[0], 1) if isinstance(comparison, Comparison) else drift_table(comparison[0], 1)


_TESTED: dict[bool, tuple[str, State]] = {True: ("changed", "bad"), False: ("agrees", "good")}
_UNTESTED: tuple[str, State] = ("not tested", "open")


def _tiles(comparison: Comparison) -> tuple[Tile, ...]:
    out = []
    for s in comparison.steps:
        word, state = _TESTED[s.changed] if s.tested else _UNTESTED
        out.append(Tile(s.name, word, "", _counted(s), state=state))
        if s.tool is not None:
            size = f"{1e3 * s.tool.summary().rms:.3f}"
            out.append(Tile("tool over the workpiece", size, "mm", f"RMS change, {s.name}", "after"))
    return tuple(out)


_JUDGED: dict[str, tuple[str, State]] = {
    "drift": ("changed", "bad"), "no-drift": ("no change shown", "good"), "drift-not-judged": ("not judged", "open")
}  # fmt: skip


def _drift_tiles(d: Drift) -> tuple[Tile, ...]:
    (verdict,) = d.verdict
    word, state = _JUDGED[verdict.code]
    noise = f"noise lets expect {1e3 * d.expected:.3f} mm RMS" if isfinite(d.sd) else "no noise is known"
    return (
        Tile(d.names[1], word, "", noise, state=state),
        Tile("change of shape", f"{1e3 * verdict.data['shape_rms']:.3f}", "mm", "RMS, without rigid motion", "after"),
        Tile("points moved", f"{1e3 * verdict.data['moved_rms']:.3f}", "mm", f"RMS, {len(d.rows)} states", "read"),
    )


def _counted(s: Step) -> str:
    if not s.tested:
        return s.reason
    count = sum(c.significant for c in s.changes)
    if s.changed and not count:
        return f"as a whole; {s.causes[0].name} alone explains most" if s.causes else "as a whole"
    return f"{count} significant change{'s' * (count != 1)}"


def _sections(result: CompareResult, comparison: Comparison) -> tuple[Section, ...]:
    from elastocal.report.plane_figures import drawn_robot, place_map

    out = []
    for i, s in enumerate(comparison.steps, 1):
        blocks: tuple[Block, ...] = (change_lines(s, i), _changes(s, i))
        out.append(Section(f"Parameters: {s.name} against {comparison.names[0]}", blocks))
        if s.tool is not None:
            drawn = drawn_robot(result.robot, s.tool.near, s.tool.at, result.robot.tool)
            heat = place_map(f"tool_{i}", "Change of the tool's place over the workpiece", "without rigid motion", "mm",
                             s.tool.at, 1e3 * s.tool.over_plane, drawn)  # fmt: skip
            out.append(Section("Tool over the workpiece", (heat, tool_table(s, i))))
    columns = (Column("what", "condition"), *(Column(f"item_{i}", n) for i, n in enumerate(comparison.names, 1)))
    rows: tuple[tuple[Cell, ...], ...] = tuple((k, *values) for k, values in comparison.conditions.items())
    return (*out, Section("Conditions", (Table("conditions", "", columns, rows),)))


def _changes(s: Step, number: int) -> Table:
    from elastocal.calibration.tables import change_table

    return change_table(s.changes, f"parameters_{number}", "All parameters")


def change_lines(s: Step, number: int) -> Lines:
    """Changes in their standard deviations, the largest first."""
    kept = s.changes[: 2 * SHOWN]
    x = tuple(float(i + 1) for i in range(len(kept)))
    ends = (0.5, len(kept) + 0.5)
    y = tuple(min(max(float(c.ratio), -50.0), 50.0) for c in kept)
    series = (
        Series("+-2 sd", ends, (2.0, 2.0), role="noise", low=(-2.0, -2.0)),
        Series("change", x, y, points=True, role="after", words=tuple(c.name for c in kept)),
        Series("significant", ends, (5.0, 5.0), role="tolerance"),
        Series("significant", ends, (-5.0, -5.0), role="tolerance"),
    )
    return Lines(f"change_{number}", "Change over its standard deviation", "parameter, the largest change first", "",
                 "change", "sd", series)  # fmt: skip


def tool_table(s: Step, number: int) -> Table:
    assert s.tool is not None
    named = (
        ("as registered", s.tool.summary(rigid=True)),
        ("without rigid motion", s.tool.summary()),
        ("uncertainty of that (k = 2)", s.tool.uncertainty),
    )
    return Table.of(f"tool_change_{number}", named, {
        Column("what", "change of place"): lambda n: n[0],
        Column("rms_mm", "RMS", "mm", 4): lambda n: 1e3 * n[1].rms,
        Column("max_mm", "max", "mm", 4): lambda n: 1e3 * n[1].max,
    })  # fmt: skip


def _drift(d: Drift, number: int) -> tuple[Block, ...]:
    import numpy as np

    raw, left = 1e3 * d.sizes(rigid=True), 1e3 * d.sizes()
    x = tuple(float(i + 1) for i in range(len(raw)))
    series = [
        Series("as read", x, tuple(map(float, raw)), points=True, role="read", words=d.places),
        Series("without rigid motion", x, tuple(map(float, left)), points=True, role="after", words=d.places),
    ]
    if isfinite(d.sd):
        top, low = 2e3 * d.expected, 0.5 * float(np.nanmin(left[left > 0], initial=1e3 * d.expected))
        series.insert(0, Series("noise, k = 2", (x[0], x[-1]), (top, top), role="noise", low=(low, low)))
    lines = Lines(f"moved_{number}", "Points moved", "common state", "", "distance", "mm", tuple(series), log=True)
    return lines, drift_table(d, number)


def drift_table(d: Drift, number: int) -> Table:
    return Table.of(f"states_{number}", zip(d.places, d.sizes(rigid=True), d.sizes(), strict=True), {
        Column("place", "state"): lambda s: s[0],
        Column("moved_mm", "moved", "mm", 4): lambda s: 1e3 * s[1],
        Column("shape_mm", "without rigid motion", "mm", 4): lambda s: 1e3 * s[2],
    }, title="All states")  # fmt: skip
