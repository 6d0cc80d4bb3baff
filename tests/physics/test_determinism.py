"""A row's result depends on that row alone: order, neighbours and chunk size change no bit."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.robots import configurations, random_wrench

from elastocal.files.robot.read import read_robot
from elastocal.model.kinematics import kinematics
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.deflection import deflection, frame_pose, linear_deflection
from elastocal.model.statics.equilibrium import equilibrium
from elastocal.model.statics.observation import Marker, linear_observation, loaded_observation
from elastocal.model.statics.stiffness import loaded_stiffness, stiffness

COUNT = 701


def case(name):
    model = read_robot(name)
    q = configurations(model, COUNT, seed=9)
    wrench = np.array([random_wrench(i, 800.0) for i in range(COUNT)])
    return model, q, wrench


def outcomes(model, q, wrench):
    applied = [AppliedWrenches(model.tool, wrench)]
    tool = kinematics(model, q)
    bent = equilibrium(model, q, applied)
    stiff = stiffness(model, q)
    loaded = loaded_stiffness(model, q, applied)
    markers = [Marker(model.tool, "pose")]
    return {
        "position": tool.position,
        "jacobian": tool.jacobian,
        "theta": bent.theta,
        "force": bent.force,
        "load factor": bent.load_factor,
        "linear deflection": linear_deflection(model, q, applied).twist,
        "deflection": deflection(model, q, applied).twist,
        "compliance": stiff.compliance,
        "stiffness": stiff.stiffness,
        "loaded compliance": loaded.compliance,
        "loaded stiffness": loaded.stiffness,
        "linear observation": linear_observation(model, q, applied, markers)[1],
        "loaded observation": loaded_observation(model, q, applied, markers)[1],
    }


@pytest.mark.parametrize("name", ["kuka-kr270", "kuka-kr5", "scara-ruggeri", "iiwa14-on-track"])
def test_permuting_rows_permutes_the_results_bit_for_bit(name):
    model, q, wrench = case(name)
    order = np.random.default_rng(1).permutation(COUNT)
    straight, shuffled = outcomes(model, q, wrench), outcomes(model, q[order], wrench[order])
    for what in straight:
        np.testing.assert_array_equal(straight[what][order], shuffled[what], err_msg=what)


@pytest.mark.parametrize("name", ["kuka-kr270", "scara-ruggeri"])
def test_the_chunk_size_changes_no_bit_of_the_equilibrium(name):
    model, q, wrench = (part if i == 0 else part[:90] for i, part in enumerate(case(name)))
    applied = [AppliedWrenches(model.tool, wrench)]
    whole = equilibrium(model, q, applied, chunk=COUNT)
    for chunk in (1, 7, 64):
        part = equilibrium(model, q, applied, chunk=chunk)
        np.testing.assert_array_equal(part.theta, whole.theta)
        np.testing.assert_array_equal(part.force, whole.force)
        np.testing.assert_array_equal(part.status, whole.status)


def test_the_chunk_size_changes_no_bit_of_where_a_bent_frame_is(monkeypatch):
    model, q, wrench = case("kuka-kr5")
    bent = equilibrium(model, q, [AppliedWrenches(model.tool, wrench)])
    place, turn = frame_pose(model, q, bent, model.tool)
    theta = [np.ascontiguousarray(t) for t in bent.theta.T]
    state = model.chain.evaluate(model.chain.values(q.T, theta), len(q))
    np.testing.assert_array_equal(place, state.origin(model.tool))
    monkeypatch.setattr("elastocal.model.statics.deflection.CHUNK", 64)
    parts = frame_pose(model, q, bent, model.tool)
    np.testing.assert_array_equal(parts[0], place)
    np.testing.assert_array_equal(parts[1], turn)


def test_neighbours_with_other_kinds_of_load_change_no_bit_of_a_row():
    """Rows with force only, moment only or no load at all, in a crowd and one by one."""
    model, q, wrench = (part if i == 0 else part[:60] for i, part in enumerate(case("kuka-kr5")))
    wrench[::4, 3:] = 0.0
    wrench[1::4, :3] = 0.0
    wrench[2::4] = 0.0
    applied = [AppliedWrenches(model.tool, wrench)]
    crowd, single = equilibrium(model, q, applied), equilibrium(model, q, applied, chunk=1)
    assert np.abs(crowd.theta).max(axis=1).min() > 1e-6
    np.testing.assert_array_equal(crowd.theta, single.theta)
    np.testing.assert_array_equal(crowd.force, single.force)


@pytest.mark.parametrize("name", ["kuka-kr270", "kuka-kr5", "scara-ruggeri"])
def test_a_row_alone_gives_to_rounding_what_it_gives_in_a_crowd(name):
    model, q, wrench = case(name)
    crowd = outcomes(model, q, wrench)
    for i in (0, 13, COUNT - 1):
        alone = outcomes(model, q[i : i + 1], wrench[i : i + 1])
        for what in crowd:
            size = np.max(np.abs(np.nan_to_num(crowd[what][i])))
            np.testing.assert_allclose(crowd[what][i], alone[what][0], rtol=0, atol=1e-9 * size, err_msg=what)


@pytest.mark.parametrize("name", ["kuka-kr270", "scara-ruggeri"])
def test_where_the_search_begins_moves_no_result(name):
    """From the equilibrium of other compliances: fewer steps, the same states to Newton's tolerance."""
    model, q, wrench = (part if i == 0 else part[:40] for i, part in enumerate(case(name)))
    applied = [AppliedWrenches(model.tool, wrench)]
    softer = {p.name: 1.05 * p.value for p in model.parameters if p.name.endswith(".k")}
    near = equilibrium(model.with_parameters(softer), q, applied)
    cold, warm = equilibrium(model, q, applied), equilibrium(model, q, applied, start=near)
    assert np.nanmax(np.abs(near.theta - cold.theta)) > 1e-5
    np.testing.assert_array_equal(warm.status, cold.status)
    np.testing.assert_allclose(warm.theta, cold.theta, rtol=0, atol=1e-11)
    assert warm.steps.sum() < cold.steps.sum()
