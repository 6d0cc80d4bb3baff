"""Rows of numbers that are found one by one, or thousands at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Rows:
    """Grows like a list; thousands of rows stay one array."""

    def __init__(self) -> None:
        self._parts: list[Sequence[Any] | NDArray[Any]] = []
        self._first: list[int] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: int) -> Any:
        part = bisect_right(self._first, number) - 1
        return self._parts[part][number - self._first[part]]

    def append(self, row: Any) -> None:
        if not self._parts or not isinstance(self._parts[-1], list):
            self._add([])
        self._parts[-1].append(row)  # type: ignore[union-attr]
        self._count += 1

    def extend(self, rows: NDArray[Any]) -> None:
        self._add(rows)
        self._count += len(rows)

    def array(self, kind: type, *shape: int) -> NDArray[Any]:
        """All rows (N, *shape)."""
        parts: list[NDArray[Any]] = [np.array(p, dtype=kind).reshape(len(p), *shape) for p in self._parts]
        return np.concatenate([np.empty((0, *shape), dtype=kind), *parts])

    def keep(self, numbers: Sequence[int]) -> None:
        """Only some rows, in a new order."""
        self._parts, self._first = [[self[i] for i in numbers]], [0]
        self._count = len(numbers)

    def _add(self, part: Sequence[Any] | NDArray[Any]) -> None:
        self._parts.append(part)
        self._first.append(self._count)
