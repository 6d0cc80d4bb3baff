"""Many targets that are written alike, exchanged as wholes: one edit per target instead of one per number.

What stands between the numbers is the same in all targets of a run: ``12.500,Y 3.000,Z -5.000``, from the first number
to the last, becomes ``%.4f,Y %.4f,Z %.4f`` and is filled in for thousands of targets in one step.
"""

from __future__ import annotations

import numpy as np

from elastocal.compensate.posts.edits import Edits
from elastocal.spatial.entries import Array, Bools, Ints


def row_edits(text: str, spans: Ints, values: Array, decimals: Ints, whole: Bools, edits: Edits) -> Bools:
    """Add the edits of a run's targets, given spans (n, k, 2), and tell (n,) which are done.

    ``whole`` (n,) are those of which every number changes; they are done where their decimals are those of the first.
    """
    order = np.argsort(spans[0, :, 0])
    marks = spans[0, order]
    gaps = [text[a:b].replace("%", "%%") for a, b in zip(marks[:-1, 1].tolist(), marks[1:, 0].tolist(), strict=True)]
    done = whole & (decimals == decimals[0]).all(axis=1)
    if any(c.isdigit() for gap in gaps for c in gap) or not done.any():
        return np.zeros(len(done), dtype=bool)
    forms = [f"%.{d}f" for d in decimals[0, order].tolist()]
    form = "".join(f + g for f, g in zip(forms, [*gaps, "\n"], strict=True))
    new = np.where(np.abs(values) < 0.5 * 10.0**-decimals, 0.0, values)[done][:, order]
    lines = (form * len(new) % tuple(new.ravel().tolist())).split("\n")[:-1]
    edits.extend(spans[done, order[0], 0].tolist(), spans[done, order[-1], 1].tolist(), lines)
    return np.asarray(done)
