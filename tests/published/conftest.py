"""Every case is run once per seed and looked at by many tests."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from elastocal.published.case import Outcome, case_named

Run = Callable[..., Outcome]


@pytest.fixture(scope="session")
def outcome() -> Run:
    @cache
    def run(name: str, seed: int = 1) -> Outcome:
        return case_named(name).run(np.random.default_rng(seed))

    return run


@pytest.fixture(scope="session")
def figure() -> Callable[[Outcome, str], float]:
    def value(of: Outcome, name: str) -> float:
        (found,) = [f.recomputed for f in of.figures if f.name == name]
        assert found is not None
        return found

    return value
