"""Arguments of another type, shape or size than is needed end in the one error, with their name and value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from os import PathLike
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import ArrayLike
from oracle.refusals import refused

import elastocal as ec
from elastocal.arguments import check_type, checked, generator, vector
from elastocal.calibration.campaigns import joined
from elastocal.compensation.correction import Correction
from elastocal.spatial.entries import Array

ROBOT = ec.read_robot("cylindrical")
Q = np.array([[0.3, 0.1, 0.6], [0.5, -0.4, 0.5], [0.7, 0.8, 0.8]])
DATA = ec.Campaign(q=Q, position=ROBOT.kinematics(Q).position, length="m", angle="rad")
LOADS = [ec.loads.Actuator(sizes=(300.0,), directions=((1, 0, 0), (0, 1, 0), (0, 0, 1)))]

FITS: list[tuple[Any, Any]] = [
    ("a", str), (3, int), (np.int64(3), int), (3, float), (np.float32(2), float), (True, bool), (None, str | None),
    ("mm", Literal["m", "mm"]), (["a", "b"], Sequence[str]), ("a", Sequence[str]), (np.array(["a"]), Sequence[str]),
    ((1.0, 2), tuple[float, ...]), ([1, 2], Array), (np.zeros((2, 3)), Array), ({"a": 1}, Mapping[str, float]),
    ("file", str | PathLike[str]), (object(), object), (np.array(0.5), float), (np.array(2), int),
    ([1, 2], ArrayLike), (None, ArrayLike | None),
    ({"a": [1, 2]}, Mapping[str, ArrayLike]),
]  # fmt: skip
MISFITS: list[tuple[Any, Any]] = [
    (3, str), (2.5, int), (True, int), ("3", float), (float("nan"), int), (1, bool), (None, str), (7, str | None),
    (3, Sequence[str]), ([1, 2], Sequence[str]), (np.zeros(0), Sequence[str]), ({"a": 1}, Sequence[str]),
    ("abc", Array), (5, Array), ([[1, 2], [3]], Array), ([("a", 1)], Mapping[str, float]), (3, str | PathLike[str]),
    (np.zeros(2), int | None), (np.array(0.5), int), (np.array(True), float),
    (5, Literal["m", "mm"]), ("abc", ArrayLike), (None, ArrayLike),
]  # fmt: skip


@pytest.mark.parametrize(("value", "hint"), FITS, ids=lambda part: str(part).partition(" at 0x")[0])
def test_what_fits_is_taken(value: Any, hint: Any) -> None:
    check_type("x", value, hint)


@pytest.mark.parametrize(("value", "hint"), MISFITS, ids=lambda part: str(part).partition(" at 0x")[0])
def test_what_does_not_fit_is_refused_with_its_name(value: Any, hint: Any) -> None:
    with pytest.raises(ec.InputError) as caught:
        check_type("x", value, hint)
    assert (caught.value.code, caught.value.parameter) == ("type", "x")
    assert caught.value.value is value


def test_a_call_keeps_its_signature_and_python_its_own_error() -> None:
    @checked("free")
    def call(number: int, free: str = "", *more: int, **others: float) -> int:
        return number

    assert call(2, 5, 6, seven=8) == 2  # type: ignore[arg-type]
    assert call.__name__ == "call"
    with refused("type", "2", parameter="number"):
        call("2")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"call\(\) missing 1 required positional argument"):
        call()  # type: ignore[call-arg]


def test_seeds() -> None:
    assert generator("seed", 3).normal() == generator("seed", np.int64(3)).normal()
    given = np.random.default_rng(1)
    assert generator("seed", given) is given
    with refused("range", -1, parameter="seed"):
        generator("seed", -1)


CALLS = {
    "plan.robot": ("type", "robot", lambda: ec.plan(5, loads=LOADS)),  # type: ignore[arg-type]
    "plan.loads": ("type", "loads", lambda: ec.plan(ROBOT, loads="weight")),  # type: ignore[arg-type]
    "plan.poses": ("type", "poses", lambda: ec.plan(ROBOT, loads=LOADS, poses=2.5)),  # type: ignore[arg-type]
    "plan.seed": ("range", "seed", lambda: ec.plan(ROBOT, loads=LOADS, seed=-1)),
    "simulate.where": ("number", "q", lambda: ec.simulate(ROBOT, "abc")),  # type: ignore[arg-type]
    "simulate.shape": ("shape", "q", lambda: ec.simulate(ROBOT, [[1.0, 2.0]])),
    "simulate.outliers": ("range", "outliers", lambda: ec.simulate(ROBOT, Q, outliers=-1)),
    "assess": ("type", "campaign", lambda: ec.assess(ROBOT, "c.yaml")),  # type: ignore[arg-type]
    "folds": ("type", "folds", lambda: ec.cross_validate(ROBOT, DATA, folds=2.5)),  # type: ignore[arg-type]
    "read_robot": ("type", "robot", lambda: ec.read_robot(None)),  # type: ignore[arg-type]
    "read_campaign": ("type", "path", lambda: ec.read_campaign(5)),  # type: ignore[arg-type]
    "read_calibration": ("type", "path", lambda: ec.read_calibration(None)),  # type: ignore[arg-type]
    "read_program": ("type", "source", lambda: ec.read_program(5)),  # type: ignore[arg-type]
    "compare": ("type", "names", lambda: ec.compare(DATA, DATA, names=5)),  # type: ignore[call-overload]
    "iso9283": ("type", "command", lambda: ec.iso9283(None, None)),  # type: ignore[arg-type]
    "payload": ("type", "payload", lambda: ec.ProcessLoad(payload="5")),  # type: ignore[arg-type]
    "negative": ("range", "payload", lambda: ec.ProcessLoad(payload=-5.0)),
    "wrench": ("type", "wrench", lambda: ec.ProcessLoad(wrench="abc")),  # type: ignore[arg-type]
    "compliance": ("type", "rated_payload", lambda: ROBOT.with_joint_compliance("60")),  # type: ignore[arg-type]
    "kinds": ("type", "kinds", lambda: ROBOT.without(["payload"])),  # type: ignore[arg-type]
    "frame": ("unknown-frame", "", lambda: ROBOT.kinematics(Q, [0, 0, 0])),  # type: ignore[arg-type]
    "deflection": ("type", "applied", lambda: ROBOT.deflection(Q, "down")),  # type: ignore[arg-type]
    "values": ("type", "values", lambda: ROBOT.with_parameters("abc")),  # type: ignore[arg-type]
    "loops": ("missing", "loops", lambda: ec.procedures.loops.identify([])),
    "transmission": ("missing", "series", lambda: ec.procedures.transmission.identify([])),
    "gravity": ("type", "log", lambda: ec.procedures.gravity.identify(ROBOT, "log.csv")),  # type: ignore[arg-type]
    "gravity.robot": ("type", "model", lambda: ec.procedures.gravity.identify("kr5", [])),  # type: ignore[arg-type]
    "model": ("type", "model", lambda: ec.calibrate(ROBOT, DATA, model=None)),  # type: ignore[arg-type]
    "model.number": ("type", "model", lambda: ec.calibrate(ROBOT, DATA, model=3)),  # type: ignore[arg-type]
    "campaign.name": ("type", "name", lambda: of_arrays(name=3)),
    "campaign.wrench": ("range", "wrench", lambda: of_arrays(wrench=np.full((3, 6), 1e12))),
    "masses": ("type", "masses", lambda: ec.loads.Hanging(masses=5.0)),  # type: ignore[arg-type]
    "directions": ("shape", "directions", lambda: ec.loads.Actuator(sizes=(1.0,), directions=np.eye(2))),  # type: ignore[arg-type]
    "write": ("type", "folder", lambda: Correction.write(object.__new__(Correction), None)),  # type: ignore[arg-type]
    "simulate.markers": ("shape", "markers", lambda: ec.simulate(ROBOT, Q, markers={"m": [0, 1]})),
    "simulate.name": ("unknown-frame", "", lambda: ec.simulate(ROBOT, Q, markers="nope")),
    "simulate.stations": ("type", "stations", lambda: ec.simulate(ROBOT, Q, stations={"1": np.eye(4)})),  # type: ignore[dict-item]
    "stations.number": ("type", "stations", lambda: ec.simulate(ROBOT, Q, stations={"1": 5})),  # type: ignore[dict-item]
    "bases": ("type", "bases", lambda: ec.read_program("p.csv", bases={"base": np.eye(4)})),  # type: ignore[dict-item]
    "no program": ("missing", "source", lambda: ec.read_program("", language="krl")),
    "loop": ("type", "force", lambda: ec.procedures.loops.loop_of("a", "b")),
    "pose": ("shape", "rotation", lambda: ec.Pose(np.eye(4))),
    "log.q": ("shape", "", lambda: ec.procedures.gravity.JointLog.of(ROBOT, [[0.0, 1.0]])),
    "log.torque": ("shape", "", lambda: ec.procedures.gravity.JointLog.of(ROBOT, Q, Q[:1])),
    "counts": ("type", "counts A1", lambda: ec.procedures.transmission.EncoderSeries.of({"A1": "many"})),
    "counts.rows": ("shape", "", lambda: ec.procedures.transmission.EncoderSeries.of({"A1": [1, 2]}, {"A1": [0.1]})),
    "compensator.angles": (
        "shape",
        "angles",
        lambda: ec.procedures.compensator.identify(
            {"p": np.eye(3), "c": np.eye(3)}, [0.0, 1.0], moving="p", pivots=["c"], joint="A2"
        ),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_of_the_front_door_name_what_is_wrong(name: str) -> None:
    code, parameter, call = CALLS[name]
    with pytest.raises(ec.InputError) as caught:
        call()
    assert (caught.value.code, caught.value.parameter) == (code, parameter)


@pytest.mark.parametrize("key", ["distance", "temperature", "time", "markers", "keep", "places", "priors"])
def test_one_number_is_no_column(key: str) -> None:
    with pytest.raises(ec.InputError) as caught:
        ec.Campaign(**{"q": Q, "position": Q, "length": "m", "angle": "rad", key: 5})
    assert caught.value.parameter == key
    assert caught.value.code == ("type" if key in ("markers", "keep", "places", "priors") else "shape")


def test_axes_before_a_program_are_as_many_as_the_robot_has() -> None:
    text = "$BASE=$NULLFRAME\n$TOOL=$NULLFRAME\nLIN {X 1000,Y 0,Z 1000,A 0,B 90,C 0}\n"
    program = ec.read_program({"p.src": f"DEF p()\n{text}END\n"})
    with refused("shape", [0, 0, 0], parameter="near"):
        ec.compensate(ec.read_robot("kuka-kr270"), program, near=[0, 0, 0])
    for given in ({0.0, 1.0}, {0.0: 1.0}):
        with refused("type", given, parameter="near"):
            ec.compensate(ec.read_robot("kuka-kr270"), program, near=given)  # type: ignore[arg-type]
        with refused("type", given, parameter="wrench"):
            ec.compensate(ec.read_robot("kuka-kr270"), program, wrench=given)  # type: ignore[arg-type]
    with refused("shape", [1.0], parameter="wrench"):
        ec.compensate(ec.read_robot("kuka-kr270"), program, wrench=[1.0])
    with refused("type", "home", parameter="near"):
        ec.compensate(ec.read_robot("kuka-kr270"), program, near="home")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [("noise", "2e-5", "type"), ("noise", True, "type"), ("orientation_noise", "x", "type"),
     ("orientation_noise", -1.0, "range"), ("orientation_noise", float("nan"), "range")],
)  # fmt: skip
def test_noises_of_a_campaign_are_positive_numbers(key: str, value: Any, code: str) -> None:
    with pytest.raises(ec.InputError) as caught:
        ec.Campaign(q=Q, position=ROBOT.kinematics(Q).position, length="m", angle="rad", **{key: value})
    assert (caught.value.code, caught.value.parameter) == (code, key)


def test_a_noise_stated_in_another_unit_is_the_same_noise() -> None:
    position = ROBOT.kinematics(Q).position
    both = [
        ec.Campaign(q=Q * [m, 1, m], position=m * position, length=unit, angle="rad", noise=sd, name=unit)
        for m, unit, sd in ((1.0, "m", 7e-5), (1e3, "mm", 0.07))
    ]
    assert both[0].noise != both[1].noise  # by rounding
    assert joined(ROBOT, both).count == 2 * len(Q)


@pytest.mark.parametrize(
    ("source", "code", "value"),
    [(ec.sources.Friction(), "unsupported", "friction"),
     (ec.sources.ForceSensor(sd=0.1), "unsupported", "force_sensor"),
     (ec.sources.Reading(sd=3e-5, marker="nope"), "unknown-marker", "nope")],
)  # fmt: skip
def test_errors_of_what_a_campaign_does_not_read(source: Any, code: str, value: str) -> None:
    for noise in (source, [ec.sources.Tracker(), source]):
        with refused(code, value, parameter="noise"):
            ec.Campaign(q=Q, position=Q, length="m", angle="rad", noise=noise)


def test_a_row_of_numbers() -> None:
    for given in ([1, 2], (x for x in (1.0, 2.0)), np.array([1, 2]), np.float32([1, 2])):
        np.testing.assert_array_equal(vector("x", given, 2), [1.0, 2.0])
    wrong: list[tuple[Any, str]] = [
        ("ab", "type"), ({1.0, 2.0}, "type"), ({1: 2, 3: 4}, "type"), (5.0, "shape"), (None, "type"), ([1j, 0], "type"),
        ([True, False], "type"), ([[1], [2, 3]], "type"), ([[1, 2]], "shape"), ([1.0], "shape"),
        ([1.0, np.inf], "number"),
    ]  # fmt: skip
    for value, code in wrong:
        with refused(code, value, parameter="x"):
            vector("x", value, 2)


def of_arrays(**given: Any) -> ec.Campaign:
    return ec.Campaign(**{"q": Q, "position": ROBOT.kinematics(Q).position, "length": "m", "angle": "rad", **given})


def test_what_is_masked_was_not_read() -> None:
    masked = np.ma.masked_array(Q, mask=[[False] * 3, [True] * 3, [False] * 3])
    read = of_arrays(position=masked).position
    assert np.isnan(read[1]).all()
    np.testing.assert_array_equal(read[[0, 2], 0], Q[[0, 2]])
    with refused("number", (1, 0), parameter="q"):
        of_arrays(q=masked)


@pytest.mark.parametrize(("q", "what"), [(Q + 1j, "complex numbers"), ((Q > 0).tolist(), "True and False")])
def test_joint_values_are_real_numbers(q: Any, what: str) -> None:
    with refused("number", what, parameter="q"):
        of_arrays(q=q)


@pytest.mark.parametrize("nobody", [None, float("nan"), np.ma.masked])
def test_a_station_without_a_name_is_refused_with_its_row(nobody: Any) -> None:
    names = np.ma.array(["a", "b", "a"], dtype=object)
    names[1] = nobody
    with refused("missing", 1, parameter="station"):
        of_arrays(station=names)
    assert of_arrays(station=[1, 2, 1]).stations == ("1", "2")


def test_a_float_column_with_a_gap_names_no_station() -> None:
    with refused("missing", 2, parameter="station"):
        of_arrays(station=[1.0, 2.0, np.nan])


def test_arrays_are_loads_and_a_text_is_one_name() -> None:
    listed = ec.loads.Actuator(sizes=(900.0,), directions=((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), points=("tool",))
    assert ec.loads.Actuator(sizes=np.array([900.0]), directions=np.eye(3)[:2], points="tool") == listed  # type: ignore[arg-type]
    assert ec.simulate(ROBOT, Q, markers=ROBOT.tool).markers == (ROBOT.tool,)
    assert ec.simulate("cylindrical", Q).position.tolist() == ec.simulate(ROBOT, Q).position.tolist()


def test_readings_and_results_are_not_changed_by_accident() -> None:
    for array in (DATA.q, DATA.position):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5.0
    given = Q.copy()
    assert of_arrays(q=given).q is not given
    given[0] = 0.0  # the arrays of the caller stay as they are


class Nullable:
    """What pandas makes of columns that know a missing value: NA, which is no float."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __array__(self, dtype: object = None, copy: bool | None = None) -> np.ndarray:
        return np.where(np.isnan(self.values), object(), self.values.astype(object)).astype(dtype or object)

    def to_numpy(self, dtype: object = None, copy: bool = False, na_value: float | None = None) -> np.ndarray:
        return self.values.astype(dtype) if na_value is not None else self.__array__(dtype)


