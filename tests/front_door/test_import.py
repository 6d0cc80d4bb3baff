"""``import elastocal`` is light, and its names are there, documented and loaded when first used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import elastocal as ec

HEAVY = ("numpy", "scipy", "plotly", "pandas", "yaml", "lxml", "typer", "jinja2")


def test_the_import_loads_nothing_heavy() -> None:
    code = f"import sys, elastocal; print([m for m in {HEAVY!r} if m in sys.modules], len(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    bare = subprocess.run(
        [sys.executable, "-c", "import sys; print(len(sys.modules))"], capture_output=True, text=True, check=True
    ).stdout
    heavy, _, count = out.strip().rpartition(" ")
    assert heavy == "[]"
    assert int(count) - int(bare) < 15


@pytest.mark.parametrize("name", ec.__all__)
def test_a_name_of_the_front_door(name: str) -> None:
    value = getattr(ec, name)
    assert name in dir(ec)
    if name != "__version__":
        assert callable(value)
        assert value.__doc__


def test_the_names_that_scripts_rely_on() -> None:
    names = {"read_robot", "Campaign", "calibrate", "Calibration", "read_calibration", "InputError", "ElastocalError"}
    assert names <= set(ec.__all__)


def test_there_is_no_other_name() -> None:
    with pytest.raises(AttributeError, match="calibrato"):
        ec.calibrato  # noqa: B018
