"""Campaigns written and read again: the same numbers to the last bit, and plans turned into campaigns."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from files.campaign_desk import DEFLECTION, POSITION, ROBOT, TABLE, Desk
from oracle.refusals import refused

from elastocal.files.campaign.file import CampaignFile, Requests
from elastocal.files.campaign.read import read_campaign, read_plan
from elastocal.files.campaign.write import campaign_files, campaign_text, table_text
from elastocal.files.robot.read import read_robot
from elastocal.files.write import write_files
from elastocal.measure.kind import Measurement
from elastocal.measure.markers import Deflection, Position
from elastocal.measure.measured import Measured, virtual_campaign
from elastocal.measure.setup import Setup
from elastocal.measure.sources.instrument import Reading, Tracker
from elastocal.measure.sources.load import LoadSize
from elastocal.measure.sources.places import MarkerPlaces
from elastocal.measure.sources.source import ErrorSource
from elastocal.model.kinematics import kinematics
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.observation import Marker


@pytest.fixture
def kr270() -> Robot:
    return read_robot("kuka-kr270")


def setup(model: Robot, markers: tuple[Marker, ...], rng: np.random.Generator) -> Setup:
    """Round pendant values, repeats, and loads that are not round."""
    limits = np.rad2deg([m.limits for m in model.motions])
    shown = np.round(rng.uniform(limits[:, 0], limits[:, 1], (5, model.n)) / 2 + limits.mean(axis=1) / 2)
    q = model.controller.to_joints(np.repeat(shown, 2, axis=0) * (np.pi / 180))
    wrenches = np.zeros((10, 6))
    wrenches[:, [2, 4]] = rng.normal(size=(10, 2)) * [500, 50] - [2500, 0]
    return Setup(q, AppliedWrenches("flange", wrenches, True), markers)


def virtual(model: Robot, kind: Measurement, sources: tuple[ErrorSource, ...], rng: np.random.Generator) -> Measured:
    return virtual_campaign(model, kind, sources, rng).campaign


def again(folder: Path, campaign: Measured, model: Robot, robot: str, requests: Requests | None = None) -> CampaignFile:
    text = campaign_text(campaign, model, name="v", robot=robot, table="t.csv", requests=requests)
    assert text.startswith("format: elastocal-campaign/1\n")
    write_files({folder / "c.yaml": text, folder / "t.csv": table_text(campaign, model)})
    return read_campaign(folder / "c.yaml")


def test_deflections_come_back_bit_for_bit(tmp_path: Path, kr270: Robot) -> None:
    rng = np.random.default_rng(3)
    sources = (
        Reading(sd=(1e-5, 2e-5, 3e-5), turn_sd=1e-4),
        LoadSize(sd=0.005, every="campaign"),
        MarkerPlaces(sd=None),
    )
    where = setup(kr270, (Marker("marker3"), Marker("marker1", "pose")), rng)
    campaign = virtual(kr270, Deflection(where), sources, rng)
    requests = Requests(("*.k", "A2.*"), ("A1.k",), "symmetric", (4.0, 2.5), "huber", False, "keep")
    read = again(tmp_path, campaign, kr270, "kuka-kr270", requests)
    np.testing.assert_array_equal(read.campaign.readings, campaign.readings)
    np.testing.assert_array_equal(read.campaign.measurement.setup.wrenches, where.wrenches)
    np.testing.assert_array_equal(read.campaign.measurement.setup.q, where.q)
    assert read.campaign.measurement.setup.markers == where.markers
    assert read.campaign.measurement.setup.load.follows
    assert read.requests == requests
    assert [s.kind for s in read.campaign.sources] == ["reading", "load_size", "marker_places"]
    np.testing.assert_allclose(read.campaign.sources[0].sd, (1e-5, 2e-5, 3e-5), rtol=1e-15)  # type: ignore[attr-defined]
    assert read.campaign.sources[1:] == sources[1:]
    header = (tmp_path / "t.csv").read_text().splitlines()[0]
    assert re.match(r"A1_deg,A2_deg,A3_deg,A4_deg,A5_deg,A6_deg,fz_N,my_Nm,marker3\.dx_(m|mm),", header)


def test_round_readings_stand_in_usual_units(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    read = desk.read(DEFLECTION)
    lines = table_text(read.campaign, read.model).splitlines()
    assert lines[0] == "A1_deg,A2_deg,fz_N,tool.dx_mm,tool.dy_mm,tool.dz_mm"
    assert lines[1].endswith(",-1000,0.1,0.2,-3")


def test_positions_and_missing_numbers(tmp_path: Path) -> None:
    (tmp_path / "arm.yaml").write_text(ROBOT)
    model = read_robot(tmp_path / "arm.yaml")
    rng = np.random.default_rng(4)
    q = rng.uniform(-1, 1, (6, 2))
    where = Setup(q, AppliedWrenches("tool", np.zeros((1, 6))), (Marker("m1", "pose"), Marker("m2")))
    turned = np.stack([kinematics(model, q, m).rotation for m in ("m1", "m2")], axis=1)
    source = Reading(sd=1e-5, turn_sd=1e-4)
    campaign = virtual(model, Position(where, turned), (source,), rng)
    readings = campaign.readings.copy()
    readings[2, 3:6] = np.nan
    readings[4, 7] = np.nan
    lost = Measured(campaign.measurement, readings, (source,))
    read = again(tmp_path, lost, model, "arm.yaml")
    np.testing.assert_array_equal(read.campaign.readings[:, [0, 1, 2, 6, 7, 8]], readings[:, [0, 1, 2, 6, 7, 8]])
    np.testing.assert_allclose(read.campaign.measurement.setup.q, q, rtol=1e-15)
    assert np.isnan(read.campaign.readings[2, 3:6]).all()
    assert read.words["missing"] == "skip"
    # what the reference turned by the reading says, not the pair of them, is what was measured
    left = readings[:, 3:6] - campaign.measurement.predict(model)[:, 3:6]
    now = read.campaign.readings[:, 3:6] - read.campaign.measurement.predict(model)[:, 3:6]
    np.testing.assert_allclose(now[[0, 1, 3, 4, 5]], left[[0, 1, 3, 4, 5]], atol=1e-7)


def test_a_plan_becomes_a_campaign(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.read(DEFLECTION)
    errors = "errors:\n  - {kind: tracker, at_m: [3, 0, 1], along_um: 5, across_um: 7, across_slope_um_per_m: 3}\n"
    keys = "statics: linear\nmarkers: [m2, m1]\nseek: '*.k'\nload: {frame: m1, follows: true}\nwithout: link_mass\n"
    (tmp_path / "plan.yaml").write_text(DEFLECTION.replace("readings.csv", "plan.csv") + keys + errors)
    (tmp_path / "plan.csv").write_text("A1_deg,A2_deg,fz_N\n5,0,-1000\n5,0,-1000\n35,10,-500\n")
    plan = read_plan(tmp_path / "plan.yaml")
    assert np.isnan(plan.campaign.readings).all()
    assert plan.campaign.readings.shape == (3, 6)
    made = virtual_campaign(
        plan.model, Deflection(plan.campaign.measurement.setup), plan.campaign.sources, np.random.default_rng(0)
    ).campaign
    folder = tmp_path / "virtual"
    folder.mkdir()
    files = campaign_files(plan, made, folder)
    assert set(files) == {folder / "campaign.yaml", folder / "readings.csv"}
    write_files(files)
    read = read_campaign(folder / "campaign.yaml")
    assert read.robot == "../arm.yaml"
    assert read.campaign.measurement.affine
    assert read.requests == plan.requests
    assert not any(e.kind == "link_mass" for e in read.model.elements)
    np.testing.assert_array_equal(read.campaign.readings, made.readings)
    np.testing.assert_array_equal(read.campaign.measurement.setup.state, [0, 0, 1])
    (tracker,) = read.campaign.sources
    assert isinstance(tracker, Tracker)
    assert tracker.across_slope == pytest.approx(3e-6, rel=1e-15)


def test_a_plan_may_name_what_will_be_read(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    table = "A1_deg,A2_deg,m1.x_mm,m1.y_mm,m1.z_mm,m1.rx_deg,m1.ry_deg,m1.rz_deg\n5,0,,,,,,\n35,10,,,,,,\n"
    (tmp_path / "arm.yaml").write_text(ROBOT)
    (tmp_path / "readings.csv").write_text(table)
    (tmp_path / "campaign.yaml").write_text(POSITION)
    kind = read_plan(tmp_path / "campaign.yaml").campaign.measurement
    assert kind.setup.markers == (Marker("m1", "pose"),)
    assert np.abs(kind.predict(read_robot(tmp_path / "arm.yaml"))[:, 3:]).max() < 1e-3
    with refused("no-reading"):
        read_campaign(tmp_path / "campaign.yaml")
    assert desk.read(DEFLECTION, TABLE).campaign.measured.all()
