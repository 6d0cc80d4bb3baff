"""What a campaign takes: units, shapes, numbers that were not read; what it refuses, in one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle.refusals import refused

import elastocal as ec

N = 5
Q = np.linspace(-1, 1, N * 6).reshape(N, 6)
X = np.linspace(0, 1, N * 3).reshape(N, 3)
UNITS = {"length": "m", "angle": "rad"}


def made(**given: Any) -> ec.Campaign:
    return ec.Campaign(**({"q": Q, "position": X} | UNITS | given))


@pytest.mark.parametrize("missing", ["length", "angle"])
def test_both_units_are_required(missing: str) -> None:
    units = {k: v for k, v in UNITS.items() if k != missing}
    with refused("unit", parameter=missing):
        ec.Campaign(q=Q, position=X, **units)


def test_lengths_are_kept_in_metres() -> None:
    mm = made(position=1000 * X, distance=np.full(N, 1500.0), noise=0.05, length="mm")
    assert mm.position == pytest.approx(X[:, None, :])
    assert mm.distance == pytest.approx(np.full((N, 1), 1.5))
    assert mm.noise == pytest.approx(5e-5)
    assert made(deflection=1e3 * X, position=None, length="mm").deflection == pytest.approx(X[:, None, :])


def test_angles_are_those_of_the_robot() -> None:
    robot = ec.read_robot("kuka-kr270")
    assert made(q=np.degrees(Q), angle="deg").joint_values(robot) == pytest.approx(made().joint_values(robot))
    assert made().joint_values(robot) == pytest.approx(Q)


def test_joint_values_are_the_controllers_where_it_maps_them() -> None:
    """J3 of the pendant is the angle of the forearm against the horizontal: joint 3 = J3 + J2."""
    joints = made().joint_values(ec.read_robot("fanuc-m710ic50"))
    expected = Q.copy()
    expected[:, 2] += Q[:, 1]
    assert joints == pytest.approx(expected)


def test_prismatic_joints_are_in_the_unit_of_length() -> None:
    q = np.array([[100.0, 90.0, 300.0]])
    data = ec.Campaign(q=q, position=[[0, 0, 0]], length="mm", angle="deg")
    assert data.joint_values(ec.read_robot("cylindrical")) == pytest.approx(np.array([[0.1, np.pi / 2, 0.3]]))


def test_positions_of_one_or_several_markers() -> None:
    assert made().position.shape == (N, 1, 3)
    several = np.random.default_rng(0).normal(size=(N, 4, 3))
    assert made(position=several).position == pytest.approx(several)
    assert made(position=several.reshape(N, 12)).position == pytest.approx(several)
    assert made(position=several).markers == ("marker1", "marker2", "marker3", "marker4")
    assert made(position=several, markers=list("abcd")).markers == ("a", "b", "c", "d")
    assert made(markers="nose").markers == ("nose",)


def test_nan_stands_for_not_read() -> None:
    x = X.copy()
    x[2] = np.nan
    x[3, 1] = np.nan
    assert np.isnan(made(position=x).position).sum() == 4


def test_lists_do_as_well_as_arrays() -> None:
    assert made(q=Q.tolist(), position=X.tolist()).position == pytest.approx(X[:, None])


def test_orientations_as_quaternions_or_matrices() -> None:
    half = np.sqrt(0.5)
    data = made(orientation=[[0, 0, half, half]] * (N - 1) + [[np.nan] * 4])
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert data.orientation[:-1] == pytest.approx(np.tile(turn, (N - 1, 1, 1)))
    assert np.all(np.isnan(data.orientation[-1]))
    assert made(orientation=np.tile(turn, (N, 1, 1))).orientation == pytest.approx(np.tile(turn, (N, 1, 1)))


def test_one_wrench_serves_all_rows() -> None:
    force = [0, 0, -100, 0, 0, 5]
    assert made(wrench=force).wrench == pytest.approx(np.tile(force, (N, 1)))
    assert made(wrench=force).loaded
    assert not made(wrench=np.zeros(6)).loaded
    assert not made().loaded


def test_stations_and_rows() -> None:
    data = made(station=[2, 1, 2, 1, 1], places=[f"readings.csv:{i + 2}" for i in range(N)])
    assert data.stations == ("2", "1")
    assert data.line(3) == "readings.csv:5"
    some = data.take([4, 1])
    assert (len(some), some.line(1)) == (2, "readings.csv:3")
    assert some.position == pytest.approx(X[[4, 1]][:, None])
    assert made().take(np.arange(N) > 2).line(0) == "row 3"


REFUSED = {
    "a unit that is none": ({"length": "inch"}, ["length", "'inch'", "'m' or 'mm'"]),
    "no unit": ({"angle": None}, ["angle='rad'", "angle='deg'"]),
    "nothing read": ({"position": None}, ["position", "deflection", "orientation", "distance"]),
    "rows that do not match": ({"position": X[:4]}, ["position", "4 rows", "5"]),
    "two coordinates": ({"position": X[:, :2]}, ["position", "(5, 2)", "(N, 3)"]),
    "words for numbers": ({"position": [["a", "b", "c"]] * N}, ["position", "numbers"]),
    "a ragged table": ({"position": [[1, 2, 3], [1, 2]]}, ["position", "numbers"]),
    "all nan": ({"position": X * np.nan}, ["position", "nan"]),
    "infinity": ({"position": np.where(X[3, 0] == X, np.inf, X)}, ["position", "row 3"]),
    "a joint value that is nan": ({"q": np.where(Q[2, 4] == Q, np.nan, Q)}, ["q", "row 2", "column 4"]),
    "joint values of one row": ({"q": Q[0]}, ["q", "(6,)", "row"]),
    "no rows": ({"q": np.zeros((0, 6))}, ["q", "(0, 6)"]),
    "a quaternion that is none": ({"orientation": np.ones((N, 4))}, ["orientation", "x y z w"]),
    "a matrix that is no rotation": ({"orientation": np.tile(-np.eye(3), (N, 1, 1))}, ["orientation", "right-handed"]),
    "angles for orientations": ({"orientation": np.ones((N, 3))}, ["orientation", "(5, 3)", "(N, 4)"]),
    "other markers for distances": ({"distance": np.ones((N, 2))}, ["distance", "markers"]),
    "a force alone": ({"wrench": np.ones((N, 3))}, ["wrench", "(5, 3)", "N m"]),
    "a wrench that is nan": ({"wrench": np.full((N, 6), np.nan)}, ["wrench", "finite"]),
    "a station for some": ({"station": ["a", "b"]}, ["station", "2 rows", "5"]),
    "a temperature for some": ({"temperature": [20.0]}, ["temperature", "1 rows", "5"]),
    "names of other markers": ({"markers": ["a", "b"]}, ["markers", "2 names", "1 points"]),
    "the same name twice": ({"position": np.zeros((N, 2, 3)), "markers": ["a", "a"]}, ["markers", "a, a"]),
    "no noise at all": ({"noise": 0.0}, ["noise", "positive"]),
    "noise that is nan": ({"noise": float("nan")}, ["noise", "positive"]),
    "places of other rows": ({"places": ["a"]}, ["places", "1", "5"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_says_what_and_what_to_do(case: str) -> None:
    given, parts = REFUSED[case]
    with pytest.raises(ec.InputError) as refused:
        made(**given)
    text = str(refused.value)
    assert [p for p in parts if p not in text] == []
    assert "\n" not in text
    assert len(text) < 300


def test_columns_that_do_not_fit_the_robot_are_named() -> None:
    with refused("shape", 5, parameter="q", allowed=(6,)):
        ec.calibrate(ec.read_robot("kuka-kr270"), made(q=Q[:, :5]))


@pytest.mark.parametrize("key", ["temperature", "time"])
def test_what_was_not_read_beside_the_points_is_refused_by_its_row(key: str) -> None:
    with refused("number", 1, parameter=key):
        ec.Campaign(
            q=np.zeros((3, 6)), position=np.zeros((3, 3)), length="m", angle="rad", **{key: [20.0, np.nan, 21.0]}
        )


def test_rows_to_keep_are_rows() -> None:
    with refused("unknown-row-to-keep", "row 500"):
        made(keep=["row 1", "row 500"])
    with refused("unknown-row-to-keep", "row 1"):
        made(keep=["row 1"], places=list("abcde"))
    assert made(keep="c", places=list("abcde")).kept_rows.tolist() == [2]
    some = made(keep=["row 1", "row 3"]).take([0, 3, 4])
    assert some.keep == ("row 3",)
    assert some.kept_rows.tolist() == [1]


def test_too_few_poses_are_refused() -> None:
    with refused("few-poses", 3):
        ec.calibrate(ec.read_robot("kuka-kr270"), made().take([0, 1, 2]))


def test_a_model_word_that_is_none_is_refused_with_the_nearest() -> None:
    with refused("unknown-model-word", "geometri", nearest="geometry"):
        ec.calibrate(ec.read_robot("kuka-kr270"), made(), "geometri")


def test_representations_are_short() -> None:
    data = made(position=np.zeros((N, 3, 3)), station=list("abcab"), name="monday")
    assert "monday" in repr(data)
    assert "5 readings" in repr(data)
    assert "3 markers" in repr(data)
    assert len(repr(data)) < 200


def test_robots_by_name_string_or_path(tmp_path: Path) -> None:
    from elastocal.files.robot.read import shipped_text

    file = tmp_path / "mine.yaml"
    file.write_text(shipped_text("fanuc-m710ic50"), encoding="utf-8")
    names = {ec.read_robot(file).name, ec.read_robot(str(file)).name, ec.read_robot("fanuc-m710ic50").name}
    assert names == {"fanuc-m710ic50"}
    assert ec.read_robot(file, tool="flange").tool == "flange"
    with refused("unknown-frame", "nose", nearest="base"):
        ec.read_robot(file, tool="nose")
    with refused("unknown-robot", "kr2700", nearest="kuka-kr270"):
        ec.read_robot("kr2700")


class Frame:
    """What of a data frame is used: names of columns, and its numbers."""

    def __init__(self, columns: list[str], values: np.ndarray) -> None:
        self.columns, self.values = columns, values

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype)


@pytest.mark.parametrize("unit", ["", "_rad"])
@pytest.mark.parametrize("robot", ["kuka-kr270", "fanuc-m710ic50"])
def test_columns_of_joints_count_by_name(robot: str, unit: str) -> None:
    model = ec.read_robot(robot)
    mixed = [3, 1, 5, 0, 2, 4]
    frame = Frame([model.controller.axes[i] + unit for i in mixed], Q[:, mixed])
    assert made(q=frame).joint_values(model) == pytest.approx(made().joint_values(model))
    assert made(q=frame).take([2, 0]).ordered(model).q == pytest.approx(Q[[2, 0]])
    joints = Frame([model.joints[i] + unit for i in mixed], Q[:, mixed])
    assert model.kinematics(joints).position == pytest.approx(model.kinematics(Q).position)


def test_calibrate_and_predict_take_columns_by_name() -> None:
    model = ec.read_robot("ur10e").nominal
    rng = np.random.default_rng(0)
    q = rng.uniform(-1.5, 1.5, (20, 6))
    at = model.kinematics(q).position + 2e-5 * rng.normal(size=(20, 3))
    mixed = [3, 1, 5, 0, 2, 4]
    names = [model.joints[i] for i in mixed]
    plain = ec.calibrate(model, made(q=q, position=at), model="geometry")
    named = ec.calibrate(model, made(q=Frame(names, q[:, mixed]), position=at), model="geometry")
    assert named.leave_one_out.mean == plain.leave_one_out.mean
    there = plain.predict(q[:3]).position
    assert np.array_equal(named.predict(Frame(names, q[:3][:, mixed])).position, there)
    assert np.array_equal(ec.simulate(model, Frame(names, q[:3][:, mixed]), noise=None).position, at_rest(model, q[:3]))
    with refused("conflict", ("X", *names[1:]), parameter="q"):
        plain.predict(Frame(["X", *names[1:]], q[:3]))
    unnamed = plain.predict(Frame([f"column {i}" for i in range(6)], q[:3]))
    assert np.array_equal(unnamed.position, there)


@pytest.mark.parametrize(
    "names",
    [
        ["z", "x", "y"], ["dz_mm", "dx_mm", "dy_mm"], ["x1", "x2", "y1", "y2", "z1", "z2"],
        ["SMR 2 X", "SMR 2 Z", "SMR 2 Y", "SMR 1 Y", "SMR 1 X", "SMR 1 Z"], ["b.z", "a.z", "b.y", "a.x", "b.x", "a.y"],
    ],
)  # fmt: skip
def test_points_of_a_data_frame_count_by_the_names_of_their_columns(names: list[str]) -> None:
    def number(name: str) -> float:
        axis = next(a for a in "zyx" if a in name.lower().removesuffix("_mm"))
        return 10.0 * (1 + "xyz".index(axis)) + (1 if "1" in name or "a" in name else 2)

    frame = Frame(names, np.tile([number(n) for n in names], (N, 1)))
    expected = [
        sorted(v for v in map(number, names) if v % 10 == m) for m in dict.fromkeys(number(n) % 10 for n in names)
    ]
    for key in ("position", "deflection"):
        read = getattr(made(**{"position": None, key: frame, "wrench": [0, 0, 1, 0, 0, 0]}), key)
        assert read[0].tolist() == expected
    by_place = Frame([f"column {i}" for i in range(len(names))], frame.values)
    assert made(position=by_place).position.reshape(N, -1)[0].tolist() == frame.values[0].tolist()


@pytest.mark.parametrize(
    "names", [["mz", "fz_N", "fx_N", "fy", "mx", "my"], ["Mz_Nm", "Fz_N", "Fx_N", "Fy_N", "Mx_Nm", "My_Nm"]]
)
def test_loads_of_a_data_frame_count_by_the_names_of_their_columns(names: list[str]) -> None:
    frame = Frame(names, np.tile([6.0, 3, 1, 2, 4, 5], (N, 1)))
    assert made(wrench=frame).wrench[0].tolist() == [1, 2, 3, 4, 5, 6]


def at_rest(model: ec.Robot, q: np.ndarray) -> np.ndarray:
    return np.asarray(ec.simulate(model, q, noise=None).position)


def test_a_matrix_that_is_no_rotation_is_named_with_its_row() -> None:
    turns = np.array([[[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]]] * N)
    made(orientation=np.where(np.arange(N)[:, None, None] == 1, np.nan, turns))
    turns[3, 0, 0] = 0.801  # as if rounded to three digits
    with refused("range", 3, parameter="orientation") as caught:
        made(orientation=turns)
    assert "0.0016" in str(caught.value)
    turns[3] = -np.eye(3)
    with refused("range", 3, parameter="orientation"):
        made(orientation=turns)
