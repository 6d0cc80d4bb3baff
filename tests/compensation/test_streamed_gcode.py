"""Long G-code corrected in stretches is, byte for byte, the one corrected as a whole, wherever it is cut."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from oracle.draws import draws

from elastocal.compensation.loads import Milling
from elastocal.compensation.posts.post import parsed, post_kinds
from elastocal.compensation.process import ProcessLoad
from elastocal.compensation.program import Given
from elastocal.compensation.run import compensate
from elastocal.compensation.streamed import streamed
from elastocal.files.robot.read import read_robot
from elastocal.spatial.pose import Pose
from elastocal.spatial.rotation import Rotation

NEAR = np.radians([0.0, -90.0, 90.0, 0.0, 90.0, 0.0])
PART, OTHER = (Pose(np.eye(3), np.array([1.75, y, 0.8])) for y in (0.0, 0.05))
TOOLS = {f"T{i}": Pose(np.eye(3), np.array([0.0, 0.1, 0.2 + 0.01 * i])) for i in range(3)}
DOWN = Rotation.from_euler("ZYX", [0, 0, 180], degrees=True).as_matrix()
SHIFTED = {
    f"{word} as changed by G{code} in line {line}": Pose(np.eye(3), np.array([1.75, 0.001 * (line % 50), 0.8]))
    for line in range(400) for word in ("G54", "G55") for code in (52, 92)
}  # fmt: skip
GIVEN = Given({"G54": PART, "G55": OTHER}, TOOLS, DOWN)
ALL = Given({**GIVEN.bases, **SHIFTED}, TOOLS, DOWN)
LOAD = ProcessLoad(wrench=np.array([-400.0, 0, -150, 0, 0, 0]))
CUTTER = Milling(
    specific_force=9e8, axial_depth=3e-3, radial_engagement=6e-3, diameter=2e-2, teeth=2, spindle=100.0, exponent=0.2
)


@cache
def arm():
    return read_robot("kuka-kr270")


def both(data: bytes, size: int, given: Given = GIVEN, load: ProcessLoad = LOAD, **options: object):
    """As a whole, and in stretches."""
    call = partial(compensate, arm(), load=load, judged=False, **options)
    run = post_kinds()["gcode"]().long({"part.nc": data}, 1, size, 10)
    assert run is not None
    pieces = streamed(
        run, given, "", lambda program, near: call(program, near=NEAR if near is None else near),
        lambda program, _: call(program, near=NEAR),
    )  # fmt: skip
    return run, call(parsed({"part.nc": data}, given, "gcode"), near=NEAR), pieces


PLACE = st.integers(-150, 150).map(lambda v: f"{v / 2:.1f}")
LOW = st.integers(0, 60).map(lambda v: f"-{v / 10:.2f}")


@st.composite
def lines(draw: st.DrawFn) -> list[str]:
    """Blocks that CAM systems and people write: words left out, arcs, increments, units, tools, calls."""
    x, y, z = draw(PLACE), draw(PLACE.map(lambda v: f"{v}1")), draw(LOW)
    dx = draw(st.sampled_from(["4.", "6.5", "-5.25"]))
    forms = [
        [f"X{x} Z{z}", f"X{y} Z{z}", f"X{x}"],
        [f"N10 Y{y} F{draw(st.integers(100, 900))}.", f"Z{z}"],
        [f"G0 X{x} Y{y} Z5.", f"G1 Z{z} F300."],
        [f"G{draw(st.sampled_from([2, 3]))} X{x} Y{y} R300.", f"X{y} Y{x} R250.", f"G1 X{x}"],
        [f"G1 X{x} Y0.", f"G2 X{x} Y0. I{dx} J0.", f"X{y}"],
        ["G91", f"X{dx}", f"Y{dx} Z-.1", "G90"],
        ["G20", "X1.5 Y.25", "G21"],
        ["(lift)", "G00 Z20.", "T2 M6", f"G01 X{x} Y{y} Z{z} F450."],
        ["G55", f"G0 X{x} Y{y} Z{z}", "G1"],
        [f"G{draw(st.sampled_from([52, 92]))} X{x} Y0.", f"G0 X{x} Y{y} Z{z}", f"G1 Y{x}"],
        [f"/X{x}", f"X{y} Y{x} Z{z}"],
        ["M98 P100", f"G90 X{x} Y{y} Z{z}"],
        [f"G1 X{0.5 * i + 1:.3f} Y{i}.25 Z-{i / 20:.4f}" for i in range(12)],
        [f"X{i}.5 Z-{i / 20:.3f}" for i in range(12)],
    ]
    return draw(st.sampled_from(forms))


@st.composite
def text(draw: st.DrawFn) -> bytes:
    body = [line for block in draw(st.lists(lines(), min_size=6, max_size=14)) for line in block]
    rows = ["%", "G21 G90 G17 G54", "T1 M6", "G0 X0. Y0. Z20.", "G1 Z0. F500.", *body, "G0 Z50.", "M30", "%"]
    return draw(st.sampled_from(["\n", "\r\n"])).join([*rows, ""]).encode()


@settings(max_examples=draws(15, 200), phases=[Phase.generate])
@given(text(), st.sampled_from([1, 3, 7, 16]), st.booleans())
def test_stretches_give_the_bytes_of_the_whole(data: bytes, size: int, dense: bool):
    _, whole, pieces = both(data, size, ALL, **({"densify": 1e-5} if dense else {}))
    assert pieces is not None
    assert pieces.files == whole.files
    assert whole.changes.changed(whole.program).any()
    assert [(s.line, s.reason) for s in pieces.left] == [(s.line, s.reason) for s in whole.left]
    said = pieces.warnings[0].data
    assert said["targets"] == len(whole.job.placed.stations)
    assert said["corrected"] == int(whole.corrected.sum())


def row(i: int) -> str:
    return f"X{i}.5 Y{i % 7}.25"


@pytest.mark.parametrize("densify", [None, 3e-6])
def test_a_cutter_goes_on_from_stretch_to_stretch(densify: float | None):
    """Its force goes with the way to a target, which may lie in the stretch before; the last one cuts nothing."""
    rows = [f"X{i}.5 Y{i * i % 37}.25" for i in range(30)]
    rows[8:8], rows[13:13] = [rows[7]], ["(again)", "G2 X14. Y60. R300.", "G1 X15."]
    ways = [f"G0 Z{50 + i}." for i in range(12)]
    data = "\n".join(["G21 G90 G54", "T1 M6", "G1 X0. Y0. Z0. F500.", *rows, *ways, "M30", "%", ""]).encode()
    for size in (4, 5, 9):
        run, whole, pieces = both(data, size, GIVEN, ProcessLoad(milling=CUTTER), densify=densify)
        assert pieces is not None
        assert pieces.files == whole.files
        assert whole.changes.changed(whole.program).any()
        assert len(tuple(run.pieces())) > 4


@pytest.mark.parametrize("words", ["A3={0:.4f} B3=.05 C3=.99", "A18{0:.3f} B1.5"])
def test_tool_axes_go_on_from_stretch_to_stretch(words: str):
    """Every other line leaves the axis out."""
    turning = [row(i) + (f" {words.format(i / 100)}" if i % 2 else "") for i in range(40)]
    data = "\n".join(["G21 G90 G54 T1 M6", f"G1 X0. Y0. Z0. F500. {words.format(0.1)}", *turning, ""]).encode()
    stated = Given(GIVEN.bases, GIVEN.tools, DOWN, "" if "=" in words else "XY")
    _, whole, pieces = both(data, 5, stated)
    assert pieces is not None
    assert pieces.files == whole.files != {"part.nc": data}


def test_the_side_of_the_first_tool_axis_holds_where_others_lean_over():
    leaning = [f"{row(i)} A3={np.sin(i / 20):.6f} B3=0 C3={np.cos(i / 20):.6f}" for i in range(40)]  # to 110 degrees
    data = {"part.nc": "\n".join(["G21 G90 G54 T1 M6", "G1 F500. Z0.", *leaning, ""]).encode()}
    whole, run = parsed(data, GIVEN, "gcode"), post_kinds()["gcode"]().long(data, 1, 5, 10)
    assert run is not None
    parts = [parsed(piece.files, piece.given(GIVEN, None), "gcode") for piece in run.pieces()]
    turns = [part.rotations[[m.end for m in part.moves if m.line]] for part in parts]
    np.testing.assert_array_equal(np.concatenate(turns), whole.rotations)
    assert len(parts) == 9


def test_what_is_shown_stands_at_its_own_line_and_is_the_same_place():
    data = "\n".join(["G21 G90 G54", "T1 M6", "G1 X0. Y0. Z0. F500.", *map(row, range(60)), ""]).encode()
    run, whole, pieces = both(data, 9)
    assert pieces is not None
    shown, of_whole = pieces.program, {m.line: m for m in whole.program.moves}
    assert [m.line for m in shown.moves] == [3, *range(7, 64, 7)]
    for move in shown.moves:
        like = of_whole[move.line]
        np.testing.assert_allclose(shown.positions[move.end], whole.program.positions[like.end], atol=1e-12)
        assert (move.motion, shown.targets[move.end].tool) == (like.motion, "T1")
        np.testing.assert_allclose(move.feed, like.feed)
    assert len(tuple(run.pieces())) == 7


def test_offsets_that_a_file_states_hold_in_every_stretch():
    head = ["G21 G90", "G10 L2 P3 X1750. Y0. Z800.", "G56 T1 M6", "G1 X0. Y0. Z0. F500."]
    data = "\n".join([*head, *map(row, range(40)), ""]).encode()
    _, whole, pieces = both(data, 9, Given({}, GIVEN.tools, DOWN))
    assert pieces is not None
    assert pieces.files == whole.files
    assert set(whole.program.bases) == {"G56"}


def test_shifted_frames_are_shown_under_their_names():
    shifts = ["G92 X5. Y0. Z0.", "G0 X0. Y0. Z0.", "G1"]
    lines = ["G21 G90 G54", "T1 M6", "G1 X0. Y0. Z0. F500.", *map(row, range(30)), *shifts, *map(row, range(30)), ""]
    _, whole, pieces = both("\n".join(lines).encode(), 9, ALL)
    assert pieces is not None
    assert pieces.files == whole.files
    name = "G54 as changed by G92 in line 34"
    assert list(whole.program.bases) == ["G54", name] == list(pieces.program.bases)
    of_whole, shown = {m.line: m for m in whole.program.moves}, pieces.program
    for move in shown.moves:
        assert shown.targets[move.end].base == whole.program.targets[of_whole[move.line].end].base
    assert shown.notes == whole.program.notes
    wanted = SHIFTED[name].translation + shown.positions[shown.moves[-1].end]
    np.testing.assert_allclose(pieces.job.placed.position[-1], wanted, atol=1e-12)


@pytest.mark.parametrize("data", [b"G1 X0. Y0. Z0.\r" + b"X1.\n" * 30])
def test_what_cannot_be_cut_is_corrected_as_a_whole(data: bytes):
    run = post_kinds()["gcode"]().long({"part.nc": data}, 20, 10, 10)
    assert run is None or run.shown(GIVEN, "") is None
