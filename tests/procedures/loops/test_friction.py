"""The sign of friction: a play, a spring and a slider moved by hand give p, g and h back, and no loop gives work."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.dial_gauge import plan, readings
from oracle.slider import slide

from elastocal.procedures.loops.fit import fit_loops
from elastocal.procedures.loops.loop import loop_of, model_columns

P, G, FRICTION, LARGEST = 3.76e-5, 5e-5, 0.8, 40.0
CYCLE = np.array([f for f, _ in plan()])


def work(force, way):
    """Around the closed loop through the readings."""
    f, s = np.append(force, force[0]), np.append(way, way[0])
    return float(np.sum((f[1:] + f[:-1]) / 2 * np.diff(s)))


@pytest.mark.parametrize("gap", [5e-5, 1e-5])
def test_a_spring_with_a_slider_behind_a_play_comes_back(gap):
    """h = p Fc, also where it is larger than the gap (10 um here)."""
    force = np.tile(CYCLE, 2)
    fit = fit_loops([loop_of(force, slide(P, gap, FRICTION, force).way)])[0]
    found = [e.value for e in (fit.compliance, fit.half_gap, fit.half_hysteresis)]
    assert found == pytest.approx([P, gap, P * FRICTION], rel=1e-9)
    assert fit.departures.straight


def test_what_is_left_at_zero_force_is_gap_and_hysteresis():
    """Let go from both sides: the slider holds the spring out, so the gauge shows 2 (g + h) between the two."""
    pushed, pulled = slide(P, G, FRICTION, [40.0, 1e-9, -40.0, -1e-9]).way[[1, 3]]
    assert pushed - pulled == pytest.approx(2 * (G + P * FRICTION), rel=1e-6)


def test_the_loop_of_the_model_costs_the_work_that_the_slider_heats():
    """A closed loop after the first: force over way is heat, and that of four lines, 4 h F at the turns, is near it."""
    once, twice = (slide(P, G, FRICTION, np.tile(CYCLE, n), steps=4000) for n in (1, 2))
    heat = twice.heat - once.heat
    assert twice.work - once.work == pytest.approx(heat, rel=2e-3)
    assert heat == pytest.approx(4 * FRICTION * P * (LARGEST - FRICTION), rel=1e-3)
    fine = [*np.linspace(0.01, LARGEST, 4000), *np.linspace(LARGEST, 0.01, 4000)[1:]]
    loop = loop_of([*fine, *(-f for f in fine)], np.zeros(2 * len(fine)))
    way = model_columns(loop)[1][:, :3] @ [P, G, P * FRICTION]
    lines = work(loop.force, way)
    assert lines == pytest.approx(4 * P * FRICTION * LARGEST, rel=1e-3)
    assert lines == pytest.approx(heat, rel=0.03)


def test_readings_around_a_loop_give_no_work():
    force, way, _ = readings(P, G, P * FRICTION, cycles=1)
    assert work(force, way) > 0
    assert work(force, slide(P, G, FRICTION, np.tile(force, 2)).way[len(force) :]) > 0
