"""The path from everything to what the data support, against explicit fits, numpy's rank and closed forms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.campaigns import arm, arm_campaign, planar, scatter
from oracle.refusals import refused
from oracle.robots import configurations, random_wrench

from elastocal.files.robot.read import read_robot
from elastocal.measure.markers import Deflection
from elastocal.measure.measured import Measured
from elastocal.measure.setup import Setup
from elastocal.measure.sources.instrument import Reading
from elastocal.measure.sources.load import LoadPoint, LoadSize
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.compliant.link_compliance import LinkCompliance, as_matrix6
from elastocal.model.descriptions import Description, descriptions
from elastocal.model.frames import BASE, Frame, FrameTree, JointMotion
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.observation import Marker
from elastocal.reduction.elimination import _State
from elastocal.reduction.first_fit import ReductionRules, StartValues
from elastocal.reduction.fit import estimate, groups_of
from elastocal.reduction.identify import identify
from elastocal.reduction.problem import linearise, weigh
from elastocal.solve.identifiability import Group, Practical, resolved_columns
from elastocal.spatial.pose import Pose

SD = 1e-5
PLAIN = (Reading(sd=SD),)
LINK = as_matrix6(np.diag([3e-7, 1e-6, 2e-6, 4e-6, 2e-6, 1e-6]))


def linked(matrix=LINK):
    """The spatial arm with a full spring in its hand: few of the 21 elements stand out of the noise."""
    return arm(LinkCompliance(frame="end", matrix=matrix))


def plain(model):
    """One description: the model as it is."""
    return (Description("as given", "", model),)


# --- the large robot --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def large():
    model = read_robot("kuka-kr270")
    q = configurations(model, 60, seed=8)
    wrench = np.array([random_wrench(i, 1500.0) for i in range(60)])
    markers = tuple(Marker(f"marker{i}") for i in (1, 2, 3))
    kind = Deflection(Setup(q, AppliedWrenches("tool", wrench), markers), "linear")
    campaign = Measured(kind, kind.predict(model) + scatter(kind, model, PLAIN, 4), PLAIN)
    return model, campaign, identify(descriptions(model), campaign)


def test_the_path_of_the_kr270_has_the_published_counts_and_the_rank_of_its_matrices(large):
    model, campaign, found = large
    assert [s.name for s in found.stages] == ["complete", "symmetry M1", "template M2", "algebraic", "statistical M3"]
    assert [s.parameters for s in found.stages[:3]] == [258, 153, 62]
    for stage, form in zip(found.stages, ("full", "symmetric", "beam"), strict=False):
        shaped = model.with_link_form(form)
        names = campaign.measurement.names(shaped, None)
        a = campaign.measurement.derivative(shaped, names).reshape(-1, len(names))
        unit = a / np.linalg.norm(a, axis=0)
        assert stage.identifiable == np.linalg.matrix_rank(unit, tol=1e-9 * np.linalg.norm(unit, 2))
    assert [s.identifiable for s in found.stages[:3]] == [180, 105, 33]
    assert found.stages[3].parameters == found.stages[3].identifiable == 33
    last = found.stages[4]
    assert 6 < last.parameters == last.identifiable == len(found.fit.names) < 33
    for stage in found.stages:
        assert 0.9 < stage.scatter < 1.2
    # fewer parameters predict poses that were not measured better
    left = [s.left_out for s in found.stages]
    assert left[0] > left[1] > left[2] == left[3] > 0
    assert left[4] < 1.1 * left[3]


def test_every_parameter_is_estimated_or_dropped_once_with_a_reason(large):
    model, campaign, found = large
    everything = campaign.measurement.names(model.with_link_form("full"), None)
    gone = [d.name for d in found.dropped]
    assert sorted([*gone, *found.fit.names]) == sorted(everything)
    steps = {d.stage for d in found.dropped}
    assert steps == {"symmetry M1", "template M2", "algebraic", "M3"}
    by = {d.name: d for d in found.dropped}
    assert by["link2_end.k51"].reason == "equal to link2_end.k15 by symmetry"
    assert by["link2_end.k12"].reason == "zero in the template of a beam along x"
    assert by["base.k66"].reason == "G3: not separately identifiable from A1.k"
    values = dict(zip(found.sought.parameters.names, found.sought.parameters.values, strict=True))
    threshold = found.thresholds[0]
    assert threshold == 5
    for d in found.dropped:
        if d.stage in ("algebraic", "M3"):
            assert d.fixed_at == values[d.name]
        if d.stage == "M3":
            assert d.ratio == pytest.approx(abs(d.value) / d.sd, rel=1e-12)
            assert d.ratio < threshold
            assert f"{d.ratio:.2g} is below 5" in d.reason
    assert sum(d.stage == "M3" for d in found.dropped) == 33 - len(found.fit.names)
    assert found.fit.ratios.min() > threshold
    # one at a time: some that were below the threshold at first stand out once others have gone
    weak = {n for n, ratio in zip(found.whole.names, found.whole.ratios, strict=True) if ratio < threshold}
    assert weak & set(found.fit.names)
    kept = found.fit.model
    assert all(kept.parameters.values[kept.parameters.index(n)] == values[n] for n in gone if n in values)


def test_springs_in_line_with_a_joint_are_told_by_name(large):
    _, _, found = large
    written = next(c.text() for s in found.groups.subgroups for c in s.combinations if c.kept == "A1.k")
    assert written.startswith("A1.k + 1 base.k66 + 1 link1_end.k66")
    assert found.kinds["A2.k"] is Practical.IDENTIFIABLE
    assert set(found.kinds) == set(found.whole.names)


# --- M3 ---------------------------------------------------------------------------------------------------------------


def explicit(kind, readings, model, names, threshold):
    """One parameter at a time by full fits: order, values and sd of those dropped; names and values of the rest."""
    held = dict(zip(model.parameters.names, model.parameters.values, strict=True))
    columns = {n: kind.derivative(model, [n]).reshape(-1) for n in kind.names(model, None)}
    names, gone = list(names), []
    while True:
        aim = readings.reshape(-1) - sum(columns[n] * held[n] for n in columns if n not in names)
        a = np.column_stack([columns[n] for n in names])
        unit = np.linalg.norm(a, axis=0)
        r = np.linalg.qr(a / unit, mode="r")
        values = np.linalg.lstsq(a / unit, aim, rcond=None)[0] / unit
        sd = np.sqrt(2) * SD * np.linalg.norm(np.linalg.inv(r), axis=1) / unit
        away = np.array([max(abs(v), abs(v - held[n])) for n, v in zip(names, values, strict=True)]) / sd
        worst = int(np.argmin(away))
        if away[worst] >= threshold:
            return gone, names, values
        gone.append((names[worst], values[worst], sd[worst]))
        names.remove(names[worst])


def test_conditioning_gives_the_order_and_the_numbers_of_explicit_fits():
    """Held at the model's own values, not all of them zero; the spring's truth is other than the model says."""
    truth = linked()
    other = np.diag([3e-7, 5e-7, 1e-6, 4e-6, 1e-6, 3e-7]) + 3e-8 * (np.ones((6, 6)) - np.eye(6))
    model = linked(as_matrix6(other))
    campaign = arm_campaign(truth, PLAIN, count=8, noise=0.8)
    kind = campaign.measurement
    found = identify(plain(model), campaign)
    assert found.fit.inflation == found.whole.inflation == 1
    gone, left, values = explicit(kind, campaign.readings, model, found.whole.names, 5.0)
    assert len(gone) > 8
    fallen = [d for d in found.dropped if d.stage == "M3"]
    assert [d.name for d in fallen] == [n for n, _, _ in gone]
    assert any(d.fixed_at != 0 for d in fallen)
    np.testing.assert_allclose([d.value for d in fallen], [v for _, v, _ in gone], rtol=1e-6)
    np.testing.assert_allclose([d.sd for d in fallen], [s for _, _, s in gone], rtol=1e-6)
    assert list(found.fit.names) == left
    np.testing.assert_allclose(found.fit.values, values, rtol=1e-6)


def test_what_the_readings_tell_from_the_file_is_not_held_at_it():
    """A soft element in the file that the truth lacks: its estimate is lost beside zero, but not beside the file."""
    model = linked(as_matrix6(np.diag([3e-7, 5e-7, 1e-6, 4e-6, 1e-6, 3e-7]) + 0.0))
    soft = model.with_parameters({"end.k11": 5e-5})
    campaign = arm_campaign(model, PLAIN, count=8, noise=0.8)
    found = identify(plain(soft), campaign)
    assert "end.k11" in found.fit.names
    i = found.fit.names.index("end.k11")
    assert abs(found.fit.values[i] - 3e-7) < 4 * found.fit.sd[i]
    assert found.fit.ratios[i] < 5
    assert found.fit.scatter < 1.3


def test_what_falls_when_the_others_are_held_at_wrong_values_is_held_at_its_own_too():
    """Elements of 3e-7 that the truth does not have: once they are held, the scatter grows and more fall."""
    other = np.diag([3e-7, 5e-7, 1e-6, 4e-6, 1e-6, 5e-7]) + 3e-7 * (np.ones((6, 6)) - np.eye(6))
    model = linked(as_matrix6(other))
    campaign = arm_campaign(linked(), PLAIN, count=8, noise=0.8)
    found = identify(plain(model), campaign, rules=ReductionRules(thresholds=(16.0, 2.0)))
    gone, _, _ = explicit(campaign.measurement, campaign.readings, model, found.whole.names, 16.0)
    fallen = [d for d in found.dropped if d.stage == "M3"]
    assert len(fallen) > len(gone)
    assert found.fit.inflation > 2
    own = dict(zip(model.parameters.names, model.parameters.values, strict=True))
    assert [d.fixed_at for d in fallen] == [own[d.name] for d in fallen]
    assert max(d.ratio for d in fallen) < 16 < found.fit.ratios.min()


def test_where_the_search_begins_is_forgotten_by_what_is_held():
    """Readings affine in everything: the answer is the same wherever it begins, and so is what is held."""
    model, campaign = linked(), arm_campaign(linked(), PLAIN, count=8, noise=0.8)
    start = StartValues(dict.fromkeys(campaign.measurement.names(model, None), 4e-6))
    far, near = identify(plain(model), campaign, rules=ReductionRules(start=start)), identify(plain(model), campaign)
    assert far.fit.names == near.fit.names
    np.testing.assert_allclose(far.fit.values, near.fit.values, rtol=1e-6)
    np.testing.assert_allclose(far.whole.values, near.whole.values, atol=1e-4 * near.whole.sd.min())
    own = dict(zip(model.parameters.names, model.parameters.values, strict=True))
    assert {d.stage for d in far.dropped} == {"algebraic", "M3"}
    for d in far.dropped:
        kept = far.fit.model.parameters
        assert d.fixed_at == own[d.name] == kept.values[kept.index(d.name)]


def test_parameters_that_stay_together_fall_together_or_not_at_all():
    """By the closed form of the pair's distance; the weaker one would fall alone."""
    model, campaign = linked(), arm_campaign(linked(), PLAIN, count=8, noise=0.8)
    alone = identify(plain(model), campaign)
    lost = next(d for d in alone.dropped if d.stage == "M3" and d.fixed_at)
    pair = (lost.name, "j1.k")
    found = identify(plain(model), campaign, rules=ReductionRules(start=StartValues(together=(pair,))))
    assert {n for n in pair if n in found.fit.names} == set()
    reasons = {d.name: d.reason for d in found.dropped}
    assert reasons[pair[0]] == reasons[pair[1]]
    other = model.with_parameters({"j1.k": 2 * model.parameters.values[model.parameters.index("j1.k")]})
    kept = identify(plain(other), campaign, rules=ReductionRules(start=StartValues(together=(pair,))))
    assert set(pair) <= set(kept.fit.names)  # the readings tell j1.k from what the file says
    i = [kept.whole.names.index(n) for n in pair]
    held = [other.parameters.values[other.parameters.index(n)] for n in pair]
    off = kept.whole.values[i] - held
    assert np.sqrt(off @ np.linalg.inv(kept.whole.covariance[np.ix_(i, i)]) @ off) > 5


