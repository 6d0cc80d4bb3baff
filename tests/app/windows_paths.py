r"""Runs commands, parted by --, with paths that read and print as on Windows.

str() of one has \, and \ stands between folders.

Only what Elastocal itself sees is changed; the system is still asked for paths with /.
"""

from __future__ import annotations

import os
import pathlib
import sys
from collections.abc import Callable
from typing import Any

PURE: Any = pathlib.PurePath
plain = PURE.__str__


def forward(word: Any) -> Any:
    return word.replace("\\", "/") if isinstance(word, str) else word


def ours() -> bool:
    return str(sys._getframe(2).f_globals.get("__name__", "")).startswith("elastocal")


def shown(self: Any) -> str:
    return str(plain(self)).replace("/", "\\") if ours() else plain(self)


def backward(function: Callable[..., str]) -> Callable[..., str]:
    def called(*words: Any) -> str:
        return function(*map(forward, words)).replace("/", "\\") if ours() else function(*words)

    return called


if sys.version_info < (3, 12):
    parse = PURE._parse_args.__func__
    PURE._parse_args = classmethod(lambda cls, words: parse(cls, [forward(w) for w in words]))
else:
    begin = PURE.__init__
    PURE.__init__ = lambda self, *words: begin(self, *map(forward, words))
PURE.__fspath__ = PURE.as_posix = lambda self: plain(self)
PURE.__str__ = shown
for name in ("relpath", "normpath"):
    setattr(os.path, name, backward(getattr(os.path, name)))

if __name__ == "__main__":
    from itertools import groupby

    from elastocal.app.cli.main import run_words

    parts = [list(words) for parting, words in groupby(sys.argv[1:], "--".__eq__) if not parting]
    sys.exit(max(run_words(words) for words in parts))
