"""What an error says to programs: its code, and the value that it is about."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from elastocal.errors import InputError


@contextmanager
def refused(code: str, value: Any = None) -> Iterator[None]:
    """The block ends with an error of this code about this value, in one sentence."""
    with pytest.raises(InputError) as caught:
        yield
    assert (caught.value.code, caught.value.value) == (code, value)
    assert str(caught.value)