def test_nothing_above_the_threshold_is_dropped_and_the_threshold_can_be_chosen():
    campaign = arm_campaign(linked(), PLAIN, count=8, noise=0.8)
    kept = []
    for threshold in (2.5, 5.0, 20.0):
        found = identify(plain(linked()), campaign, rules=ReductionRules(thresholds=(threshold, 2.0)))
        assert max(d.ratio for d in found.dropped if d.stage == "M3") < threshold <= found.fit.ratios.min()
        assert {"j1.k", "j2.k", "j3.k", "p4.k"} <= set(found.fit.names)
        kept.append(len(found.fit.names))
    assert kept[0] > kept[1] > kept[2]
    whole = identify(plain(linked()), campaign, rules=ReductionRules(statistical=False))
    assert {d.stage for d in whole.dropped} == {"algebraic"}
    assert len(whole.fit.names) == whole.groups.rank.rank > kept[0]
    assert whole.stages[-1].name == "final"
    np.testing.assert_allclose(whole.fit.values, whole.whole.values, rtol=1e-8)


def test_a_share_of_compliance_that_varies_does_not_decide_what_falls():
    campaign = arm_campaign(arm(), PLAIN, count=8)
    fit = estimate(arm(), campaign, ["j1.k", "j2.k"])
    vars(fit)["share"] = 0.5
    state = _State.of(arm(), fit)
    np.testing.assert_array_equal(state.covariance, fit.noise_covariance)
    assert np.all(np.diag(fit.covariance) > 2 * np.diag(state.covariance))


