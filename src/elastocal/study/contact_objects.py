"""An object that is not what its description says spoils a fit of contacts as nothing else does.

With the measured forces on the arm, gaps are almost linear in place and size of the objects.  Each place and each size
is freed in turn beside the parameters: the one whose freedom explains most of the misfit is named, with the change that
it seems to have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from elastocal.measure.campaign import Campaign
from elastocal.measure.contact_gap import ContactGap
from elastocal.model.robot import RobotModel
from elastocal.study.contact_start import close_gaps, gap_problem, orthonormal_span

PROBABLE, MOST = 0.001, 0.5
"""An object is at fault where chance gives as much with this probability, and it explains this share of the misfit."""
SEEN = 1e-6
"""Part of a column's square that the parameters must leave, so that it can be told from them."""

What = Literal["place", "size"]


@dataclass(frozen=True)
class Doubt:
    """Freed, place or size of an object explain ``share`` of the misfit, by ``changes`` of its parameters; chance does
    as much with ``probability``."""

    name: str
    what: What
    share: float
    probability: float
    changes: tuple[tuple[str, str, float], ...]

    @property
    def convincing(self) -> bool:
        return self.probability < PROBABLE and self.share > MOST

    def text(self) -> str:
        moved = ", ".join(f"{n} by {1e3 * v:.3g} m{u}" for n, u, v in self.changes)
        seems = "seems to lie elsewhere" if self.what == "place" else "seems to have another size"
        return f"{self.name} {seems} ({moved}): that explains {100 * self.share:.0f} % of the misfit"


def doubted_objects(model: RobotModel, campaign: Campaign, names: Sequence[str]) -> tuple[Doubt, ...]:
    """Place and size of every object that is touched, the one that explains most first.

    A size that the parameters can stand for, as where only one object is touched, is not judged; nor is what nobody
    touched, whose columns are zero.
    """
    from scipy.stats import f as ratio

    at = close_gaps(model, campaign, names).model
    problem = gap_problem(campaign, at, names)
    kind = problem.kind
    n, r = problem.linear.shape
    columns = np.where(problem.linear.used[:, :, None], kind.by_objects(at), 0.0)
    moved = problem.linear.weights.whiten(columns).reshape(n * r, -1)
    span = orthonormal_span(problem.linear)[: n * r]
    left = problem.linear.misfit[: n * r] - span @ (span.T @ problem.linear.misfit[: n * r])
    total, freedom = float(left @ left), problem.linear.readings - span.shape[1]
    out = []
    for name, what, places in _freed(kind):
        free = moved[:, places] - span @ (span.T @ moved[:, places])
        seen = np.linalg.svd(free, compute_uv=False)[-1] ** 2 > SEEN * np.sum(moved[:, places] ** 2)
        rest = freedom - len(places)
        if rest < 1 or not total > 0 or not seen:
            continue
        step = np.linalg.lstsq(free, left, rcond=None)[0]
        gain = float(left @ (free @ step))
        chance = ratio.sf((gain / len(places)) / max((total - gain) / rest, 1e-300), len(places), rest)
        rows = [kind.touches.parameters[i] for i in places]
        changes = tuple((p.name, p.unit, float(s)) for p, s in zip(rows, step, strict=True))
        out.append(Doubt(name, what, gain / total, float(chance), changes))
    return tuple(sorted(out, key=lambda d: -d.share))


def _freed(kind: ContactGap) -> Iterator[tuple[str, What, list[int]]]:
    """Name, and places in the list of all objects' parameters, of what is freed together."""
    first = 0
    for surface in kind.touches.surfaces:
        own = [p.name for p in surface.parameters()]
        size = [first + j for j, name in enumerate(own) if name.endswith(".radius")]
        place = [first + j for j in range(len(own)) if first + j not in size]
        first += len(own)
        yield surface.label, "place", place
        if size:
            yield surface.label, "size", size
