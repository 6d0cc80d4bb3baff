"""Which element bends how much: the linear deflection is a sum over elements, so each has a share of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastocal.model.elements import CompliantCoordinate
    from elastocal.model.loads.wrench import AppliedWrenches
    from elastocal.model.robot import RobotModel
    from elastocal.spatial.entries import Array


@dataclass(frozen=True)
class Contribution:
    """An element's part of the linear deflection: along the total (signed, m), its length (m), and the share."""

    element: str
    along: float
    length: float
    share: float


def contributions(model: RobotModel, q: Array, applied: AppliedWrenches, frame: str) -> tuple[Contribution, ...]:
    """Largest share first, for one configuration; shares add up to one, and are nan where nothing moves."""
    import numpy as np

    from elastocal.model.statics.deflection import linear_deflection

    total = linear_deflection(model, q, [applied], frame).translation[0]
    size = float(np.linalg.norm(total))
    unit = total / size if size > 0 else np.full(3, np.nan)
    out = []
    for element in model.coordinates:
        if not element.compliance().any():
            continue
        part = linear_deflection(_alone(model, element), q, [applied], frame).translation[0]
        along = float(part @ unit)
        share = along / size if size > 0 else float("nan")
        out.append(Contribution(_words(element), along, float(np.linalg.norm(part)), share))
    return tuple(sorted(out, key=lambda c: -c.along if c.along == c.along else 0.0))


def _alone(model: RobotModel, kept: CompliantCoordinate) -> RobotModel:
    """The robot with one compliance; geometric errors and loads stay."""
    stiff = {id(c) for c in model.coordinates if c is not kept and c.compliance().any()}
    return replace(model, elements=tuple(e for e in model.elements if id(e) not in stiff))


def _words(element: CompliantCoordinate) -> str:
    return f"{element.kind.replace('_compliance', '')} {element.place}"
