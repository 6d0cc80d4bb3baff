"""Which force-deflection loops are drawn, and the polar maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.report.loop_drawings import direction_map, loop_graphs

if TYPE_CHECKING:
    from elastocal.app.commands.loops import LoopsResult
    from elastocal.report.blocks import Lines

MOST = 6


def graphs(result: LoopsResult) -> tuple[Lines, ...]:
    """The first loop at the gripper, those of joints, and those that the model does not describe."""
    pairs = list(enumerate(zip(result.records, result.fits, strict=True)))
    first = next((i for i, (r, _) in pairs if r.joint is None), -1)
    chosen = [i for i, (r, f) in pairs if i == first or r.joint is not None or not f.departures.straight]
    left = f"{len(chosen) - MOST} more loops are not drawn." if len(chosen) > MOST else ""
    return tuple(
        graph
        for last, i in ((n == MOST - 1, i) for n, i in enumerate(chosen[:MOST]))
        for graph in loop_graphs(
            f"loop_{i + 1}", f"Loop {result.records[i].name}", result.fits[i], (left,) if left and last else ()
        )
    )


def maps(result: LoopsResult) -> tuple[Lines, ...]:
    """Polar maps of loops in a plane."""
    d = result.directions
    if d is None or d.units.shape[1] != 2:
        return ()
    fits = [result.fits[i] for i in d.at]
    p, g = [f.compliance for f in fits], [f.half_gap for f in fits]
    return (
        direction_map("compliance_map", "Compliance by direction", d.units, p, d.compliance),
        direction_map("backlash_map", "Backlash by direction", d.units, g, d.half_gap),
    )
