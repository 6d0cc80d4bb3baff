"""The first page of a calibration: a certificate for people who decide by it, on one sheet of A4.

ISO/IEC 17025 7.8 asks for: title, unique number, customer, method, item and its state, dates, results with units and
uncertainty, conditions, traceability, before and after adjustment, conformity with its decision rule, who authorises.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import date
from html import escape
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from elastocal.errors import ExtraMissingError
from elastocal.quantities import DASH, typeset
from elastocal.results import as_sentence
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.report.blocks import Figure
    from elastocal.solve.summary import ErrorSummary

NOT_STATED = "not stated"
Outcome = Literal["PASS", "FAIL", "NOT DECIDED"]
STATES: dict[Outcome, str] = {"PASS": "good", "FAIL": "bad", "NOT DECIDED": "open"}
UNKNOWN = "not known without validation poses"
MOST_WARNINGS = 4
MOST_FILES = 4
ONLY = (
    "The results relate only to the item named above, in the state, at the poses and under the conditions stated. This "
    "certificate is to be copied only as a whole."
)


@dataclass(frozen=True)
class Line:
    """``value`` is None where nobody has stated it."""

    key: str
    name: str
    value: str | None


@dataclass(frozen=True)
class Group:
    title: str
    lines: tuple[Line, ...]
    owned: bool = False
    """Whether names need the title before them: type, serial number, due."""

    def named(self, line: Line) -> str:
        return f"{self.title.lower()} {line.name}" if self.owned else line.name


@dataclass(frozen=True)
class Certificate:
    """``outcome`` and ``reason`` by ``rule``; ``numbers`` of the decision in m; ``expected`` accuracy with k = 2 in m,
    None where it is not known."""

    item: str
    outcome: Outcome
    reason: str
    rule: str
    numbers: Mapping[str, float]
    errors: Mapping[str, ErrorSummary]
    basis: str
    """What the errors are taken on."""
    measurand: str
    """What is off by the errors."""
    expected: float | None
    expected_of: str
    groups: tuple[Group, ...]
    traceability: str
    warnings: tuple[str, ...]
    version: str
    files: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of what was read, by name."""
    uncertainty_basis: str | None = None
    """What the uncertainty of the decision rests on: stated, repeats or estimated noise."""
    ranges: Mapping[str, str] = field(default_factory=dict)
    """Of joints, by name: where readings were taken, and for which poses the decision stands."""
    stated_in: str = ""
    """Where people state what is missing; empty where there is no such place."""

    @property
    def expected_text(self) -> str:
        return UNKNOWN if self.expected is None else f"{1e3 * self.expected:.3f} mm"

    @property
    def number(self) -> str:
        return self._value("number") or NOT_STATED

    @property
    def footer(self) -> str:
        own = self._value("number")
        return f"Calibration certificate {own}, {self.item}" if own else f"Calibration certificate, {self.item}"

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.unstated)

    @property
    def unstated(self) -> tuple[tuple[str, str], ...]:
        """What nobody has stated: names for people, and keys."""
        return tuple((g.named(line), line.key) for g in self.groups for line in g.lines if line.value is None)

    @property
    def main_warnings(self) -> tuple[str, ...]:
        return _first(self.warnings, MOST_WARNINGS)

    @property
    def hashes(self) -> tuple[str, ...]:
        """Files with the first digits of their SHA-256."""
        return _first([f"{name} {mark[:12]}" for name, mark in self.files.items()], MOST_FILES)

    @property
    def range_lines(self) -> tuple[str, ...]:
        return tuple(f"{name}: {text}" for name, text in self.ranges.items())

    def data(self) -> dict[str, Any]:
        """For programs: SI, null for what is not stated."""
        stated = {line.key: line.value for g in self.groups for line in g.lines}
        sizes = ("mean", "rms", "p95", "max")
        rows = [{"name": n, **{k: getattr(e, k) for k in sizes}, "points": e.count} for n, e in self.errors.items()]
        return {
            "item": self.item, "outcome": self.outcome, "reason": self.reason, "rule": self.rule,
            "numbers_m": dict(self.numbers), "uncertainty_basis": self.uncertainty_basis,
            "basis": self.basis, "measurand": self.measurand, "errors_m": rows,
            "expected_k2_m": self.expected, "expected_of": self.expected_of,
            "ranges": dict(self.ranges), "stated": stated, "missing": list(self.missing),
            "traceability": self.traceability, "warnings": list(self.warnings), "elastocal": self.version,
            "sha256": dict(self.files),
        }  # fmt: skip

    def text(self) -> tuple[str, ...]:
        """For a terminal: the decision; the rest is in the report."""
        named = ", ".join(self.missing[:4])
        more = f" and {len(self.missing) - 4} more" if len(self.missing) > 4 else ""
        where = f" ({self.stated_in})" if self.stated_in else ""
        asked = f"  Not stated: {named}{more}{where}." if self.missing else ""
        return (f"{self.outcome}: {self.reason}.", *((asked,) if asked else ()))

    def html(self) -> str:
        groups = "".join(
            f"<div><h3>{escape(g.title)}</h3><dl>{''.join(_pair(line) for line in g.lines)}</dl></div>"
            for g in self.groups
        )
        head = "".join(f'<th class="n">{w} [mm]</th>' for w in ("mean", "RMS", "95th percentile", "max"))
        rows = "".join(_row(name, e) for name, e in self.errors.items())
        warned = "".join(f"<li>{escape(w)}</li>" for w in self.main_warnings) or "<li>none</li>"
        ranges = "".join(f'<p class="fine">{escape(as_sentence(line))}</p>' for line in self.range_lines)
        files = f'<p class="fine">Files (SHA-256): {escape("; ".join(self.hashes))}.</p>' if self.files else ""
        return (
            f'<article class="certificate"><div class="head"><h2>Calibration certificate</h2>'
            f"<span>No. {escape(self.number)}</span></div>"
            f'<div class="decision {STATES[self.outcome]}"><strong>{self.outcome}</strong>'
            f"<div><p><b>{escape(self.item)}</b></p><p>{escape(as_sentence(self.reason))}</p></div></div>"
            f'<p class="fine">{escape(self.rule)}</p>'
            f"<h3>{escape(self.measurand)}, {escape(self.basis)}</h3>"
            f'<div class="scroll"><table><thead><tr><th></th>{head}'
            f'<th class="n">points</th></tr></thead><tbody>{rows}</tbody></table></div>'
            f"<p>Expected accuracy of {escape(self.expected_of)} at these poses (k = 2, repeatability not included): "
            f"<b>{self.expected_text}</b></p>"
            f'<div class="facts">{groups}</div>{ranges}<h3>Warnings</h3><ul>{warned}</ul>'
            f'<p class="fine">Traceability: {escape(self.traceability)}</p>{files}'
            f'<p class="fine">{ONLY} Elastocal {escape(self.version)}. End of certificate.</p></article>'
        )

    @property
    def issue_day(self) -> str | None:
        return self._value("issued") or self._value("date")

    def _value(self, key: str) -> str | None:
        return next((line.value for g in self.groups for line in g.lines if line.key == key), None)


