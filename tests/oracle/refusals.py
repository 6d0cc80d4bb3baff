"""What an error says to programs: its code, the value that it is about, and where that stands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any

import pytest

from elastocal.errors import InputError


@contextmanager
def refused(code: str, value: Any = None, **more: Any) -> Iterator[pytest.ExceptionInfo[InputError]]:
    """The block ends with an error of this code about this value, in one sentence.

    ``more`` are further fields of it: line, column, parameter, allowed, nearest; ``file`` without its folder.
    """
    with pytest.raises(InputError) as caught:
        yield caught
    error = caught.value
    assert (error.code, error.value) == (code, value)
    assert {name: _shown(name, getattr(error, name)) for name in more} == more
    assert str(error)


def _shown(name: str, field: Any) -> Any:
    return PurePath(field).name if name == "file" and field is not None else field
