"""``import elastocal`` is light, and its names are there, documented and loaded when first used."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, get_args, get_type_hints

import pytest

import elastocal as ec
from elastocal.measure.sources.source import ErrorSource, source_kinds

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
        assert callable(value) or isinstance(value, ModuleType)
        assert value.__doc__


@pytest.mark.parametrize("name", ec.desk.__all__)
def test_a_name_of_the_desk(name: str) -> None:
    value = getattr(ec.desk, name)
    if isinstance(value, ModuleType):
        functions = {n: f for n, f in vars(value).items() if isinstance(f, FunctionType) and not n.startswith("_")}
        own = [n for n, f in functions.items() if f.__module__ == value.__name__ or n in getattr(value, "__all__", ())]
        assert value.__doc__
        assert own
        assert [n for n in own if not functions[n].__doc__] == []
    else:
        assert callable(value)
        assert value.__doc__


def test_the_names_that_scripts_rely_on() -> None:
    names = {"read_robot", "Campaign", "calibrate", "Calibration", "read_calibration", "Tracker", "InputError"}
    assert names <= set(ec.__all__)


@pytest.mark.parametrize("package", [ec, ec.desk], ids=["door", "desk"])
def test_type_checkers_see_the_same_names(package: ModuleType) -> None:
    seen: dict[str, object] = {}
    exec(Path(package.__file__ or "").with_suffix(".pyi").read_text(encoding="utf-8"), seen)
    assert {name: seen.get(name) for name in package.__all__} == {
        name: getattr(package, name) if name != "__version__" else None for name in package.__all__
    }


def test_every_source_of_error_is_a_name_of_the_sources() -> None:
    assert {getattr(ec.sources, name) for name in dir(ec.sources)} == set(source_kinds().values())
    assert ec.sources.Tracker is ec.Tracker
    with pytest.raises(AttributeError, match="Tracking"):
        ec.sources.Tracking  # noqa: B018


@pytest.mark.parametrize("name", ec.procedures.__all__)
def test_a_procedure_is_called_by_identify(name: str) -> None:
    procedure = getattr(ec.procedures, name)
    assert procedure.identify.__doc__
    assert [n for n in procedure.__all__ if not getattr(procedure, n).__doc__ and n.istitle()] == []


@pytest.mark.parametrize("name", ec.procedures.__all__)
def test_a_procedure_offers_what_it_is_called_with(name: str) -> None:
    """Types of its arguments that are of this package are names of the procedure, or of the front door."""
    procedure = getattr(ec.procedures, name)
    hints = get_type_hints(procedure.identify)
    hints.pop("return")
    offered = [getattr(procedure, n) for n in procedure.__all__] + [getattr(ec, n) for n in ec.__all__]
    own = {t for hint in hints.values() for t in _types(hint) if t.__module__.startswith("elastocal")}
    assert own - set(filter(callable, offered)) <= {ErrorSource}  # any of ec.sources


def _types(hint: Any) -> Iterator[type]:
    if isinstance(hint, type) and not get_args(hint):
        yield hint
    for part in get_args(hint):
        yield from _types(part)


def test_there_is_no_other_name() -> None:
    with pytest.raises(AttributeError, match="calibrato"):
        ec.calibrato  # noqa: B018