def _first(texts: Sequence[str], most: int) -> tuple[str, ...]:
    more = len(texts) - most
    return (*texts[:most], *((f"{more} more in the report",) if more > 0 else ()))


def _pair(line: Line) -> str:
    shown = f"<dd>{escape(line.value)}</dd>" if line.value is not None else f'<dd class="unstated">{NOT_STATED}</dd>'
    return f"<dt>{escape(line.name)}</dt>{shown}"


def _row(name: str, e: ErrorSummary) -> str:
    sizes = (f"{1e3 * v:.3f}" if isfinite(v) else DASH for v in (e.mean, e.rms, e.p95, e.max))
    cells = "".join(f'<td class="n">{size}</td>' for size in sizes)
    return f'<tr><td>{escape(name)}</td>{cells}<td class="n">{e.count}</td></tr>'


def as_pdf(certificate: Certificate, result: Mapping[str, Any], figure: Figure | None = None) -> bytes:
    """PDF/A-3b with ``result`` attached as JSON; where a date is stated, the same inputs give the same bytes.

    Needs the extra ``pdf`` (typst).
    """
    from elastocal.report.elements import as_svg
    from elastocal.results import as_json

    try:
        import typst
    except ImportError:
        raise ExtraMissingError.needed("a PDF needs typst", "pdf", "write the certificate as .html") from None
    template = Path(__file__).with_name("certificate.typ").read_bytes()
    inputs = {
        "certificate": typeset(as_json(_data(certificate))),
        "result": as_json(dict(result)),
        "figure": "" if figure is None else typeset(as_svg(figure, 620.0)),
    }
    made = typst.compile(
        template, format="pdf", sys_inputs=inputs, pdf_standards=["a-3b"], ignore_system_fonts=True, timestamp=0
    )
    assert isinstance(made, bytes)
    return made


def _data(c: Certificate) -> dict[str, Any]:
    """What the template shows."""
    day = c.issue_day or date.today().isoformat()  # PDF/A asks for a date of the document
    groups = [{"title": g.title, "lines": [vars(line) for line in g.lines]} for g in c.groups]
    data = c.data() | {
        "number": c.number, "sentence": as_sentence(c.reason), "groups": groups, "main_warnings": list(c.main_warnings),
        "hashes": list(c.hashes), "only": ONLY, "expected": c.expected_text,
        "range_lines": [as_sentence(line) for line in c.range_lines],
    }  # fmt: skip
    return data | {"day": [int(part) for part in day.split("-")]}
