"""A scene in three renderings: to scale, with units, views that exclude each other, and the same numbers in JSON."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from rich.console import Console

from elastocal.report.blocks import Report, Scene, Section
from elastocal.report.data import as_data
from elastocal.report.figures import scene_figure
from elastocal.report.html import as_html, bundle_name
from elastocal.report.parts import Arrows, Dots, Ellipsoids, Labels, Strokes
from elastocal.report.text import print_report
from elastocal.results import as_json

AXES = ((0.3, 0.0, 0.1), (0.0, 0.2, 0.0), (-0.05, 0.0, 0.15))
SCENE = Scene(
    "scene",
    "An arm",
    "m",
    (
        Strokes("arm", (((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (2.0, 0.0, 1.0)),), "first", "arm"),
        Strokes("arm", (((0.0, 0.0, 0.0), (0.0, 1.5, 0.5)), ((0.0, 1.5, 0.5), (0.1, 1.5, 0.5))), "second", "arm"),
        Dots("poses", ((2.0, 0.0, 1.0), (0.0, 1.5, 0.5)), ("P1", "P2")),
        Arrows("load", ((2.0, 0.0, 1.0),), ((2.3, 0.4, 1.0),), ("400 N",)),
        Ellipsoids("errors", ((1.0, 1.0, 1.0),), (AXES,), ("3 x 2 x 1 um",)),
        Labels("words", ((0.0, 0.0, 0.0),), ("base",)),
        Dots("nothing", ()),
    ),
    ("Deflections are drawn 200 times larger.",),
)
REPORT = Report("Title", (), (Section("Part", (SCENE,)),))


def traces() -> dict[str, dict[str, Any]]:
    return {t["name"]: t for t in scene_figure(SCENE)["data"]}


def points(trace: dict[str, Any]) -> np.ndarray:
    """(K, 3), nan at partings."""
    return np.array([trace[c] for c in "xyz"], dtype=float).T


def test_it_is_a_valid_figure_with_units_on_all_axes() -> None:
    drawn = scene_figure(SCENE)
    figure = go.Figure(drawn["data"], drawn["layout"])
    box = figure.layout.scene
    assert [a.title.text for a in (box.xaxis, box.yaxis, box.zaxis)] == ["x [m]", "y [m]", "z [m]"]
    assert len(figure.data) == 6  # what is empty is not drawn


def test_one_metre_is_as_long_along_every_axis() -> None:
    box = scene_figure(SCENE)["layout"]["scene"]
    scale = [(box[f"{c}axis"]["range"][1] - box[f"{c}axis"]["range"][0]) / box["aspectratio"][c] for c in "xyz"]
    assert scale[0] > 1
    assert scale == pytest.approx([scale[0]] * 3)


def test_everything_lies_inside_the_box_whatever_the_view() -> None:
    drawn = scene_figure(SCENE)
    every = np.concatenate([points(t) for t in drawn["data"]])
    for i, c in enumerate("xyz"):
        low, high = drawn["layout"]["scene"][f"{c}axis"]["range"]
        assert low < np.nanmin(every[:, i])
        assert np.nanmax(every[:, i]) < high
    assert np.nanmax(every[:, 0]) == 2.3  # the arrow's end


def test_a_view_shows_its_own_parts_and_those_of_none() -> None:
    drawn = scene_figure(SCENE)
    assert SCENE.views == ("first", "second")
    assert [t["visible"] for t in drawn["data"]] == [True, False, True, True, True, True]
    first, second = drawn["layout"]["updatemenus"][0]["buttons"]
    assert (first["label"], first["args"][0]["visible"]) == ("first", [True, False, True, True, True, True])
    assert (second["label"], second["args"][0]["visible"]) == ("second", [False, True, True, True, True, True])


def test_each_view_has_one_entry_per_name_in_the_legend() -> None:
    shown = [(t["name"], t["showlegend"]) for t in scene_figure(SCENE)["data"]]
    assert shown == [("arm", True), ("arm", True), ("poses", True), ("load", True), ("errors", True), ("words", False)]


def test_parts_of_one_name_share_an_entry_where_they_are_seen_together() -> None:
    always, also = Dots("poses", ((1.0, 0.0, 0.0),)), Dots("poses", ((2.0, 0.0, 0.0),), view="first")
    parts = (always, also, Dots("tool", ((3.0, 0.0, 0.0),), view="first"))
    assert [t["showlegend"] for t in scene_figure(Scene("s", "t", "m", parts))["data"]] == [True, False, True]


def test_no_list_of_views_where_there_is_only_one() -> None:
    assert "updatemenus" not in scene_figure(Scene("s", "t", "m", SCENE.parts[2:5]))["layout"]


def test_lines_are_parted_by_gaps() -> None:
    second = scene_figure(SCENE)["data"][1]
    assert second["x"] == [0.0, 0.0, None, 0.0, 0.1, None]


def test_an_arrow_ends_at_its_tip_and_its_barbs_point_back() -> None:
    drawn = points(traces()["load"])[:-1]
    start, tip, barbs = drawn[0], drawn[1], drawn[2::2]
    assert start == pytest.approx([2.0, 0.0, 1.0])
    assert tip == pytest.approx([2.3, 0.4, 1.0])
    assert drawn[3::2] == pytest.approx(np.tile(tip, (4, 1)))
    along = (tip - start) / 0.5
    assert (barbs - tip) @ along == pytest.approx([-0.09] * 4, abs=2e-5)  # 18 % of 0.5 m
    across = (barbs - tip) - np.outer((barbs - tip) @ along, along)
    assert np.linalg.norm(across, axis=1) == pytest.approx([0.036] * 4, abs=2e-5)
    assert across.sum(axis=0) == pytest.approx(np.zeros(3), abs=4e-5)
    assert traces()["load"]["text"][0] == "400 N"


def test_an_ellipsoid_is_drawn_on_its_surface_through_the_ends_of_its_axes() -> None:
    drawn = points(traces()["errors"])[:-1] - 1.0
    unit = drawn @ np.linalg.inv(np.array(AXES))
    assert np.sum(unit**2, axis=1) == pytest.approx(np.ones(len(drawn)), abs=5e-4)
    for axis in AXES:
        assert np.min(np.linalg.norm(drawn - axis, axis=1)) < 2e-5
    steps = np.linalg.norm(np.diff(drawn, axis=0), axis=1)
    assert steps.max() < 0.1  # one stroke, without a jump across


def test_text_says_what_there_is_to_see() -> None:
    out = io.StringIO()
    print_report(REPORT, Console(file=out, width=100, highlight=False))
    said = out.getvalue()
    assert "An arm: a picture in three dimensions" in said
    assert "arm (3), poses (2), load (1), errors (1)" in said
    assert "Views: first, second." in said
    assert "200 times larger" in said


def test_json_holds_the_numbers() -> None:
    import json

    data = json.loads(as_json(as_data(REPORT)))["scene"]
    assert data["unit"] == "m"
    assert [p["kind"] for p in data["parts"]][:4] == ["strokes", "strokes", "dots", "arrows"]
    assert data["parts"][3]["ends"] == [[2.3, 0.4, 1.0]]
    assert data["parts"][1]["view"] == "second"
    assert "view" not in data["parts"][2]
    assert data["parts"][4]["axes"] == [[list(a) for a in AXES]]
    assert data["notes"] == ["Deflections are drawn 200 times larger."]


def test_a_page_with_a_scene_names_its_script_or_carries_it() -> None:
    page = as_html(REPORT)
    assert page.count(f'<script src="{bundle_name()}">') == 1
    assert len(page) < 100_000
    assert as_html(REPORT, standalone=True).count('<script id="plotly">') == 1
