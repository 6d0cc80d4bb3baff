"""Damaged programs: reading either works or says what is wrong in one sentence, and writing loses nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.draws import draws
from oracle.programs import PROGRAMS

from elastocal.compensation.posts.post import post_kinds
from elastocal.compensation.program import Changes, Given, Inserted
from elastocal.compensation.stations import chords
from elastocal.errors import InputError

SIGNS = '{}[](),;:=#!"\\/%.+-\r\n\t \x85\xa0\xc4\xff0159XYZABCIJKRGMNTEefE$_'
PIECES = {
    "krl": [
        "LIN ", "PTP ", "CIRC ", "{X 1,Y 2,Z 3,A 0,B 90,C 0}", "{X 5}", "{A1 3}", "XP1", "P3", "$BASE=", "BASE_DATA[2]",
        "C_DIS", "IF A THEN", "ENDIF", "ELSE", "ENDFOR", "DEF x()", ":", ";", "\n", "\n", "$IPO_MODE=#TCP", "P3.X=1",
        "{X 1E400}", "WITH ",
    ],
    "rapid": [
        "MoveL ", "MoveC ", "MoveAbsJ ", "p10", "p20", "jHome", ",v5,z1,tMill;", "\\WObj:=wPart", ";", "\n", "\n", "!",
        '"', "[[1,2,3],[1,0,0,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]]", "Offs(p10,1,2,3)", "IF x ", "PDispSet p;", ":=",
        "[[1,2,3",
    ],
    "gcode": [
        "G0 ", "G1 ", "G2 ", "G3 ", "G90 ", "G91 ", "G20 ", "G17 ", "G18 ", "G54 ", "G92 ", "G81 ", "X1 ", "Y-2.5",
        "Z3. ", "I5 ", "J-5 ", "R7 ", "X#1", "(c)", ";c", "/", "\n", "\n", "\n", "M6 ", "T2 ", "A3=0.6 ", "B3=0 ",
        "C3=.8 ", "B20 ", "G10 L2 P1 ", "M98 P1",
    ],
    "fanuc": [
        "   1:L P[1] 5mm/sec FINE ;", "J P[2] 10% CNT5 ;", "C P[1]\n    :P[2] 5mm/sec FINE ;", "/POS\n", "/MN\n",
        "/END",
        "P[1]{\n GP1:\n UF : 0, UT : 1, J1= 1 deg", "P[7]{", "};", "UFRAME_NUM=2 ;", "Offset,PR[1] ;", "X = 1 mm,",
        "X = 1 deg", "GP2:", "!;", "\n", "\n", "P[1]=PR[2] ;", "CONFIG : 'F D B, 1, 0, -1',",
    ],
    "urscript": [
        "movel(", "movej(", "movec(", "p[1,2,3,0,0,0]", "[0,1,2,3,4,5]", "home_q", "via_p", ", a=1, v=0.1)", ")", "(",
        "get_inverse_kin(", "qnear=", "set_tcp(", "#", '"', "\n", "\n", "if x:\n", "end\n", "x=p[1,2,3,0,0,0]\n",
        "home_q=1\n",
        "r=0.1", "t=2",
    ],
    "jbi": [
        "MOVL C00001 V=5\n", "MOVJ C00000\n", "C00001=", "1,2,3,4,5,6", "\n", "\n", "///RECTAN\n", "///PULSE\n",
        "//INST\n",
        "//POS\n", "///TOOL 2\n", "///USER 3\n", "///POSTYPE USER\n", "///POSTYPE BASE\n", "CALL X\n",
        "C00009=1,2,3,4,5,6\n",
        "MOVL C00009 V=1 +MOVL\n", "'",
    ],
    "apt": [
        "GOTO/", "1,2,3", ",0,0,1", "\n", "\n", "$\n", "$$ c\n", "RAPID\n", "UNITS/INCHES\n", "TLAXIS/0,1,0\n",
        "FEDRAT/10,IPM\n",
        "GODLTA/1\n", "FROM/1,2,3\n", "FOO/BAR\n", "GOTO/1,2,3,0,0,0\n",
    ],
    "csv": [
        "x_mm", "y_mm", "z_mm", ",", ";", "1", "2.5", "-3,5", "\n", "\n", '"', "a_deg", "#", "q1", "1e5",
        "nan", "9e999",
    ],
}  # fmt: skip


@st.composite
def damaged(draw: st.DrawFn, kind: str) -> dict[str, bytes]:
    """A program with spans cut out, repeated or overwritten, or pieces in any order after a sound beginning."""
    files = {name: text.encode("latin-1") for name, text in draw(st.sampled_from(PROGRAMS[kind])).items()}
    name = draw(st.sampled_from(sorted(files)))
    text = files[name].decode("latin-1")
    if draw(st.booleans()):
        text += "".join(draw(st.lists(st.sampled_from(PIECES[kind]), max_size=30)))
    for _ in range(draw(st.integers(0, 4))):
        a = draw(st.integers(0, len(text)))
        b = min(len(text), a + draw(st.integers(0, 40)))
        new = draw(st.one_of(st.text(SIGNS, max_size=8), st.sampled_from(PIECES[kind]), st.just(text[a:b] * 2)))
        text = text[:a] + new + text[b:]
    files[name] = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"]))).encode("latin-1")
    return files


@pytest.mark.parametrize("kind", sorted(PIECES))
@settings(max_examples=draws(15, 1000))
@given(data=st.data())
def test_damaged_programs(kind: str, data: st.DataObject) -> None:
    files = data.draw(damaged(kind))
    post = post_kinds()[kind]()
    rotary = data.draw(st.sampled_from(["", "ZY", "ZYX"]))
    try:
        program = post.read(files, Given(rotary=rotary))
    except InputError:
        return
    assert post.write(program, Changes.none(program)) == files
    changed = _changed(program, data.draw(st.lists(st.booleans(), min_size=1, max_size=5)))
    new = post.write(program, changed)
    used = {(t.file, t.line) for t in program.targets} | {(m.file, m.line) for m in program.moves}
    for name, old in files.items():
        before, after = _lines(old), _lines(new[name])
        assert len(after) >= len(before)
        left = iter(after)
        last = 0
        for number, line in enumerate(before, start=1):
            last = number if (name, number) in used else last
            if (name, number) not in used and not (kind in ("rapid", "gcode", "fanuc", "apt") and last):
                assert line in left
    again = post.read(new, Given(rotary=rotary))
    arcs = sum(program.moves[i].via is not None for i in changed.inserted)
    assert len(again.targets) >= len(program.targets) + 4 * arcs


def _changed(program, mask):
    """Every target of the mask (repeated) shifted and turned a little; arcs as chords, or as three arcs."""
    rows = np.resize(np.array(mask), len(program.targets))
    shift = np.where(rows[:, None], 1e-3, 0.0)
    c, s = np.cos(1e-3), np.sin(1e-3)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    rotations = np.where(rows[:, None, None], turn @ program.rotations, program.rotations)
    points = {i: Inserted(p.positions + 1e-3, p.rotations) for i, p in chords(program, 1e-3).items()}
    pieces = Inserted(0.01 * np.arange(12.0).reshape(4, 3), np.tile(np.eye(3), (4, 1, 1)), 2 * sum(mask[:3]) % 6)
    points |= {i: pieces for i, m in enumerate(program.moves) if m.via is not None and not m.fixed}
    return replace(Changes.none(program), positions=program.positions + shift, rotations=rotations, inserted=points)


def _lines(data: bytes) -> list[bytes]:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")


_WORDS = ("a", "A.", "a ", "1", "C_A", '"', "{X 1,", "MoveL ", "CONST ", "x:=", "a,", "N1", "[", " ", "$")
_LINES = {
    "krl": (
        "b.src",
        "DEF b()\nLIN {{X 1,Y 1,Z 1,A 0,B 0,C 0}} {0}!\nLIN {{X {0}}}\n{0}\nDEF {0}\nP={0}\nLIN {0}\nBAS(#{0}\nEND\n",
    ),
    "rapid": ("b.mod", "MODULE b\nPROC m()\n{0}\nMoveL {0},v1,z1,t;\n{0};\nMoveL [[1,{0}]],v1,z1,t;\n{0}\nENDPROC\n"),
    "gcode": ("b.nc", "G21 G90 G1 F100\nX1 Y1 Z1\nX2 {0}\n{0}\n"),
    "csv": ("b.csv", 'x_mm,y_mm,z_mm\n1,2,3\n{0}\n1,2,{0}\n1,2,"{0}\n'),
    "fanuc": ("b.ls", "/PROG b\n/MN\n1:{0}\n2:L {0};\n3:L P[1] {0};\n{0}\n/POS\nP[1]{{\n{0}\n}};\nP[2]{0}\n{0}/END\n"),
    "urscript": (
        "b.script",
        "def b():\n{0}\nmovel({0})\nmovel(p[{0}])\n{0}=p[1,2,3,4,5,6]\nx={0}\nmovel(p[1,2,3,0,0,0],{0}\n",
    ),
    "jbi": ("b.jbi", "/JOB\n//POS\n///RECTAN\n{0}\nC00001={0}\n///{0}\n//INST\n{0}\nMOVL {0}\nMOVL C00001 {0}\nEND\n"),
    "apt": ("b.apt", "UNITS/MM\nGOTO/{0}\n{0}\nGOTO/1,2,3,{0}\n{0}/{0}\nFEDRAT/{0}\n$$ {0}\n"),
}


@pytest.mark.parametrize("word", _WORDS)
@pytest.mark.parametrize("kind", sorted(_LINES))
def test_a_word_of_any_length_is_read_once(kind: str, word: str) -> None:
    """Forty thousand characters: what reads them again for each one does not come to an end."""
    name, form = _LINES[kind]
    files = {name: form.format(word * (40_000 // len(word))).encode()}
    program = post_kinds()[kind]().read(files)
    assert all(len(s.text) < 200 and len(s.reason) < 400 for s in program.skipped)
    assert post_kinds()[kind]().write(program, Changes.none(program)) == files


_VALUES = {
    "krl": (
        "b.src",
        "DEF b()\n$VEL.CP={0}\nLIN {{X {0},Y 1,Z 1,A 0,B 0,C 0}}\nLIN {{X 1,Y 1,Z 1,A 0,B 0,C 0,T {0}}}\n",
    ),
    "rapid": ("b.mod", "MODULE b\nPROC m()\nMoveL [[{0},2,3],[1,0,0,0],[0,0,0,0],[9E9]],v1,z1,t;\nENDPROC\n"),
    "gcode": ("b.nc", "G21 G90 G1 F1\nX{0} Y1 Z1\nG{0}\n"),
    "csv": ("b.csv", "x_mm,y_mm,z_mm\n{0},1,1\n"),
    "fanuc": (
        "b.ls",
        "/MN\n1:L P[1] 5mm/sec FINE ;\n/POS\nP[1]{{\nGP1:\nUF : 0, UT : 0,\nX = {0} mm, Y = 1 mm, Z = 1 mm,\n"
        "W = 0 deg, P = 0 deg, R = 0 deg\n}};\n/END\n",
    ),
    "urscript": ("b.script", "def b():\nmovel(p[{0},2,3,0,0,0], v=0.1)\nend\n"),
    "jbi": ("b.jbi", "//POS\n///POSTYPE BASE\n///RECTAN\nC00000={0},1,1,0,0,0\n//INST\nMOVL C00000 V=5\n"),
    "apt": ("b.apt", "GOTO/{0},1,1\n"),
}


@pytest.mark.parametrize("value", ["inf", "-inf", "nan", "1_0", "Infinity", "9" * 400, "'H" + "9" * 400 + "'"])
@pytest.mark.parametrize("kind", sorted(_VALUES))
def test_what_is_no_number_is_named_and_stays(kind: str, value: str) -> None:
    name, form = _VALUES[kind]
    files = {name: form.format(value).encode()}
    program = post_kinds()[kind]().read(files)
    assert not program.targets
    assert program.skipped
    assert post_kinds()[kind]().write(program, Changes.none(program)) == files
