"""The next campaign after earlier ones: their information is the prior of the next plan.

P_next = P + sum over what was measured of A_c^T A_c
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor

import numpy as np

from elastocal.design.candidates import Candidates
from elastocal.design.criteria.criterion import Criterion
from elastocal.design.rules import Rules
from elastocal.design.search import Plan, search
from elastocal.spatial.entries import Array


def next_plan(
    candidates: Candidates,
    criterion: Criterion,
    rules: Rules,
    earlier: Array,
    *,
    rng: np.random.Generator,
    restarts: int = 10,
    executor: Executor | None = None,
) -> Plan:
    """The best plan after a campaign with information ``earlier`` (p, p), as a fit states it."""
    return search(candidates.knowing(earlier), criterion, rules, rng=rng, restarts=restarts, executor=executor)


def in_stages(
    candidates: Candidates,
    criterion: Criterion,
    stages: Sequence[Rules],
    *,
    rng: np.random.Generator,
    restarts: int = 10,
    executor: Executor | None = None,
) -> tuple[Plan, ...]:
    """One plan after the other, each knowing all before; what is known at last is ``known`` of the last plan."""
    plans: list[Plan] = []
    for rules in stages:
        plan = search(candidates, criterion, rules, rng=rng, restarts=restarts, executor=executor)
        rows = candidates.blocks[list(plan.chosen)].reshape(-1, candidates.parameters)
        candidates = candidates.knowing(rows.T @ rows)
        plans.append(plan)
    return tuple(plans)
