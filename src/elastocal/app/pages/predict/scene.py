"""Predicted deflections and their error ellipsoids as a scene."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.app.drawing import MOST_ARMS, enlargement, spread_out, times
from elastocal.app.pages.deflect.scene import row_names
from elastocal.app.pages.robot_scene import (
    UNIT,
    arrows,
    drawn_words,
    ellipsoids,
    force_scale,
    load_forces,
    loaded_arm,
)
from elastocal.report.blocks import Scene
from elastocal.report.parts import Part

if TYPE_CHECKING:
    from elastocal.app.commands.predict import PredictResult


def scenes(result: PredictResult) -> tuple[Scene, ...]:
    """One view per pose: the arm, its load, how far the frame moves and where it is expected; none beyond reason."""
    import numpy as np

    from elastocal.model.kinematics import kinematics
    from elastocal.model.skeleton import skeleton

    p, q, names = result.prediction, result.at.q, row_names(result.at)
    known = np.asarray(np.isfinite(p.twist).all(axis=1))
    if result.beyond or not known.any() or result.load.applied is None:
        return ()
    arms = skeleton(result.model, q)
    at = kinematics(result.model, q, p.frame).position
    rows = spread_out(np.where(known[:, None], at, np.nan), MOST_ARMS)
    moved = enlargement(arms.extent, float(np.nanmax(np.linalg.norm(p.twist[:, :3], axis=1))))
    unsure = enlargement(arms.extent, 2 * float(np.nanmax(p.ellipsoid()[0])))
    starts, forces = load_forces(result.model, q, result.load.applied)
    scale, said = force_scale(forces, arms.extent)
    ends = at + moved * p.twist[:, :3]
    parts: list[Part] = []
    for i in rows:
        one, view = np.array([i]), names[i]
        parts += [
            *loaded_arm(arms.picked(one), starts[one], forces[one], scale, view),
            arrows(f"deflection, {times(moved)}", at[one], p.twist[one, :3], moved, (), view),
            ellipsoids(f"one-sigma ellipsoid, {times(unsure)}", ends[one], p.picked(one), unsure, view),
        ]
    notes = (
        f"Deflections are drawn {times(moved)}, error ellipsoids (one standard deviation) {times(unsure)}.",
        said,
        *drawn_words(len(rows), len(q)),
    )
    return (Scene("scene", "Predicted deflections and how sure they are", UNIT, tuple(parts), notes),)
