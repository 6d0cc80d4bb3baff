"""Long Yaskawa jobs, cut in both of their parts, are byte for byte those corrected as a whole."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from oracle.draws import draws

from elastocal.compensation.posts.post import parsed, post_kinds
from elastocal.compensation.process import ProcessLoad
from elastocal.compensation.program import Given
from elastocal.compensation.run import compensate
from elastocal.compensation.streamed import streamed
from elastocal.files.robot.read import read_robot
from elastocal.spatial.pose import Pose

NEAR = np.radians([0.0, -90.0, 90.0, 0.0, 90.0, 0.0])
TOOLS = {str(i): Pose(np.eye(3), np.array([0.0, 0.1, 0.2 + 0.01 * i])) for i in (1, 2)}
GIVEN = Given({"base": Pose()}, TOOLS)
LOAD = ProcessLoad(wrench=np.array([-400.0, 0, -150, 0, 0, 0]))
HEAD = ["/JOB", "//NAME PART", "//POS"]
WORDS = ["///POSTYPE BASE", "///RECTAN", "///RCONF 1,0,0,0,0"]
BETWEEN = [
    "'row", "DOUT OT#(3) ON", "TIMER T=0.20", "SPEED V=30.0", "CALL JOB:GRIP", "*LABEL", "MOVL P001 V=50.0",
    "SET B000 1", "",
]  # fmt: skip


@cache
def arm():
    return read_robot("kuka-kr270")


def both(data: bytes, size: int, **options: object):
    """As a whole, and in pieces."""
    files = {"part.jbi": data}
    call = partial(compensate, arm(), load=LOAD, judged=False, **options)
    run = post_kinds()["jbi"]().long(files, 1, size, 10)
    if run is None:
        return None, None, None
    pieces = streamed(
        run, GIVEN, "", lambda program, near: call(program, near=NEAR if near is None else near),
        lambda program, _: call(program, near=NEAR),
    )  # fmt: skip
    return run, call(parsed(files, GIVEN, "jbi"), near=NEAR), pieces


def job(rows: list[tuple[float, float]], between: list[list[str]], tools: list[int], end: str = "\r\n") -> bytes:
    """A way in, a run with its positions in another order than its lines, and a way out."""
    positions, lines = [], []
    for i, (x, y) in enumerate(rows):
        if i == 0 or tools[i] != tools[i - 1]:
            positions += [f"///TOOL {tools[i]}", *(WORDS if i == 0 else ())]
        positions.append(f"C{i:05d}={1750 + x:.3f},{y:.3f},{800 - i / 10:.3f},180.0000,{y / 10:.1f},10.0000")
    order = [0, *reversed(range(1, 4)), *range(4, len(rows))]
    for i in order:
        word = "MOVJ {} VJ=10.00" if i == 0 else "MOVC {} V=40.0" if i == 5 else "MOVL {} V=50.0 PL=1"
        lines += [word.format(f"C{i:05d}"), *between[i]]
    middle = ["//INST", "///DATE 2000/01/01 00:00", "///ATTR SC,RW", "///GROUP1 RB1", "NOP"]
    count = [f"///NPOS {len(rows)},0,0,0,0,0"]
    return end.join([*HEAD, *count, *positions, *middle, *lines, "DOUT OT#(1) OFF", "END", ""]).encode()


@st.composite
def jobs(draw: st.DrawFn) -> bytes:
    count = draw(st.integers(14, 40))
    place = st.integers(-150, 150)
    rows = [(draw(place) / 3 + i / 7, draw(place) / 2) for i in range(count)]
    between = [draw(st.lists(st.sampled_from(BETWEEN), max_size=2)) for _ in rows]
    tools = [draw(st.sampled_from([1, 1, 1, 2])) for _ in rows]
    return job(rows, between, tools, draw(st.sampled_from(["\n", "\r\n"])))


@settings(max_examples=draws(15, 200), phases=[Phase.generate])
@given(jobs(), st.sampled_from([16, 23]))
def test_pieces_give_the_bytes_of_the_whole(data: bytes, size: int):
    run, whole, pieces = both(data, size)
    assert run is not None
    assert pieces is not None
    assert len(tuple(run.pieces())) > 1
    assert pieces.files == whole.files
    assert whole.changes.changed(whole.program).any()
    assert [(s.line, s.reason) for s in pieces.left] == [(s.line, s.reason) for s in whole.left]
    said = pieces.warnings[0].data
    assert said["targets"] == len(whole.job.placed.stations)
    assert said["corrected"] == int(whole.corrected.sum())
    ways = [{m.line: off for m, off in zip(c.along.moves, c.along.off, strict=True)} for c in (whole, pieces)]
    assert ways[0].keys() == ways[1].keys()
    np.testing.assert_allclose(list(ways[0].values()), [ways[1][line] for line in ways[0]], rtol=1e-5, atol=1e-12)


ROWS, NONE, ONE = [(i / 1.0, i / 2.0) for i in range(30)], [[] for _ in range(30)], [1] * 30


def test_targets_that_are_shown_have_their_places_in_the_whole():
    _, whole, pieces = both(job(ROWS, NONE, ONE), 16)
    assert pieces is not None
    own = {t.name: t.line for t in whole.program.targets}
    assert len(pieces.program.targets) == 10
    assert {t.name: t.line for t in pieces.program.targets} == {t.name: own[t.name] for t in pieces.program.targets}


def test_lines_that_are_left_are_named_by_their_place_in_the_whole():
    data = job(ROWS, NONE, ONE).replace(b"C00020=1770.000", b"C00020=9770.000")
    _, whole, pieces = both(data, 16)
    assert pieces is not None
    assert [(s.line, s.reason) for s in pieces.left] == [(s.line, s.reason) for s in whole.left]
    assert len(whole.left) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [(b"MOVL C00012 ", b"MOVL C00011 "), (b"//INST", b"//INST\r\nNOP\r\n//POS\r\n//INST"), (b"\r\nNOP", b"\rNOP")],
)
def test_positions_that_are_used_twice_and_other_forms_stay_whole(old: bytes, new: bytes):
    data = job(ROWS, NONE, ONE)
    assert old in data
    assert both(data.replace(old, new, 1), 16)[0] is None


def test_a_job_that_needs_further_points_is_corrected_as_a_whole():
    _, whole, pieces = both(job(ROWS, NONE, ONE), 16, densify=1e-9)
    assert whole.inserted > 0
    assert pieces is None
