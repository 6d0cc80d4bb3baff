"""Groups against hand calculation, exact arithmetic and the published counts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from oracle.robots import configurations

from elastocal.files.robot.read import read_robot
from elastocal.measure.markers import Deflection
from elastocal.measure.setup import Setup
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.observation import Marker, linear_observation
from elastocal.solve.identifiability import Group, Practical, classify, covariance, expectations, stacked_triangle

NAMES = ("a", "b", "c", "d", "e")


def matrix(seed=0, rows=12):
    """a alone, b and c in one combination b + 3 c, d silent, e alone."""
    x = np.random.default_rng(seed).integers(-4, 5, (rows, 3)).astype(float)
    return np.column_stack([x[:, 0], x[:, 1], 3 * x[:, 1], np.zeros(rows), 100 * x[:, 2]])


def exact_rank(a):
    rows = [[Fraction(float(v)) for v in row] for row in a]
    rank = 0
    for col in range(len(rows[0])):
        pivot = next((r for r in range(rank, len(rows)) if rows[r][col] != 0), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for r in range(rank + 1, len(rows)):
            factor = rows[r][col] / rows[rank][col]
            rows[r] = [x - factor * y for x, y in zip(rows[r], rows[rank], strict=True)]
        rank += 1
    return rank


def test_alone_together_and_silent():
    found = classify(NAMES, matrix(), np.ones(5))
    assert [g.value for g in found.group] == ["G1", "G3", "G3", "G2", "G1"]
    assert found.kept == (0, 1, 4)
    assert found.rank.rank == exact_rank(matrix()) == 3
    assert found.rank.clear
    (subgroup,) = found.subgroups
    assert subgroup.members == ("b", "c")
    assert subgroup.combinations[0].kept == "b"
    assert subgroup.combinations[0].absorbed[0][1] == pytest.approx(3.0, rel=1e-12)
    assert "2 parameters are identifiable only as 1 combination: b + 3 c" in subgroup.text()


def test_preferred_parameters_are_kept():
    (subgroup,) = classify(NAMES, matrix(), np.ones(5), first=["c"]).subgroups
    assert subgroup.combinations[0].text() == "c + 0.3333 b"


@pytest.mark.parametrize("seed", range(5))
def test_groups_do_not_depend_on_rows_units_or_blocks(seed):
    rng = np.random.default_rng(seed)
    a = matrix(seed, 30)
    units = 10.0 ** rng.integers(-9, 9, 5)
    plain = classify(NAMES, a, np.ones(5))
    blocks = np.array_split(a[rng.permutation(30)] * units, 4)
    other = classify(NAMES, stacked_triangle(blocks, 5), 1 / units)
    assert other.group == plain.group
    assert other.kept == plain.kept
    scale = units[2] / units[1]
    assert other.subgroups[0].combinations[0].absorbed[0][1] == pytest.approx(3 * scale, rel=1e-9)


def test_rank_of_random_integer_matrices_is_the_exact_one():
    rng = np.random.default_rng(4)
    for _ in range(30):
        inner = int(rng.integers(1, 6))
        a = rng.integers(-3, 4, (14, inner)) @ rng.integers(-3, 4, (inner, 9))
        found = classify([f"p{i}" for i in range(9)], a.astype(float), np.ones(9))
        assert found.rank.rank == exact_rank(a)
        assert len(found.kept) == found.rank.rank
        assert exact_rank(a[:, list(found.kept)]) == found.rank.rank


def kr270(form, load="generic"):
    model = read_robot("kuka-kr270").with_link_form(form)
    rng = np.random.default_rng(8)
    limits = np.array([m.limits for m in model.motions])
    q = rng.uniform(limits[:, 0], limits[:, 1], (120, 6))
    wrench = rng.normal(size=(120, 6)) * 1000 if load == "generic" else np.tile([0, 0, -2500.0, 0, 0, 0], (120, 1))
    names, a = linear_observation(model, q, [AppliedWrenches("tool", wrench)], [Marker("tool", "pose")])
    rows = [model.parameters.rows[model.parameters.index(n)] for n in names]
    r = stacked_triangle([a.reshape(-1, len(names)) / 1e-5], len(names))
    return classify(names, r, np.array([p.scale for p in rows]), [n for n in names if n.endswith(".k")]), r


@pytest.mark.parametrize(("form", "size", "rank"), [("full", 258, 180), ("symmetric", 153, 105), ("beam", 62, 33)])
def test_the_kr270_determines_fewer_combinations_than_it_has_parameters(form, size, rank):
    found, _ = kr270(form)
    assert (len(found.names), found.rank.rank) == (size, rank)
    assert found.rank.gap > 1e9


def test_springs_in_series_about_one_axis_add_up():
    """Joint 1 turns about the vertical like the base and link 1: only the sum of their compliances shows."""
    found, _ = kr270("beam")
    written = next(c.text() for s in found.subgroups for c in s.combinations if c.kept == "A1.k")
    assert written.startswith("A1.k + 1 base.k66 + 1 link1_end.k66")


def test_a_vertical_load_never_shows_joint_1():
    found, _ = kr270("beam", "vertical")
    assert found.group[found.names.index("A1.k")] is Group.UNOBSERVABLE
    assert found.group[found.names.index("A2.k")] is not Group.UNOBSERVABLE


def test_the_standard_deviation_is_that_of_repeated_fits():
    rng = np.random.default_rng(5)
    a = matrix(3, 40)[:, [0, 1, 4]]
    truth, sigma = np.array([2.0, -1.0, 0.5]), 0.1
    fits = [np.linalg.lstsq(a, a @ truth + sigma * rng.normal(size=40), rcond=None)[0] for _ in range(4000)]
    expected = np.sqrt(np.diag(covariance(a / sigma, (0, 1, 2))))
    np.testing.assert_allclose(np.std(fits, axis=0), expected, rtol=0.05)


def test_ratios_sort_into_practical_groups():
    a = matrix(3, 40)
    found = classify(NAMES, a, np.ones(5))
    unit = np.sqrt(np.diag(covariance(a, found.kept)))
    values = np.array([6 * unit[0], 3 * unit[1], 0.0, 9.0, unit[2]])
    kinds = {e.name: e.group for e in expectations(found, a, values)}
    assert kinds == {"a": Practical.IDENTIFIABLE, "b": Practical.HARDLY, "e": Practical.NOT}
    combined = expectations(found, a, np.array([1.0, 1.0, 2.0, 0.0, 1.0]))
    assert next(e.value for e in combined if e.name == "b") == pytest.approx(7.0)


def test_a_column_that_is_next_to_nothing_is_silent_and_dust_combines_nothing():
    """The difference of two large numbers leaves rounding in a weak column; it must not look like a combination."""
    rng = np.random.default_rng(5)
    strong = rng.normal(size=(40, 4))
    weak = 4e-11 * strong[:, :1] + 1e-15 * rng.normal(size=(40, 1))
    matrix = np.column_stack([strong, weak, 2 * weak + 1e-15 * rng.normal(size=(40, 1))])
    found = classify([*"abcd", "weak", "weaker"], matrix, np.ones(6))
    assert [str(g) for g in found.group] == ["G1"] * 4 + ["G2"] * 2
    assert found.subgroups == ()
    assert found.kept == (0, 1, 2, 3)


def test_parameters_next_to_a_null_direction_stand_alone_whatever_the_rounding():
    """c is all but the sum of a and b, so that rounding turns the null direction of d and e towards a + b - c."""
    rng = np.random.default_rng(6)
    a, b, c, d = rng.normal(size=(4, 60))
    matrix = np.column_stack([a, b, a + b + 3e-7 * c, d, 2 * d])
    expected = ["G1", "G1", "G1", "G3", "G3"]
    for seed in range(5):
        noise = 1 + 1e-12 * np.random.default_rng(seed).normal(size=matrix.shape)
        found = classify([*"abcde"], np.random.default_rng(seed).permutation(matrix * noise), np.ones(5))
        assert [str(g) for g in found.group] == expected
        assert [s.text() for s in found.subgroups] == ["2 parameters are identifiable only as 1 combination: d + 2 e"]


def test_everything_sought_of_the_kr270_has_no_dust_in_its_combinations():
    """All 112 parameters from loaded deflections, where the lowest masses act on the arm by 4e-11 of the largest."""
    model = read_robot("kuka-kr270").with_link_form("beam")
    q = configurations(model, 30, seed=3)
    wrench = np.zeros((30, 6))
    wrench[::2, 2], wrench[1::2, 0] = -2500.0, 3500.0
    kind = Deflection(Setup(q, AppliedWrenches("tool", wrench), tuple(Marker(f"marker{i}") for i in (1, 2, 3))))
    names = kind.names(model, None)
    scales = model.parameters.scales[[model.parameters.index(n) for n in names]]
    found = classify(names, kind.derivative(model, names).reshape(-1, len(names)), scales, model.joint_parameters)
    group = dict(zip(found.names, (str(g) for g in found.group), strict=True))
    assert [group[f"A{i}.k"] for i in range(1, 7)] == ["G1"] * 6
    assert group["A1.mz"] == group["link0_end.mz"] == "G2"
    sizes = dict(zip(names, scales, strict=True))
    for c in (c for s in found.subgroups for c in s.combinations):
        assert c.absorbed
        assert all(abs(k) * sizes[n] / sizes[c.kept] > 1e-6 for n, k in c.absorbed), c.text()
    assert found.rank.clear


def test_a_column_of_zeros_leaves_nothing_known():
    with np.errstate(all="raise"):
        assert np.isnan(covariance(np.array([[2.0, 0.0], [1.0, 0.0]]), (0, 1))).all()
