"""Where a cell works: the key ``workpiece`` of cell.yaml, a plane or a box in base or work-object coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from elastocal.errors import RangeError
from elastocal.files import schema
from elastocal.files.located import Located
from elastocal.model.elements import quantity
from elastocal.model.places import Plane
from elastocal.spatial.pose import Pose
from elastocal.values import dataclass

Corner = tuple[float, float, float]
COUNTS = (25, 17)


@dataclass(frozen=True, kw_only=True)
class WorkArea:
    """Corners ``low`` and ``high`` in the axes of the work object; a plane where they agree along one axis.

    ``object`` is where the work object lies in base, ``turn`` its angles A, B, C about z, y, x in turn; without them
    the corners are in base.
    """

    low: Corner = quantity("length")
    high: Corner = quantity("length")
    object: Corner = quantity("length", default=(0.0, 0.0, 0.0))
    turn: Corner = quantity("angle", default=(0.0, 0.0, 0.0))

    def __post_init__(self) -> None:
        sides = np.subtract(self.high, self.low)
        if not (sides >= 0).all() or np.count_nonzero(sides > 0) < 2:
            message = "workpiece: high must not be below low, and two sides need some length"
            raise RangeError(message, value=[float(v) for v in sides])

    def planes(self) -> tuple[Plane, ...]:
        """The plane, or the two largest faces of the box, the lower one first."""
        from elastocal.spatial.turns import Rotation

        low, high = np.array(self.low), np.array(self.high)
        frame = Pose(Rotation.from_euler("ZYX", self.turn).as_matrix(), np.array(self.object))
        normal = int(np.argmin(high - low))
        first, second = (i for i in range(3) if i != normal)
        spans = (np.linspace(low[first], high[first], COUNTS[0]), np.linspace(low[second], high[second], COUNTS[1]))
        heights = dict.fromkeys((float(low[normal]), float(high[normal])))
        return tuple(Plane((first, second), spans, height, frame) for height in heights)


def read_work_area(located: Located, data: Any) -> WorkArea | None:
    """Of a cell file, with the place of what is wrong."""
    return None if data is None else schema.construct(WorkArea, located, ("workpiece",), data, {})