def test_kinds_sort_the_ratios_before_anything_falls():
    campaign = arm_campaign(linked(), PLAIN, count=8, noise=0.8)
    found = identify(plain(linked()), campaign, rules=ReductionRules(thresholds=(8.0, 1.0)))
    for name, value, sd in zip(found.whole.names, found.whole.values, found.whole.sd, strict=True):
        ratio = abs(value) / sd
        expected = "G1+" if ratio > 8 else "G1-" if ratio < 1 else "G1~"
        assert found.kinds[name] == expected
    assert set(found.kinds.values()) == set(Practical)


@pytest.mark.parametrize("statics", ["linear", "loaded"])
def test_if_nothing_stands_out_the_user_is_told_what_to_do(statics):
    campaign = arm_campaign(arm(), PLAIN, count=5, size=1.0, statics=statics)
    with refused("nothing-significant", "j1.k"):
        identify(plain(arm()), campaign, rules=ReductionRules(thresholds=(400.0, 2.0)))


@pytest.mark.parametrize("thresholds", [(2.0, 5.0), (5.0, 0.0)])
def test_thresholds_in_the_wrong_order_are_refused(thresholds):
    with refused("thresholds", thresholds):
        identify(plain(arm()), arm_campaign(arm(), PLAIN, count=5), rules=ReductionRules(thresholds=thresholds))


