"""Straight-line code compiled by numba, where the extra ``fast`` is installed.

The statements are those that NumPy runs, in a loop over the configurations, without reordering or fused products: the
results are the same to the bit, so it does not matter when the change is made.  It is made once the code has run for as
long as the change takes: loading the compiler and a binary of an earlier run, or compiling anew.  So nobody waits for
a compiler in a command of a second, and nobody loses more than twice the best choice in hindsight.

Source and binaries lie in the user's cache folder, named by the hash of the source.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elastocal.spatial import entries
from elastocal.spatial.entries import Array, Entry

if TYPE_CHECKING:
    from elastocal.spatial.tape import Code

LOAD, COMPILE = 0.5, 0.015
"""Seconds that loading numba takes, and compiling a statement."""
CALL, ELEMENT = 0.6e-6, 1e-9
"""Seconds that a statement takes in NumPy, and for each configuration."""
TILE = 24_000
"""Numbers of a tile, which stay in the second cache.  The compiler knows how far its rows lie apart, so that it runs
several configurations at once.  Results are written row by row: the longer a row, the faster the memory takes it."""
_NONE = np.zeros(0)
_HEAD = """\
from math import sqrt

from numba import float64, njit, void
from numpy import empty, rint


@njit(void(float64[:, ::1], float64[:, ::1], float64[::1]), cache=True, error_model="numpy", nogil=True)
def code(out, a, p):
"""


@dataclass
class Compiled:
    """Of one code: the seconds that it has run for, and the binary once there is one."""

    spent: float = 0.0
    kernel: Callable[[Array, Array, Array], None] | None = None
    price: float | None = None
    """Seconds after which the change pays; None: not known yet."""

    @classmethod
    def wanted(cls) -> Compiled | None:
        """None where numba is not installed, or NUMBA_DISABLE_JIT is set."""
        known = "numba" in sys.modules or importlib.util.find_spec("numba") is not None
        return cls() if known and not os.environ.get("NUMBA_DISABLE_JIT") else None

    def ready(self, code: Code, size: int) -> Compiled | None:
        """Itself, once it is worth while."""
        if self.kernel is None and code.rows:
            statements = len(code.lines) + 8 * len(code.rows)
            self.spent += statements * (CALL + size * ELEMENT)
            if self.price is None and ("numba" in sys.modules or self.spent > LOAD):
                self.price = 0.0 if _binary(source(code)) else COMPILE * statements
            if self.price is not None and self.spent > self.price:
                self.make(code)
        return None if self.kernel is None else self

    def make(self, code: Code) -> None:
        """Load or compile now."""
        try:
            self.kernel = _loaded(source(code))
        except Exception:  # no folder to write to, a numba that does not fit, a damaged binary: NumPy goes on
            self.price = float("inf")

    def __call__(self, out: Array, values: Sequence[Entry] | Array, numbers: Sequence[float]) -> None:
        assert self.kernel is not None
        if isinstance(values, np.ndarray):
            a = np.ascontiguousarray(values)
        else:
            a = np.empty((len(values), out.shape[1]))
            for row, value in zip(a, values, strict=True):
                row[:] = value
        into = out if out.flags.c_contiguous else np.empty(out.shape)
        self.kernel(into, a, np.array(numbers) if numbers else _NONE)
        if into is not out:
            out[:] = into


def source(code: Code) -> str:
    """A module with the code as a function of all configurations, tile by tile."""
    inputs, results = len(code.rows), code.results
    tile = max(TILE // (inputs + results) // 16, 2) * 16 + 8  # rows do not all fall on the same cache lines
    head = [f"{name} = p[{i}]" for i, name in enumerate(code.numbers)]
    loop: list[str] = []
    for i, names in enumerate(code.rows):
        x = f"x[{i * tile} + i]"
        loop += [f"{names[0]} = {x}"] if len(names) == 1 else entries.cos_sin_statements(x, *names)
    loop += [re.sub(r"^out\[(\d+)\]", lambda m: f"y[{int(m[1]) * tile} + i]", line) for line in code.lines]
    body = [
        *head,
        f"x, y = empty({inputs * tile}), empty({results * tile})",
        f"for first in range(0, out.shape[1], {tile}):",
        f"    size = min({tile}, out.shape[1] - first)",
        f"    for r in range({inputs}):",
        "        for i in range(size):",
        f"            x[r * {tile} + i] = a[r, first + i]",
        "    for i in range(size):",
        *(f"        {line}" for line in loop or ["pass"]),
        f"    for r in range({results}):",
        "        for i in range(size):",
        f"            out[r, first + i] = y[r * {tile} + i]",
    ]
    return _HEAD + "".join(f"    {line}\n" for line in body)


def folder() -> Path:
    """Where the user's caches are."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "elastocal" / "code"


def _name(text: str) -> str:
    return f"code_{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def _binary(text: str) -> bool:
    """Whether an earlier run has compiled it."""
    return any((folder() / "__pycache__").glob(f"{_name(text)}*.nbi"))


def _loaded(text: str) -> Any:
    place = folder() / f"{_name(text)}.py"
    if not place.is_file() or place.read_text(encoding="utf-8") != text:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = place.with_suffix(f".{os.getpid()}")
        new.write_text(text, encoding="utf-8")
        new.replace(place)
    spec = importlib.util.spec_from_file_location(place.stem, place)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[place.stem] = importlib.util.module_from_spec(spec)  # a binary asks for its module by name
    spec.loader.exec_module(module)
    return module.code
