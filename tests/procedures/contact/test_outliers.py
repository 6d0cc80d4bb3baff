"""Contacts that do not belong: one wrong number is named, noise is not, and a wrong object is no wrong contact."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.refusals import refused
from oracle.scara import NAMES, actual, discs, nominal, touched

from elastocal.measure.contacts import ContactForce, ContactGap
from elastocal.measure.measured import Measured
from elastocal.measure.sources.arm import Encoder
from elastocal.measure.sources.instrument import ForceSensor
from elastocal.model.surfaces.surface import Touches
from elastocal.procedures.contact import outliers as contact_screen
from elastocal.procedures.contact.calibrate import calibrate_contacts
from elastocal.procedures.contact.gaps import close_gaps, doubted_objects, gap_problem, geometry_start
from elastocal.procedures.contact.outliers import ContactJudge, wrong_contacts

SOURCES = (ForceSensor(sd=0.1), Encoder(sd=2e-6))


def campaign(seed, joints=None, forces=None, surfaces=None, places=None):
    """Noisy contacts of the actual robot; ``joints`` and ``forces`` are (contact, axis, error)."""
    kind, felt = touched()
    rng = np.random.default_rng(seed)
    q = kind.q + 2e-6 * rng.normal(size=kind.q.shape)
    force = felt + 0.1 * rng.normal(size=felt.shape)
    for place, table in ((joints, q), (forces, force)):
        if place is not None:
            table[place[0], place[1]] += place[2]
    touches = Touches("gripper", surfaces or discs(), kind.touches.which)
    return Measured(ContactForce(q, touches, "xy"), force, SOURCES, places)


@pytest.mark.parametrize(("contact", "joint", "error"), [(3, 0, 5e-3), (19, 1, -5e-3), (30, 0, -5e-3), (11, 1, 5e-3)])
def test_a_wrong_joint_value_is_named_with_the_value_that_fits(contact, joint, error):
    read = campaign(contact, joints=(contact, joint, error), places=tuple(f"line {i}" for i in range(36)))
    (wrong,) = wrong_contacts(nominal(), read, NAMES)
    assert (wrong.reading, wrong.place) == (contact, f"line {contact}")
    assert wrong.chance < 1e-20
    best = wrong.causes[0]
    assert (best.name, best.unit) == (("J1", "J2")[joint], "rad")
    assert best.better - best.value == pytest.approx(-error, abs=1e-4)


def test_a_wrong_force_is_named():
    (wrong,) = wrong_contacts(nominal(), campaign(2, forces=(8, 0, 12.0)), NAMES)
    causes = {c.name: c.better - c.value for c in wrong.causes}
    assert wrong.reading == 8
    assert causes["fx"] == pytest.approx(-12.0, abs=1.0)


def test_a_second_wrong_contact_does_not_hide_behind_the_first():
    read = campaign(7, joints=(3, 0, 5e-3), forces=(20, 1, 15.0))
    assert {w.reading for w in wrong_contacts(nominal(), read, NAMES)} == {3, 20}


def test_where_more_contacts_are_wrong_than_may_be_left_out_none_is():
    places, errors = [2, 8, 15, 20, 27, 33], 5e-3 * np.array([1, -1, 1, -1, 1, -1])
    assert wrong_contacts(nominal(), campaign(9, joints=(places, 0, errors)), NAMES) == ()
    assert len(wrong_contacts(nominal(), campaign(9, joints=(places[:2], 0, errors[:2])), NAMES)) == 2


def test_noise_larger_than_stated_hides_no_cause():
    read = campaign(19, joints=(19, 1, -5e-3))
    bold = Measured(read.measurement, read.readings, (ForceSensor(sd=0.01), Encoder(sd=2e-7)))
    (wrong,) = wrong_contacts(nominal(), bold, NAMES)
    assert "J2" in [c.name for c in wrong.causes]


def test_what_is_gained_is_what_a_fit_without_the_contact_gains():
    """Another route: the squares of a linear fit with and without the rows of every contact."""
    read = campaign(4, joints=(17, 0, 1.5e-5))
    at = close_gaps(nominal(), read, NAMES).model
    _, problem = gap_problem(read, at, NAMES)
    closed = ContactJudge(at, read, NAMES).without(np.zeros(problem.shape, dtype=bool))
    chances = np.minimum(1.0, 36 * closed.exceedance(*closed.block_chi2()))

    def squares(rows):
        left = np.linalg.lstsq(problem.matrix[rows], problem.misfit[rows], rcond=None)
        return float(left[1][0])

    from scipy.stats import f

    everything = np.arange(72)
    for i in (0, 17, 35):
        rest = squares(np.setdiff1d(everything, [2 * i, 2 * i + 1]))
        gain = squares(everything) - rest
        scale = max(1.0, rest / (72 - 12 - 2))
        assert i != 17 or chances[i] < 0.5
        assert chances[i] == pytest.approx(min(1.0, 36 * f.sf(gain / 2 / scale, 2, 58)), rel=1e-6)


def test_noise_alone_loses_no_contact():
    assert all(wrong_contacts(actual(), campaign(seed), NAMES) == () for seed in range(100, 112))


@pytest.mark.parametrize(("which", "what"), [(1, "place"), (2, "size")])
def test_a_wrong_object_is_named_and_no_contact_blamed(which, what):
    surfaces = list(discs())
    x, y = surfaces[which].centre
    changed = {"centre": (x + 1e-3, y)} if what == "place" else {"radius": surfaces[which].radius + 1e-3}
    surfaces[which] = replace(surfaces[which], **changed)
    found = contact_screen.screen_contacts(nominal(), campaign(5, surfaces=tuple(surfaces)), NAMES, True)
    assert found.wrong == ()
    assert found.misled
    worst = found.objects[0]
    assert (worst.name, worst.what) == (f"disc disc{which + 1}", what)
    assert worst.changes[0][2] == pytest.approx(-1e-3, abs=1e-4)
    assert worst.share > 0.9


@pytest.mark.parametrize("ball", [2e-3, 5e-3, -5e-3])
def test_a_ball_whose_radius_is_missing_is_named_though_no_contact_is_felt(ball):
    surfaces = tuple(replace(d, radius=d.radius - ball) for d in discs())
    read = campaign(5, surfaces=surfaces)
    names = [n for n in NAMES if n != "gripper.gap"]  # the play of a gripper looks like its ball
    found = contact_screen.screen_contacts(nominal(), read, names, True)
    assert found.wrong == ()
    worst = found.objects[0]
    assert (worst.name, worst.what, worst.convincing) == ("all objects", "all sizes", True)
    assert worst.changes[0][2] == pytest.approx(ball, rel=0.2)  # compliance takes some of it
    if ball > 3e-3:
        with refused("implausible", "all objects"):
            calibrate_contacts(nominal(), read, names, rng=np.random.default_rng(0))


@pytest.mark.parametrize("off", [-15e-3, 15e-3])
def test_contacts_are_found_from_five_millimetres_off(off):
    start = nominal().with_parameters({"J1.offset": off})
    found = calibrate_contacts(start, campaign(5), NAMES, rng=np.random.default_rng(0))
    truth = {p.name: p.value for p in actual().parameters}
    at = found.fit.names.index("J1.offset")
    assert found.fit.values[at] == pytest.approx(truth["J1.offset"], abs=5 * found.fit.sd[at])


def test_a_wrong_contact_does_not_hide_a_wrong_object():
    surfaces = list(discs())
    x, y = surfaces[1].centre
    surfaces[1] = replace(surfaces[1], centre=(x + 1e-3, y))
    found = contact_screen.screen_contacts(
        nominal(), campaign(5, joints=(3, 0, 5e-3), surfaces=tuple(surfaces)), NAMES, True
    )
    assert [w.reading for w in found.wrong] == [3]
    assert found.misled
    assert (found.objects[0].name, found.objects[0].what) == ("disc disc2", "place")
    assert found.objects[0].changes[0][2] == pytest.approx(-1e-3, abs=1e-4)


def test_right_objects_are_not_accused():
    found = doubted_objects(nominal(), campaign(6), NAMES)
    assert not any(d.convincing for d in found)
    assert {(d.name, d.what) for d in found} == {(f"disc disc{i}", w) for i in (1, 2, 3) for w in ("place", "size")}


def test_an_object_that_nobody_touched_is_not_judged():
    spare = replace(discs()[0], name="spare", centre=(0.4, -0.3))
    read = campaign(6, surfaces=(*discs(), spare))
    assert {d.name for d in doubted_objects(nominal(), read, NAMES)} == {f"disc disc{i}" for i in (1, 2, 3)}


def test_the_share_is_what_a_fit_with_the_freed_place_gains():
    """Another route: the squares of linear fits with and without the columns of the second disc's place."""
    moved = (discs()[0], replace(discs()[1], centre=(0.2005, 0.4)), discs()[2])
    read = campaign(6, surfaces=moved)
    at = close_gaps(nominal(), read, NAMES).model
    kind, linear = gap_problem(read, at, NAMES)
    rows = linear.shape[0] * linear.shape[1]
    assert [p.name for p in kind.touches.parameters][3:5] == ["disc2.x", "disc2.y"]
    freed = np.where(linear.used[:, :, None], kind.by_objects(at), 0.0)
    columns = linear.weights.whiten(freed).reshape(rows, -1)[:, 3:5]
    squares = [
        np.sum((linear.misfit - m @ np.linalg.lstsq(m, linear.misfit, rcond=None)[0]) ** 2)
        for m in (linear.matrix, np.hstack([linear.matrix, columns]))
    ]
    best = doubted_objects(nominal(), read, NAMES)[0]
    assert (best.name, best.what) == ("disc disc2", "place")
    assert best.share == pytest.approx(1 - squares[1] / squares[0], rel=1e-6)
    assert 0.5 < best.share < 0.9999