def test_no_model_is_refused():
    with refused("no-model"):
        identify((), arm_campaign(arm(), PLAIN, count=5))


# --- what cannot be told apart ----------------------------------------------------------------------------------------


def stacked(joint_first):
    """j1 turns about x, and the link behind it twists about the same line; j2 turns about y."""
    tree = FrameTree(
        (
            Frame("j1", BASE, Pose(), JointMotion("revolute", (1, 0, 0))),
            Frame("link_end", "j1", Pose(translation=(0.5, 0, 0))),
            Frame("j2", "link_end", Pose(), JointMotion("revolute", (0, 1, 0))),
            Frame("tip", "j2", Pose(translation=(0.4, 0.1, 0))),
        )
    )
    link = LinkCompliance(frame="link_end", matrix=as_matrix6(np.diag([0, 0, 0, 2e-5, 0, 0])))
    joints = [JointCompliance(joint="j1", k=1e-5), JointCompliance(joint="j2", k=3e-5)]
    elements = (*joints, link) if joint_first else (link, *joints)
    return Robot("stacked", tree, "tip", elements, np.zeros(3))


@pytest.mark.parametrize("joint_first", [True, False])
def test_a_joint_stands_for_the_torsion_in_line_with_it_wherever_it_is_listed(joint_first):
    truth = stacked(joint_first)
    rng = np.random.default_rng(1)
    q, wrench = rng.uniform(-1, 1, (8, 2)), rng.normal(size=(8, 6)) * [300, 300, 300, 0, 0, 0]
    kind = Deflection(Setup(q, AppliedWrenches("tip", wrench), (Marker("tip", "pose"),)), "linear")
    sources = (Reading(sd=SD, turn_sd=SD),)
    campaign = Measured(kind, kind.predict(truth) + scatter(kind, truth, sources, 2), sources)
    seek = ["j?.k", "link_end.k44"]
    found = identify(plain(truth), campaign, seek)
    (subgroup,) = found.groups.subgroups
    assert set(subgroup.members) == {"j1.k", "link_end.k44"}
    (combination,) = subgroup.combinations
    assert combination.kept == "j1.k"
    assert combination.absorbed == (("link_end.k44", pytest.approx(1.0, rel=1e-9)),)
    assert found.groups.group[found.groups.names.index("j2.k")] is Group.IDENTIFIABLE
    (lost,) = found.dropped
    assert (lost.name, lost.stage, lost.fixed_at) == ("link_end.k44", "algebraic", 2e-5)
    assert lost.reason == "G3: not separately identifiable from j1.k"
    # with the torsion set to zero the joint takes over its part
    rigid = truth.with_parameters({"link_end.k44": 0.0})
    sum_of_both = identify(plain(rigid), campaign, seek).fit
    at = sum_of_both.names.index("j1.k")
    assert abs(sum_of_both.values[at] - 3e-5) < 4 * sum_of_both.sd[at]


