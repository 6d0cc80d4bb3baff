"""All loops in one call: gripper by direction, joint by its lever, elements as values."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.dial_gauge import readings
from oracle.refusals import refused

from elastocal.errors import UnknownNameError
from elastocal.procedures import loops
from elastocal.procedures.loops.loop import NamedLoop, loop_of

P, G = 3.76e-5, 5e-5


def gripper(angles=(0, 45, 90, 135)):
    out = []
    for a in np.radians(angles):
        loop = loop_of(*readings(P, G, 8e-6, noise=1e-6, rng=np.random.default_rng(int(100 * a))))
        out.append(NamedLoop(f"{a:.2f}", loop, direction=np.array([np.cos(a), np.sin(a)])))
    return out


def test_gripper_and_joint_in_one_call():
    k, lever = 1.08e-4, 0.33
    rng = np.random.default_rng(7)
    joint = NamedLoop("J2", loop_of(*readings(k * lever**2, 1e-4 * lever, 0.0, noise=1e-6, rng=rng)), joint="J2")
    found = loops.identify([*gripper(), joint], levers={"J2": lever})
    assert found.directions.compliance.isotropic.value == pytest.approx(P, rel=0.01)
    assert found.joints[0].values.compliance.value == pytest.approx(k, rel=0.02)
    assert found.not_straight == 0
    elements = {e.kind: e for e in found.elements("flange")}
    assert set(elements) == {"link_compliance", "gripper_backlash", "joint_compliance", "joint_backlash"}
    assert elements["gripper_backlash"].numbers["gap"] == pytest.approx(G, rel=0.05)
    assert elements["joint_compliance"].place == "J2"
    assert len(repr(found)) < 300
    assert len(found.to_frame()) == 5


def test_a_loop_without_its_side_carries_a_code():
    one = NamedLoop("a", loop_of([10, 20, 10, 0], [1e-4, 2e-4, 1.1e-4, 0]))
    assert "no-directions" in [w.code for w in loops.identify([one]).warnings]


def test_unknown_joints_and_missing_levers_are_named():
    joint = NamedLoop("J2", loop_of(*readings(P, G, 0.0)), joint="J2")
    with pytest.raises(UnknownNameError) as error:
        loops.identify([joint], levers={"J3": 0.3})
    assert error.value.value == "J3"
    with refused("no-lever", "J2", parameter="lever"):
        loops.identify([joint])


def test_lengths_that_no_joint_gives_way_by_are_refused_with_the_unit():
    force, way, *rest = readings(1e-5, 1e-4, 0.0)
    joint = NamedLoop("J2", loop_of(force, 1000 * np.asarray(way), *rest), joint="J2")
    with refused("unit", pytest.approx(1000 * np.ptp(way)), allowed=(0.0, pytest.approx(0.033))):
        loops.identify([joint], levers={"J2": 0.33})
    at_gripper = NamedLoop("a", loop_of(force, 1000 * np.asarray(way), *rest), direction=np.array([1.0, 0.0]))
    with refused("unit", pytest.approx(1000 * np.ptp(way)), allowed=(0.0, 0.1)):
        loops.identify([at_gripper])
