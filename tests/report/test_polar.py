"""Polar figures: one trace for points and one for their bars, where plotly draws them."""

from __future__ import annotations

import pytest

from elastocal.report.blocks import Lines, Report, Section, Series
from elastocal.report.data import as_data
from elastocal.report.figures import lines, polar
from elastocal.report.html import as_html

MAP = Lines(
    "map", "Map", "direction", "deg", "gap", "um",
    (Series("read", (0.0, 90.0, 180.0), (5.0, float("nan"), 1.0), True, (1.0, 1.0, 2.0)),
     Series("fit", (0.0, 180.0), (5.0, 5.0))),
    polar=True,
)  # fmt: skip


def test_points_bars_and_curves():
    points, bars, curve = polar(MAP)["data"]
    assert (points["theta"], points["r"], points["mode"]) == ([0.0, 180.0], [5.0, 1.0], "markers")
    assert bars["theta"] == [0.0, 0.0, None, 180.0, 180.0, None]
    assert bars["r"] == pytest.approx([4.0, 6.0, None, 0.0, 3.0, None])
    assert (curve["mode"], curve["line"]["color"]) == ("lines", "#c2410c")
    assert bars["line"]["color"] == points["marker"]["color"] == "#0b5394"


def test_the_page_and_the_data_hold_it():
    report = Report("t", (), (Section("s", (MAP,)),))
    assert "scatterpolar" in as_html(report)
    first, second = as_data(report)["map"]["series"]
    assert first["spread"] == [1.0, 1.0, 2.0]
    assert "spread" not in second


def test_bars_of_a_plain_figure():
    flat = Lines("f", "F", "x", "", "y", "", MAP.series)
    read, fit = lines(flat)["data"]
    assert read["error_y"]["array"] == [1.0, 1.0, 2.0]
    assert "error_y" not in fit
