"""The demonstration as a report: verdict first, then maps, table, shares and parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.commands.demo import DemoResult, Pushed
from elastocal.app.pages.columns import (
    axis_columns,
    configuration_cells,
    known,
    parameter_cells,
    parameter_columns,
)
from elastocal.app.pages.stiffness import N_PER_UM, stiffness_map
from elastocal.report.blocks import Axis, Cell, Column, Heatmap, Report, Section, Table, Text

if TYPE_CHECKING:
    from elastocal.spatial.entries import Array

EMPTY = "Empty: elbow, wrist or tool would be below the floor or in the robot's own base."


def page(result: DemoResult) -> Report:
    model = result.model
    maps = tuple(_deflection_map(result, p) for p in result.pushed)
    parameters = tuple(parameter_cells(p) for p in model.parameters if p.value != 0)
    sections = (
        Section("Stiffness over the workspace", (Text(_section_words(result)), _stiffness_map(result))),
        Section("Deflection over the workspace", maps),
        Section("Deflection in named configurations", (_named_table(result),)),
        Section("Which effect contributes", (_share_table(result),)),
        Section(
            "Parameters and where they come from", (Table("parameters", "", parameter_columns(), parameters, _ZERO),)
        ),
    )
    return Report(f"{model.title} under load", verdict(result), sections, (), result.inputs.facts())


_ZERO = ("Parameters that are zero in this robot are not listed; elastocal show kuka-kr270 prints all of them.",)


def verdict(result: DemoResult) -> tuple[str, ...]:
    """The numbers that matter, in sentences."""
    import numpy as np

    out = [_worst(result, p) for p in result.pushed]
    known_at = np.where(result.free, result.smallest, np.nan)
    low, high = int(np.nanargmin(known_at)), int(np.nanargmax(known_at))
    out.append(
        f"The arm holds {N_PER_UM * known_at[low]:.2f} N/um in its softest direction where it is softest "
        f"({_point(result, low)}) and {N_PER_UM * known_at[high]:.2f} N/um where it is stiffest "
        f"({_point(result, high)})."
    )
    off = max((_linear_off(result, p) for p in result.pushed), key=lambda pair: pair[0])
    out.append(
        "The linear formula, without weights, compensator and change of shape, differs from the loaded equilibrium "
        f"by up to {off[0]:.3f} mm ({100 * off[1]:.1f} % of the deflection there)."
    )
    return tuple(out)


def _worst(result: DemoResult, pushed: Pushed) -> str:
    import numpy as np

    size = np.where(result.free, _size(pushed.map.translation), np.nan)
    i = int(np.nanargmax(size))
    said = f"{pushed.load.name} moves the tool by up to {size[i]:.2f} mm in this section of the workspace"
    return f"{said} ({_point(result, i)})."


def _linear_off(result: DemoResult, pushed: Pushed) -> tuple[float, float]:
    import numpy as np

    size = _size(pushed.map.translation)
    off = np.where(result.free, _size(pushed.map.translation - pushed.map_linear.translation), np.nan)
    i = int(np.nanargmax(off))
    return float(off[i]), float(off[i] / size[i])


def _size(moves: Array) -> Array:
    """Lengths in mm."""
    import numpy as np

    return np.asarray(1e3 * np.linalg.norm(moves, axis=1))


def _point(result: DemoResult, i: int) -> str:
    names, x = result.grid.names, len(result.grid.x)
    return f"{names[0]} {result.grid.x[i % x]:g}, {names[1]} {result.grid.y[i // x]:g} deg"


def _section_words(result: DemoResult) -> tuple[str, ...]:
    others = result.grid.at.notes[0]
    return (
        f"A section through the workspace: {result.grid.names[0]} and {result.grid.names[1]} move. {others}",
        "At the equilibrium under the arm's own weight, compensator included, without any other load.",
    )


def _stiffness_map(result: DemoResult) -> Heatmap:
    import numpy as np

    return stiffness_map(result.grid, np.where(result.free, result.smallest, np.nan), (EMPTY,))


def _deflection_map(result: DemoResult, pushed: Pushed) -> Heatmap:
    import numpy as np

    grid = result.grid
    x, y = (tuple(float(v) for v in values) for values in (grid.x, grid.y))
    size = np.where(result.free, _size(pushed.map.translation), np.nan)
    return Heatmap(
        f"deflection_{pushed.load.name.split()[-1]}",
        f"{pushed.load.name} at the tool",
        Axis(grid.names[0], grid.units[0], x),
        Axis(grid.names[1], grid.units[1], y),
        "deflection",
        "mm",
        grid.table(size),
        (EMPTY,),
    )


def _named_table(result: DemoResult) -> Table:
    columns = (
        Column("name", "configuration"),
        *axis_columns(result.named.axes),
        Column("load", "load"),
        *(Column(f"d{c}_mm", f"d{c}", "mm", 3) for c in "xyz"),
        Column("size_mm", "size", "mm", 3),
        Column("linear_mm", "linear", "mm", 3),
        Column("linear_off_percent", "off by", "%", 1),
        Column("status", "status"),
    )
    rows = tuple(_named_row(result, p, i) for i in range(len(result.names)) for p in result.pushed)
    notes = (
        "Loaded minus unloaded state of the tool, weights and compensator in both, base axes. Loads as in Klimchik "
        "et al. 2013 (IMECE), section 5. linear: eq. 8 there; off by: length of the "
        "difference, in percent of the size.",
    )
    return Table("deflections", "", columns, rows, notes)


def _named_row(result: DemoResult, pushed: Pushed, i: int) -> tuple[Cell, ...]:
    from elastocal.model.statics.equilibrium import Status

    status = Status(int(pushed.named.status[i]))
    move, line = pushed.named.translation[i : i + 1], pushed.named_linear.translation[i : i + 1]
    size, off = float(_size(move)[0]), float(_size(move - line)[0])
    numbers = (*(1e3 * float(v) for v in move[0]), size, float(_size(line)[0]), 100 * off / size)
    cells = (known(v, status.text) for v in numbers)
    return (result.names[i], *configuration_cells(result.named, i), pushed.load.name, *cells, status.name.lower())


def _share_table(result: DemoResult) -> Table:
    columns = (
        Column("element", "effect"),
        *(Column(_key(p), p.load.name, "%", 1) for p in result.pushed),
    )
    shares = [{c.element: 100 * c.share for c in p.shares} for p in result.pushed]
    rows: list[tuple[Cell, ...]] = [(name, *(s[name] for s in shares)) for name in shares[0]]
    said = f"In configuration {result.names[0]!r}, from the linear formula, along the deflection"
    return Table("contributions", "", columns, tuple(rows), (f"{said}: each column adds up to 100 %.",))


def _key(pushed: Pushed) -> str:
    return f"{pushed.load.name.split()[-1]}_percent"
