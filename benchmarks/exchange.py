"""One sweep of a D-optimal exchange by rank-k updates against the determinant of every plan by batched NumPy.

The peer gets the information of every candidate ready made; it adds that of the other members and calls slogdet.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from benchmarks.harness import Contender, Outcome, race
from elastocal.design.certificate import certify
from elastocal.design.criteria.alphabetic import Determinant
from elastocal.design.criteria.criterion import Criterion
from elastocal.design.criteria.test_pose import TestPose
from elastocal.design.exchange import Search, best, climbed, grown, search
from elastocal.design.information import CandidateRows, Space, space_of
from elastocal.design.knowledge import Forms, step
from elastocal.design.rules import Rules

MEMBERS = 15
SHARE = 2000
"""Candidates that the peer is timed on."""
SIZES = ((3, 20_000, ((18, 8.0), (30, 15.0), (42, 12.0))), (9, 5000, ((18, None), (30, None), (42, None))))
"""Rows, candidates, and parameters with the ratio needed."""


def problem(rows: int, count: int, parameters: int) -> CandidateRows:
    rng = np.random.default_rng(7)
    size = np.exp(0.3 * rng.normal(size=(count, 1, 1)))
    mixed = rng.normal(size=(parameters, parameters))
    return CandidateRows(size * rng.normal(size=(count, rows, parameters)) @ mixed)


def measure() -> list[Outcome]:
    sweeps = [sweep(k, count, p, needed) for k, count, sizes in SIZES for p, needed in sizes]
    return [*sweeps, whole_search()]


def sweep(rows: int, count: int, parameters: int, needed: float | None) -> Outcome:
    candidates = problem(rows, count, parameters)
    space = space_of(candidates)
    members = grown(Search(space, Determinant(), Rules(MEMBERS)), [], MEMBERS)
    kept = Forms.at(space, space.known(members))
    every = np.ones(count, dtype=bool)

    def updated(criterion: Criterion) -> list[int]:
        choices = []
        for j, c in enumerate(members):
            without = space.known(members[:j] + members[j + 1 :])
            choices.append(best(criterion, kept.trials(without, step(without, space.block(c))), every)[0])
        return choices

    part = candidates.blocks[:SHARE]
    grams = part.swapaxes(1, 2) @ part
    others = candidates.information(members[1:])
    wanted = TestPose(np.random.default_rng(8).normal(size=(20, 3, parameters)))
    contenders = [
        Contender("elastocal, rank-k updates", MEMBERS * count, lambda: updated(Determinant())),
        Contender("numpy.linalg.slogdet of every plan", SHARE, lambda: np.linalg.slogdet(others + grams), needed),
        Contender("elastocal, error at 20 test poses", MEMBERS * count, lambda: updated(wanted)),
    ]
    facts = (f"choices for members {same(candidates, members, updated(Determinant()))} are those of the determinants",)
    work = f"one evaluated exchange of {MEMBERS} x {count}, {rows} rows, {parameters} parameters"
    return race(work, contenders, rounds=4, facts=facts)


def same(candidates: CandidateRows, members: list[int], choices: list[int]) -> str:
    """Members whose exchange was compared with the determinants of all plans; a difference stops the run."""
    compared = (0, MEMBERS // 2, MEMBERS - 1)
    for j in compared:
        others = candidates.information(members[:j] + members[j + 1 :])
        found: list[float] = []
        for blocks in np.array_split(candidates.blocks, max(1, len(candidates.blocks) // SHARE)):
            found.extend(np.linalg.slogdet(others + blocks.swapaxes(1, 2) @ blocks)[1])
        if int(np.argmax(found)) != choices[j]:
            raise SystemExit(f"exchange: rank-k updates and determinants choose differently for member {j}")
    return ", ".join(str(j) for j in compared)


def whole_search() -> Outcome:
    """One start from the greedy plan to the end, and the certificate of the best of three.

    Plans take no candidate twice, and the bound counts that: no weight is above one.  Where a plan has hardly more
    equations than parameters (15 x 3 for 42) the weights of 95 candidates cannot be had by 15, however they are chosen;
    with six rows (15 x 6 for 42) the bound is near again.
    """
    contenders, facts = [], []
    for rows, count, members, parameters in (
        (3, 20_000, 15, 18), (3, 20_000, 15, 30), (3, 20_000, 15, 42), (6, 20_000, 15, 42), (9, 5000, 15, 42),
        (9, 5000, 30, 42),
    ):  # fmt: skip
        candidates = problem(rows, count, parameters)
        space = space_of(candidates)
        name = f"{members} of {count}, {rows} rows, {parameters} parameters"
        contenders.append(Contender(name, 1, start(space, members)))
        facts.append(f"{name}: {certified(candidates, space, members)}")
    return race("whole D-optimal search, one start", contenders, rounds=2, facts=tuple(facts))


def start(space: Space, members: int) -> Callable[[], object]:
    task = Search(space, Determinant(), Rules(members))
    return lambda: climbed(task, grown(task, [], members))


def certified(candidates: CandidateRows, space: Space, members: int) -> str:
    began = time.perf_counter()
    space_of(candidates)
    ready = time.perf_counter() - began
    rules = Rules(members)
    plan = search(candidates, Determinant(), rules, rng=np.random.default_rng(1), restarts=3, space=space)
    began = time.perf_counter()
    found = certify(candidates, Determinant(), rules, plan, space=space)
    took = time.perf_counter() - began
    return f"at least {100 * found.efficiency:.1f} % efficient (certificate {took:.2f} s, coordinates {ready:.2f} s)"
