"""Rank, null space, groups and combinations of small chains against exact rational arithmetic.

Angles are 2 atan(t) with rational t, so that sines and cosines are rational too.  The chain, the Jacobians and the
elimination are written here once more, in fractions; the product only gets the same numbers as floats.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from math import atan

import numpy as np
import pytest

from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.compliant.link_compliance import LinkCompliance
from elastocal.model.frames import Frame, FrameTree, JointMotion
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.observation import Marker, linear_observation
from elastocal.solve.identifiability import classify, decide_rank, stacked_triangle
from elastocal.spatial.pose import Pose

UNIT = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
SPRING = tuple(tuple(1e-6 * (i == j) for j in range(6)) for i in range(6))


@dataclass(frozen=True)
class Step:
    """A frame: shifted from the one before, then a joint (or none), then a spring (or none)."""

    name: str
    shift: tuple[Fraction, Fraction, Fraction] = (Fraction(0),) * 3
    joint: str = ""
    axis: int = 2
    spring: bool = False


PLANAR = (
    Step("a", joint="revolute"),
    Step("end", (Fraction(7, 10), Fraction(0), Fraction(0)), spring=True),
    Step("b", joint="revolute"),
    Step("tip", (Fraction(1, 2), Fraction(1, 20), Fraction(0))),
)
CYLINDRICAL = (
    Step("turn", joint="revolute"),
    Step("lift", (Fraction(0), Fraction(0), Fraction(2, 5)), joint="prismatic"),
    Step("mast", spring=True),
    Step("reach", (Fraction(1, 5), Fraction(0), Fraction(0)), joint="prismatic", axis=0),
    Step("tip", (Fraction(1, 10), Fraction(0), Fraction(0))),
)


def times(m, v):
    return [sum(m[i][k] * v[k] for k in range(3)) for i in range(3)]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def screws(chain, values):
    """Name, direction, point, turning or not of every degree of freedom, and the point of the tip."""
    rotation, point, out, given = [list(map(Fraction, row)) for row in UNIT], [Fraction(0)] * 3, [], iter(values)
    for step in chain:
        point = [p + d for p, d in zip(point, times(rotation, step.shift), strict=True)]
        if step.joint:
            direction, value = times(rotation, UNIT[step.axis]), next(given)
            out.append((step.name, direction, point, step.joint == "revolute"))
            if step.joint == "revolute":  # about z, value = tan of half the angle
                c, s = (1 - value**2) / (1 + value**2), 2 * value / (1 + value**2)
                columns = times(rotation, (c, s, 0)), times(rotation, (-s, c, 0)), times(rotation, (0, 0, 1))
                rotation = [[columns[j][i] for j in range(3)] for i in range(3)]
            else:
                point = [p + value * d for p, d in zip(point, direction, strict=True)]
        if step.spring:
            out += [(step.name, times(rotation, UNIT[i % 3]), point, i >= 3) for i in range(6)]
    return out, point


def exact_rows(chain, values, wrench, rows):
    """Observation rows of one configuration: J_a Q_b + J_b Q_a for an element k_ab, by name of the parameter."""
    found, tip = screws(chain, values)
    twists: dict[str, list[list[Fraction]]] = {}
    for name, direction, point, turns in found:
        arm = [t - p for t, p in zip(tip, point, strict=True)]
        twist = [*cross(direction, arm), *direction] if turns else [*direction, 0, 0, 0]
        twists.setdefault(name, []).append(twist)
    out = {}
    for name, js in twists.items():
        force = [sum(x * w for x, w in zip(j, wrench, strict=True)) for j in js]
        for a, b in combinations_with_replacement(range(len(js)), 2):
            label = f"{name}.k" if len(js) == 1 else f"{name}.k{a + 1}{b + 1}"
            both = [js[a][r] * force[b] + (js[b][r] * force[a] if a != b else 0) for r in range(6)]
            out[label] = both[:rows]
    return out


def eliminated(columns):
    """Pivots and reduced row echelon form of a matrix given by columns, exactly."""
    rows, pivots = [list(r) for r in zip(*columns, strict=True)], []
    for col in range(len(columns)):
        at = next((r for r in range(len(pivots), len(rows)) if rows[r][col] != 0), None)
        if at is None:
            continue
        place = len(pivots)
        rows[place], rows[at] = rows[at], rows[place]
        rows[place] = [x / rows[place][col] for x in rows[place]]
        for r in range(len(rows)):
            if r != place and rows[r][col] != 0:
                factor = rows[r][col]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[place], strict=True)]
        pivots.append(col)
    return pivots, rows[: len(pivots)]


def product_model(chain):
    frames, elements, parent = [], [], "base"
    for step in chain:
        motion = JointMotion(step.joint, UNIT[step.axis]) if step.joint else None
        shift = tuple(float(x) for x in step.shift)
        frames.append(Frame(step.name, parent, Pose(translation=shift), motion))
        parent = step.name
        if step.joint:
            elements.append(JointCompliance(joint=step.name, k=1e-6))
        if step.spring:
            elements.append(LinkCompliance(frame=step.name, matrix=SPRING))
    return Robot("exact", FrameTree(tuple(frames)), "tip", tuple(elements))


def rationals(rng, count, high=9, low=1):
    return [Fraction(int(rng.integers(-high, high + 1)), int(rng.integers(low, 8))) for _ in range(count)]


GENERIC, IN_PLANE, VERTICAL = (1,) * 6, (1, 1, 0, 0, 0, 0), (0, 0, 1, 0, 0, 0)
CASES = {
    "2R, poses": (PLANAR, GENERIC, "pose", 12),
    "2R, positions": (PLANAR, GENERIC, "position", 20),
    "2R, forces in its plane": (PLANAR, IN_PLANE, "pose", 12),
    "2R, weights": (PLANAR, VERTICAL, "position", 12),
    "2R, one posture": (PLANAR, GENERIC, "pose", 1),
    "2R, weak": (PLANAR, GENERIC, "pose", 12),
    "cylindrical, poses": (CYLINDRICAL, GENERIC, "pose", 12),
    "cylindrical, positions": (CYLINDRICAL, GENERIC, "position", 20),
    "cylindrical, weights": (CYLINDRICAL, VERTICAL, "position", 12),
}


@dataclass(frozen=True, eq=False)
class Both:
    names: tuple[str, ...]
    order: list[int]
    pivots: list[int]
    echelon: list[list[Fraction]]
    columns: list[list[Fraction]]
    matrix: np.ndarray


@cache
def both(case):
    """The exact elimination, columns in order of preference (joints first), and the product's matrix."""
    chain, loaded, what, count = CASES[case]
    rng = np.random.default_rng(6)
    joints = [s for s in chain if s.joint]
    q = [rationals(rng, len(joints), low=3) for _ in range(count)]
    wrenches = [[100 * x * on for x, on in zip(rationals(rng, 6), loaded, strict=True)] for _ in range(count)]
    if "weak" in case:  # postures and loads that hardly differ
        q = [[1 + v / 5000 for v in values] for values in q]
        wrenches = [[100 + x / 5000 for x in w] for w in wrenches]
    rows = 6 if what == "pose" else 3
    parts = [exact_rows(chain, values, w, rows) for values, w in zip(q, wrenches, strict=True)]
    columns = {name: [x for part in parts for x in part[name]] for name in parts[0]}
    angles = [
        [2 * atan(v) if s.joint == "revolute" else float(v) for v, s in zip(values, joints, strict=True)]
        for values in q
    ]
    load = AppliedWrenches("tip", [[float(x) for x in w] for w in wrenches])
    names, matrix = linear_observation(product_model(chain), angles, [load], [Marker("tip", what)])
    assert set(names) == set(columns)
    order = sorted(range(len(names)), key=lambda i: (not names[i].endswith(".k"), i))
    pivots, echelon = eliminated([columns[names[i]] for i in order])
    return Both(
        names, order, pivots, echelon, [columns[n] for n in names], matrix.reshape(-1, len(names))
    )  # fmt: skip


