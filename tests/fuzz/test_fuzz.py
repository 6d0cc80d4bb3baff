"""Damaged files through every reader: one sentence or finite numbers, in time.  ``make fuzz`` does it 10 000 times."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from fuzz.judge import in_time, infinite, outcome
from fuzz.mutations import BOMB, damaged
from fuzz.readers import READERS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elastocal.compensation.posts.post import parsed, post_for
from elastocal.compensation.program import Changes
from elastocal.errors import InputError
from elastocal.files.located import parse_yaml
from elastocal.files.plain_data import parse_json
from elastocal.untrusted import MOST, from_spreadsheet, in_brief, shown_plainly, spreadsheet_cell

MUTATIONS = 15


@pytest.mark.parametrize("name", READERS)
def test_damaged_files(name: str, tmp_path: Path) -> None:
    reader = READERS[name]
    path = reader.lay(tmp_path)
    whole = path.read_bytes()
    assert outcome(reader, path) == "read"
    for i in range(MUTATIONS):
        path.write_bytes(damaged(whole, random.Random(f"{name}/{i}")))
        outcome(reader, path)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("content", [b"", b"\n", b"\0", b"\xff\xfe", b"[" * 5000, b"{", b"9" * 5000, BOMB.encode()])
def test_files_that_are_nothing(name: str, content: bytes, tmp_path: Path) -> None:
    reader = READERS[name]
    path = reader.lay(tmp_path)
    path.write_bytes(content)
    outcome(reader, path)


@pytest.mark.parametrize("title", ["Achse " + "9" * 5000, "x" + "9" * 5000, "Punkt " + "9" * 5000 + " X", "9" * 5000])
def test_titles_that_hurt(title: str, tmp_path: Path) -> None:
    reader = READERS["columns of a table"]
    path = reader.lay(tmp_path)
    path.write_text(path.read_text().replace("Achse 1", title).replace("X Ist [mm]", f"{title} X;{title}"))
    outcome(reader, path)


YAML = {
    "alias bomb": BOMB,
    "alias of itself": "a: &a [*a]",
    "merge bomb": "a: &a {x: 1}\n" + "".join(f"b{i}: &b{i}\n  <<: *a\n" for i in range(50)),
    "integer that is none": "a: !!int x",
    "float that is none": "a: !!float x",
    "bool that is none": "a: !!bool x",
    "time that is none": "a: !!timestamp 2020-99-01",
    "time of words": "a: !!timestamp x",
    "object": "a: !!python/object/apply:os.system [x]",
    "binary": "a: !!binary ====",
    "set": "a: !!set {x}",
    "5000 digits": f"a: {'9' * 5000}",
    "400 digits": f"a: {'9' * 400}",
    "brackets": "a: " + "[" * 5000,
    "braces": "a: " + "{a: " * 5000,
    "dashes": "- " * 5000,
    "infinite": "a: .inf",
    "not a number": "a: .NaN",
    "too large": "a: 1e999",
    "escape": 'a: "\\e[2J"',
    "zero": 'a: "\\0"',
    "key of keys": "? {a: 1}\n: 2",
}


@pytest.mark.parametrize("name", YAML)
def test_yaml_that_hurts(name: str) -> None:
    if name == "merge bomb":
        parse_yaml(YAML[name], "x.yaml")
        return
    with in_time(3.0), pytest.raises(InputError) as caught:
        parse_yaml(YAML[name], "x.yaml")
    assert str(caught.value).startswith("x.yaml, line ")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "text",
    ["[NaN]", "[1e999]", "[-Infinity]", f"[{'9' * 5000}]", f"[{'9' * 400}]", "[" * 10**5, '{"a": [{"b": 1, "b": 2}]}'],
)
def test_json_that_hurts(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_json(text, "x.json")
    assert len(str(caught.value)) < 300


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.text(st.characters(categories=("L", "N")), max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", min_size=1, max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=30)
@given(data=PLAIN)
def test_plain_data_comes_back(data: object) -> None:
    import json

    text = json.dumps(data, ensure_ascii=False)
    assert parse_json(text, "x") == data
    assert parse_yaml(f"a: {text}", "x").data == {"a": data}


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(text=st.text(max_size=300))
def test_any_text_is_a_sentence_or_data(text: str) -> None:
    assert "\n" not in refusal(lambda: parse_yaml(text, "x")) + refusal(lambda: parse_json(text, "x"))
    brief = in_brief(text * 20)
    assert len(brief) <= MOST + 10
    assert shown_plainly(brief) == brief
    cell = spreadsheet_cell(text)
    assert from_spreadsheet(cell) == text
    assert not cell.startswith(("=", "@", "\t", "\r"))


def refusal(call: Callable[[], object]) -> str:
    """The sentence with which it is refused, if it is."""
    try:
        call()
    except InputError as error:
        return str(error)
    return ""


LINES = {
    "x.src": b"DEF x()\n%b\nEND\n",
    "x.mod": b"MODULE x\nPROC main()\n%b\nENDPROC\nENDMODULE\n",
    "x.nc": b"G90 G21\nG1 X1 Y2 Z3 F100\n%b\nM30\n",
    "x.ls": b"""/PROG  X
/MN
   1:  UFRAME_NUM=1    ;
   2:  UTOOL_NUM=1    ;
   3:L P[1] 100mm/sec FINE    ;
/POS
P[1]{
   GP1:
	UF : 1, UT : 1,		CONFIG : 'N U T, 0, 0, 0',
	X =   1.000  mm,	Y =   2.000  mm,	Z =   3.000  mm,
	W =   180.000 deg,	P =   1.000 deg,	R =   2.000 deg%b
};
/END
""",
}
PIECES = {
    "x.src": (
        b"LIN {X inf,Y 0,Z 0}",
        b"LIN {X nan}",
        b"LIN {X 1_0}",
        b"%b",
        b"LIN %b",
        b"LIN {X %b}",
        b"%b = 3",
        b"A%b[3]",
    ),
    "x.mod": (b"MoveL [[inf,0,0],[1,0,0,0]],v5,z1,t;", b"%b;", b"MoveL %b,v5,z1,t;", b"PERS num %b:=3;", b"! %b"),
    "x.nc": (b"G%b", b"X%b", b"G1 X%b Y0", b"G1 Xinf", b"G1 Xnan Y0", b"G1 X1_0", b"(%b)", b"N%b G1 X1"),
    "x.ls": (b"", b",\n\tE1 = -1e999  mm", b"\n   GP2:\n\tUF : 1, UT : 1,\n\tJ1 = 1e999 deg", b",\n\tE1 = %b  mm"),
}
LONG = (
    b"x" * 20_000,
    b"9" * 400,
    b"9" * 20_000,
    b"x1" * 10_000,
    b"(" * 20_000,
    b"." * 20_000,
    b"-" * 20_000,
    b" " * 20_000,
)


@pytest.mark.parametrize(("file", "piece"), [(f, p) for f, all_ in PIECES.items() for p in all_])
def test_programs_with_words_that_hurt(file: str, piece: bytes) -> None:
    """Nothing is quadratic in the length of a word, and what is no number moves nothing."""
    for word in LONG if b"%b" in piece else (b"",):
        content = LINES[file] % (piece.replace(b"%b", word))
        with in_time(1.0):
            said = refusal(lambda content=content: check_program(file, content))
        assert len(said) < MOST


def check_program(file: str, content: bytes) -> None:
    program = parsed({file: content})
    assert post_for(file).write(program, Changes.none(program)) == {file: content}
    assert next(infinite(program, unknown=True), None) is None
