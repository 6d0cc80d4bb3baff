"""The way from the 260 parameters of the KR-270's complete model to those that stand out, with what fell and why."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from elastocal.published.case import Listing

if TYPE_CHECKING:
    from elastocal.model.robot import Robot
    from elastocal.reduction.elimination import Dropped
    from elastocal.reduction.identify import Identification

SPRING = ("A2.k_c", "A2.s_0")
PHYSICAL = {
    "symmetry M1": "equal to the mirrored element by symmetry",
    "template M2": "zero in the template of a beam along x",
}
KNOWN = "compensator"


def spring_ratios(truth: Robot, found: Identification) -> dict[str, float]:
    """How far k_c and s_0 would stand out of the noise if they were sought beside all that can be told apart."""
    import numpy as np

    from elastocal.solve.groups import covariance

    fit = found.whole
    model = truth.with_link_form("beam")
    names = [*fit.names, *SPRING]
    n, r = fit.problem.shape
    columns = fit.problem.weights.whiten(fit.campaign.measurement.derivative(model, names)).reshape(n * r, -1)
    sd = np.sqrt(np.diag(covariance(columns, range(len(names)))))
    value = [model.parameters.values[model.parameters.index(s)] for s in SPRING]
    return {s: float(v / e) for s, v, e in zip(SPRING, value, sd[-len(SPRING) :], strict=True)}


def path_listings(truth: Robot, found: Identification) -> tuple[Listing, ...]:
    """Counts of every stage, the compensator's pair first, and everything that is not estimated."""
    ratios = spring_ratios(truth, found)
    return Listing("reduction_path", _stages(found), _PATH), Listing(
        "not_estimated", _fallen(truth, found, ratios), _FALLEN
    )


_PATH = (
    "Told apart: without noise. Pose left out: rms error per axis of predicting a pose that took no part in the fit; "
    "empty where the stage has no fit of its own."
)
_FALLEN = (
    "Compliances are taken for zero before the experiment, so that is what they are held at; k_c and s_0 are known."
)


def _stages(found: Identification) -> tuple[dict[str, str | int | float], ...]:
    first = found.stages[0]
    rows: list[dict[str, str | int | float]] = [
        {
            "stage": "complete",
            "parameters": first.parameters + len(SPRING),
            "what it does": "everything that yields, and the compensator's k_c and s_0",
        }
    ]
    for stage in found.stages:
        name = KNOWN if stage is first else stage.name
        what = "k_c and s_0 are held as known, see below" if stage is first else stage.action
        row: dict[str, str | int | float] = {"stage": name, "parameters": stage.parameters, "what it does": what}
        row["told apart"] = stage.identifiable
        if isfinite(stage.left_out):
            row["pose left out [um]"] = round(1e6 * stage.left_out, 1)
        rows.append(row)
    return tuple(rows)


def _fallen(truth: Robot, found: Identification, ratios: dict[str, float]) -> tuple[dict[str, str | int | float], ...]:
    said = " and ".join(f"{n} by {v:.0f}" for n, v in ratios.items())
    known = (
        f"identified by an experiment of its own (case kr270-compensator); sought here as well they would stand out of "
        f"the noise, {said}"
    )
    held = " and ".join(f"{truth.parameters.values[truth.parameters.index(n)]:.4g}" for n in SPRING)
    rows = [_row(KNOWN, " ".join(SPRING), len(SPRING), known, held)]
    for stage, why in PHYSICAL.items():
        gone: dict[str, list[str]] = {}
        for d in found.dropped:
            if d.stage == stage:
                place, symbol = d.name.rsplit(".", 1)
                gone.setdefault(place, []).append(symbol)
        rows += [_row(stage, f"{place}: {' '.join(names)}", len(names), why, "") for place, names in gone.items()]
    rows += [
        _row(d.stage, d.name, 1, _reason(d), f"{d.fixed_at:.4g}") for d in found.dropped if d.stage not in PHYSICAL
    ]
    return tuple(rows)


def _row(stage: str, names: str, count: int, why: str, held: str) -> dict[str, str | int | float]:
    return {"stage": stage, "parameters": names, "count": count, "held at": held, "why": why}


def _reason(d: Dropped) -> str:
    return f"{d.reason} ({d.value:.3g} with sd {d.sd:.2g})" if isfinite(d.value) else d.reason
