"""The extra ``fast``: the same statements, compiled; when that is worth while; and nothing lost where it cannot be."""

from __future__ import annotations

import math
import subprocess
import sys

import numba  # noqa: F401  the extra that is tested
import numpy as np
import pytest

from elastocal.spatial import compiled, entries
from elastocal.spatial.compiled import Compiled, source
from elastocal.spatial.entries import cos_sin
from elastocal.spatial.tape import Code, Tape


def _code() -> Code:
    tape = Tape()
    x, c, s, p = (tape.variable(n) for n in ("x0", "c1", "s1", "p0"))
    return tape.kernel([x * c - s * p, (x + s) * (x + s), 0.0, p * c], [("x0",), ("c1", "s1")], ["p0"])


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(compiled, "folder", lambda: tmp_path / "code")
    return tmp_path / "code"


def test_cosine_and_sine_are_right_and_the_same_for_floats_and_arrays():
    x = np.concatenate([np.linspace(-40, 40, 20001), [1e-300, np.pi, -np.pi / 2, 1e5, -123456.789]])
    cos, sin = cos_sin(x)
    np.testing.assert_allclose(cos, [math.cos(v) for v in x], rtol=0, atol=5e-16)
    np.testing.assert_allclose(sin, [math.sin(v) for v in x], rtol=0, atol=5e-16)
    for i in range(0, len(x), 97):
        assert entries.cos_sin_of_float(float(x[i])) == (cos[i], sin[i])
        assert cos_sin(x[i : i + 1]) == (cos[i], sin[i])


def test_what_is_not_known_has_no_cosine_and_great_angles_do_no_harm():
    assert np.isnan(entries.cos_sin_of_float(math.nan)).all()
    assert np.isnan(cos_sin(np.array([math.nan, 0.0]))[0]).tolist() == [True, False]
    for x in (1e9, 1e12, 1e25):
        few, many = cos_sin(np.array([x])), cos_sin(np.full(50, x))
        assert (few[0][0], few[1][0]) == (many[0][0], many[1][0])
    np.testing.assert_allclose(cos_sin(1e9), (math.cos(1e9), math.sin(1e9)), rtol=0, atol=2e-7)


def test_compiled_code_gives_the_same_bits_and_its_binary_is_found_again(cache):
    rng = np.random.default_rng(1)
    x, angle = rng.normal(size=(2, 1000))
    plain, fast = np.empty((4, 1000)), np.empty((8, 1000))
    code = _code()
    code.plain(plain, [x, *cos_sin(angle)], [2.5])
    code._fast.make(code)
    code(fast[::2], [x, angle], [2.5])  # rows that do not follow each other are written too
    np.testing.assert_array_equal(fast[::2], plain)
    (made,) = (cache / "__pycache__").glob("*.nbi")
    assert made.name.startswith(next(cache.glob("code_*.py")).stem)
    again = Compiled()
    assert again.ready(code, 10) is again, "a binary of an earlier run is loaded at once where numba is"


def test_nobody_waits_for_the_compiler_before_it_pays(cache):
    code, fast = _code(), Compiled()
    assert fast.ready(code, 1) is None
    assert not cache.exists()
    assert fast.ready(code, 10**9) is fast, "a large batch pays for it"


def test_without_a_folder_to_write_to_numpy_goes_on(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(compiled, "folder", lambda: tmp_path / "file" / "code")
    code, out = _code(), np.empty((4, 3))
    assert code._fast.ready(code, 10**9) is None
    code(out, [np.ones(3), np.zeros(3)], [2.0])
    np.testing.assert_array_equal(out, np.array([[1.0, 1, 0, 2]] * 3).T)


@pytest.mark.parametrize("damaged", [b"", b"\x80\x05 cut off", b"0.60.0"])
def test_with_a_damaged_binary_numpy_goes_on(cache, damaged):
    _code()._fast.make(_code())
    (made,) = (cache / "__pycache__").glob("*.nbi")
    made.write_bytes(damaged)
    code, out = _code(), np.empty((4, 3))
    code._fast.make(code)
    code(out, [np.ones(3), np.zeros(3)], [2.0])
    np.testing.assert_array_equal(out, np.array([[1.0, 1, 0, 2]] * 3).T)


def test_another_text_under_the_same_name_is_not_run(cache):
    code = _code()
    place = cache / f"{compiled._name(source(code))}.py"
    place.parent.mkdir()
    place.write_text("raise SystemExit('planted')")
    code._fast.make(code)
    assert place.read_text() == source(code)


def test_importing_elastocal_does_not_import_numba():
    done = subprocess.run(
        [sys.executable, "-c", "import sys, elastocal.model.kinematics; print('numba' in sys.modules)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "False"


def run_by_python(code: Code, out, values, numbers) -> None:
    """The text that numba would compile, run as it stands."""
    lines = source(code).split("@njit", 1)[1].split("\n", 1)[1]
    space = {"rint": round, "sqrt": math.sqrt, "empty": np.empty}
    exec(lines, space)
    space["code"](out, values, numbers)


def test_the_text_run_by_python_gives_the_same_bits():
    code, rng = _code(), np.random.default_rng(2)
    a, out, plain = rng.normal(size=(2, 30)), np.empty((4, 30)), np.empty((4, 30))
    run_by_python(code, out, a, [0.7])
    code.plain(plain, [a[0], *cos_sin(a[1])], [0.7])
    np.testing.assert_array_equal(out, plain)
