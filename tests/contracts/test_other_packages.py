"""Kinds of other packages, by entry points: used in files like those of this one, refused with their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle.refusals import refused

import elastocal as ec
from elastocal.app.cli.main import run_words
from elastocal.app.commands.calibrate import CalibrateResult, calibrate
from elastocal.app.pages.calibrate.page import page
from elastocal.calibration.words import with_words
from elastocal.compensation.posts.post import post_for, post_kinds
from elastocal.design.criteria.criterion import criterion_kinds
from elastocal.errors import InputError
from elastocal.files.campaign.read import read_campaign, read_plan
from elastocal.files.formats.format import format_kinds
from elastocal.files.robot.read import read_robot
from elastocal.measure.sources.source import source_kinds
from elastocal.model.elements import element_kinds
from elastocal.model.statics.equilibrium import equilibrium

Install = Callable[..., None]

ELEMENT = """
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from elastocal.model.elements import AxisForce, Load
from elastocal.model.parameters import quantity


@dataclass(frozen=True, kw_only=True)
class Balancer(Load):
    kind: ClassVar[str] = "KIND"
    joint: str
    torque: float = quantity("joint force", default=0.0)

    @property
    def place(self):
        return self.joint

    def parameters(self, tree):
        return (self.parameter("balance", "N m", self.torque, 10.0),)

    def with_values(self, values):
        return replace(self, torque=float(values[0]))

    def sizes(self, gravity):
        return ()

    def axis_forces(self, value, rest):
        q = value[self.joint]
        return (AxisForce(self.joint, np.full_like(q, self.torque), np.zeros_like(q)),)

    def axis_sensitivity(self, value, rest):
        return ((0, self.joint, np.ones_like(value[self.joint])),)
"""
ROBOT = """
format: elastocal-robot/1
name: balanced
source: example
joints:
  - {name: J, type: revolute, parent: base, axis: [0, -1, 0]}
  - {name: tip, xyz_mm: [1000, 0, 0]}
elements:
  - {kind: joint_compliance, joint: J, k_urad_per_Nm: 5}
  - {kind: link_mass, frame: J, mass_kg: 20, com_mm: [500, 0, 0]}
  - {kind: their_balancer, joint: J, torque_Nm: 60}
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """A package as pip would leave it in a folder of the path; each has a name of its own."""
    count = iter(range(9))

    def put(group: str, value: str, text: str) -> None:
        name = f"their_package_{tmp_path.name}_{next(count)}".replace("-", "_")
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
        (info / "entry_points.txt").write_text(f"[{group}]\nthing = {name}:{value}\n", encoding="utf-8")

    monkeypatch.syspath_prepend(str(tmp_path))
    cached: tuple[Any, ...] = (post_kinds, criterion_kinds, format_kinds, source_kinds)
    for kinds in cached:
        kinds.cache_clear()
    yield put
    for kinds in cached:
        kinds.cache_clear()


def test_an_effect_is_used_from_a_robot_file(install: Install, tmp_path: Path) -> None:
    install("elastocal.elements", "Balancer", ELEMENT.replace("KIND", "their_balancer"))
    (tmp_path / "robot.yaml").write_text(ROBOT, encoding="utf-8")
    robot = read_robot(tmp_path / "robot.yaml")
    assert "J.balance" in robot.parameters.names
    theta = equilibrium(robot, np.zeros((1, 1))).theta[0, 0]
    assert theta == pytest.approx(5e-6 * (60 - 20 * 9.80665 * 0.5), rel=1e-6)


