"""Many noisy experiments on the Orthoglide link: what matrices like (16), (17) and (25) look like in general.

Klimchik, Caro, Pashkevich 2013 (IMECE, sections 3.2 and 4.2) print one draw of each.  Here every draw is fitted with
36, 21 and 8 parameters by (12), and once more so that the matrix stays possible.
"""

from __future__ import annotations

import numpy as np

from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.link_compliance import patterns
from elastocal.model.descriptions import FORMS, SYMBOLS, Form, derive, in_form
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.observation import Marker, linear_observation
from elastocal.solve.definite import fit_definite
from elastocal.solve.identifiability import covariance
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

ROBOT = "orthoglide-link"
FORCE, MOMENT = 10.0, 10.0
DRAWS = 200
THRESHOLD = 5.0
LARGE = ("k22", "k26", "k33", "k35", "k44", "k53", "k55", "k62", "k66")
LOOSE = 0.1
"""Prior standard deviation (SI) of the constrained fit: 26 times the largest element, so that it decides nothing."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """One form of the matrix in every draw: ``values`` (draws, p) with standard deviations ``sd`` (p,).

    ``index`` (6, 6) says which parameter an element is, -1 where it is zero.
    """

    names: tuple[str, ...]
    index: Ints
    values: Array
    sd: Array

    def column(self, name: str) -> Array:
        """One parameter in all draws."""
        return self.values[:, self.names.index(name)]

    def matrices(self) -> Array:
        """(draws, 6, 6)"""
        return np.concatenate([self.values, np.zeros((len(self.values), 1))], axis=1)[:, self.index]

    def errors(self, truth: Array) -> Array:
        """Relative errors (draws, n), per cent, of the big elements that have a parameter of their own."""
        mine = [n for n in LARGE if n in self.names]
        exact = [truth[int(n[1]) - 1, int(n[2]) - 1] for n in mine]
        off = np.stack([self.column(n) / k - 1 for n, k in zip(mine, exact, strict=True)], axis=1)
        return np.asarray(100 * np.abs(off))

    @property
    def practical(self) -> Bools:
        """(draws, p) above the threshold (M3; the columns are orthogonal: at once or in turn is the same)."""
        return np.asarray(np.abs(self.values) > THRESHOLD * self.sd)


@dataclass(frozen=True, eq=False)
class Draws:
    """All fits of the same noisy deflections; ``derived`` (draws,) is k11 from the other elements."""

    truth: Array
    full: Fitted
    symmetric: Fitted
    template: Fitted
    derived: Array
    whitened: Array
    readings: Array

    def possible(self) -> Array:
        """Symmetric fits once more, now positive semidefinite, (draws, 6, 6)."""
        index, p = self.symmetric.index, len(self.symmetric.names)
        zero, loose = np.zeros(p), np.full(p, LOOSE)
        return np.array([fit_definite(self.whitened, y, zero, loose, [index]).values[index] for y in self.readings])


def draw(noise: tuple[float, float], unit: Array) -> Draws:
    """Six unit loads, full pose; standard deviations ``noise`` of lengths (m) and angles (rad), times the normal
    numbers ``unit`` (draws, 36)."""
    robot = read_robot(ROBOT)
    sd = np.tile(np.repeat(noise, 3), 6)[:, None]
    observed = {form: observation(in_form(robot, form)) for form in FORMS}
    truth = np.asarray(in_form(robot, "full").parameters.values)
    readings = observed["full"][1] / sd @ truth + unit
    full, symmetric, template = (_fitted(f, names, a / sd, readings) for f, (names, a) in observed.items())
    matrix = truth.reshape(6, 6)
    whitened = observed["symmetric"][1] / sd
    return Draws(matrix, full, symmetric, template, _derived(matrix, template), whitened, readings)


def observation(model: Robot) -> tuple[tuple[str, ...], Array]:
    """Elements of the matrix that are parameters, and their columns; rows are load by load the six components."""
    loads = AppliedWrenches(model.tool, np.diag([FORCE] * 3 + [MOMENT] * 3))
    names, matrix = linear_observation(model, np.zeros((6, 0)), [loads], [Marker(model.tool, "pose")])
    return tuple(n.removeprefix(f"{model.tool}.") for n in names), matrix.reshape(-1, len(names))


def _fitted(form: Form, names: tuple[str, ...], whitened: Array, readings: Array) -> Fitted:
    """Least squares (12) of all draws at once, covariance (14)."""
    index = np.full((6, 6), -1)
    for symbol, elements in patterns(form):
        for i, j in elements:
            index[i, j] = names.index(symbol)
    values = np.asarray(np.linalg.lstsq(whitened, readings.T, rcond=None)[0].T)
    return Fitted(names, index, values, np.sqrt(np.diag(covariance(whitened, range(len(names))))))


def _derived(truth: Array, template: Fitted) -> Array:
    """k11 of every draw from the elements that M3 keeps, by the ratios of the exact matrix (section 4.3)."""
    order = [template.names.index(s) for s in SYMBOLS]
    values, sd, kept = template.values[:, order], template.sd[order], template.practical[:, order]
    out = []
    for v, k in zip(values, kept, strict=True):
        made = derive(truth, np.where(k, v, np.nan), np.where(k, sd, np.nan)).derived
        out.append(next((r.value for r in made if r.symbol == "k11"), float(v[SYMBOLS.index("k11")])))
    return np.array(out)


def indefinite(matrices: Array) -> Bools:
    """Which of (draws, 6, 6) could give energy away: symmetric part, scaled to comparable lengths and angles."""
    even = (matrices + matrices.swapaxes(1, 2)) / 2
    size = np.sqrt(np.abs(np.einsum("nii->ni", even)))
    scaled = even / np.maximum(size[:, :, None] * size[:, None, :], 1e-300)
    return np.asarray(np.linalg.eigvalsh(scaled)[:, 0] < -1e-9)