def test_the_coefficient_of_a_lever_is_the_square_of_its_length():
    """A level arm under a vertical force: the tip sinks by (L1^2 k1 + L2^2 k2) F, L1 = 1 m, L2 = 0.5 m."""
    truth = planar(2, offsets=False)
    k1, k2 = (float(v) for v in truth.parameters.values)
    kind = Deflection(Setup(np.zeros((3, 2)), AppliedWrenches("tip", [[0, 0, -200.0, 0, 0, 0]]), (Marker("tip"),)))
    kind = replace(kind, statics="linear")
    campaign = Measured(kind, kind.predict(truth) + scatter(kind, truth, PLAIN, 3), PLAIN)
    start = truth.with_parameters({"j2.k": 0.0})
    found = identify(plain(start), campaign)
    (combination,) = found.groups.subgroups[0].combinations
    assert combination.kept == "j1.k"
    assert combination.absorbed == (("j2.k", pytest.approx(0.25, rel=1e-9)),)
    assert found.fit.names == ("j1.k",)
    assert abs(found.fit.values[0] - (k1 + 0.25 * k2)) < 4 * found.fit.sd[0]
    other = identify(plain(truth.with_parameters({"j2.k": 2 * k2})), campaign).fit.values[0]
    assert other == pytest.approx(found.fit.values[0] - 0.25 * 2 * k2, rel=1e-9)


def test_a_vertical_load_never_shows_a_joint_about_the_vertical():
    truth = read_robot("cylindrical")
    q = np.random.default_rng(1).uniform([0, -3, 0.2], [1, 3, 1], (6, 3))
    kind = Deflection(Setup(q, AppliedWrenches("tool", [[0, 0, -800.0, 0, 0, 0]]), (Marker("tool"),)), "linear")
    campaign = Measured(kind, kind.predict(truth) + scatter(kind, truth, PLAIN, 3), PLAIN)
    found = identify(plain(truth), campaign)
    assert found.fit.names == ("q1.k",)
    assert [(d.name, d.reason) for d in found.dropped] == [
        ("q2.k", "G2: unobservable, no reading depends on it"),
        ("q3.k", "G2: unobservable, no reading depends on it"),
    ]


