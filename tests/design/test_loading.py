"""Forces, wrenches and options of the ways to load, and what makes no sense."""

from __future__ import annotations

import numpy as np
import pytest
from design.cell_desk import arm, candidates_of, cylindrical
from oracle.refusals import refused

from elastocal.design.loading import Actuator, Anchored, Hanging, loading_kinds

HALF = np.pi / 2


def test_every_way_is_tested_here() -> None:
    assert set(loading_kinds()) == {"actuator", "anchored", "hanging"}


def test_a_weight_pulls_down() -> None:
    candidates = candidates_of(arm(), [[0.3, 0.1]], Hanging(masses=(10.0, 20.0)))
    np.testing.assert_allclose(candidates.wrenches, [[0, 0, -98.07, 0, 0, 0], [0, 0, -196.13, 0, 0, 0]], atol=0.005)
    assert [candidates.label(i) for i in range(2)] == ["10 kg hanging", "20 kg hanging"]


def test_room_below_a_weight() -> None:
    model, q = arm(), [[0.0, 0.0]]
    assert candidates_of(model, q, Hanging(masses=(1.0,), room=0.5, floor=-0.6)).possible.tolist() == [True]
    assert candidates_of(model, q, Hanging(masses=(1.0,), room=0.7, floor=-0.6)).possible.tolist() == [False]


def test_a_rope_pulls_towards_its_anchor() -> None:
    rope = Anchored(sizes=(50.0,), at=(1.5, 3.0, 4.0))
    candidates = candidates_of(arm(), [[0.0, 0.0]], rope)  # 5 m of rope along (0, 3, 4)
    np.testing.assert_allclose(candidates.wrenches[0], [0, 30, 40, 0, 0, 0], atol=1e-9)


def test_a_rope_leaves_its_anchor_within_a_cone() -> None:
    q = [[0.0, 0.0], [HALF, 0.0]]  # from (3, 0, 0): straight back, and 153 deg from +x
    rope = Anchored(sizes=(1.0,), at=(3.0, 0.0, 0.0), reach=(0.5, 9.0), axis=(-2.0, 0, 0), cone=0.4)
    assert candidates_of(arm(), q, rope).possible.tolist() == [True, False]


def test_a_load_at_another_point_turns_as_well() -> None:
    push = Actuator(sizes=(100.0,), directions=((0, 2, 0),), points=("elbow",))
    candidates = candidates_of(arm(), [[0.0, 0.0], [0.0, HALF]], push)
    np.testing.assert_allclose(candidates.wrenches[0], [0, 100, 0, 0, 0, -50], atol=1e-9)
    np.testing.assert_allclose(candidates.wrenches[1], [0, 100, 0, 0, 0, 0], atol=1e-9)
    from elastocal.model.statics.deflection import linear_deflection

    here = linear_deflection(arm(), candidates.q, [candidates.load], "tool").twist
    there = candidates_of(arm(), [[0.0, 0.0], [0.0, HALF]], push, frame="elbow")
    np.testing.assert_allclose(linear_deflection(arm(), there.q, [there.load], "tool").twist, here, atol=1e-12)
    assert np.abs(here).max() > 1e-5


def test_sizes_directions_and_points_are_all_offered() -> None:
    push = Actuator(sizes=(1.0, 2.0), directions=((1, 0, 0), (0, 1, 0), (0, 0, 1)), points=("tool", "elbow"))
    names = [o.name for o in push.options(arm())]
    assert len(set(names)) == 12
    assert names[1] == "1 N actuator along (0, 1, 0) at tool"


@pytest.mark.parametrize(
    ("load", "code", "value"),
    [
        (Hanging(masses=()), "range", ()),
        (Hanging(masses=(-1.0,)), "range", (-1.0,)),
        (Anchored(sizes=(1.0,), at=(0, 0, 0), reach=(2.0, 1.0)), "rope", (2.0, 1.0)),
        (Anchored(sizes=(1.0,), at=(0, 0, 0), axis=(0, 0, 0)), "no-direction", (0, 0, 0)),
        (Actuator(sizes=(1.0,), directions=((0, 0, 0),)), "no-direction", ((0, 0, 0),)),
        (Actuator(sizes=(0.0,), directions=((0, 0, 1),)), "range", (0.0,)),
    ],
)
def test_loads_that_make_no_sense(load, code, value) -> None:
    with refused(code, value):
        load.options(arm())


def test_a_weight_without_gravity_and_a_point_that_is_not_there() -> None:
    with refused("missing", "cylindrical"):
        Hanging(masses=(1.0,)).options(cylindrical())
    with refused("unknown-frame", "hand"):
        Hanging(masses=(1.0,), points=("hand",)).options(arm())