def test_a_doubt_needs_both_a_large_share_and_a_small_chance():
    doubt = doubted_objects(nominal(), campaign(6), NAMES)[0]
    judged = [replace(doubt, share=s, probability=p).convincing for s, p in ((0.6, 1e-4), (0.4, 1e-9), (0.6, 0.01))]
    assert judged == [True, False, False]


def test_the_size_of_a_single_disc_is_not_judged():
    """A larger disc is a longer gripper play: g stands for it."""
    read = campaign(6)
    kind = read.measurement
    rows = np.flatnonzero(kind.touches.which == 0)
    one = Measured(ContactForce(kind.q[rows], kind.touches.rows(rows), "xy"), read.readings[rows], SOURCES)
    names = ("J1.offset", "gripper.p", "gripper.gap")
    assert "size" not in {d.what for d in doubted_objects(actual(), one, names)}
    assert "size" in {d.what for d in doubted_objects(actual(), one, names[:2])}


def test_a_start_has_geometry_only_and_closes_the_gaps():
    read = campaign(8)
    start = geometry_start(nominal(), read, NAMES)
    assert set(start) == set(NAMES[:6])
    gap = ContactGap.of(read.measurement, read.readings)
    before, after = (np.abs(gap.predict(m)[:, 0]).mean() for m in (nominal(), nominal().with_parameters(start)))
    assert before > 1e-3
    assert after < 0.2 * before
