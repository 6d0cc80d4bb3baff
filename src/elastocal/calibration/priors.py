"""What the user knows of parameters before any reading: values with a covariance, of one parameter or of several.

    priors={"A2.offset": (0.0, 2e-4)}                                value and sd
    priors={("A2.x", "A4.x"): ([0.0, 0.0], [[1e-8, 5e-9], [5e-9, 1e-8]])}  values and covariance

Of parameters whose unknown is a logarithm (compliances) the covariance is divided by their values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from elastocal.arguments import check_type
from elastocal.errors import InputError, MissingError, ShapeError
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False)
class Prior:
    """Values (k,) and covariance (k, k) in SI of parameters ``names``."""

    names: tuple[str, ...]
    values: Array
    covariance: Array

    def of(self, names: Iterable[str]) -> Prior:
        """The marginal of some of them."""
        keep = [self.names.index(n) for n in names]
        return Prior(tuple(self.names[i] for i in keep), self.values[keep], self.covariance[np.ix_(keep, keep)])


def priors_of(given: Mapping[Any, Any] | Iterable[Prior]) -> tuple[Prior, ...]:
    """As a user states them; every parameter once."""
    check_type("priors", given, Mapping | Sequence[Prior])
    out = tuple(given) if not isinstance(given, Mapping) else tuple(_prior(k, v) for k, v in given.items())
    seen: set[str] = set()
    for prior in out:
        for name in prior.names:
            if name in seen:
                raise InputError(f"prior of {name}: is stated twice; keep one", code="prior", value=name)
            seen.add(name)
    return out


def _prior(key: Any, value: Any) -> Prior:
    names = (key,) if isinstance(key, str) else tuple(key)
    try:
        values, spread = (np.array(v, dtype=np.float64) for v in value)
    except (TypeError, ValueError):
        raise MissingError(f"prior of {', '.join(names)}: give a value and a standard deviation") from None
    values = np.atleast_1d(values)
    if spread.ndim == 0:
        spread = np.diag(np.full(len(names), float(spread) * abs(float(spread))))  # keeps the sign of a slip
    if values.shape != (len(names),) or spread.shape != (len(names), len(names)):
        raise ShapeError(
            f"prior of {', '.join(names)}: values of shape {values.shape} and covariance of shape {spread.shape}; "
            f"give {len(names)} values and a covariance ({len(names)}, {len(names)})"
        )
    definite = np.isfinite(spread).all() and np.allclose(spread, spread.T) and np.linalg.eigvalsh(spread).min() > 0
    if not np.isfinite(values).all() or not definite:
        raise InputError(
            f"prior of {', '.join(names)}: value {values.tolist()} and sd or covariance {value[1]}; "
            "give finite values and a positive sd (or a positive definite covariance)",
            code="prior", value=names,
        )  # fmt: skip
    return Prior(names, values, spread)
