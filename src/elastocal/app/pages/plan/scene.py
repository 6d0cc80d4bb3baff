"""The poses of a plan as a scene: arms, loads, what stands in the cell, and what the tracker sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.drawing import MOST_ARMS, spread_out
from elastocal.app.pages.cell_parts import beams, cell_parts
from elastocal.app.pages.robot_scene import UNIT, arm_parts, dots, drawn_words, force_arrows, force_scale, load_forces
from elastocal.report.blocks import Scene
from elastocal.report.parts import Part

if TYPE_CHECKING:
    from elastocal.app.commands.plan import PlanResult

ALL = "all poses"


def scenes(result: PlanResult) -> tuple[Scene, ...]:
    """All chosen places of the tool with their loads, then some of the arms one by one."""
    import numpy as np

    from elastocal.model.skeleton import skeleton

    candidates, cell, model = result.task.measuring.stations(result.candidates)[0], result.task.cell, result.task.model
    arms = skeleton(model, candidates.q)
    rows = spread_out(arms.tip, MOST_ARMS)
    names = [f"P{i + 1}" for i in range(len(candidates))]
    starts, forces = load_forces(model, candidates.q, candidates.load)
    scale, said = force_scale(forces, arms.extent)
    parts: list[Part] = [
        *cell_parts(cell),
        *arm_parts(arms.picked(rows), "some of the arms", ALL, "faint"),
        dots("chosen poses", arms.tip, names, ALL),
        force_arrows(starts, forces, scale, ALL),
    ]
    for i in rows:
        seen = np.array([candidates.poses.origin(m)[candidates.at[i]] for m in cell.markers]).reshape(-1, 3)
        parts += [*arm_parts(arms.picked(np.array([i])), "arm", names[i]), *beams(cell, seen, names[i])]
        parts.append(force_arrows(starts[[i]], forces[[i]], scale, names[i]))
    notes = (said, *drawn_words(len(rows), len(candidates), "arms"))
    return (Scene("scene", "Chosen poses and loads", UNIT, tuple(parts), notes),)
