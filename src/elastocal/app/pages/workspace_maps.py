"""Maps over a section of the workspace as heat maps: how stiff an arm is, how far a load moves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.pages.stiffness import stiffness_map
from elastocal.report.blocks import Axis, Block, Heatmap, Paragraphs

if TYPE_CHECKING:
    from elastocal.app.workspace import Workspace


def workspace_blocks(found: Workspace, load: str) -> tuple[Block, ...]:
    """Both maps with where the other axes stand; ``load`` in words."""
    chosen = f"{' and '.join(found.grid.names)} move over their whole range: they change the stiffness most."
    state = "Stiffness under weights and springs alone; deflection: what the load adds to them."
    return (
        Paragraphs(
            (
                chosen,
                *found.grid.at.notes,
                state,
                "Whether the arm meets the floor, itself or the cell is not looked at.",
            )
        ),
        stiffness_map(found.grid, found.smallest),
        deflection_map(found, load),
    )


def deflection_map(found: Workspace, load: str) -> Heatmap:
    import numpy as np

    grid = found.grid
    x, y = (tuple(float(v) for v in values) for values in (grid.x, grid.y))
    return Heatmap(
        "deflection_map",
        f"{load} at {found.load.frame}",
        Axis(grid.names[0], grid.units[0], x),
        Axis(grid.names[1], grid.units[1], y),
        "deflection",
        "mm",
        grid.table(1e3 * np.linalg.norm(found.moved.translation, axis=1)),
    )
