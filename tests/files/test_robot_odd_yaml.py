"""YAML that is legal and still not what a person means, or that breaks a careless reader."""

import pytest
import yaml
from oracle.refusals import refused

from elastocal.errors import InputError
from elastocal.files import plain_data
from elastocal.files.located import parse_yaml
from elastocal.files.robot.file import build_robot
from elastocal.files.robot.read import shipped_robots, shipped_text

HEAD = "format: elastocal-robot/1\nname: t\nsource: s\n"
TWO = "joints:\n  - {name: A1, type: revolute, axis: [0, 0, 1]}\n  - {name: A2, type: revolute, axis: [0, 1, 0]}\n"


def build(text):
    return build_robot(parse_yaml(HEAD + text, "t.yaml"))


def test_numbers_mean_what_people_write():
    robot = build("joints:\n  - {name: tip, xyz_mm: [010, 1e1, -0.5e+1]}\n")
    assert list(robot.tree.frame("tip").pose.translation) == pytest.approx([0.010, 0.010, -0.005])


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("12", 12), ("-7", -7), ("+3", 3), ("0", 0), ("010", 10.0), ("1e3", 1000.0), ("-.5", -0.5), ("4.", 4.0),
        ("123456789012345678", 123456789012345678), ("0.12345678901234567890", 0.12345678901234568), ("1:30", "1:30"),
        ("2024-01-31", "2024-01-31"), ("1_000", "1_000"), ("0x10", "0x10"), ("no", False), ("on", True), ("~", None),
        ("noon", "noon"), ("A1", "A1"), ("'12'", "12"), ("!!str 12", "12"), ("!!float 12", 12.0),
    ],
)  # fmt: skip
def test_words_without_quotes_stand_for_numbers_texts_and_nothing_else(written, value):
    data = parse_yaml(f"a: {written}\nb: [{written}, {written}]\n", "w").data
    assert data == {"a": value, "b": [value, value]}
    assert {type(v) for v in (data["a"], *data["b"])} == {type(value)}


@pytest.mark.parametrize("written", ["1e999", "-1e400", "1234567890123456789", ".inf", ".nan"])
def test_numbers_that_no_float_holds_are_refused(written):
    with refused("yaml", written):
        parse_yaml(f"a: {written}\n", "w")


def test_keys_by_their_anchors_and_decimal_commas():
    assert parse_yaml("x: &a foo\n*a : 1\n", "t.yaml").data == {"x": "foo", "foo": 1}
    assert parse_yaml("{k: 33, 5: ''}\n", "t.yaml").data == {"k": 33, 5: ""}
    for text in ("{k: 33,5}\n", "{k: 33, 5: ~}\n", "{k: 33, 5: null}\n"):
        with pytest.raises(InputError) as caught:
            parse_yaml(text, "t.yaml")
        assert "33.5" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TWO + "controller: {couplings: [{joint: A2, axis: [A1], ratio: 1}]}\n", "no controller axis"),
        (TWO + "controller: {couplings: [{joint: A1, axis: A1, ratio: 1}]}\n", "moves joint A1 anyway"),
        (
            TWO + "controller: {couplings: [{joint: A2, axis: A1, ratio: 1}, {joint: A2, axis: A1, ratio: 1}]}\n",
            "second",
        ),
        ("units: {length: [mm]}\n" + TWO, "is not a unit of it"),
        ("gravity_m_s2: 2001-99-99\n" + TWO, "2001-99-99"),
        ("joints: &a [*a]\n", "refers to itself"),
        ("joints: " + "[" * 3000 + "\n", "t.yaml"),
        (TWO + "elements:\n  - {kind: link_mass, frame: A1, mass_kg: 3}\n", "does not say where the mass is"),
        (TWO + "elements:\n  - {kind: link_compliance, frame: A1, beam: {section: {shape: [box]}}}\n", "is not one of"),
        (
            "joints:\n  - {name: A1, type: revolute, axis: [0, 0, 1]}\n"
            "  - {name: B, type: revolute, axis: [0, 0, 1], follows: A1, offset_mm: 100}\n",
            "offset_mm",
        ),
    ],
)
def test_odd_files_get_one_sentence(text, words):
    with pytest.raises(InputError) as caught:
        build(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("t.yaml")


@pytest.mark.parametrize("text", ["[" * 50000, "{a: " * 5000, "- " * 5000 + "a"])
def test_depth_is_refused_before_it_overflows_the_stack(text: str) -> None:
    with refused("too-deep", file="deep.yaml", line=1):
        parse_yaml(text, "deep.yaml")


@pytest.mark.parametrize("name", shipped_robots())
def test_both_loaders_read_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = shipped_text(name)
    fast = parse_yaml(text, name)

    class Slow(yaml.SafeLoader):
        yaml_implicit_resolvers = plain_data._Loader.yaml_implicit_resolvers

    monkeypatch.setattr(plain_data, "_Loader", Slow)
    assert parse_yaml(text, name) == fast
