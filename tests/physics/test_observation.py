"""Observation matrices: columns J_a Q_b (003 eq. 9, 22, 23), their number per form, and the small-load limit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.mechanics import twists
from oracle.refusals import refused
from oracle.robots import configurations, random_wrench

from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.frame_error import FrameError
from elastocal.model.compliant.joint_backlash import JointBacklash
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics import sweep
from elastocal.model.statics.deflection import linear_deflection
from elastocal.model.statics.observation import Marker, linear_observation, loaded_observation

MARKERS = [Marker("marker1"), Marker("marker2"), Marker("tool", "pose")]


def setting(form="beam", count=3):
    model = read_robot("kuka-kr270").with_link_form(form)
    q = configurations(model, count, seed=11)
    wrench = np.array([random_wrench(i, 1000.0) for i in range(count)])
    return model, q, [AppliedWrenches("flange", wrench)]


@pytest.mark.parametrize(("form", "per_link"), [("full", 36), ("symmetric", 21), ("beam", 8)])
def test_one_column_per_joint_and_36_21_or_8_per_link(form, per_link):
    model, q, load = setting(form)
    names, matrix = linear_observation(model, q, load, MARKERS)
    assert len(names) == 6 + 7 * per_link
    assert matrix.shape == (3, 12, len(names))


@pytest.mark.parametrize("form", ["full", "symmetric", "beam"])
def test_the_matrix_times_the_compliances_is_the_linear_deflection(form):
    model, q, load = setting(form)
    names, matrix = linear_observation(model, q, load, MARKERS)
    values = np.array([model.parameters.values[model.parameters.index(n)] for n in names])
    parts = [
        linear_deflection(model, q, load, "marker1").translation,
        linear_deflection(model, q, load, "marker2").translation,
        linear_deflection(model, q, load, "tool").twist,
    ]
    expected = np.concatenate(parts, axis=1)
    assert np.abs(expected).min() > 1e-7
    np.testing.assert_allclose(matrix @ values, expected, rtol=1e-10)


def test_the_column_of_an_element_is_motion_a_times_force_b():
    model, q, load = setting("full", 2)
    names, matrix = linear_observation(model, q, load, [Marker("marker2", "pose")])
    order = [(d.frame, d.axis) for d in model.chain.dofs]
    axes = ("x", "y", "z", "rx", "ry", "rz")
    for i, row in enumerate(q):
        move = twists(model, row, np.zeros(len(order)), ["marker2", "flange"])
        force = move["flange"].T @ load[0].wrench[i]
        for a in range(6):
            for b in range(6):
                column = matrix[i, :, names.index(f"link3_end.k{a + 1}{b + 1}")]
                at, by = order.index(("link3_end", axes[a])), order.index(("link3_end", axes[b]))
                np.testing.assert_allclose(column, move["marker2"][:, at] * force[by], rtol=1e-10, atol=1e-9)
        joint = order.index(("A4", "joint"))
        np.testing.assert_allclose(
            matrix[i, :, names.index("A4.k")], move["marker2"][:, joint] * force[joint], rtol=1e-10, atol=1e-9
        )


def test_a_symmetric_parameter_gathers_both_elements():
    model, q, load = setting("symmetric")
    both, matrix = linear_observation(model, q, load, MARKERS, ["link2_end.k15"])
    single, parts = linear_observation(
        model.with_link_form("full"), q, load, MARKERS, ["link2_end.k15", "link2_end.k51"]
    )
    assert both == ("link2_end.k15",)
    assert set(single) == {"link2_end.k15", "link2_end.k51"}
    np.testing.assert_allclose(matrix[:, :, 0], parts.sum(axis=2), rtol=1e-12)


def test_the_loaded_matrix_tends_to_the_linear_one_for_small_loads():
    model, q, _ = setting()
    light = model.without("link_mass", "payload", "gravity_compensator")
    load = [AppliedWrenches("flange", [[1.0, -2.0, 1.5, 0.3, 0.2, 0.1]])]
    names, linear = linear_observation(light, q, load, MARKERS)
    _, loaded, _ = loaded_observation(light, q, load, MARKERS, names)
    size = np.abs(linear).max(axis=(0, 1))
    assert size.min() > 0
    np.testing.assert_allclose(loaded / size, linear / size, rtol=0, atol=1e-3)


def test_chosen_parameters_are_columns_of_the_whole():
    model, q, load = setting()
    names, whole = linear_observation(model, q, load, MARKERS)
    some, part = linear_observation(model, q, load, MARKERS, ["A?.k", "link6_end.k22"])
    assert some == (*(f"A{i}.k" for i in range(1, 7)), "link6_end.k22")
    np.testing.assert_array_equal(part, whole[:, :, [names.index(n) for n in some]])


def test_parts_are_rows_of_the_whole():
    model, q, load = setting("symmetric", 5100)
    names, whole = linear_observation(model, q, load, MARKERS)
    same, part = linear_observation(model, q[4900:], [w.rows(slice(4900, None), 200) for w in load], MARKERS)
    assert same == names
    np.testing.assert_array_equal(part, whole[4900:])


def test_a_parameter_that_is_no_compliance_has_no_linear_column():
    model, q, load = setting()
    with refused("unsupported", "A1.offset"):
        linear_observation(model, q, load, MARKERS, ["A1.offset"])


def test_rows_without_an_equilibrium_are_unknown():
    model = read_robot("scara-ruggeri").with_parameters({"J1.gap": 1e-3})
    load = [AppliedWrenches("gripper", [[0, 0, 5.0, 0, 0, 0], [0, 5.0, 0, 0, 0, 0]])]
    _, matrix, status = loaded_observation(model, [[0.3, 0.4], [0.3, 0.4]], load, [Marker("gripper")])
    assert list(status) == [2, 0]
    assert np.isnan(matrix[0]).all()
    assert np.isfinite(matrix[1]).all()


@pytest.mark.parametrize("follows", [False, True])
@pytest.mark.parametrize("name", ["kuka-kr270", "scara-ruggeri"])
def test_few_configurations_are_solved_for_as_the_chain_is_walked(name, follows, monkeypatch):
    """Full matrices against the walk along the chain; moments and following loads make the tangent unsymmetric.

    Errors of frames do not bend, and stand between what does.
    """
    model = read_robot(name)
    if name == "kuka-kr270":
        soft = [replace(e, gap=1e-4, transition=50.0) if isinstance(e, JointBacklash) else e for e in model.elements]
        off = [FrameError(frame=j, x=2e-4, y=-1e-4, z=3e-4, rx=1e-3, ry=2e-3, rz=-1e-3) for j in model.joints]
        model = replace(model, elements=tuple(soft)).with_link_form("full").with_elements(*off)
    q = configurations(model, 21, seed=5)
    wrench = np.random.default_rng(5).normal(size=(21, 6)) * [900, 900, 900, 300, 300, 300]
    applied = [AppliedWrenches(model.tool, wrench, follows)]
    _, few, status = loaded_observation(model, q, applied, [Marker(model.tool, "pose")])
    monkeypatch.setattr(sweep, "MANY", 0)
    _, walked, _ = loaded_observation(model, q, applied, [Marker(model.tool, "pose")])
    assert np.all(status == 0)
    size = np.abs(walked).max(axis=(0, 1))
    assert np.all(size[size > 0] > 0)
    assert np.all(np.abs(few - walked).max(axis=(0, 1)) <= 1e-11 * size)
    assert not np.array_equal(few, walked)  # two ways it is


def test_a_configuration_about_to_give_way_leaves_the_others_their_columns(monkeypatch):
    """Where the matrices of one cannot be solved, all are walked."""
    model = read_robot("kuka-kr270")
    q = configurations(model, 3, seed=1)
    markers = [Marker(model.tool)]
    _, expected, _ = loaded_observation(model, q, [], markers)

    def singular(*given):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(sweep, "_few_transposed", singular)
    _, walked, _ = loaded_observation(model, q, [], markers)
    assert walked == pytest.approx(expected, rel=1e-10, abs=1e-18)
