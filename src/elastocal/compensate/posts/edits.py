"""What is exchanged in a text, gathered in any order and made at once."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import starmap

import numpy as np

Edit = tuple[int, int, str]
"""Start and end of what is replaced, and the new text."""


class Edits:
    """Three lists instead of a list of edits: a long program has a million of them."""

    def __init__(self, edits: Iterable[Edit] = ()) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.texts: list[str] = []
        for edit in edits:
            self.add(*edit)

    def add(self, start: int, end: int, text: str) -> None:
        self.starts.append(start)
        self.ends.append(end)
        self.texts.append(text)

    def extend(self, starts: list[int], ends: list[int], texts: list[str]) -> None:
        self.starts += starts
        self.ends += ends
        self.texts += texts

    def applied(self, text: str) -> str:
        """The text with all edits made; edits at one place keep their order."""
        start, end = np.array(self.starts, dtype=np.int64), np.array(self.ends, dtype=np.int64)
        texts = self.texts
        if (np.diff(start) < 0).any() or (np.diff(end) < 0).any():
            order = np.lexsort((end, start))
            start, end, texts = start[order], end[order], [texts[i] for i in order.tolist()]
        if (start[1:] < end[:-1]).any():
            raise AssertionError(f"edits overlap at {start[1:][start[1:] < end[:-1]][0]}")
        pieces = [""] * (2 * len(texts) + 1)
        pieces[1::2] = texts
        cuts = zip(np.append(0, end).tolist(), np.append(start, len(text)).tolist(), strict=True)
        pieces[::2] = map(text.__getitem__, starmap(slice, cuts))
        return "".join(pieces)
