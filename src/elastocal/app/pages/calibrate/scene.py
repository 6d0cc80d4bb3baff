"""A campaign as a scene: measurement poses, loads, and how far markers moved against what the model says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elastocal.app.drawing import MOST_ARMS, MOST_MARKS, enlargement, spread_out, thinned, times
from elastocal.app.marker_moves import MarkerMoves, flagged_readings, marker_moves
from elastocal.app.pages.robot_scene import (
    UNIT,
    arm_parts,
    arrows,
    dots,
    drawn_words,
    force_arrows,
    force_scale,
    load_forces,
)
from elastocal.report.blocks import Scene
from elastocal.report.parts import Look, Part

if TYPE_CHECKING:
    from elastocal.app.commands.calibrate import CalibrateResult
    from elastocal.model.skeleton import Skeleton
    from elastocal.spatial.entries import Array, Bools, Ints

ALL = "all poses"


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Everything of a campaign that is drawn; ``bent`` are the arms of ``rows`` under load, enlarged by ``factor``."""

    moves: MarkerMoves
    arms: Skeleton
    rows: Ints
    bent: Skeleton
    starts: Array
    forces: Array
    scale: float
    factor: float


def scenes(result: CalibrateResult) -> tuple[Scene, ...]:
    """All poses at once, then some of them one by one, doubtful ones before others; nothing without markers."""
    from elastocal.model.skeleton import skeleton

    moves = marker_moves(result)
    if moves is None:
        return ()
    where, model = result.file.campaign.measurement.setup, result.study.fit.model
    arms = skeleton(model, where.q)
    factor = enlargement(arms.extent, moves.longest)
    rows = spread_out(arms.tip, MOST_ARMS, flagged_readings(moves).tolist())
    starts, forces = load_forces(model, where.q, where.load)
    scale, said = force_scale(forces, arms.extent)
    drawn = _Drawn(moves, arms, rows, _bent(result, rows, factor), starts, forces, scale, factor)
    marks = thinned(where.count, MOST_MARKS)
    parts = [*_all(drawn, marks), *(p for n in range(len(rows)) for p in _single(drawn, n))]
    notes = [f"The vectors {moves.words[0]} and {moves.words[1]} are drawn {times(factor)}.", said]
    if moves.cut:
        notes.append(f"{moves.cut} doubtful vectors are far longer and are cut.")
    if len(marks) < where.count:
        notes.append(f"{len(marks)} of {where.count} readings are drawn.")
    notes += drawn_words(len(rows), len(set(where.pose.tolist())), "arms")
    return (Scene("scene", "Poses, loads and what moved", UNIT, tuple(parts), tuple(notes)),)


def _bent(result: CalibrateResult, rows: Ints, factor: float) -> Skeleton:
    """The calibrated arms under their loads, enlarged from where they are without."""
    from elastocal.model.skeleton import skeleton
    from elastocal.model.statics.equilibrium import equilibrium

    model, where = result.study.fit.model, result.file.campaign.measurement.setup.picked(rows)
    rest = skeleton(model, where.q, equilibrium(model, where.q))
    return rest.enlarged(skeleton(model, where.q, equilibrium(model, where.q, [where.load])), factor)


def _all(drawn: _Drawn, marks: Ints) -> list[Part]:
    names = [_name(int(i)) for i in marks]
    return [
        *arm_parts(drawn.arms.picked(drawn.rows), "some of the arms", ALL, "faint"),
        dots("tool", drawn.arms.tip[marks], names, ALL, "cell"),
        force_arrows(drawn.starts[marks], drawn.forces[marks], drawn.scale, ALL),
        *_vectors(drawn, marks, ALL),
    ]


def _single(drawn: _Drawn, n: int) -> list[Part]:
    import numpy as np

    row = drawn.rows[[n]]
    view = _name(int(row[0]))
    return [
        *arm_parts(drawn.arms.picked(row), "at rest", view, "faint"),
        *arm_parts(drawn.bent.picked(np.array([n])), f"calibrated arm, {times(drawn.factor)}", view),
        force_arrows(drawn.starts[row], drawn.forces[row], drawn.scale, view),
        *_vectors(drawn, row, view),
    ]


def _vectors(drawn: _Drawn, rows: Ints, view: str) -> list[Part]:
    """Both vectors of every marker; those first ones that are doubtful stand out."""
    import numpy as np

    moves, enlarged = drawn.moves, times(drawn.factor)
    flagged = moves.flagged[rows].reshape(-1)
    at, first, second = (v[rows].reshape(-1, 3) for v in (moves.at, moves.first, moves.second))
    kinds: tuple[tuple[str, Array, Bools, Look], ...] = (
        (f"{moves.words[0]}, {enlarged}", first, ~flagged, "plain"),
        (f"{moves.words[1]}, {enlarged}", second, np.ones_like(flagged), "plain"),
        ("left out or doubtful", first, flagged, "warning"),
    )
    return [
        arrows(name, at, np.where(kept[:, None], vectors, np.nan), drawn.factor, _sizes(vectors), view, look)
        for name, vectors, kept, look in kinds
    ]


def _sizes(vectors: Array) -> list[str]:
    import numpy as np

    return [f"{1e3 * size:.4g} mm" for size in np.linalg.norm(vectors, axis=1)]


def _name(row: int) -> str:
    return f"reading {row + 1}"
