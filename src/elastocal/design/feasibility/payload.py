"""The robot may carry the load: its force as a mass, and its moment about a frame, stay below what is allowed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from elastocal.design.cell import Cell
from elastocal.design.feasibility.filter import Filter
from elastocal.design.pool import Pool
from elastocal.errors import InputError
from elastocal.model.elements import quantity
from elastocal.model.loads.payload import Payload
from elastocal.spatial.entries import Bools


@dataclass(frozen=True, kw_only=True)
class PayloadLimit(Filter):
    """``most`` counts the mass carried anyway; ``moment`` is that of the load alone about the origin of ``about``."""

    kind: ClassVar[str] = "payload"
    most: float | None = quantity("mass", default=None)
    moment: float | None = quantity("moment", default=None)
    about: str | None = None

    def __post_init__(self) -> None:
        given = [v for v in (self.most, self.moment) if v is not None]
        if not given or not min(given) > 0:
            raise InputError("payload: give most (a mass), moment or both, above zero")

    def passes(self, pool: Pool, cell: Cell) -> Bools:
        out = np.ones(len(pool), dtype=bool)
        force, turn = pool.wrenches[:, :3], pool.wrenches[:, 3:]
        if self.most is not None:
            g = float(np.linalg.norm(pool.model.gravity))
            if not g > 0:
                raise InputError(f"payload: robot {pool.model.name} has no gravity; give a moment instead of a mass")
            carried = sum(e.mass for e in pool.model.elements if isinstance(e, Payload))
            out &= np.linalg.norm(force, axis=1) <= g * (self.most - carried) + 1e-6
        if self.moment is not None:
            about = pool.poses.origin(self.about or pool.model.tool)
            arm = (pool.poses.origin(pool.frame) - about)[pool.at]
            out &= np.linalg.norm(turn + np.cross(arm, force), axis=1) <= self.moment
        return out