LOBES = """
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from elastocal.model.elements import JointCoordinate
from elastocal.model.parameters import quantity


@dataclass(frozen=True, kw_only=True)
class Lobes(JointCoordinate):
    kind: ClassVar[str] = "their_lobes"
    constant_in_load: ClassVar[bool] = True
    varies: ClassVar[bool] = True
    word: ClassVar[str] = "lobes"
    prior_sd: ClassVar[float] = SD
    size: float = quantity("joint value", default=0.0)

    def parameters(self, tree):
        return (self.parameter("lobes", tree.joint(self.joint).unit, self.size, 1e-4),)

    def with_values(self, values):
        return replace(self, size=float(values[0]))

    def unloaded(self, posture):
        return self.size * np.sin(3 * posture.value(self.joint))[None]

    def unloaded_slope(self, posture):
        by_value = 3 * self.size * np.cos(3 * posture.value(self.joint))
        return (posture.value_slope(self.joint)[:, None] * by_value)[None]

    def sensitivity(self, force, posture):
        return (((0, np.sin(3 * posture.value(self.joint))),),)
"""
PROGRAM = """DEF line( )
$BASE={X 1750,Y -80,Z 800,A 0,B 0,C 0}
$TOOL={X 0,Y 100,Z 200,A 0,B 0,C 0}
PTP {A1 0,A2 -90,A3 90,A4 0,A5 90,A6 0}
LIN {X 0,Y 300,Z 0,A 0,B 0,C 180}
LIN {X 100,Y 700,Z 0,A 0,B 0,C 180}
LIN {X 100,Y -900,Z 200,A 0,B 0,C 180}
END
"""


def lobed(robot: ec.Robot, sizes: dict[str, float]) -> ec.Robot:
    """The robot with lobes of their package."""
    effect: Any = element_kinds()["their_lobes"]
    return robot.with_elements(*(effect(joint=j, size=size) for j, size in sizes.items()))


def measured(robot: ec.Robot, poses: int = 40) -> ec.Campaign:
    rng = np.random.default_rng(3)
    reach = np.array([1.5, 0.6, 0.6, 2.0, 1.5, 2.5])
    q = rng.uniform(-reach, reach, (poses, 6)) + np.array([0, -1.2, 1.4, 0, 0.4, 0])
    position = robot.kinematics(q).position + 3e-5 * rng.normal(size=(poses, 3))
    return ec.Campaign(q=q, position=position, length="m", angle="rad", noise=3e-5)


def test_an_effect_with_a_word_is_calibrated_by_default(install: Install, tmp_path: Path) -> None:
    """Planted, estimated, kept, reported, saved and in a correction; nothing of it is named in the call."""
    install("elastocal.elements", "Lobes", LOBES.replace("SD", "1e-4"))
    robot = read_robot("kuka-kr270").nominal
    planted = {"A1": 3e-4, "A3": -2e-4}
    true = lobed(robot, planted)
    cal = ec.calibrate(robot, measured(true))
    assert cal.words[-1] == "lobes"
    for joint in robot.joints:
        estimate = cal.parameters[f"{joint}.lobes"]
        assert abs(estimate.value - planted.get(joint, 0.0)) < 3.5 * estimate.sd
    assert cal.parameters["A1.lobes"].sd < 2e-5
    with_it = {r.words[-1:] == ("lobes",): r.loo for r in cal.ladder.rungs}  # the last of each
    assert with_it[True] < 0.6 * with_it[False]
    cal.save(tmp_path / "cal.json")
    again = ec.read_calibration(tmp_path / "cal.json")
    assert again.words == cal.words
    cal.report(tmp_path / "cal.html")
    assert "A1.lobes" in (tmp_path / "cal.html").read_text(encoding="utf-8")
    done = ec.compensate(again, ec.read_program(PROGRAM, "krl"), truth=true)
    assert done.on_truth is not None
    before, after = (r.distances().rms for r in done.on_truth)
    assert before > 2e-4
    assert after < 0.3 * before


def test_an_effect_that_is_absent_is_not_invented(install: Install) -> None:
    install("elastocal.elements", "Lobes", LOBES.replace("SD", "1e-4"))
    robot = read_robot("kuka-kr270").nominal
    cal = ec.calibrate(robot, measured(robot))
    assert any("lobes" in rung.words for rung in cal.ladder.rungs)
    assert cal.words == ()


def test_an_effect_may_share_a_word(install: Install) -> None:
    """Both are sought under it, each with a scale of its own."""
    install("elastocal.elements", "Lobes", LOBES.replace("SD", "1e-4").replace('str] = "lobes"', 'str] = "lateral"'))
    robot = read_robot("kuka-kr270").nominal
    groups = {w.scale.name: w.names for w in with_words(robot, ("lateral",))[1]}
    assert groups["lateral"][:2] == ("A1.lateral_1", "A1.lateral_2")
    assert groups["lateral their_lobes"] == tuple(f"{j}.lobes" for j in robot.joints)
    assert len(groups) == 2