def test_groups_depend_neither_on_the_order_of_readings_nor_on_units():
    truth = stacked(True).with_link_form("symmetric")
    rng = np.random.default_rng(1)
    q, wrench = rng.uniform(-1, 1, (9, 2)), rng.normal(size=(9, 6)) * [300, 300, 300, 0, 0, 0]

    def groups(order, units):
        at = Setup(q[order], AppliedWrenches("tip", wrench[order]), (Marker("tip", "pose"),))
        kind = Deflection(at, "linear")
        campaign = Measured(kind, kind.predict(truth), (Reading(sd=SD, turn_sd=SD),))
        problem = linearise(campaign, truth, kind.names(truth, None), weigh(campaign, truth))
        changed = replace(problem, matrix=problem.matrix * units, scales=problem.scales / units)
        return groups_of(changed, truth.joint_parameters)

    one = groups(np.arange(9), np.ones(23))
    units = 10.0 ** rng.integers(-9, 9, 23)
    other = groups(rng.permutation(9), units)
    assert one.count(Group.COMBINED) > 3
    assert one.count(Group.UNOBSERVABLE) + one.count(Group.IDENTIFIABLE) > 3
    assert other.group == one.group
    assert other.kept == one.kept
    assert other.rank.rank == one.rank.rank == len(one.kept)
    at = dict(zip(one.names, units, strict=True))
    for a, b in zip(one.subgroups, other.subgroups, strict=True):
        assert a.members == b.members
        for c, d in zip(a.combinations, b.combinations, strict=True):
            assert c.kept == d.kept
            terms = {n: k * at[n] / at[c.kept] for n, k in c.absorbed}
            assert dict(d.absorbed) == {n: pytest.approx(k, rel=1e-6) for n, k in terms.items()}


# --- what is sought ---------------------------------------------------------------------------------------------------


def test_only_what_is_sought_is_changed():
    truth, model = linked(), linked(as_matrix6(np.zeros((6, 6))))
    campaign = arm_campaign(truth, PLAIN, count=8, statics="loaded")
    found = identify(plain(model), campaign, ["j?.k"])
    assert [*found.fit.names, *(d.name for d in found.dropped)] == ["j1.k", "j2.k", "j3.k"]
    changed = [
        n
        for n, a, b in zip(
            model.parameters.names, model.parameters.values, found.fit.model.parameters.values, strict=True
        )
        if a != b
    ]
    assert changed == ["j1.k", "j2.k", "j3.k"]
    assert found.fit.scatter > 2  # and the link that is not sought shows


def test_what_is_held_is_not_sought():
    campaign = arm_campaign(arm(), PLAIN, count=8)
    found = identify(plain(arm()), campaign, hold=["j2.k", "p*"])
    assert found.fit.names == ("j1.k", "j3.k")
    assert found.dropped == ()
    assert identify(plain(arm()), campaign, ["j?.k"], hold=["j1.k"]).fit.names == ("j2.k", "j3.k")


def test_weights_are_those_of_the_result_not_of_the_start():
    """What a load of uncertain size does depends on the compliance: five times too small at the start."""
    truth, sources = arm(), (Reading(sd=SD), LoadSize(sd=0.2))
    campaign = arm_campaign(truth, sources, count=8)
    start = arm(joints=(2e-6, 4e-6, 6e-6, 2e-6))
    found, right = identify(plain(start), campaign), identify(plain(truth), campaign)
    assert found.fit.names == right.fit.names
    np.testing.assert_allclose(found.whole.values, right.whole.values, rtol=0.02)
    sizes = [np.sqrt(np.diag(f.whole.covariance_stated)) for f in (found, right)]
    np.testing.assert_allclose(sizes[0], sizes[1], rtol=0.05)


