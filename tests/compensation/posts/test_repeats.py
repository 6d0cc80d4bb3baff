"""Lines read by the thousand are read as one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.draws import draws

from elastocal.compensation.posts import text
from elastocal.compensation.posts.post import post_kinds
from elastocal.compensation.posts.text import Repeats, opened
from elastocal.compensation.program import Changes, Given, Inserted, Program

EAX = "[9E9,9E9,9E9,9E9,9E9,9E9]"
NAMES = {"krl": "a.src", "rapid": "a.mod", "gcode": "a.nc", "csv": "a.csv"}
HEADS = {
    "krl": "DEF a()\n$BASE={X 1,Y 2,Z 3,A 0,B 0,C 0}\n$TOOL={X 0,Y 0,Z 9,A 0,B 0,C 0}\n",
    "rapid": "MODULE a\nPROC m()\n",
    "gcode": "G21 G90 G1 F500\nX0 Y0 Z0\n",
    "csv": "name,x_mm,y_mm,z_mm,a_deg,b_deg,c_deg,fx_N,tool,feed_mm_min\n",
}
LINES = {
    "krl": [
        "LIN {{X {0},Y {1},Z {2},A 10,B {3},C 180}} C_DIS",
        "LIN {{Y {0},X {1},Z {2},A 10,B {3},C 180,S 2,T 35}} C_DIS",
        "LIN {{X {0},Y {1}}}",
        "LIN {{X {0}+1,Y {1},Z {2},A 10,B 5,C 180}}",
        "PTP {{A1 {3},A2 -70,A3 90,A4 {0},A5 10,A6 0}}",
        "$VEL.CP = {3}",
    ],
    "rapid": [
        f"MoveL [[{{0}},{{1}},{{2}}],[1,0,0,0],[0,0,0,0],{EAX}],v50,z1,t1\\WObj:=w1;",
        f"MoveL [[{{0}},{{1}},{{2}}],[1,0,0,0],[0,0,0,0],{EAX}],v{{4}},z1,t1\\WObj:=w1; ! {{4}}",
        f"MoveJ [[{{0}},{{1}},{{2}}],[{{3}},0,0,0],[0,0,{{4}},0],{EAX}],v50,z1,t{{4}}\\WObj:=w1;",
        f"MoveAbsJ [[{{3}},{{4}},3,4,5,6],{EAX}],v50,z1,t1;",
        "x{4} := {4};",
    ],
    "gcode": [
        "X{0} Y{1} Z{2}",
        "N{4} G1 X{0} Y{1} Z{2} (c)",
        "G{4} X{0} Y{1}",
        "X{0} Y{1} Z{2} B{3}",
        "Z{2} Y{1} X{0} F{4}",
    ],
    "csv": [
        "p{4},{0},{1},{2},10,{3},180,{1},t1,{4}",
        "p,{0},{1},{2},10,{3},180,{1},t{4},5",
        '"p",{0},{1},{2},10,{3},180,{1},t1,5',
        "p,{0},{1},-,10,{3},180,1,t1,5",
    ],
}  # fmt: skip
NUMBER = st.one_of(
    st.floats(-999, 999).map(lambda v: f"{v:.3f}"),
    st.floats(-999, 999).map(lambda v: f"{v:.6f}"),
    st.sampled_from(["0", "-0.0", "+1.5", ".5", "7.", "1E2", "--1", "1.2.3"]),
)
ROW = st.tuples(
    NUMBER, NUMBER, NUMBER, st.floats(0.75, 1.3).map(lambda v: f"{v:.4f}"), st.sampled_from(["1", "1", "2", "10"])
)


@st.composite
def runs(draw: st.DrawFn, kind: str) -> dict[str, bytes]:
    """Stretches of lines of one shape, with odd lines between them."""
    text = HEADS[kind]
    for _ in range(draw(st.integers(1, 4))):
        form = draw(st.sampled_from(LINES[kind]))
        plain = [f"{v:.3f}" for v in (draw(st.floats(-99, 99)), draw(st.floats(-99, 99)), draw(st.floats(-99, 99)))]
        for i in range(draw(st.integers(1, 14))):
            odd = draw(st.integers(0, 4)) == 0
            text += form.format(*(draw(ROW) if odd else (*plain, f"{0.9 + i / 100:.4f}", "1"))) + "\n"
    text += draw(st.sampled_from(["", "\n", "X1"]))
    return {NAMES[kind]: text.replace("\n", draw(st.sampled_from(["\n", "\r\n", "\r"]))).encode("latin-1")}


@pytest.mark.parametrize("kind", sorted(NAMES))
@settings(max_examples=draws(40, 1000))
@given(data=st.data())
def test_many_at_once_is_one_by_one(kind: str, data: st.DataObject) -> None:
    files = data.draw(runs(kind))
    post, shares = post_kinds()[kind](), np.array([0.5])
    many = post.read(files, Given(rotary="ZY"))
    whole = text.FEWEST
    text.FEWEST = 1_000_000
    try:
        single = post.read(files, Given(rotary="ZY"))
        one = post.write(single, _shifted(single, shares))
    finally:
        text.FEWEST = whole
    for name in ("targets", "moves", "skipped", "notes", "bases", "tools"):
        assert repr(getattr(many, name)) == repr(getattr(single, name))
    for name in ("positions", "rotations", "joints"):
        np.testing.assert_array_equal(getattr(many, name), getattr(single, name))
    np.testing.assert_array_equal(many.wrenches, single.wrenches) if kind == "csv" else None
    assert post.write(many, Changes.none(many)) == files
    assert post.write(many, _shifted(many, shares)) == one


def _shifted(program: Program, shares: np.ndarray) -> Changes:
    """Most targets moved and turned, some a little only; a point put into every fifth line that takes one."""
    count = len(program.targets)
    far = np.where(np.arange(count) % 7 == 3, 0.0, 1.234567e-3)[:, None] * np.array([1.0, -2.0, 0.5])
    c, s = np.cos(2e-3), np.sin(2e-3)
    turned = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ program.rotations
    inserted = {
        i: Inserted(program.positions[[m.end]] + 1e-3, program.rotations[[m.end]])
        for i, m in enumerate(program.moves)
        if i % 5 == 2 and m.motion == "linear" and not m.fixed and program.targets[m.end].kind == "pose"
    }
    return replace(
        Changes.none(program), positions=program.positions + far, rotations=turned, joints=program.joints + 1e-3,
        inserted=inserted,
    )  # fmt: skip


def test_numbers_and_shapes():
    text = opened("a", b"a1 x1.50 y-2\n" + b"".join(b"a1 x%d.25 y+%d\n" % (i, i) for i in range(9)) + b"a2 x1. y2\n")
    found = Repeats.of(text)
    block = found.like(2, [(17, 21), (23, 25)])
    assert block is not None
    assert list(block.lines) == list(range(3, 11))  # a2 of line 11 is not among the numbers asked for
    np.testing.assert_array_equal(block.values, [[i + 0.25, i] for i in range(1, 9)])
    assert [text.text[s:e] for s, e in block.spans[0]] == ["1.25", "+1"]
    assert found.like(2, [(17, 21), (23, 25)], b"a").lines.stop == 12
    assert found.like(2, [(17, 21), (23, 26)]) is None  # no number stands exactly there
    assert found.like(11, [(17, 21)]) is None
