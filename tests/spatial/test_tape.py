"""Straight-line code computes what the arithmetic that made it computes, bit for bit."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from elastocal.spatial import entries as en
from elastocal.spatial.tape import Tape, function


def _program(choices: list[tuple[str, int, int]], start: list):
    """A random sequence of entry operations on what is there."""
    values = [*start, 0.0, 1.0, -1.0, 2.5]
    for op, i, j in choices:
        a, b = values[i % len(values)], values[j % len(values)]
        values.append({"mul": en.mul, "add": en.add, "sub": en.sub}[op](a, b))
    return values[-4:]


_STEPS = st.lists(
    st.tuples(st.sampled_from(["mul", "add", "sub"]), st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=40
)


@settings(max_examples=200)
@given(_STEPS, st.booleans())
def test_code_gives_the_bits_of_the_general_path(steps, write):
    rng = np.random.default_rng(1)
    given_values = [rng.normal(size=5) for _ in range(3)]
    tape = Tape()
    results = _program(steps, [tape.variable(n) for n in "abc"])
    expected = _program(steps, given_values)
    lines, texts = tape.code(results, "out[{}]" if write else None)
    out = np.empty((4, 5))
    if write:
        function("f", ["out", *"abc"], lines or ["pass"], {})(out, *given_values)
    else:
        found = function("f", list("abc"), [*lines, f"return {', '.join(texts)},"], {})(*given_values)
        for row, value in zip(out, found, strict=True):
            row[:] = value
    for row, value in zip(out, expected, strict=True):
        np.testing.assert_array_equal(row, np.broadcast_to(value, 5))


def test_equal_products_are_computed_once_and_signs_taken_out():
    tape = Tape()
    a, b, c = (tape.variable(n) for n in "abc")
    lines, texts = tape.code([a * b + c, c - (-b) * a, -(b * a) - c])
    assert len(lines) == 2
    assert texts[0] == texts[1]
    assert sum("*" in line for line in lines) == 1
