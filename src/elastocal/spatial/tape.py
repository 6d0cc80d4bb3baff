"""Straight-line code from arithmetic on entries: run it once on symbols, keep the operations, drop what is not used.

The functions of ``entries`` fold zeros, ones and constants by themselves.  A symbol records what is left; equal
operations are one node (products and sums in either order, signs taken out), so that a shared product is computed
once.  Signs, orders and names are all that changes, so the code gives the same bits as the general path.  It runs on
arrays, and as well on floats: for a few configurations Python's floats cost a tenth of NumPy's calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np

from elastocal.spatial.compiled import Compiled
from elastocal.spatial.entries import Array, Entry, cos_sin
from elastocal.values import dataclass

FEW = 16
"""Configurations in a call up to which floats, one by one, take less time than arrays: measured on six joints."""
CHUNK = 5000
"""Configurations of which the values that are alive stay in cache; not a power of two, whose rows would fall on the
same cache lines."""
Value = Any  # Symbol | float; mypy cannot follow arithmetic that meets both


class Symbol:
    """An entry whose value is not known yet: a variable, or an operation on others."""

    __slots__ = ("left", "op", "order", "right", "tape")

    def __init__(self, tape: Tape, order: int, op: str, left: Value = None, right: Value = None) -> None:
        self.tape, self.order, self.op, self.left, self.right = tape, order, op, left, right

    def __mul__(self, other: Value) -> Symbol:
        return self.tape.product(self, other)

    def __add__(self, other: Value) -> Symbol:
        return self.tape.total(self, other)

    def __sub__(self, other: Value) -> Symbol:
        return self.tape.total(self, -other)

    def __rsub__(self, other: float) -> Symbol:
        return self.tape.total(-self, other)

    def __neg__(self) -> Symbol:
        return self.tape.negative(self)

    __rmul__, __radd__ = __mul__, __add__


class Tape:
    """The operations met so far, each once."""

    def __init__(self) -> None:
        self._nodes: dict[tuple[str, Value, Value], Symbol] = {}

    def variable(self, name: str) -> Symbol:
        return Symbol(self, -1, name)

    def node(self, op: str, left: Value, right: Value = None) -> Symbol:
        key = (op, left, right)
        known = self._nodes.get(key)
        if known is None:
            known = self._nodes[key] = Symbol(self, len(self._nodes), op, left, right)
        return known

    def product(self, a: Symbol, b: Value) -> Symbol:
        if a.op == "neg":
            return -self.product(a.left, b)
        if isinstance(b, float):
            return -self.node("*", a, -b) if b < 0 else self.node("*", a, b)
        if b.op == "neg":
            return -self.product(a, b.left)
        return self.node("*", *_sorted(a, b))

    def total(self, a: Symbol, b: Value) -> Symbol:
        if isinstance(b, float):
            return self.node("-", b, a.left) if a.op == "neg" else self.node("+", a, b)
        if b.op == "neg":
            return -self.total(a.left, b.left) if a.op == "neg" else self.node("-", a, b.left)
        return self.node("-", b, a.left) if a.op == "neg" else self.node("+", *_sorted(a, b))

    def negative(self, a: Symbol) -> Symbol:
        if a.op == "neg":
            return a.left  # type: ignore[no-any-return]
        return self.node("-", a.right, a.left) if a.op == "-" else self.node("neg", a)

    def code(self, results: Sequence[Value], write: str | None = None) -> tuple[list[str], list[str]]:
        """Statements, and the text of each result once they have run.

        With ``write`` ("out[{}]") a result goes there as soon as it is known.  What is used once stands where it is
        used, and a name is taken again once its value has done its work: few values are alive, so they stay in cache.
        """
        return _Writer(list(self._nodes.values()), results, write).code()

    def kernel(self, results: Sequence[Value], rows: Sequence[tuple[str, ...]], numbers: Sequence[str] = ()) -> Code:
        """The results as code from the variables of the configurations, and numbers."""
        return Code(tuple(self.code(results, "out[{}]")[0]), tuple(rows), tuple(numbers), len(results))


def _sorted(a: Symbol, b: Symbol) -> tuple[Symbol, Symbol]:
    return (a, b) if (a.order, a.op) <= (b.order, b.op) else (b, a)


Statement = tuple[Symbol | str, Value, set[Symbol]]


class _Writer:
    def __init__(self, nodes: Iterable[Symbol], results: Sequence[Value], write: str | None) -> None:
        self.results, self.write = results, write
        self.uses: Counter[Symbol] = Counter()
        ends = [r for r in results if isinstance(r, Symbol)]
        self.kept = set() if write else set(ends)
        while ends:
            node = ends.pop()
            self.uses[node] += 1
            if self.uses[node] == 1:
                ends += [n for n in (node.left, node.right) if isinstance(n, Symbol)]
        self.nodes = [n for n in nodes if n in self.uses]
        self.names: dict[Symbol, str] = {}

    def code(self) -> tuple[list[str], list[str]]:
        statements = list(self._statements())
        last = {n: i for i, (_, _, needs) in enumerate(statements) for n in needs}
        lines: list[str] = []
        free: list[str] = []
        for i, (target, value, needs) in enumerate(statements):
            right = self._text(value, True)
            done = (n for n in needs if last[n] == i and n not in self.kept)
            free += sorted((self.names[n] for n in done), key=lambda name: int(name[1:]))
            if isinstance(target, Symbol):
                self.names[target] = free.pop() if free else f"t{len(self.names)}"
            lines.append(f"{self._text(target) if isinstance(target, Symbol) else target} = {right}")
        return lines, [self._text(r) for r in self.results]

    def _statements(self) -> Iterator[Statement]:
        """What to assign, in order: a node that gets a name, or a place to write; with the named values in it."""
        places: dict[Value, list[str]] = {}
        for i, r in enumerate(self.results if self.write else ()):
            places.setdefault(r, []).append(str(self.write).format(i))
        for value, where in places.items():
            if not isinstance(value, Symbol) or value.order < 0:
                yield from ((place, value, set()) for place in where)
        for node in self.nodes:
            if self._has_name(node):
                yield node, node, {n for side in (node.left, node.right) for n in self._named(side)}
            for place in places.get(node, ()):
                yield place, node, set(self._named(node))

    def _has_name(self, node: Symbol) -> bool:
        return node.order >= 0 and (self.uses[node] > 1 or node in self.kept)

    def _named(self, value: Value) -> Iterator[Symbol]:
        """The named values that stand in an expression."""
        if isinstance(value, Symbol) and value.order >= 0:
            if self._has_name(value):
                yield value
            else:
                yield from self._named(value.left)
                yield from self._named(value.right)

    def _text(self, value: Value, whole: bool = False) -> str:
        """An expression; ``whole`` where it stands alone."""
        if not isinstance(value, Symbol):
            return repr(value)
        if value.order < 0:
            return value.op
        if value in self.names:
            return self.names[value]
        text = (
            f"-{self._text(value.left)}"
            if value.op == "neg"
            else f"{self._text(value.left)} {value.op} {self._text(value.right)}"
        )
        return text if whole else f"({text})"


@dataclass(frozen=True, eq=False)
class Code:
    """Statements that write rows of ``out`` from variables that differ by configuration, and numbers that do not.

    A row is one variable, or two: cosine and sine of its value.
    """

    lines: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[str, ...]
    results: int
    _fast: Compiled | None = field(default_factory=Compiled.wanted)

    def __call__(self, out: Array, values: Sequence[Entry] | Array, numbers: Sequence[float] = ()) -> None:
        """Into ``out`` (r, N) from entries that are floats or (N,), or from all of them in one array."""
        size = out.shape[1]
        fast = None if self._fast is None else self._fast.ready(self, size)
        if fast is not None:
            fast(out, values, numbers)
            return
        if size > CHUNK:
            for rows in (slice(i, i + CHUNK) for i in range(0, size, CHUNK)):
                part = self._turned([v if isinstance(v, float) else v[rows] for v in values])
                self.plain(out[:, rows], part, numbers)
            return
        entries = self._turned(values)
        if size > FEW or not entries:
            self.plain(out, entries, numbers)
            return
        lists = [[e] * size if isinstance(e, float) else e.tolist() for e in entries]
        for i, row in enumerate(zip(*lists, strict=True)):
            column = [0.0] * len(out)
            self.plain(column, row, numbers)
            out[:, i] = column

    def _turned(self, values: Sequence[Entry] | Array) -> list[Entry]:
        """Values, and cosine and sine of what turns: of all arrays in one call."""
        arrays = [v for v, names in zip(values, self.rows, strict=True) if len(names) == 2 and not isinstance(v, float)]
        turned = zip(*map(np.asarray, cos_sin(np.array(arrays))), strict=True) if arrays else iter(())
        out: list[Entry] = []
        for v, names in zip(values, self.rows, strict=True):
            out += (v,) if len(names) == 1 else cos_sin(v) if isinstance(v, float) else next(turned)
        return out

    @cached_property
    def plain(self) -> Any:
        """(out, values with cosines and sines, numbers), as Python has it."""
        rows = [name for names in self.rows for name in names]
        unpacked = [f"{', '.join(names)}, = {of}" for names, of in ((rows, "a"), (self.numbers, "p")) if names]
        return function("code", ("out", "a", "p"), [*unpacked, *self.lines, "pass"], {})


def function(name: str, arguments: Iterable[str], body: Iterable[str], scope: Mapping[str, Any]) -> Any:
    """Compile a function from its lines; what it calls is in ``scope``."""
    source = f"def {name}({', '.join(arguments)}):\n" + "".join(f"    {line}\n" for line in body)
    space = dict(scope)
    exec(compile(source, f"<{name}>", "exec"), space)
    return space[name]
