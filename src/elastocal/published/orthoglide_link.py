"""One link of the Orthoglide (Klimchik, Caro, Pashkevich 2013, IMECE, sections 3.2 and 4.2): what noise leaves of it.

Matrices like (16), (17) and (25) are printed for one draw of noise.  Here every one of many draws is fitted with 36, 21
and 8 parameters by (12), and once more so that the matrix stays possible.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import floor, log10

import numpy as np

from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.link_compliance import patterns
from elastocal.model.descriptions import FORMS, SYMBOLS, Form, derive, in_form
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.observation import Marker, linear_observation
from elastocal.published.case import Case, Figure, Listing, Outcome, Progress, Row, Why
from elastocal.report.blocks import Axis, Heatmap, floats
from elastocal.solve.definite import fit_definite
from elastocal.solve.identifiability import Expectation, classify, covariance, expectations
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

ROBOT = "orthoglide-link"
FORCE, MOMENT = 10.0, 10.0
DRAWS = 200
THRESHOLD = 5.0
LARGE = ("k22", "k26", "k33", "k35", "k44", "k53", "k55", "k62", "k66")
LOOSE = 0.1
"""Prior standard deviation (SI) of the constrained fit: 26 times the largest element, so that it decides nothing."""
PRINTED = Case("orthoglide-link")
PER_LOAD = (2.5e-7,) * 3 + (2.5e-6,) * 3
"""sigma/load of the rows that the ratios imply, m/N or m/(N m) and rad/N or rad/(N m)."""
HALF = 0.5 + 1e-9
"""Of the last printed digit: how far a printed number may be from what was rounded."""
SHOWN = ("k11", "k22", "k26", "k33", "k35", "k44", "k53", "k55", "k62", "k66")
"""Elements whose ratios (18) are printed."""
STATED = (25e-6, 0.25e-3)
IMPLIED = (2.5e-6, 2.5e-5)


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


def print_figures(truth: Array) -> tuple[Figure, ...]:
    """Errors of (16) and (25) against (15), ratios (17) from (16), and the observation matrix of section 3.2."""
    _, matrix = observation(read_robot(ROBOT).with_link_form("full"))
    drawn = np.array(PRINTED.table("eq. (16)"))
    exact = {n: truth[int(n[1]) - 1, int(n[2]) - 1] for n in LARGE}
    full = {n: abs(drawn[int(n[1]) - 1, int(n[2]) - 1] / k - 1) for n, k in exact.items()}
    beam = {n: abs(k / exact[n] - 1) for n, k in PRINTED.table("eq. (25)").items()}
    worst, rest = (max(errors, key=lambda n: errors[n]) for errors in (full, beam))
    skew = 100 * abs(drawn[2, 4] / drawn[4, 2] - 1)
    room = [100 * abs(end / abs(exact[worst]) - 1) for end in _ends(drawn[int(worst[1]) - 1, int(worst[2]) - 1], 3)]
    inside = min(room) <= PRINTED.value("worst_error_percent_print") <= max(room)
    limit = PRINTED.value("worst_error_percent_print_template")
    below = sum(100 * e < limit for e in beam.values())
    others = [row for row in ratios().rows if row["agrees"] != "yes"]
    off = ", ".join(f"{r['element']} ({r['|k|/sigma']:g} for {r['ratio of (17)']:g}: {r['agrees']})" for r in others)
    return (
        PRINTED.figure("observation_rank", int(np.linalg.matrix_rank(matrix))),
        PRINTED.figure("observation_condition", float(np.linalg.cond(matrix))),
        PRINTED.figure("asymmetry_percent_print", float(skew)),
        PRINTED.figure(
            "worst_error_percent_print", 100 * float(full[worst]), worst=worst, low=min(room), high=max(room),
            why=Why.ROUNDING if inside else Why.CONTRADICTION,
        ),
        PRINTED.figure("worst_error_percent_print_template", 100 * float(beam[rest]), worst=rest, below=below),
        PRINTED.figure("ratios_17_agree", 36 - len(others), others=off),
    )  # fmt: skip


def _ends(value: float, digits: int) -> tuple[float, float]:
    """Between which a number lies that is printed with so many significant digits."""
    half = HALF * 10.0 ** (floor(log10(abs(value))) - digits + 1)
    return abs(value) - half, abs(value) + half


def ratios() -> Listing:
    """(17) from (16)."""
    rows: list[Row] = []
    pairs = zip(PRINTED.table("eq. (16)"), PRINTED.table("eq. (17)"), strict=True)
    for i, (elements, printed) in enumerate(pairs):
        for j, (k, ratio) in enumerate(zip(elements, printed, strict=True)):
            quotient = float(f"{abs(k) / PER_LOAD[i]:.4g}")
            low, high = (end / PER_LOAD[i] for end in _ends(k, 3))
            rows.append({"element": f"k{i + 1}{j + 1}", "k of (16)": k, "ratio of (17)": ratio, "|k|/sigma": quotient,
                         "agrees": _agrees(low, high, abs(ratio))})  # fmt: skip
    return Listing("ratios_17", tuple(rows), "eq. (17) again from (16) and sigma/load 2.5e-7 and 2.5e-6")


def _agrees(low: float, high: float, printed: float) -> str:
    """Whether a number between ``low`` and ``high`` can be printed so: rounded, or with its further digits cut off."""
    digit = 0.01 if printed < 10 else 0.1 if printed < 100 else 1.0
    if low <= printed + HALF * digit and high >= printed - HALF * digit:
        return "yes"
    return "if digits are cut off" if low < printed + digit and high >= printed else "no"


def ratio_maps(of: Draws) -> Iterator[Heatmap]:
    """(17) and (18) in colour: the first draw here, and the exact matrix."""
    sd, at = of.full.sd.reshape(6, 6), floats(range(1, 7))
    notes = ("Above 0.7 = log10 of 5 an element is identifiable in practice; empty: exactly zero.",)
    for key, what, matrix in (
        ("ratios_one_draw", "in one draw, as eq. (17)", of.full.values[0].reshape(6, 6)),
        ("ratios_exact", "of the exact matrix, as eq. (18)", of.truth),
    ):
        ratio = np.abs(matrix) / sd
        log = np.log10(ratio, out=np.full(ratio.shape, np.nan), where=ratio > 0)
        column, row = Axis("column of k", "", at), Axis("row of k", "", at)
        title, values = f"Parameter-to-noise ratio {what}", tuple(map(floats, log))
        yield Heatmap(key, title, column, row, "log10 of |k|/sigma", "1", values, notes, True)


def run(rng: np.random.Generator, progress: Progress) -> Outcome:
    unit = rng.normal(size=(DRAWS, 36))
    printed = draw(IMPLIED, unit)
    progress(1, 3)
    stated = draw(STATED, unit)
    progress(2, 3)
    possible = stated.possible()
    progress(3, 3)
    figures = (
        *_exact_figures(),
        *print_figures(printed.truth),
        *_draw_figures(printed, ""),
        *_draw_figures(stated, "_stated_noise"),
        *_possible_figures(stated, possible),
        *_beam_figures(stated),
    )
    return PRINTED.outcome(figures, tuple(ratio_maps(printed)), ratios(), factor=STATED[0] / IMPLIED[0], draws=DRAWS)


def _exact_figures() -> tuple[Figure, ...]:
    implied = {e.name: e for e in _expected(IMPLIED)}
    passing = [n for n, e in implied.items() if e.ratio > THRESHOLD]
    louder = {e.name: e.ratio for e in _expected(STATED)}
    stated = [n for n, ratio in louder.items() if ratio > THRESHOLD]
    sizes = _sizes()
    return (
        PRINTED.figure("identifiable_count", len(passing), passing=", ".join(passing)),
        *PRINTED.figures(
            {
                "hardly_identifiable_count": sizes["full"] - len(passing),
                "smallest_big_ratio": min(implied[n].ratio for n in passing),
                "identifiable_count_stated_noise": len(stated),
                "k11_ratio_hundredth_of_stated_noise": 100 * louder["k11"],
                "smallest_big_ratio_stated_noise": min(louder[n] for n in stated),
                "params_full": sizes["full"],
                "params_symmetric": sizes["symmetric"],
                "params_template": sizes["beam"],
                "reduction_factor": sizes["full"] / sizes["beam"],
                **{f"nu_{n}": implied[n].ratio for n in SHOWN},
            }
        ),
    )


def _draw_figures(of: Draws, ending: str) -> tuple[Figure, ...]:
    """Shares and medians over the draws; only the smaller noise compares with print."""
    errors = {"full": of.full.errors(of.truth), "template": of.template.errors(of.truth)}
    middle = {form: float(np.median(e)) for form, e in errors.items()}
    worst = {form: float(np.median(e.max(axis=1))) for form, e in errors.items()}
    skew = 100 * np.abs(of.full.column("k53") / of.full.column("k35") - 1)
    nine = np.all(of.full.practical == np.isin(of.full.names, LARGE), axis=1)
    forms = (("full", of.full), ("symmetric", of.symmetric), ("template", of.template))
    values = {
        "k11_negative_percent_full": _share(of.full.column("k11") < 0),
        "k11_negative_percent_template": _share(of.template.column("k11") < 0),
        **{f"indefinite_percent_{form}": _share(indefinite(f.matrices())) for form, f in forms},
        "asymmetry_percent_k35": float(np.median(skew)),
        "error_percent_full": middle["full"],
        "error_percent_template": middle["template"],
        "error_ratio": middle["full"] / middle["template"],
        "worst_error_percent_full": worst["full"],
        "worst_error_percent_template": worst["template"],
        "worst_error_ratio": worst["full"] / worst["template"],
        "gain_of_4_percent": _share(errors["full"].max(1) >= 4 * errors["template"].max(1)),
        "same_nine_percent": _share(nine),
        "m3_count": float(np.median(of.template.practical.sum(axis=1))),
        "k11_error_percent": _off(of.template.column("k11"), of),
        "k11_rebuilt_error_percent": _off(of.derived, of),
    }
    return tuple(PRINTED.figure(name + ending, value, draws=DRAWS) for name, value in values.items())


def _possible_figures(of: Draws, possible: Array) -> tuple[Figure, ...]:
    large = [(int(n[1]) - 1, int(n[2]) - 1) for n in LARGE if n in of.symmetric.names]
    off = 100 * np.abs(np.array([possible[:, i, j] / of.truth[i, j] - 1 for i, j in large]))
    least = float(possible[:, range(6), range(6)].min())
    return PRINTED.figures({
        "indefinite_percent_constrained": _share(indefinite(possible)), "smallest_diagonal_constrained": least,
        "error_percent_constrained": float(np.median(off)),
    })  # fmt: skip


def _beam_figures(of: Draws) -> tuple[Figure, ...]:
    """A beam of constant section has l = 2 k26/k66 = 2 |k35|/k55."""
    k = of.truth
    return PRINTED.figures({
        "beam_length_xy_mm": 2e3 * float(k[1, 5] / k[5, 5]), "beam_length_xz_mm": -2e3 * float(k[2, 4] / k[4, 4])
    })  # fmt: skip


def _share(those: Bools) -> float:
    return 100 * float(np.mean(those))


def _off(k11: Array, of: Draws) -> float:
    return 100 * float(np.median(np.abs(k11 / of.truth[0, 0] - 1)))


def _expected(noise: tuple[float, float]) -> tuple[Expectation, ...]:
    """Accuracy of the 36 elements from six unit loads, full pose, as in section 3.2."""
    model = read_robot(ROBOT).with_link_form("full")
    names, matrix = observation(model)
    whitened = matrix / np.tile(np.repeat(noise, 3), 6)[:, None]
    groups = classify(names, whitened, model.parameters.scales)
    return expectations(groups, whitened, model.parameters.values)


def _sizes() -> dict[str, int]:
    robot = read_robot(ROBOT)
    return {form: len(in_form(robot, form).parameters) for form in FORMS}
