"""Cosine and sine of an angle by one series, as text: floats, arrays and compiled code run the same operations.

So all of them give the same bits, on every machine.  With x = k pi + 2 h, |h| <= pi / 4, and s = sin h by its series,

    cos x = (-1)^k (1 - 2 s^2),   sin x = (-1)^k 2 s sqrt(1 - s^2).

pi stands in three parts, so that k pi is exact for |x| below 1e6.  Absolute error at most 4e-16 there; beyond, that of
the last digit of x, up to 1e15.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

_PI = (3.1415926553308964, -1.7411031384001463e-09, -7.00686879617986e-19)
_SERIES = tuple((-1.0) ** k / math.factorial(2 * k + 1) for k in range(1, 9))
FEW = 12
"""Angles up to which floats, one by one, take less time than arrays."""


def statements(x: str, cos: str, sin: str) -> list[str]:
    """Assign cosine and sine of ``x``; k, h, z, u and v are used up."""
    series = repr(_SERIES[-1])
    for c in _SERIES[-2::-1]:
        series = f"(z * {series} + {c!r})"
    return [
        f"k = rint({x} * {1 / math.pi!r})",
        f"h = ((({x} - k * {_PI[0]!r}) - k * {_PI[1]!r}) - k * {_PI[2]!r}) * 0.5",
        "z = h * h",
        f"u = h + h * (z * {series})",
        "v = u * u",
        "k = 1.0 - 2.0 * abs(k - 2.0 * rint(0.5 * k))",
        f"{cos} = (1.0 - 2.0 * v) * k",
        f"{sin} = (u * sqrt(abs(1.0 - v))) * (2.0 * k)",
    ]


def _function(rint: Any, sqrt: Any) -> Callable[[Any], tuple[Any, Any]]:
    lines = ["def cos_sin(x):", *(f"    {line}" for line in statements("x", "c", "s")), "    return c, s"]
    space = {"rint": rint, "sqrt": sqrt}
    exec(compile("\n".join(lines), "<cos_sin>", "exec"), space)
    return space["cos_sin"]  # type: ignore[no-any-return]


def _rint(x: float) -> float:
    return float(round(x)) if math.isfinite(x) else math.nan


of_array = _function(np.rint, np.sqrt)
of_float = _function(_rint, math.sqrt)
