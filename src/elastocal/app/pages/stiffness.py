"""Stiffness as a report: a table, the full matrices of a single configuration, or maps over two axes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from elastocal.app.commands.stiffness import MOST_ROWS, StiffnessResult
from elastocal.app.pages.result_columns import RIGID, axis_columns, configuration_rows, is_rigid, or_reason
from elastocal.model.statics.stiffness import StiffnessStatus
from elastocal.report.blocks import (
    Axis,
    Block,
    Cell,
    Column,
    Heatmap,
    Paragraphs,
    Report,
    Rows,
    Section,
    Table,
    Unknown,
    floats,
)
from elastocal.report.data import Signs, lines_of, significant_digits
from elastocal.report.plane_figures import drawn_robot

if TYPE_CHECKING:
    from elastocal.app.grid import Grid, Workspace
    from elastocal.spatial.entries import Array


XYZ = "xyz"
MOVES = ("dx_m", "dy_m", "dz_m", "rx_rad", "ry_rad", "rz_rad")
LOADS = ("fx_N", "fy_N", "fz_N", "mx_Nm", "my_Nm", "mz_Nm")
N_PER_UM = 1e-6  # N/m
NM_PER_MRAD = 1e-3  # N m/rad


def page(result: StiffnessResult) -> Report:
    title = f"Stiffness at {result.frame}: {result.model.title or result.model.name}"
    state = f"Loaded equilibrium: {result.load.text}" if result.loaded else "Unloaded, at the commanded configuration"
    if result.grid is not None:
        heat = stiffness_map(result.grid, result.smallest, _empty(result, result.grid))
        if result.grid.places is not None and result.grid.near is not None:
            robot = drawn_robot(result.model, result.grid.near, result.grid.places, result.frame)
            heat = replace(heat, equal=True, drawn=robot)
        every = (table(result),) if len(result.at) <= MOST_ROWS else ()
        sections = [Section(state, (heat,)), *([Section("All points of the map", every)] if every else ())]
    else:
        blocks: tuple[Block, ...] = (table(result),)
        if len(result.at) == 1:
            blocks += matrix_tables(result)
        sections = [Section(state, blocks)]
    return Report(title, _verdict(result), tuple(sections), result.notes, result.facts)


DRAWN = 250
"""Values of an axis that are drawn; of more, so many that are spread evenly."""


def stiffness_map(grid: Grid, smallest: Array, notes: tuple[str, ...] = ()) -> Heatmap:
    columns, rows = (
        np.unique(np.linspace(0, len(v) - 1, min(len(v), DRAWN)).round().astype(int)) for v in (grid.x, grid.y)
    )
    if len(columns) < len(grid.x) or len(rows) < len(grid.y):
        drawn = f"{len(columns)} x {len(rows)} of {len(grid.x)} x {len(grid.y)} points are drawn, spread evenly"
        notes = (*notes, f"{drawn}; the table has all of them.")
    values = np.where(grid.reached, smallest * N_PER_UM, np.nan).reshape(len(grid.y), len(grid.x))
    return Heatmap(
        "map",
        "Translational stiffness in the softest direction",
        Axis(grid.names[0], grid.units[0], tuple(grid.x[columns].tolist())),
        Axis(grid.names[1], grid.units[1], tuple(grid.y[rows].tolist())),
        "stiffness",
        "N/um",
        tuple(map(tuple, values[np.ix_(rows, columns)].tolist())),
        notes,
    )


def _empty(result: StiffnessResult, grid: Grid) -> tuple[str, ...]:
    """Why cells inside the limits are empty; those outside have a note of their own."""
    blank = ~np.isfinite(result.smallest) & grid.reached
    lost = int(np.sum(blank & (result.status == StiffnessStatus.NO_EQUILIBRIUM)))
    rigid = int(np.sum(blank)) - lost
    out = [f"{lost} points are empty: {StiffnessStatus.NO_EQUILIBRIUM.text}."] if lost else []
    return (*out, f"{rigid} points are empty: the frame does not yield there.") if rigid else tuple(out)


def table(result: StiffnessResult) -> Table:
    at = result.at
    bare = bool((result.status == StiffnessStatus.SINGULAR).any())
    columns = [Column("name", "name")] if at.names else []
    columns += axis_columns(at.axes)
    columns += [Column(f"K{c}{c}_N_per_um", f"K{c}{c}", "N/um", 4, "K") for c in XYZ]
    columns += [Column(f"Kr{c}_Nm_per_mrad", f"Kr{c}", "N m/mrad", 3, "Kr") for c in XYZ]
    columns += [Column("softest_N_per_um", "softest", "N/um", 4)]
    if bare:
        columns += [Column(f"C{c}{c}_um_per_N", f"C{c}{c}", "um/N", 5, "C") for c in XYZ]
        columns += [Column(f"Cr{c}_mrad_per_Nm", f"Cr{c}", "mrad/(N m)", 6, "Cr") for c in XYZ]
    columns += [Column("status", "status")]
    words = dict[float, str]()
    rows = Rows(len(at), lambda part: _rows(result, part, bare), lambda part: _lines(result, part, bare, words))
    return Table("stiffness", "", tuple(columns), rows, _notes(bare))


def _notes(bare: bool) -> tuple[str, ...]:
    out = (
        "K: diagonal of the 6x6 stiffness in base axes (force for a displacement with all others held); softest: "
        "force per displacement of the most compliant direction, free to move and turn otherwise.",
    )
    return (*out, "C: diagonal of the 6x6 compliance, which always exists.") if bare else out


MOST_WORDS = 100_000
_WORDS = {0: "exists", 1: "rigid direction", 2: "no equilibrium"}


def _values(result: StiffnessResult, part: slice, bare: bool) -> Array:
    """The numbers (m, 7) of some rows, or (m, 13), in the units of the columns."""
    if result.diagonals is not None:
        stiff, give = result.diagonals[:6, part].T, result.diagonals[6:, part].T
    else:
        stiffness = result.part(part)
        stiff, give = (np.einsum("nii->ni", m) for m in (stiffness.stiffness, stiffness.compliance))
    parts = [stiff[:, :3] * N_PER_UM, stiff[:, 3:] * NM_PER_MRAD, result.smallest[part, None] * N_PER_UM]
    if bare:
        parts += [give[:, :3] / N_PER_UM, give[:, 3:] / NM_PER_MRAD]
    return np.hstack(parts)


def _lines(result: StiffnessResult, part: slice, bare: bool, words: dict[float, str]) -> str | None:
    """Rows of a map as text, all in one go: numbers one by one would take longer than to compute them.

    ``words`` are values of axes as they were written in other rows.
    """
    if result.grid is None or not result.grid.reached[part].all():
        return None
    values = _values(result, part, bare)
    if not np.isfinite(values).all():
        return None
    columns: list[Signs | bytes] = []
    for shown in result.at.shown[part].T:
        each, which = np.unique(shown, return_inverse=True) if np.ptp(shown) else (shown[:1], np.zeros(1, np.int64))
        cells = np.array([words.get(v) or _axis_cell(v, words) for v in each.tolist()], dtype=np.bytes_)
        columns.append(cells[which].view(np.uint8).reshape(len(which), -1))
    for numbers in values.T:
        columns += [significant_digits(numbers), b","]
    return lines_of([*columns, f"{_WORDS[0]}\n".encode()], len(values))


def _axis_cell(value: float, words: dict[float, str]) -> str:
    text = f"{float(f'{value:.10g}')!r},"
    if value and len(words) < MOST_WORDS:  # minus zero equals zero and is written otherwise
        words[value] = text
    return text


def _rows(result: StiffnessResult, part: slice, bare: bool) -> list[tuple[Cell, ...]]:
    at, values = result.at, _values(result, part, bare)
    known = np.asarray(np.isfinite(values).all(axis=1)).tolist()
    reached = [True] * len(values) if result.grid is None else result.grid.reached[part].tolist()
    places, states = configuration_rows(at, part), result.status[part].tolist()
    names = at.names[part] if at.names else None
    out: list[tuple[Cell, ...]] = []
    for i, (row, state) in enumerate(zip(values.tolist(), states, strict=True)):
        if not reached[i]:
            gone = Unknown("beyond the joint limits")
            out.append((*places[i], *[gone] * (7 + 6 * bare), "beyond limits"))
            continue
        cells = row if known[i] else _reasoned(row, state)
        out.append((*((names[i],) if names else ()), *places[i], *cells, _WORDS[state]))
    return out


def _reasoned(row: list[float], status: int) -> list[Cell]:
    """Numbers, or why there are none; the seventh is that of the softest direction."""
    why = StiffnessStatus(status).text
    return [or_reason(v, _no_softest(status) if j == 6 else why) for j, v in enumerate(row)]


def _no_softest(status: int) -> str:
    known_status = StiffnessStatus(status)
    return known_status.text if known_status is StiffnessStatus.NO_EQUILIBRIUM else "this frame does not yield at all"


def matrix_tables(result: StiffnessResult) -> tuple[Table, ...]:
    """The 6x6 matrices of the one configuration, as far as they exist."""
    stiffness = result.part(slice(0, 1))
    status = StiffnessStatus(int(stiffness.status[0]))
    note = () if status is StiffnessStatus.EXISTS else (f"There is no 6x6 stiffness here: {status.text}.",)
    out = [_matrix("compliance_matrix", "Compliance", stiffness.compliance[0], (MOVES, LOADS), note)]
    if np.isfinite(stiffness.stiffness[0]).all():
        out.append(_matrix("stiffness_matrix", "Stiffness", stiffness.stiffness[0], (LOADS, MOVES)))
    return tuple(out) if np.isfinite(stiffness.compliance[0]).all() else ()


def _matrix(
    key: str, title: str, matrix: Array, sides: tuple[tuple[str, ...], tuple[str, ...]], notes: tuple[str, ...] = ()
) -> Table:
    """In SI for programs; people read moves in um and urad for a load, and loads for a mm and mrad of move."""
    down, across = sides
    scale, moved = (1e6, "u") if down is MOVES else (1e-3, "m")
    units = {
        c: c.replace("_Nm", "_N m").replace("_m", f"_{moved}m").replace("_rad", f"_{moved}rad")
        for c in (*down, *across)
    }
    parts = [(c, *units[c].split("_")) for c in across]
    columns = (
        Column("row", "", shown=False),
        Column("name", ""),
        *(Column(key, name, unit, decimals=4, scale=scale) for key, name, unit in parts),
    )
    own = np.diag(matrix)
    # sums of zeros leave 1e-17 of rounding in places that are zero by symmetry
    tidy = np.where(matrix**2 > 1e-28 * np.abs(np.outer(own, own)), matrix, 0.0)
    rows: list[tuple[Cell, ...]] = [
        (c, "{} [{}]".format(*units[c].split("_")), *(float(v) for v in tidy[i])) for i, c in enumerate(down)
    ]
    return Table(
        key, title, columns, tuple(rows),
        (*notes, "An entry is in the unit of its row per unit of its column; SI in JSON and CSV."),
    )  # fmt: skip


def _verdict(result: StiffnessResult) -> tuple[str, ...]:
    values = result.smallest * N_PER_UM
    if result.grid is not None:
        values = np.where(result.grid.reached, values, np.nan)
    good = np.isfinite(values)
    if is_rigid(result.model):
        return (RIGID,)
    if not good.any():
        return ("No translational stiffness is known in any of the configurations; see the status.",)
    # the first of those that differ by rounding alone
    low = int(np.flatnonzero(values <= np.nanmin(values) * (1 + 1e-9))[0])
    high = int(np.flatnonzero(values >= np.nanmax(values) * (1 - 1e-9))[0])
    if len(values) == 1:
        return (f"Softest direction of {result.frame}: {values[0]:.4f} N/um.",)
    return (
        f"Softest configuration: {values[low]:.4f} N/um at {_place(result, low)}; "
        f"stiffest: {values[high]:.4f} N/um at {_place(result, high)}.",
    )


def _place(result: StiffnessResult, i: int) -> str:
    at = result.at
    if at.names and at.names[i]:
        return repr(at.names[i])
    if result.grid is not None and result.grid.places is not None:
        row, column = divmod(i, len(result.grid.x))
        first, second = result.grid.names
        return f"{first} {result.grid.x[column]:g} mm, {second} {result.grid.y[row]:g} mm"
    axes = zip(at.axes.names, at.shown[i], at.axes.units, strict=True)
    wanted = result.grid.names if result.grid is not None else at.axes.names
    return ", ".join(f"{a} {v:.4g} {u}" for a, v, u in axes if a in wanted)


def workspace_blocks(workspace: Workspace, load: str) -> tuple[Block, ...]:
    """Both maps with where the other axes stand; ``load`` in words."""
    chosen = f"{' and '.join(workspace.grid.names)} move over their whole range: they change the stiffness most."
    state = "Stiffness under weights and springs alone; deflection: what the load adds to them."
    return (
        Paragraphs(
            (
                chosen,
                *workspace.grid.at.notes,
                state,
                "Whether the arm meets the floor, itself or the cell is not looked at.",
            )
        ),
        stiffness_map(workspace.grid, workspace.smallest),
        deflection_map(workspace, load),
    )


def deflection_map(workspace: Workspace, load: str) -> Heatmap:

    grid = workspace.grid
    x, y = (floats(values) for values in (grid.x, grid.y))
    return Heatmap(
        "deflection_map",
        f"{load} at {workspace.load.frame}",
        Axis(grid.names[0], grid.units[0], x),
        Axis(grid.names[1], grid.units[1], y),
        "deflection",
        "mm",
        grid.table(1e3 * workspace.moved.distance),
    )