def test_forms_are_taken_as_far_as_asked():
    """A diagonal matrix fits the template; one with k12 does not and stays symmetric."""
    campaign = arm_campaign(linked(), PLAIN, count=8)
    asked = {
        form: identify(descriptions(linked(), form), campaign, rules=ReductionRules(statistical=False))
        for form in ("full", "symmetric")
    }
    assert [s.parameters for s in asked["full"].stages][:1] == [4 + 36]
    assert [s.parameters for s in asked["symmetric"].stages][:2] == [4 + 36, 4 + 21]
    beam = identify(descriptions(linked()), campaign, rules=ReductionRules(statistical=False))
    assert [s.parameters for s in beam.stages][:3] == [4 + 36, 4 + 21, 4 + 8]
    coupled = np.array(LINK)
    coupled[0, 1] = coupled[1, 0] = 1e-7
    odd = identify(descriptions(linked(as_matrix6(coupled))), campaign, rules=ReductionRules(statistical=False))
    assert [s.name for s in odd.stages] == ["complete", "symmetry M1", "algebraic", "final"]


def test_unknowns_of_the_campaign_are_kept_whatever_their_ratio():
    sources = (Reading(sd=SD), LoadPoint(sd=1e-3))
    campaign = arm_campaign(arm(), sources, count=8)
    found = identify(plain(arm()), campaign)
    assert found.fit.names == ("j1.k", "j2.k", "j3.k", "p4.k", "load point x", "load point y", "load point z")
    assert found.fit.ratios[4:].min() < 5
    assert found.stages[0].parameters == 7


# --- outliers -----------------------------------------------------------------------------------------------------


def spoiled(campaign, *places):
    readings = campaign.readings.copy()
    for at in places:
        readings[at] += 2e-3
    return Measured(campaign.measurement, readings, campaign.sources)


def test_a_gross_error_is_left_out_and_named():
    bad = spoiled(arm_campaign(arm(), PLAIN, count=8), (2, 3))
    found = identify(plain(arm()), bad)
    assert [(s.reading, s.row) for s in found.excluded] == [(2, 3)]
    hole = bad.readings.copy()
    hole[2, 3] = np.nan
    other = identify(plain(arm()), Measured(bad.measurement, hole, PLAIN))
    assert other.excluded == ()
    np.testing.assert_allclose(found.fit.values, other.fit.values, rtol=1e-10)
    assert found.fit.freedom == 48 - 1 - 4
    assert np.isnan(found.fit.residuals[2, 3])


def test_a_robust_loss_reaches_the_final_fit():
    bad = spoiled(arm_campaign(arm(), PLAIN, count=8), (2, 3))
    found = identify(plain(arm()), bad, rules=ReductionRules(loss="huber", leave_out=False))
    assert found.excluded == ()
    assert found.fit.loss == "huber"
    assert found.fit.residuals[2, 3] == pytest.approx(2e-3, rel=0.1)
    assert found.fit.scatter < 2 < identify(plain(arm()), bad, rules=ReductionRules(leave_out=False)).fit.scatter


def test_an_uncertain_load_on_a_far_too_stiff_start_is_no_gross_error():
    """At the start a load wrong by 10 % moves the readings five times less than it really does."""
    sources = (Reading(sd=SD), LoadSize(sd=0.1))
    start = plain(arm(joints=(2e-6, 4e-6, 6e-6, 2e-6)))
    for seed in range(5):
        assert identify(start, arm_campaign(arm(), sources, count=8, seed=seed)).excluded == ()


def test_many_numbers_that_do_not_fit_are_no_gross_errors():
    bad = spoiled(arm_campaign(arm(), PLAIN, count=8), (0, 1), (2, 3), (5, 0), (7, 4))
    with refused("implausible", 4):
        identify(plain(arm()), bad)


# --- what only differences below the noise tell apart -----------------------------------------------------------------


def test_a_column_is_seen_by_what_those_before_it_do_not_explain():
    """Unit vectors: the second column turns away from the first by an angle whose sine is its own part."""
    angle = np.arcsin(0.5)
    r = np.array([[3.0, 4 * np.cos(angle), 0], [0, 4 * np.sin(angle), 0], [0, 0, 0.2]])
    assert resolved_columns(r, np.ones(3), [0, 1, 2], [0, 1, 2]) == ([0, 1], {2: pytest.approx(0.2)})
    # scales count; the same two the other way round: 3 sin(angle) is left of the first
    assert resolved_columns(r, [0.6, 1, 6], [0, 1, 2], [1, 0, 2]) == ([1, 2], {0: pytest.approx(0.9)})
    assert resolved_columns(r, [0.6, 1, 6], [0, 1], [0, 1, 2]) == ([0, 1], {})


