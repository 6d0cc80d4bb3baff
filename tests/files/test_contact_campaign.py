"""Campaign files of contacts: read, written, planned, and every slip named with its place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from oracle.contact_desk import DISCS, ERRORS, actual_robot, plan_table, plan_text
from oracle.scara import actual, closed_form_joints, touched

from elastocal.errors import InputError
from elastocal.files.campaign.file import CampaignFile
from elastocal.files.campaign.read import read_campaign, read_plan
from elastocal.files.campaign.write import campaign_files
from elastocal.measure.contacts import ContactForce
from elastocal.measure.measured import Measured
from elastocal.model.surfaces.plane import Plane
from elastocal.model.surfaces.sphere import Sphere

KIND, FELT = touched()


def felt_table(felt=FELT, q=KIND.q, names=None, rows=slice(None)) -> str:
    objects = [f"disc{i + 1}" for i in KIND.touches.which] if names is None else names
    lines = [
        f"{o},{float(a)!r},{float(b)!r},{float(x)!r},{float(y)!r}"
        for o, (a, b), (x, y) in zip(objects, q, felt, strict=True)
    ]
    return "\n".join(["object,J1_rad,J2_rad,fx_N,fy_N", *lines[rows]]) + "\n"


def lay(folder: Path, table: str, **keys: str) -> Path:
    (folder / "plan.csv").write_text(table)
    (folder / "campaign.yaml").write_text(plan_text(**keys))
    return folder / "campaign.yaml"


def refused(folder: Path, table: str, plan: bool = False, **keys: str) -> str:
    path = lay(folder, table, **keys)
    with pytest.raises(InputError) as caught:
        (read_plan if plan else read_campaign)(path)
    said = str(caught.value)
    assert "\n" not in said
    return said.replace(f"{folder}/", "")


def kind_of(file: CampaignFile) -> ContactForce:
    assert isinstance(file.campaign.measurement, ContactForce)
    return file.campaign.measurement


# --- what was read --------------------------------------------------------------------------------------------------


def test_a_normal_that_points_inwards_is_named_beside_the_sign_of_the_force(tmp_path: Path) -> None:
    """Four contacts at a wall in front of the arm, whose normal is stated away from it."""
    points = [(0.35, y) for y in (0.1, 0.2, 0.3, 0.35)]
    force = np.array([[-30.0, 0.0]] * len(points))
    q = np.array([closed_form_joints(p, f) for p, f in zip(points, force, strict=True)])
    table = felt_table(np.vstack([FELT, force]), np.vstack([KIND.q, q]), [*FIRST, *["wall"] * len(points)])
    wall = "  - {kind: plane, name: wall, point_mm: [350, 0, 0], normal: [%s, 0, 0]}\n"
    said = refused(tmp_path, table, objects=DISCS + wall % 1)
    assert "points into plane wall, as in 4 of 40 rows" in said
    assert said.endswith("correct its sign or leave the row out, or turn the normal of plane wall outwards")
    assert kind_of(read_campaign(lay(tmp_path, table, objects=DISCS + wall % -1))).count == 40


def test_contacts_are_read_in_si(tmp_path: Path) -> None:
    file = read_campaign(lay(tmp_path, felt_table()))
    kind = kind_of(file)
    assert kind.axes == "xy"
    assert kind.touches.frame == "gripper"
    assert [s.radius for s in kind.touches.surfaces] == [0.15, 0.05, 0.08]  # type: ignore[attr-defined]
    np.testing.assert_array_equal(kind.q, KIND.q)
    np.testing.assert_array_equal(file.campaign.readings, FELT)
    assert file.campaign.place(12, 1) == "plan.csv line 14, gripper.fy"
    assert [s.kind for s in file.campaign.sources] == ["force_sensor", "encoder"]
    np.testing.assert_allclose(kind.predict(actual()), FELT, atol=1e-8)
    assert "The origin of frame 'gripper' touches the objects." in file.notes


def test_forces_by_the_robot_are_turned_round(tmp_path: Path) -> None:
    file = read_campaign(lay(tmp_path, felt_table(-FELT), more="force: by_robot\n"))
    np.testing.assert_array_equal(file.campaign.readings, FELT)


def test_other_objects_and_three_components(tmp_path: Path) -> None:
    objects = (
        "  - {kind: sphere, name: ball, centre_mm: [50, 250, 0], radius_mm: 80}\n"
        "  - {kind: plane, name: wall, point_mm: [400, 0, 0], normal: [-1, 0, 0]}\n"
    )
    rows = [
        f"ball,{float(q[0])!r},{float(q[1])!r},{f[0]},{f[1]},0" for q, f in zip(KIND.q[24:], FELT[24:], strict=True)
    ]
    table = "\n".join(["object,J1_rad,J2_rad,fx_N,fy_N,fz_N", *rows]) + "\n"
    file = read_campaign(lay(tmp_path, table, objects=objects, more="seek: [J1.k]\n"))
    kind = kind_of(file)
    assert kind.axes == "xyz"
    assert [type(s) for s in kind.touches.surfaces] == [Sphere, Plane]
    assert kind.touches.surfaces[0].centre == (0.05, 0.25, 0.0)  # type: ignore[attr-defined]


def test_rows_without_force_may_be_skipped(tmp_path: Path) -> None:
    idle = FELT.copy()
    idle[3] = 0
    table = felt_table(idle).replace(f"{float(FELT[5, 0])!r},{float(FELT[5, 1])!r}", ",", 1)
    file = read_campaign(lay(tmp_path, table, more="missing: skip\n"))
    assert kind_of(file).count == 34
    assert "1 contacts felt no force and are left out (plan.csv line 5)." in file.notes
    assert "1 contacts lack a force and are left out (plan.csv line 7)." in file.notes


def test_written_contacts_read_back_bit_for_bit(tmp_path: Path) -> None:
    file = read_campaign(lay(tmp_path, felt_table(), more="thresholds: [4, 2]\n"))
    noisy = FELT + np.random.default_rng(1).normal(size=FELT.shape)
    read = ContactForce(KIND.q + 1e-5, kind_of(file).touches, "xy")
    out = tmp_path / "out"
    out.mkdir()
    for path, text in campaign_files(file, Measured(read, noisy, file.campaign.sources), out).items():
        path.write_text(text)
    again = read_campaign(out / "campaign.yaml")
    np.testing.assert_array_equal(again.campaign.readings, noisy)
    np.testing.assert_array_equal(kind_of(again).q, read.q)
    assert again.campaign.sources == file.campaign.sources
    assert kind_of(again).touches.surfaces == kind_of(file).touches.surfaces
    assert again.requests == file.requests


# --- plans ----------------------------------------------------------------------------------------------------------


def test_a_plan_by_angles_presses_as_it_says(tmp_path: Path) -> None:
    file = read_plan(lay(tmp_path, plan_table((20.0, 40.0))))
    state = kind_of(file).touched(file.model)
    np.testing.assert_allclose(state.size, [20.0, 40.0] * 18, rtol=1e-8)
    np.testing.assert_allclose(state.point[1, :2], [-0.25 + 0.15 * np.cos(np.pi / 6), 0.375], atol=1e-9)
    assert np.isnan(file.campaign.readings).all()
    assert any("nearest to the contact before" in n for n in file.notes)


def test_a_plan_by_points_means_the_nearest_of_the_object(tmp_path: Path) -> None:
    table = "object,x_mm,y_mm,force_N\ndisc2,200,460,30\ndisc2,255,400,30\n"
    file = read_plan(lay(tmp_path, table))
    state = kind_of(file).touched(file.model)
    np.testing.assert_allclose(state.point[:, :2], [[0.2, 0.45], [0.25, 0.4]], atol=1e-9)
    np.testing.assert_allclose(state.force[:, :2], [[0, 30], [30, 0]], atol=1e-7)


def test_a_plan_may_give_joint_values(tmp_path: Path) -> None:
    file = read_plan(lay(tmp_path, felt_table()))
    np.testing.assert_array_equal(kind_of(file).q, KIND.q)
    assert np.isnan(file.campaign.readings).all()


def test_joint_values_of_a_plan_that_miss_their_objects_are_named(tmp_path: Path) -> None:
    smaller = DISCS.replace("radius_mm: 50", "radius_mm: 45")
    (said,) = (n for n in read_plan(lay(tmp_path, felt_table(), objects=smaller)).notes if "do not touch" in n)
    turned = np.cumsum(KIND.q, axis=1)
    tip = 0.33 * np.column_stack([np.cos(turned).sum(axis=1), np.sin(turned).sum(axis=1)])
    centres, radii = np.array([[-0.25, 0.3], [0.2, 0.4], [0.05, 0.25]]), np.array([0.15, 0.045, 0.08])
    which = KIND.touches.which
    missed = np.flatnonzero(np.hypot(*(tip - centres[which]).T) > radii[which])
    assert set(np.flatnonzero(KIND.touches.which == 1)) <= set(missed)
    assert said.startswith(f"{len(missed)} of 36 contacts do not touch with the robot as described")
    assert f"(plan.csv line {missed[0] + 2}, " in said


def test_a_plan_on_one_small_arc_is_told_what_to_add(tmp_path: Path) -> None:
    table = "object,angle_deg,force_N\n" + "".join(f"disc1,{a},40\n" for a in range(0, 40, 5))
    file = read_plan(lay(tmp_path, table))
    (said,) = (n for n in file.notes if "arc" in n)
    assert "All 8 contacts lie on one arc of 35 degrees of disc disc1" in said
    assert "second object" in said


def test_a_plan_on_one_side_of_several_objects_is_told_so(tmp_path: Path) -> None:
    table = "object,angle_deg,force_N\n" + "".join(f"disc{d},{a},40\n" for d in (1, 2) for a in range(0, 40, 5))
    file = read_plan(lay(tmp_path, table))
    (said,) = (n for n in file.notes if "direction" in n)
    assert said.startswith("All 16 contacts press in almost one direction, within 35 degrees; add contacts")


def test_a_small_arc_on_one_of_several_objects_is_told(tmp_path: Path) -> None:
    rows = [f"disc{d},{a},40" for d, step in ((1, 60), (2, 6)) for a in range(0, 6 * step, step)]
    file = read_plan(lay(tmp_path, "\n".join(["object,angle_deg,force_N", *rows]) + "\n"))
    (said,) = (n for n in file.notes if "arc" in n)
    assert said == "All 6 contacts on disc disc2 lie on one arc of 30 degrees; add contacts on its other sides."


@pytest.mark.parametrize("plan", [True, False])
def test_an_object_that_the_robot_stands_in(tmp_path: Path, plan: bool) -> None:
    objects = DISCS.replace("[50, 250]", "[30, 20]")
    said = refused(tmp_path, plan_table((40.0,)) if plan else felt_table(), plan, objects=objects)
    assert said.startswith("campaign.yaml, line 9, objects[3]: object inside the arm: the robot itself stands in disc")


# --- what is refused ------------------------------------------------------------------------------------------------

BACK = FELT.copy()
BACK[4] *= -1
IDLE = FELT.copy()
IDLE[3] = 0
FIRST = [f"disc{i + 1}" for i in KIND.touches.which]
FOUR = [0, 1, 12, 13]

READ = {
    "pulling": (
        felt_table(-FELT),
        {},
        "plan.csv, line 2, column fx_N: the force on the robot points into disc disc1, as in 36 of 36 rows, and an "
        "object only pushes away; write 'force: by_robot' in campaign.yaml",
    ),
    "one pulls": (
        felt_table(BACK),
        {},
        "plan.csv, line 6, column fx_N: the force on the robot points into disc disc1, as in 1 of 36 rows, and an "
        "object only pushes away; correct its sign or leave the row out",
    ),
    "no force": (
        felt_table(IDLE),
        {},
        "plan.csv, line 5, column fx_N: the force is zero, so that nothing is touched there; leave the row out, or all "
        "such rows by missing: skip",
    ),
    "far": (
        felt_table(),
        {"objects": DISCS.replace("[200, 400]", "[200, 520]")},
        "plan.csv, line 14: contact out of reach: the tip is 76 mm away from disc disc2; check",
    ),
    "inside": (
        felt_table(),
        {"objects": DISCS.replace("[-250, 300], radius_mm: 150", "[-200, 240], radius_mm: 200")},
        "plan.csv, line 12: the tip is 129 mm inside disc disc1: object inside the arm; check",
    ),
    "negative radius": (
        felt_table(),
        {"objects": DISCS.replace("radius_mm: 50", "radius_mm: -50")},
        "campaign.yaml, line 8, objects[2].radius_mm: -50 is no size; it must be positive",
    ),
    "unknown object": (
        felt_table(names=["disc9", *FIRST[1:]]),
        {},
        "plan.csv, line 2, column object: there is no object 'disc9'; did you mean 'disc3'? valid: disc1, disc2, disc3",
    ),
    "few": (
        felt_table(rows=slice(0, 10)),
        {},
        "campaign.yaml, line 4, table: 10 contacts are fewer than the 12 parameters sought; touch at least 2 more",
    ),
    "arc": (
        felt_table(np.vstack([FELT[:2]] * 7), np.vstack([KIND.q[:2]] * 7), ["disc1"] * 14),
        {},
        "campaign.yaml, line 4, table: all 14 contacts lie on one arc of 30 degrees of disc disc1 and press in almost "
        "one direction; add contacts on its other sides and on a second object far from it",
    ),
    "repeated": (
        felt_table(np.vstack([FELT[FOUR]] * 4), np.vstack([KIND.q[FOUR]] * 4), [FIRST[i] for i in FOUR] * 4),
        {},
        "campaign.yaml, line 4, table: 4 contacts (of 16 rows, the others repeat them) are fewer than the 12 "
        "parameters sought; touch at least 8 more",
    ),
    "no object column": (
        felt_table().replace("object,", "thing_m,"),
        {},
        "plan.csv, line 1: there is no column 'thing_m'",
    ),
    "no force column": (
        felt_table().replace("fy_N", "name"),
        {},
        "plan.csv, line 1: there is no column of fy; add fy_N",
    ),
    "kind": (
        felt_table(),
        {"objects": DISCS.replace("disc, name: disc2", "disk, name: disc2")},
        "campaign.yaml, line 8, objects[2].kind: there is no kind of object 'disk'; did you mean 'disc'?",
    ),
    "no name": (
        felt_table(),
        {"objects": DISCS.replace(", name: disc2", "")},
        "campaign.yaml, line 8, objects[2]: an object needs a name",
    ),
    "twice": (
        felt_table(),
        {"objects": DISCS.replace("disc3", "disc2")},
        "campaign.yaml, line 9, objects[3].name: 'disc2' is the name of another object",
    ),
    "frame": (
        felt_table(),
        {"more": "frame: griper\n"},
        "campaign.yaml, line 6, frame: there is no frame 'griper'; did you mean 'gripper'?",
    ),
    "empty cell": (
        felt_table().replace(f"{float(FELT[2, 1])!r}", "", 1),
        {},
        "plan.csv, line 4, column fy_N: an empty cell is no reading; give a number, or leave it out by missing: skip",
    ),
    "beyond": (
        felt_table(q=KIND.q + np.array([0, 2 * np.pi])),
        {},
        "plan.csv, line 2: axis J2 = 482.129 deg is beyond its limits",
    ),
    "error": (
        felt_table(),
        {"errors": ERRORS + "  - {kind: load_size, sd_percent: 1}\n"},
        "campaign.yaml, line 13, errors[3]: a measurement of contact_force has no",
    ),
}
BALL = DISCS.replace(
    "kind: disc, name: disc1, centre_mm: [-250, 300]", "kind: sphere, name: disc1, centre_mm: [-250, 300, 0]"
)
PLANNED = {
    "joint values far away": (
        felt_table(),
        {"objects": DISCS.replace("[200, 400]", "[900, 400]")},
        "plan.csv, line 14: contact out of reach: the tip is 6",
    ),
    "joint values deep inside": (
        felt_table(),
        {"objects": DISCS.replace("[200, 400], radius_mm: 50", "[250, 400], radius_mm: 90")},
        "plan.csv, line 14: the tip is 8",
    ),
    "reach": (
        plan_table((40.0,)),
        {"objects": DISCS.replace("[200, 400]", "[900, 400]")},
        "plan.csv, line 14 (and 11 more): contact out of reach: no joint values within the limits bring gripper to "
        "(950.0, 400.0, 0.0) mm on disc disc2; touch another place",
    ),
    "no pressing": (
        "object,angle_deg,force_N\ndisc1,0,0\n",
        {},
        "plan.csv, line 2, column force_N: 0 does not press on anything; give a positive force",
    ),
    "no size": ("object,angle_deg\ndisc1,0\n", {}, "plan.csv, line 1: a planned contact needs force_N, how hard"),
    "no place": ("object,force_N\ndisc1,40\n", {}, "plan.csv, line 1: a planned contact needs angle_deg on a disc"),
    "two places": (
        "object,angle_deg,x_mm,y_mm,force_N\ndisc1,0,1,1,40\n",
        {},
        "plan.csv, line 1: angle and x, y give the place in two ways; keep one",
    ),
    "joints too": (
        "object,J1_deg,J2_deg,force_N\ndisc1,20,100,40\n",
        {},
        "plan.csv, line 1: joint values decide where",
    ),
    "angle on a ball": (
        "object,angle_deg,force_N\ndisc1,0,40\n",
        {"objects": BALL},
        "plan.csv, line 2, column angle_deg: an angle places a contact on a disc, and sphere disc1 is none",
    ),
}


@pytest.mark.parametrize("case", ["pulling", "one pulls"])
def test_forces_that_a_plan_has_already_are_refused_as_in_a_campaign(tmp_path: Path, case: str) -> None:
    table, keys, said = READ[case]
    assert said in refused(tmp_path, table, True, **keys)


def test_a_plan_may_have_some_forces_already(tmp_path: Path) -> None:
    head, *lines = felt_table(BACK).splitlines()
    empty = [f"{line.rsplit(',', 2)[0]},," if i != 4 else line for i, line in enumerate(lines)]
    said = refused(tmp_path, "\n".join([head, *empty]) + "\n", True)
    assert "plan.csv, line 6, column fx_N: the force on the robot points into disc disc1, as in 1 of 1 rows" in said
    head, *lines = felt_table(IDLE).splitlines()
    some = [f"{line.rsplit(',', 2)[0]},," if i % 2 == 0 else line for i, line in enumerate(lines)]
    file = read_plan(lay(tmp_path, "\n".join([head, *some]) + "\n"))
    assert np.isnan(file.campaign.readings).all()
    turned = read_plan(lay(tmp_path, felt_table(-FELT), more="force: by_robot\n"))
    np.testing.assert_array_equal(kind_of(turned).q, KIND.q)


@pytest.mark.parametrize("name", READ)
def test_slips_in_readings_are_named(name: str, tmp_path: Path) -> None:
    table, keys, said = READ[name]
    assert refused(tmp_path, table, **keys).startswith(said)


@pytest.mark.parametrize("name", PLANNED)
def test_slips_in_plans_are_named(name: str, tmp_path: Path) -> None:
    table, keys, said = PLANNED[name]
    assert refused(tmp_path, table, plan=True, **keys).startswith(said)


def test_the_actual_robot_is_the_one_of_the_document(tmp_path: Path) -> None:
    from elastocal.files.robot.read import read_robot

    path = tmp_path / "truth.yaml"
    path.write_text(actual_robot())
    np.testing.assert_allclose(read_robot(path).parameters.values, actual().parameters.values, rtol=1e-12)