def test_a_word_alone_without_a_prior_is_refused(install: Install) -> None:
    install("elastocal.elements", "Lobes", LOBES.replace("SD", "0.0"))
    robot = read_robot("kuka-kr270").nominal
    with refused("range", "their_lobes"):
        ec.calibrate(robot, measured(robot, 10))


POST = """
from typing import ClassVar
from elastocal.compensation.posts.post import Post

class Theirs(Post):
    kind: ClassVar[str] = "theirs"
    suffixes: ClassVar[tuple[str, ...]] = (".theirs",)
    def read(self, files, given=None): ...
    def write(self, program, changes): ...
"""
CRITERION = """
from elastocal.design.criteria.criterion import Criterion

class Theirs(Criterion):
    kind = "theirs"
"""
FORMAT = """
from elastocal.files.formats.format import TableFormat

class Theirs(TableFormat):
    kind = "theirs"
    def read(self, file, asked): ...
"""
SOURCE = """
from elastocal.measure.sources.source import ErrorSource

class Theirs(ErrorSource):
    kind = "theirs"
"""


@pytest.mark.parametrize(
    ("group", "text", "kinds"),
    [
        ("elastocal.posts", POST, post_kinds),
        ("elastocal.criteria", CRITERION, criterion_kinds),
        ("elastocal.formats", FORMAT, format_kinds),
        ("elastocal.sources", SOURCE, source_kinds),
    ],
)
def test_every_group_is_looked_through(install: Install, group: str, text: str, kinds: Any) -> None:
    install(group, "Theirs", text)
    assert "theirs" in kinds()
    if group == "elastocal.posts":
        assert post_for("weld.theirs").kind == "theirs"


MEASUREMENT = """
import numpy as np
from elastocal.measure.kind import MarkerMeasurement, Row
from elastocal.measure.markers import Position

class Wire(MarkerMeasurement):
    kind = "their_wire"
    table_columns = {"wire": "length"}
    affine = False

    @classmethod
    def of_setup(cls, setup):
        return cls(setup)

    @property
    def rows(self):
        return (Row("wire", "m", self.where.markers[0].frame),)

    def predict(self, model):
        return np.linalg.norm(Position(self.where).predict(model)[:, :3], axis=1, keepdims=True)

    def derivative(self, model, names):
        place = Position(self.where).predict(model)[:, :3]
        along = place / np.linalg.norm(place, axis=1, keepdims=True)
        return np.einsum("ni,nip->np", along, Position(self.where).derivative(model, names)[:, :3])[:, None]
"""
CAMPAIGN = """
format: elastocal-campaign/1
name: wire
robot: cylindrical
table: wire.csv
measurement: their_wire
missing: skip
errors: [{kind: reading, sd_um: 50}]
"""
TABLE = """name,q1_mm,q2_deg,q3_mm,fz_N,wire_mm
a,200,0,400,-1000,447.2
b,500,60,700,-1000,
c,800,-45,1000,0,1280.7
"""


def test_a_measurement_is_used_from_a_campaign_file(install: Install, tmp_path: Path) -> None:
    install("elastocal.measurements", "Wire", MEASUREMENT)
    path, table = tmp_path / "wire.yaml", tmp_path / "wire.csv"
    path.write_text(CAMPAIGN, encoding="utf-8")
    table.write_text(TABLE, encoding="utf-8")
    file = read_campaign(path)
    kind = file.campaign.measurement
    assert kind.kind == "their_wire"
    np.testing.assert_allclose(file.campaign.readings, [[0.4472], [1.2807]])
    np.testing.assert_allclose(kind.predict(file.model), file.campaign.readings, atol=2e-3)
    np.testing.assert_allclose(kind.setup.wrenches[:, 2], [-1000, 0])
    assert file.names == ("a", "c")
    plan = read_plan(path).campaign
    assert plan.readings.shape == (3, 1)
    assert np.isnan(plan.readings).all()
    with refused("unsupported", "their_wire", file="wire.yaml", line=6):
        ec.read_campaign(path)