def test_springs_that_only_a_bent_arm_tells_apart_are_judged_by_the_straight_one():
    """The joint and the torsion in line with it, with a spring between them that bends and is not sought: the bend
    turns one away from the other, which loaded readings could show."""
    truth = stacked(True)
    mid = Frame("mid", "j1", Pose(translation=(0.2, 0, 0)))
    j1, end, *rest = truth.tree.frames
    end = replace(end, parent="mid", pose=Pose(translation=(0.3, 0, 0)))
    bending = LinkCompliance(frame="mid", matrix=as_matrix6(np.diag([0, 0, 0, 0, 1e-4, 1e-4])))
    truth = replace(truth, tree=FrameTree((j1, mid, end, *rest)), elements=(*truth.elements, bending))
    rng = np.random.default_rng(1)
    q, wrench = rng.uniform(-1, 1, (8, 2)), rng.normal(size=(8, 6)) * [300, 300, 300, 0, 0, 0]
    kind = Deflection(Setup(q, AppliedWrenches("tip", wrench), (Marker("tip", "pose"),)))
    sources = (Reading(sd=SD, turn_sd=SD),)
    campaign = Measured(kind, kind.predict(truth) + scatter(kind, truth, sources, 2), sources)
    seek = ["j1.k", "j2.k", "link_end.k44"]
    columns = kind.derivative(truth, seek).reshape(-1, 3)
    apart = np.linalg.svd(columns / np.linalg.norm(columns, axis=0), compute_uv=False)
    assert apart[2] > 5e-4
    found = identify(plain(truth), campaign, seek)
    (combination,) = found.groups.subgroups[0].combinations
    assert combination.kept == "j1.k"
    assert combination.absorbed == (("link_end.k44", pytest.approx(1.0, rel=1e-9)),)
    assert found.fit.names == ("j1.k", "j2.k")
    true = [1e-5, 3e-5]
    assert np.abs((found.fit.values - true) / found.fit.sd).max() < 4


def test_what_would_not_show_however_large_it_were_is_held():
    """A second turning joint a micrometre beside the first: told apart in theory, by nothing that can be read."""
    truth = planar(2, length=1e-6, offsets=False)
    lever = Frame("lever", "tip", Pose(translation=(0.8, 0, 0)))
    truth = replace(truth, tree=FrameTree((*truth.tree.frames, lever)))
    rng = np.random.default_rng(1)
    q, wrench = rng.uniform(-1, 1, (8, 2)), rng.normal(size=(8, 6)) * [300, 0, 300, 0, 0, 0]
    kind = Deflection(Setup(q, AppliedWrenches("lever", wrench), (Marker("lever"),)), "linear")
    campaign = Measured(kind, kind.predict(truth) + scatter(kind, truth, PLAIN, 2), PLAIN)
    found = identify(plain(truth), campaign)
    assert found.groups.rank.rank == 2
    assert [s.name for s in found.stages] == ["as given", "algebraic", "resolved", "statistical M3"]
    assert [s.parameters for s in found.stages] == [2, 2, 1, 1]
    (held,) = found.dropped
    assert (held.name, held.stage, held.fixed_at) == ("j2.k", "resolved", pytest.approx(1.5e-5))
    names = ["j1.k", "j2.k"]
    a = kind.derivative(truth, names).reshape(-1, 2) / (np.sqrt(2) * SD)
    unit = a[:, 0] / np.linalg.norm(a[:, 0])
    scale = truth.parameters.scales[truth.parameters.index("j2.k")]
    size = np.linalg.norm(a[:, 1] - unit * (unit @ a[:, 1])) * 1e3 * scale
    assert 0 < size < 1
    assert f"by only {size:.2g} of the noise" in held.reason
    assert abs(found.fit.values[0] - 1e-5) < 4 * found.fit.sd[0]
