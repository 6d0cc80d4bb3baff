"""Figures of a case by name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from elastocal.published.case import Outcome


@pytest.fixture(scope="session")
def figure() -> Callable[[Outcome, str], float]:
    def value(of: Outcome, name: str) -> float:
        (found,) = [f.recomputed for f in of.figures if f.name == name]
        assert found is not None
        return found

    return value
