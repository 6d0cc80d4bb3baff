"""Cartesian stiffness of a million configurations: rate, memory, and digits near the wrist singularity."""

from __future__ import annotations

import numpy as np

from benchmarks.harness import Contender, Outcome, race
from benchmarks.memory import growth
from benchmarks.robots import LINKS, configurations, robot
from elastocal.model.kinematics import kinematics
from elastocal.model.statics.flexibility import assemble
from elastocal.model.statics.stiffness import stiffness, stiffness_chunks

COUNT = 1_000_000
BLOCK = 20_000


def measure() -> Outcome:
    model = robot().without(*LINKS)
    q = configurations(COUNT)
    k = np.diag(assemble(model).compliance)

    def ours() -> None:
        for _ in stiffness_chunks(model, q, compliance=False):
            pass

    def inverse() -> None:
        for start in range(0, COUNT, BLOCK):
            j = kinematics(model, q[start : start + BLOCK]).jacobian
            np.linalg.inv((j * k) @ np.swapaxes(j, 1, 2))

    facts = (
        f"memory above start while streaming {COUNT} configurations: {growth('stiffness', COUNT):.0f} MB (limit 200)",
        *_digits(),
    )
    contenders = [
        Contender("elastocal, streamed", COUNT, ours),
        Contender("batched numpy.linalg.inv of J k J^T (same Jacobians)", COUNT, inverse, needed=2.0),
    ]
    return race(f"Cartesian stiffness, {COUNT} configurations", contenders, rounds=3, facts=facts)


def _digits() -> tuple[str, ...]:
    """Correct digits at A5 = 1e-2 .. 1e-6 rad, against exact rational arithmetic on the same Jacobian."""
    model = robot().without(*LINKS)
    k = np.diag(assemble(model).compliance)
    lines = []
    for a5 in (1e-2, 1e-4, 1e-6):
        q = np.array([[0.3, -1.2, 1.0, 0.7, a5, 0.4]])
        j = kinematics(model, q).jacobian[0]
        exact = exact_stiffness(j, k)
        ours = stiffness(model, q).stiffness[0]
        plain = np.linalg.inv((j * k) @ j.T)
        lines.append(
            f"correct digits at A5 = {a5:g} rad: ours {_agree(ours, exact):.1f}, inv {_agree(plain, exact):.1f}"
        )
    return tuple(lines)


def exact_stiffness(jacobian: np.ndarray, k: np.ndarray) -> np.ndarray:
    """(J k J^T)^-1 in rational arithmetic."""
    from fractions import Fraction

    n = len(jacobian)
    j = [[Fraction(float(x)) for x in row] for row in jacobian]
    kk = [Fraction(float(x)) for x in k]
    a = [[sum(j[r][m] * kk[m] * j[c][m] for m in range(n)) for c in range(n)] for r in range(n)]
    work = [row + [Fraction(int(r == c)) for c in range(n)] for r, row in enumerate(a)]
    for p in range(n):
        pivot = next(r for r in range(p, n) if work[r][p] != 0)
        work[p], work[pivot] = work[pivot], work[p]
        work[p] = [x / work[p][p] for x in work[p]]
        for r in range(n):
            if r != p:
                work[r] = [x - work[r][p] * y for x, y in zip(work[r], work[p], strict=True)]
    return np.array([[float(x) for x in row[n:]] for row in work])


def _agree(found: np.ndarray, exact: np.ndarray) -> float:
    error = np.linalg.norm(found - exact) / np.linalg.norm(exact)
    return float(-np.log10(max(error, 1e-17)))
