"""The part that ``kr270_milling`` mills: a contour in front of the KR-270, and the forces on its cutter."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastocal.compensation.loads import PathLoads
    from elastocal.compensation.targets import Targets
    from elastocal.model.robot import RobotModel
    from elastocal.spatial.entries import Array

CENTRE, HALF, CORNER, STEP = (1.85, 0.0, 0.9), (0.35, 0.25), 0.08, 0.01
FEED, RADIAL, AXIAL = 3.3e-3, 0.8, 0.6


def contour() -> Array:
    """Points (N, 3) in m along a rounded rectangle, counter-clockwise, every 10 mm or closer, the first one again."""
    import numpy as np

    (x, y, z), (a, b) = CENTRE, HALF
    middles = [(x + a - CORNER, y - b + CORNER), (x + a - CORNER, y + b - CORNER),
               (x - a + CORNER, y + b - CORNER), (x - a + CORNER, y - b + CORNER)]  # fmt: skip
    turn = np.linspace(-np.pi / 2, 0, 13)
    arcs = [
        np.array(m) + CORNER * np.column_stack([np.cos(turn + i * np.pi / 2), np.sin(turn + i * np.pi / 2)])
        for i, m in enumerate(middles)
    ]
    out = []
    for this, following in zip(arcs, [*arcs[1:], arcs[0]], strict=True):
        length = float(np.linalg.norm(following[0] - this[-1]))
        share = np.linspace(0, 1, round(length / STEP) + 1)[1:-1, None]
        out += [this, this[-1] + share * (following[0] - this[-1])]
    plane = np.concatenate([*out, arcs[0][:1]])
    return np.column_stack([plane, np.full(len(plane), z)])


def contour_targets(truth: RobotModel) -> Targets:
    """The tool's x axis, along which the spindle lies, points down."""
    import numpy as np

    from elastocal.compensation.targets import Targets
    from elastocal.spatial.rotation import rpy_matrix

    places = contour()
    down = rpy_matrix(0.0, np.pi / 2, 0.0)
    return Targets(truth.tool, places, np.repeat(down[None], len(places), axis=0), np.radians([0, -70, 90, 0, 70, 0]))


def cutting_loads(truth: RobotModel, path: Targets) -> PathLoads:
    """Steel, 10 mm deep and 30 mm wide with a 50 mm cutter at 300 1/min: 2.5 kN along, 2 kN across, 1.5 kN axial."""
    from elastocal.compensation.loads import PathLoads
    from elastocal.compensation.milling import Milling, milling_wrenches

    process = Milling(
        specific_force=2e9, axial_depth=0.01, radial_engagement=0.03, diameter=0.05, teeth=4, spindle=5.0,
        radial=RADIAL, axial=AXIAL,
    )  # fmt: skip
    return PathLoads((milling_wrenches(process, truth.tool, path.position, -path.rotation[:, :, 0], FEED),))