def test_a_measurement_is_calibrated_and_reported(install: Install, tmp_path: Path) -> None:
    """The wire grows by what the arm gives way to the force along it; planted is half of the file's compliance."""
    install("elastocal.measurements", "Wire", MEASUREMENT)
    path = tmp_path / "wire.yaml"
    path.write_text(CAMPAIGN + "seek: [q1.k]\n", encoding="utf-8")
    heights = [
        (200, 500),
        (400, -800),
        (600, 1000),
        (800, -300),
    ]  # mm, N: the arm reaches 300 mm out and gives way by 0.5 um/N
    lines = [f"{z},0,300,{f},{np.hypot(300, z + 0.5e-3 * f):.6f}" for z, f in heights]
    (tmp_path / "wire.csv").write_text("\n".join(["q1_mm,q2_deg,q3_mm,fz_N,wire_mm", *lines]), encoding="utf-8")
    done = calibrate(path)
    assert isinstance(done, CalibrateResult)
    assert done.study.fit.values == pytest.approx([0.5e-6], rel=1e-3)
    assert page(done).title == "Calibration of cylindrical: wire"


def test_its_virtual_readings_are_written_and_read_again(install: Install, tmp_path: Path) -> None:
    install("elastocal.measurements", "Wire", MEASUREMENT)
    path = tmp_path / "wire.yaml"
    path.write_text(CAMPAIGN.replace("sd_um: 50", "sd_um: 0.001"), encoding="utf-8")
    (tmp_path / "wire.csv").write_text(TABLE, encoding="utf-8")
    assert run_words(["simulate", str(path), "--out", str(tmp_path / "virtual")]) == 0
    again = read_campaign(tmp_path / "virtual" / "campaign.yaml")
    assert again.campaign.measurement.kind == "their_wire"
    # the tip of the arm, 0.4 m out and 0.2 m up, and so on; the load bends it by less than 2 mm
    lengths = [np.hypot(0.2, 0.4), np.hypot(0.5, 0.7), np.hypot(0.8, 1.0)]
    np.testing.assert_allclose(again.campaign.readings[:, 0], lengths, atol=2e-3)
    np.testing.assert_allclose(again.campaign.readings, again.campaign.measurement.predict(again.model), atol=1e-7)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("wire_mm", "wire", "wire.csv, line 1"),
        ("wire_mm", "rope_mm", "rope"),
        ("447.2", "a lot", "wire.csv, line 2, column wire_mm"),
        ("0,400,-1000,447.2", "500,400,-1000,447.2", "beyond its limits"),
    ],
)
def test_its_table_is_refused_with_its_place(
    install: Install, tmp_path: Path, old: str, new: str, expected: str
) -> None:
    install("elastocal.measurements", "Wire", MEASUREMENT)
    (tmp_path / "wire.yaml").write_text(CAMPAIGN, encoding="utf-8")
    (tmp_path / "wire.csv").write_text(TABLE.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_campaign(tmp_path / "wire.yaml")
    assert expected in str(caught.value)


FAULTS: dict[str, tuple[str, str, str, type | None]] = {
    "joint_compliance is taken": ("Balancer", ELEMENT.replace("KIND", "joint_compliance"), "duplicate", None),
    "no such class": ("Missing", ELEMENT, "file", AttributeError),
    "does not import": ("Balancer", "import nonesuch_module", "file", ModuleNotFoundError),
    "no effect": ("Other", "class Other:\n    kind = 'other'\n", "format", None),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_names_the_entry_point(install: Install, fault: str) -> None:
    name, text, code, cause = FAULTS[fault]
    install("elastocal.elements", name, text)
    with pytest.raises(InputError) as caught:
        element_kinds()
    assert (caught.value.code, caught.value.value.partition(":")[2]) == (code, name)
    assert isinstance(caught.value.__cause__, cause or type(None))
    assert str(caught.value).startswith("entry point thing of their")