def exact_null(b):
    """Null space (p, p - rank) from the echelon form: one vector for every column without a pivot."""
    free = [c for c in range(len(b.names)) if c not in b.pivots]
    null = np.zeros((len(b.names), len(free)))
    for n, c in enumerate(free):
        null[b.order[c], n] = 1.0
        for row, pivot in enumerate(b.pivots):
            null[b.order[pivot], n] = -float(b.echelon[row][c])
    return null


def linked(b):
    """Group of every column, and the columns that hang together through the entries of the echelon form."""
    free = [c for c in range(len(b.names)) if c not in b.pivots]
    sets = []
    for c in free:
        touched = {b.order[c], *(b.order[p] for r, p in enumerate(b.pivots) if b.echelon[r][c] != 0)}
        near = [s for s in sets if s & touched]
        sets = [s for s in sets if not s & touched] + [touched.union(*near)]
    silent = {b.order[c] for c in free if all(x == 0 for x in b.columns[b.order[c]])}
    subgroups = {frozenset(b.names[i] for i in s) for s in sets if len(s) > 1}
    together = {i for s in sets if len(s) > 1 for i in s}
    return tuple("G2" if i in silent else "G3" if i in together else "G1" for i in range(len(b.names))), subgroups


@pytest.mark.parametrize("case", CASES)
def test_the_matrix_is_the_exact_one(case):
    b = both(case)
    exact = np.array([[float(x) for x in column] for column in b.columns]).T
    np.testing.assert_allclose(b.matrix, exact, rtol=0, atol=1e-13 * np.abs(exact).max())


@pytest.mark.parametrize("case", CASES)
def test_rank_and_null_space_are_exact(case):
    b = both(case)
    found = decide_rank(stacked_triangle([b.matrix], len(b.names)), np.ones(len(b.names)))
    assert found.rank == len(b.pivots)
    assert found.clear
    null = exact_null(b) * found.lengths[:, None]
    basis = np.linalg.qr(null)[0]
    np.testing.assert_allclose(found.null @ found.null.T, basis @ basis.T, rtol=0, atol=1e-10)


@pytest.mark.parametrize("case", CASES)
def test_groups_and_combinations_are_exact(case):
    b = both(case)
    joints = [n for n in b.names if n.endswith(".k")]
    found = classify(b.names, b.matrix, np.ones(len(b.names)), joints)
    groups, subgroups = linked(b)
    assert tuple(g.value for g in found.group) == groups
    assert {frozenset(s.members) for s in found.subgroups} == subgroups
    assert found.kept == tuple(sorted(b.order[p] for p in b.pivots))
    written = {c.kept: dict(c.absorbed) for s in found.subgroups for c in s.combinations}
    for row, pivot in enumerate(b.pivots):
        exact = {
            b.names[b.order[c]]: float(b.echelon[row][c])
            for c in range(len(b.names))
            if c not in b.pivots and b.echelon[row][c] != 0
        }
        got = written.get(b.names[b.order[pivot]], {})
        assert got == pytest.approx(exact, rel=1e-8)


def test_the_cases_differ():
    """All three groups appear, and ranks from a quarter of the parameters to nearly all."""
    ranks = {case: len(both(case).pivots) for case in CASES}
    assert len(set(ranks.values())) >= 6, ranks
    seen = {g for case in CASES for g in linked(both(case))[0]}
    assert seen == {"G1", "G2", "G3"}
