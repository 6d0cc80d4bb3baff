"""When a recomputed number is the printed one; what became of every table and figure of the documents."""

from __future__ import annotations

import pytest

from elastocal.published.case import NOT_PRINTED, Figure, Kind, Outcome, Why, printed_items, registry


@pytest.mark.parametrize(
    ("printed", "found", "last", "same"),
    [
        (184.72, 184.7249, None, True),
        (184.72, 184.7251, None, False),
        (260, 260.4, None, True),
        (260, 261, None, False),
        (0.7, 0.74, None, True),
        (0.7, 0.7051, 0.01, False),
        (4.491026e-5, 4.4910264e-5, None, True),
        (4.491026e-5, 4.491027e-5, None, False),
        (0.0, 4e-7, 1e-6, True),
        (0.0, 6e-7, 1e-6, False),
        (-1.02, -1.0251, None, False),
    ],
)
def test_rounded_like_print_it_is_print(printed: float, found: float, last: float | None, same: bool) -> None:
    assert Figure("f", printed, found, "1", last_digit=last).agrees is same


def test_a_bound_is_kept_or_not() -> None:
    assert Figure("f", 95, 99.8, "%", at_least=True).agrees
    assert not Figure("f", 95, 94.9, "%", at_least=True).agrees


@pytest.mark.parametrize("why", NOT_PRINTED)
def test_digits_that_coincide_without_printed_data_are_no_agreement(why: Why) -> None:
    same = Figure("f", 2.0, 2.0, "1", "note", why=why)
    assert (same.kind, same.matches, same.agrees) == (Kind.SIZE, True, False)
    assert Figure("f", 2.0, 2.0, "1", "note", why=Why.RULE).agrees
    assert Figure("f", 2.0, 1.99, "1", "note", why=Why.ROUNDING).kind is Kind.FROM_PRINT


def test_what_was_put_in_is_no_agreement_either() -> None:
    for why in (None, Why.VIRTUAL, Why.STOPPED):
        f = Figure("f", 2.0, 2.0, "1", "note", why=why, put_in=2.0)
        assert (f.kind, f.matches, f.agrees) == (Kind.PUT_IN, True, False)
    assert Figure("f", 0.0, 0.0, "1", put_in=0.0).kind is Kind.PUT_IN


def test_no_reason_explains_a_bound_that_is_not_kept() -> None:
    assert Figure("f", 95, 94.9, "%", "note", why=Why.VIRTUAL, at_least=True).unexplained
    assert not Figure("f", 95, 95.1, "%", "note", why=Why.VIRTUAL, at_least=True).unexplained


def test_differences_are_relative_to_print() -> None:
    assert Figure("f", -2.0, -3.0, "1").difference == pytest.approx(-0.5)
    assert Figure("f", 4.0, 5.0, "1").difference == pytest.approx(0.25)
    assert Figure("f", 0.0, 5.0, "1").difference is None
    assert Figure("f", 4.0, None, "1").difference is None


def test_only_a_reason_with_a_note_explains() -> None:
    reasoned = Figure("f", 1.0, 2.0, "1", "note", why=Why.RULE)
    assert not reasoned.unexplained
    bare, noted, missing = (
        Figure("f", 1.0, 2.0, "1", why=Why.RULE),
        Figure("f", 1.0, 2.0, "1", "note"),
        Figure("f", 1.0, None, "1"),
    )
    assert bare.unexplained
    assert noted.unexplained
    assert missing.unexplained
    assert not Figure("f", None, 2.0, "1").unexplained
    assert Outcome("c", "v", (reasoned, noted)).unexplained == (noted,)


def test_every_case_serves_a_document_and_every_item_says_what_became_of_it() -> None:
    assert {i.case for i in printed_items() if i.case} == set(registry())
    assert len({i.document for i in printed_items()}) == 5
    assert len({(i.document, i.item) for i in printed_items()}) == len(printed_items())
    assert all(i.done for i in printed_items())


def test_numbers_in_the_text_of_the_documents_are_items_too() -> None:
    listed = " ".join(i.item for i in printed_items())
    for number in ("405", "4.21, 14.18 and 0.66 mm", "1.67 %", "0.4 %", "0.01 %", "30 iterations", "95 % and 0.1 mm"):
        assert number in listed
