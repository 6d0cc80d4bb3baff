"""What a calibrated robot lets expect at any pose, and how well that is known.

    mean      f(theta),   variance  J H^-1 J^T + d^2          ``half_width``: 95 % interval of the mean
    reading   the same,   variance  that + noise of a pose     ``half_width_reading``

with Student's quantile where the noise is estimated.  d is the model's discrepancy: what residuals show beyond the
noise that repeats (or the user) vouch for; no number of readings makes it smaller.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.findings import Finding
from elastocal.results import as_frame, as_html
from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False, repr=False)
class Prediction:
    """Positions (N, markers, 3) in m in the frame of the readings, and half widths of 95 % intervals of the same shape.

    ``orientation`` (N, 3, 3) of the tool as it is read; ``deflection`` (N, markers, 3) in base axes, of the load alone,
    with half widths of its mean and of a reading of it; nan where no wrench was given.  ``placed`` is False of a
    calibration by deflections alone: its positions are nominal, in base axes.
    """

    position: Array
    half_width: Array
    half_width_reading: Array
    orientation: Array
    deflection: Array
    deflection_half_width: Array
    deflection_half_width_reading: Array
    markers: tuple[str, ...]
    placed: bool = True
    warnings: tuple[Finding, ...] = ()

    @property
    def loaded(self) -> bool:
        """Whether a load was given."""
        return bool(np.isfinite(self.deflection).any())

    def __repr__(self) -> str:
        n, m = self.position.shape[:2]
        width = 1e3 * float(np.nanmedian(self.half_width))
        known = f"half width {width:.3g} mm of the mean (95 %, median)"
        return f"<Prediction of {n} poses, {m} marker{'s' * (m > 1)}: {known}>"

    def to_frame(self) -> object:
        """One row for every pose and marker; a pandas DataFrame where pandas is installed, else a list of dicts."""
        rows = [
            {"pose": i, "marker": name}
            | {f"{a}_mm": 1e3 * self.position[i, j, k] for k, a in enumerate("xyz")}
            | {f"half_width_{a}_mm": 1e3 * self.half_width[i, j, k] for k, a in enumerate("xyz")}
            | {f"half_width_reading_{a}_mm": 1e3 * self.half_width_reading[i, j, k] for k, a in enumerate("xyz")}
            | ({f"d{a}_mm": 1e3 * self.deflection[i, j, k] for k, a in enumerate("xyz")} if self.loaded else {})
            for i in range(len(self.position))
            for j, name in enumerate(self.markers)
        ]
        return as_frame(rows)

    def _repr_html_(self) -> str:
        return as_html(self)
