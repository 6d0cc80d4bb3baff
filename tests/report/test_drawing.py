"""Drawings: numbers of axes without exponents, names that fit, colours that mean one thing, nothing left undrawn."""

from __future__ import annotations

import re
from math import nan

import numpy as np
import pytest

from elastocal.report.blocks import Axis, Bars, Heatmap, Lines, Series
from elastocal.report.colours import DARK, DIVERGING, LIGHT, VIRIDIS, Colours, mixed
from elastocal.report.drawing.canvas import Scale, shortened, tick_words
from elastocal.report.elements import NARROW, WIDE, as_svg

LONG = tuple(f"arm_left_{i}_joint.sag_arm_left_{i}_joint_x" for i in range(16))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([0.0, 2e6, 4e6], ["0", "2⋅10⁶", "4⋅10⁶"]),
        ([0.0, 1e-7, 2e-7], ["0", "10⁻⁷", "2⋅10⁻⁷"]),
        ([0.0, 0.5, 1.0], ["0.0", "0.5", "1.0"]),
        ([-20.0, 0.0, 20.0], ["-20", "0", "20"]),
    ],
)
def test_numbers_of_an_axis_have_no_computer_exponent(values: list[float], words: list[str]) -> None:
    assert tick_words(values) == words


def test_a_log_axis_has_powers_of_ten() -> None:
    assert tick_words([1e-5, 1e-3, 1.0, 1e6], log=True) == ["10⁻⁵", "0.001", "1", "10⁶"]


def test_large_bars_are_read_without_exponents() -> None:
    svg = as_svg(Bars("b", "", ("place",), ("a", "b"), ((3e6, 9e6),), "variance", "um2"))
    assert not re.search(r">[^<]*\d[eE][+-]?\d", svg)


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_map_with_long_names_keeps_room_for_itself(width: float) -> None:
    axis = Axis("", "", tuple(map(float, range(16))), LONG)
    values = tuple(tuple(1.0 if i == j else 0.1 for j in range(16)) for i in range(16))
    svg = as_svg(
        Heatmap("m", "Correlations", axis, axis, "correlation", "", values, downwards=True, signed=True), width
    )
    (image,) = re.findall(r'<image x="([-\d.]+)" y="[-\d.]+" width="([-\d.]+)"', svg)
    assert float(image[1]) > 0.2 * width
    assert 0 < float(image[0]) < 0.5 * width


def test_a_shortened_name_keeps_its_beginning_and_its_end() -> None:
    name = shortened(LONG[3], 100.0)
    assert len(name) < len(LONG[3])
    assert name.startswith("arm_lef")
    assert name.endswith("joint_x")
    assert shortened("A1.k", 100.0) == "A1.k"


def test_a_curve_of_one_known_point_is_drawn() -> None:
    one = Series("average", (1.0, 2.0, 3.0), (nan, 0.4, nan))
    assert "<circle" in as_svg(Lines("l", "L", "entry", "", "average", "", (one,)))


def test_a_lone_curve_that_means_something_is_named() -> None:
    def drawn(role: str) -> str:
        series = Series("before", (1.0, 2.0), (3.0, 4.0), role=role)  # type: ignore[arg-type]
        return as_svg(Lines("l", "L", "x", "", "y", "mm", (series,)))

    assert ">before</text>" in drawn("before")
    assert ">before</text>" not in drawn("")


@pytest.mark.parametrize("sheet", [LIGHT, DARK])
def test_no_colour_without_a_role_looks_like_before_or_after(sheet: dict[str, str]) -> None:
    def rgb(name: str) -> tuple[int, ...]:
        return tuple(int(sheet[name][i : i + 2], 16) for i in (1, 3, 5))

    for role in ("before", "after", "outlier"):
        for i in range(7):
            assert sum((a - b) ** 2 for a, b in zip(rgb(role), rgb(f"c{i}"), strict=True)) > 55**2, (role, i)


@pytest.mark.parametrize(("low", "high"), [(-43.0, 43.0), (1355.0, 2345.0), (-495.0, 495.0), (0.0, 1.04), (0.3, 0.7)])
@pytest.mark.parametrize("most", [2, 3, 5, 8])
def test_an_axis_has_numbers_enough_to_be_read(low: float, high: float, most: int) -> None:
    ticks = Scale(low, high, 0.0, 270.0).ticks(most)
    assert 3 <= len(ticks) <= max(6, most + 1)
    assert low - 1e-9 <= ticks[0] <= ticks[-1] <= high + 1e-9


@pytest.mark.parametrize("scale", [VIRIDIS, DIVERGING])
def test_colours_of_a_scale_are_mixed_of_its_neighbours(scale: Colours) -> None:
    def one(share: float) -> list[int]:
        place = min(max(share, 0.0), 1.0) * (len(scale) - 1)
        low = min(int(place), len(scale) - 2)
        return [round(p + (place - low) * (q - p)) for p, q in zip(scale[low], scale[low + 1], strict=True)]

    shares = np.concatenate([np.linspace(-0.1, 1.1, 4801), np.random.default_rng(3).uniform(size=2000)])
    assert mixed(scale, shares).tolist() == [one(share) for share in shares.tolist()]