def test_missing_values_of_data_frames_were_not_read() -> None:
    points = np.array(Q, dtype=float)
    points[1] = np.nan
    read = of_arrays(position=Nullable(points)).position
    np.testing.assert_array_equal(np.isnan(read[:, 0]), np.isnan(points))
    np.testing.assert_allclose(read[0, 0], points[0])
    with refused("number", (1, 0), parameter="q"):
        of_arrays(q=Nullable(points))


@pytest.mark.parametrize(
    "times",
    [
        np.array(["2026-03-01T10:00:00", "2026-03-01T10:01:30", "2026-03-02T10:00:00"], dtype="M8[ns]"),
        ["2026-03-01 10:00", "2026-03-01 10:01:30", "2026-03-02 10:00"],
        [datetime(2026, 3, 1, 10), datetime(2026, 3, 1, 10, 1, 30), datetime(2026, 3, 2, 10)],
        np.array([0, 90_000, 86_400_000], dtype="m8[ms]"),
        ["0", "90", "86400"],
        [0, 90, 86400],
    ],
    ids=["datetime64", "texts", "datetime", "timedelta64", "numbers as texts", "numbers"],
)
def test_times_are_seconds_however_they_are_written(times: object) -> None:
    time = of_arrays(time=times).time
    np.testing.assert_allclose(time - time[0], [0, 90, 86400])


def test_what_is_no_time_is_refused() -> None:
    with refused("number", parameter="time"):
        of_arrays(time=["soon", "later", "never"])
