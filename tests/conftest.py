"""Makes the package ``oracle`` importable, and what takes long is made once for all processes of a run."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from oracle.once import Demonstration, once  # noqa: E402

LONG = ("studio", "truth", "app", "docs")
"""Folders with tests of many seconds, in the order in which several processes begin them: none may be left for last."""


settings.register_profile(  # the same examples everywhere, however slow the machine is
    "elastocal", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("elastocal")
os.fsync = lambda file: None  # nothing that a test writes is to outlive this machine: none waits for its disk
gc.disable()  # what is imported and collected is no garbage, but would be searched for some again and again


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)  # values have hardly any cycles, and are many
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    return next((i for i, name in enumerate(LONG) if item.path.is_relative_to(HERE / name)), len(LONG))


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of all processes of a run."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "shared"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def outcome(shared: Path) -> Callable[..., Any]:
    """A published case as the gallery shows it, run once per seed and looked at by many tests."""
    import numpy as np

    from elastocal.published.case import SEED, case_named

    @cache
    def run(name: str, seed: int = SEED) -> Any:
        return once(shared / f"{name}-{seed}", lambda: case_named(name).run(np.random.default_rng(seed)))

    return run


@pytest.fixture
def cases_at_hand(outcome: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """``reproduce`` shows cases that other tests look at too, instead of running them again."""
    from elastocal.published import gallery

    monkeypatch.setattr(gallery, "reproduce", lambda name, seed, progress: outcome(name, seed))


@pytest.fixture(scope="session")
def demonstration(shared: Path) -> Demonstration:
    """The folder that ``elastocal demo`` makes and what it prints, once for all tests; they must work on copies."""
    folder = shared / "demonstration" / "elastocal-demo"

    def make() -> str:
        folder.parent.mkdir()
        words = [sys.executable, "-W", "error::RuntimeWarning", "-m", "elastocal", "demo"]
        return subprocess.run(words, cwd=folder.parent, capture_output=True, text=True, check=True).stdout

    return Demonstration(folder, once(shared / "demonstration-text", make))
