"""Tables that are wrong as a whole: units of one motor, columns mixed up, residuals that are no noise; lengths."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.procedures.transmission import cells, identify
from elastocal.procedures.transmission.equations import AxisColumn, EncoderSeries, system
from elastocal.procedures.transmission.fit import fit_system
from elastocal.published.kr5_transmission import series

DEG = np.pi / 180


def with_motor(factor, axes):
    """Tables I and II in which motor angles of some axes are multiplied."""
    return [
        replace(s, motors={a: replace(c, values=c.values * (factor if a in axes else 1)) for a, c in s.motors.items()})
        for s in series()
    ]


@pytest.mark.parametrize(
    ("factor", "said"),
    [
        (DEG, "Counts per motor turn of A3 would be 938356, 57.3 times"),
        (1 / DEG, "57.3 times less than those of A1, A2"),
    ],
)
def test_motor_angles_of_one_axis_in_another_unit_are_doubted(factor, said):
    notes = identify(with_motor(factor, {"A3"})).notes
    assert sum(said in n for n in notes) == 1
    assert sum("motor turn" in n for n in notes) == 1
    assert not any("57.3" in n for n in identify(series()).notes)


def test_motor_angles_of_all_axes_in_another_unit_are_doubted_by_round_numbers():
    notes = identify(with_motor(DEG, {f"A{i}" for i in range(1, 7)})).notes
    assert sum("57.3 times 16384" in n for n in notes) == 3
    assert sum("57.3 times 12288" in n for n in notes) == 3


def swap(one, group, a, b):
    columns = getattr(one, group)
    return replace(one, **{group: {**columns, a: columns[b], b: columns[a]}})


def test_swapped_joints_are_named_with_their_table():
    wrong = (*series()[:-1], swap(series()[-1], "joints", "A4", "A5"))
    with refused("swapped-columns"):
        identify(wrong)


def test_swapped_counts_are_named_with_their_table():
    notes = identify((*series()[:-1], swap(series()[-1], "counts", "A4", "A5"))).notes
    assert notes[0].startswith("II: columns epsilon_4 and epsilon_5 look swapped")
    assert "Motor A4 follows joint A5 more" in notes[1]


def one_joint(noise, factor=DEG, rows=14):
    rng = np.random.default_rng(9)
    theta = np.linspace(-60, 60, rows)
    counts = np.round(300 * (theta + rng.normal(0, noise, rows)))
    return EncoderSeries(
        "t.csv", tuple(range(rows)), {"A": AxisColumn.of("A_counts", counts)}, {"A": AxisColumn.of("A", theta, factor)}
    )


@pytest.mark.parametrize(("noise", "doubted"), [(0.02, False), (0.3, False), (0.9, True), (15.0, True)])
def test_scatter_that_is_no_noise_is_doubted(noise, doubted):
    notes = identify([one_joint(noise)]).notes
    assert any("t.csv: counts of A scatter by" in n and "no noise" in n for n in notes) == doubted


def test_scatter_of_lengths_is_judged_by_their_range_only():
    quiet = identify([one_joint(0.6, 1.0)], prismatic=["A"]).notes  # half a percent of 120 m
    assert not any("scatter" in n for n in quiet)
    assert any(w.code == "scatter" for w in identify([one_joint(0.6, 1.0)]).warnings)
    assert any(w.code == "scatter" for w in identify([one_joint(4.0, 1.0)], prismatic=["A"]).warnings)


def screw(lead):
    """A prismatic joint whose motor turns once for each lead in mm."""
    turns = np.arange(3.0, 37.0, 3.0)
    return EncoderSeries(
        "p.csv", tuple(range(12)), {"q": AxisColumn.of("q_counts", 4096 * turns)},
        {"q": AxisColumn.of("q_mm", lead * turns, 1e-3)}, {"q": AxisColumn.of("q_motor_turns", turns, 2 * np.pi)},
    )  # fmt: skip


@pytest.mark.parametrize(("lead", "text"), [(4.0, "1/4"), (25.0, "1/25"), (0.75, "4/3")])
def test_ratios_of_prismatic_joints_are_turns_per_millimetre(lead, text):
    found = identify([screw(lead)], prismatic=["q"])
    assert found.ratios.fractions["q", "q"].text() == text
    assert found.ratios.proposed["q", "q"]
    assert found.ratios.structure[0, 0] == pytest.approx(2000 * np.pi / lead, rel=1e-12)
    assert not any("gear ratio" in n for n in found.notes)


def test_rank_does_not_need_counts_per_turn():
    plain = [EncoderSeries(s.table, s.rows, s.counts, s.joints) for s in series()]
    unknown, known = identify(plain).regularity, identify(series()).regularity
    assert (unknown.rank, known.rank) == (6, 6)
    assert np.isnan(unknown.determinant)
    assert np.isnan(unknown.determinant_sd)
    assert unknown.condition == pytest.approx(known.condition, rel=1e-3)
    assert unknown.sigmas > known.sigmas > 100


def test_accuracy_of_what_a_left_out_row_should_read():
    """A row far from the others: its prediction is as uncertain as the slope is, sd^2 (1 + x C x); by numpy."""
    rng = np.random.default_rng(10)
    theta = np.array([1.0, 2, 3, 4, 5, 6, 40])
    counts = np.round(250 * theta + rng.normal(0, 40, 7))
    one = EncoderSeries("t", tuple(range(7)), {"J": AxisColumn.of("c", counts)}, {"J": AxisColumn.of("th", theta, DEG)})
    kept = np.arange(7) < 6
    whole = system([one])
    fit, of = fit_system(whole, (kept,)), cells.incidence(whole)
    tests = cells.tested(fit, of)
    (at,) = of.numbers([cells.PrintedCell(0, 6, "counts", "J")])
    x = np.column_stack([theta, np.ones(7)])
    beta, (rss,), *_ = np.linalg.lstsq(x[kept], counts[kept], rcond=None)
    variance = rss / 4 * (1 + x[6] @ np.linalg.inv(x[kept].T @ x[kept]) @ x[6])
    assert tests.sd[at] == pytest.approx(np.sqrt(variance), rel=1e-6)
    assert variance > 20 * rss / 4
    assert tests.delta[at] == pytest.approx(counts[6] - x[6] @ beta, rel=1e-6)


def test_columns_that_explain_a_row_nearly_as_well_are_both_named():
    """A coupling of a few counts tells joint from count by less than 3 standard deviations: both must be named."""
    rng = np.random.default_rng(11)
    theta = 10.0 * rng.integers(-9, 10, (12, 2))
    t = np.array([[2000.0, 0.0], [3.0, 1500.0]])
    counts = np.round(theta @ t.T + rng.normal(0, 6.0, (12, 2)))
    counts[4, 0] += 4000  # as much as 2 deg of A, which would move motor B by 6 counts
    one = EncoderSeries(
        "t", tuple(range(12)), {a: AxisColumn.of(f"{a}_counts", counts[:, i]) for i, a in enumerate("AB")},
        {a: AxisColumn.of(f"{a}_deg", theta[:, i], DEG) for i, a in enumerate("AB")},
    )  # fmt: skip
    (bad,) = identify([one], counts_per_turn={"A": 4096, "B": 4096}).outliers
    assert {bad.column, *(c for c, _ in bad.instead)} == {"A_counts", "A_deg"}


STRUCTURE = np.array([[80.5, 0, 0], [-1.2, 60, 0], [1.0, -1.0, 50.25]])
COUNTS = np.array([8192, 8192, 4096])
NAMES = ("A4", "A5", "A6")


def wrist_alone(rows=5):
    """Each motor turned by whole turns with its joint; what the others do is not recorded."""
    rng, turns = np.random.default_rng(7), np.arange(1.0, rows + 1)
    out = []
    for k, a in enumerate(NAMES):
        counts = np.rint(COUNTS[k] * turns + rng.normal(0, 5, rows))
        angle = np.round(360 * turns / STRUCTURE[k, k] + rng.normal(0, 0.005, rows), 2)
        out.append(
            EncoderSeries(
                "single.csv", tuple(range(rows)), {a: AxisColumn.of("counts", counts)},
                {a: AxisColumn.of("joint_deg", angle, DEG)}, {a: AxisColumn.of("motor_deg", 360 * turns, DEG)},
            )
        )  # fmt: skip
    return out


def wrist_together(rows=12, factor=(1.0, 1.0, 1.0), order=NAMES):
    """All move; ``factor`` multiplies joint values as written, ``order`` is that of the headings of the counts."""
    rng = np.random.default_rng(7)
    q = np.round(rng.uniform(-120, 120, (rows, 3)), 2)
    counts = np.rint((q + rng.normal(0, 0.003, q.shape)) @ STRUCTURE.T / 360 * COUNTS + [120345, -4551, 88])
    return EncoderSeries(
        "wrist.csv", tuple(range(rows)), {a: AxisColumn.of(f"{a}_counts", counts[:, k]) for k, a in enumerate(order)},
        {a: AxisColumn.of(f"{a}_deg", factor[k] * q[:, k], DEG) for k, a in enumerate(NAMES)},
    )  # fmt: skip


def test_couplings_of_a_table_without_rows_to_spare_are_unknown_and_go_into_no_file():
    found = identify([*wrist_alone(), wrist_together(3)])
    assert set(found.undetermined) == {(i, j) for i in NAMES for j in NAMES if i != j}
    assert set(found.coupled()) == {(i, i) for i in NAMES}
    own, sd = np.diag(found.robust.structure), np.diag(found.robust.structure_sd)
    assert np.all(np.abs(own - np.diag(STRUCTURE)) < 5 * sd)
    assert found.drives() is None
    assert "not-determined" in [w.code for w in found.warnings]
    assert identify([*wrist_alone(), wrist_together()]).undetermined == ()


def test_a_joint_whose_sign_differs_between_tables_is_refused_with_both_columns():
    with refused("implausible", ("wrist.csv", "A5_deg", "single.csv")):
        identify([*wrist_alone(), wrist_together(factor=(1.0, -1.0, 1.0))])


def test_columns_that_changed_places_are_not_told_as_a_counter_that_ran_over():
    found = identify([*wrist_alone(), wrist_together(order=("A4", "A6", "A5"))])
    assert found.doubt.startswith("wrist.csv: columns A5_counts and A6_counts look swapped")
    wrapped = wrist_together()
    counts = {a: (c.values + 32768) % 65536 - 32768 for a, c in wrapped.counts.items()}
    columns = {a: AxisColumn.of(f"{a}_counts", v) for a, v in counts.items()}
    with refused("counter-wrap", 65536):
        identify([*wrist_alone(), replace(wrapped, counts=columns)])


def test_tables_that_disagree_are_doubted_first():
    found = identify([*wrist_alone(), wrist_together(factor=(1.0, 1.1, 1.0))])
    assert "single.csv and wrist.csv disagree on what motor A5 turns with joint A5" in found.doubt
