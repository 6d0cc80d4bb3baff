"""``elastocal.values.dataclass`` does what the standard decorator does, for every shape of frozen class."""

from __future__ import annotations

import abc
import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import KW_ONLY, FrozenInstanceError, field
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from elastocal import values

T = TypeVar("T")
Shape = Callable[[Any], tuple[type, list[dict[str, Any]]]]


def plain(d: Any) -> tuple[type, list[dict[str, Any]]]:
    @d(frozen=True)
    class Made:
        a: int
        b: str = "b"

        @cached_property
        def doubled(self) -> int:
            return 2 * self.a

    return Made, [{"a": 1}, {"a": 1, "b": "c"}, {"a": 2}]


def one_field(d: Any) -> tuple[type, list[dict[str, Any]]]:
    @d(frozen=True)
    class Made:
        """Has words of its own."""

        a: tuple[int, ...]

    return Made, [{"a": ()}, {"a": (1,)}]


def no_field(d: Any) -> tuple[type, list[dict[str, Any]]]:
    @d(frozen=True)
    class Made:
        pass

    return Made, [{}]


def by_identity(d: Any) -> tuple[type, list[dict[str, Any]]]:
    @d(frozen=True, eq=False)
    class Made:
        a: int = 0

    return Made, [{}, {"a": 1}]


def keywords(d: Any) -> tuple[type, list[dict[str, Any]]]:
    @d(frozen=True, kw_only=True)
    class Made:
        a: int = 1
        b: int
        kind: ClassVar[str] = "made"

    return Made, [{"b": 1}, {"b": 1, "a": 2}]


def some_keywords(d: Any) -> tuple[type, list[dict[str, Any]]]:
    @d(frozen=True)
    class Made:
        a: int = 1
        c: int = field(kw_only=True)
        _: KW_ONLY
        b: int

    return Made, [{"b": 1, "c": 2}, {"a": 5, "b": 1, "c": 2}]


def factories(d: Any) -> tuple[type, list[dict[str, Any]]]:
    @d(frozen=True)
    class Made:
        a: list[int] = field(default_factory=list, hash=False)
        b: dict[str, int] = field(default_factory=dict, compare=False, repr=False)
        c: tuple[int, ...] = field(default_factory=lambda: (1, 2), init=False)
        e: int = field(default=7, init=False)

    return Made, [{}, {"a": [1]}, {"a": [1], "b": {"x": 1}}]


def marked(d: Any) -> tuple[type, list[dict[str, Any]]]:
    @d(frozen=True)
    class Made:
        a: int = field(default=3, metadata={"dimension": "length"})
        b: int = field(default=4, compare=False)
        e: int = field(default=4, hash=True, compare=False)

    return Made, [{}, {"b": 1}, {"e": 2}]


def checked(d: Any) -> tuple[type, list[dict[str, Any]]]:
    @d(frozen=True)
    class Made:
        a: float

        def __post_init__(self) -> None:
            object.__setattr__(self, "a", float(self.a))

    return Made, [{"a": 1}, {"a": 2.5}]


def own_functions(d: Any) -> tuple[type, list[dict[str, Any]]]:
    @d(frozen=True)
    class Made:
        a: int

        def __init__(self, a: int) -> None:
            object.__setattr__(self, "a", a % 3)

        def __repr__(self) -> str:
            return f"<{self.a}>"

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Made) and self.a % 2 == other.a % 2

    return Made, [{"a": 1}, {"a": 3}, {"a": 4}]


def own_hash(d: Any) -> tuple[type, list[dict[str, Any]]]:
    @d(frozen=True, repr=False)
    class Made:
        a: int

        def __hash__(self) -> int:
            return 5

    return Made, [{"a": 1}, {"a": 3}]


def inherited(d: Any) -> tuple[type, list[dict[str, Any]]]:
    @d(frozen=True)
    class Base:
        a: int
        b: int = 2

    @d(frozen=True)
    class Made(Base):
        a: int = 3
        c: list[int] = field(default_factory=list)

    return Made, [{}, {"a": 2}, {"b": 1, "c": [1]}]


def of_standard(d: Any) -> tuple[type, list[dict[str, Any]]]:
    @dataclasses.dataclass(frozen=True)
    class Base:
        a: int

        def __post_init__(self) -> None:
            if self.a > 100:
                raise ValueError

    @d(frozen=True, kw_only=True)
    class Made(Base):
        c: int = 1

    return Made, [{"a": 1}, {"a": 1, "c": 5}]


def under_standard(d: Any) -> tuple[type, list[dict[str, Any]]]:
    @d(frozen=True, eq=False)
    class Base:
        a: int

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Made(Base):
        c: int = 1

    return Made, [{"a": 1}, {"a": 1, "c": 5}]


def undecorated(d: Any) -> tuple[type, list[dict[str, Any]]]:
    @d(frozen=True)
    class Base:
        a: int

    class Made(Base):
        def __init__(self, a: int) -> None:
            super().__init__(a + 1)

    return Made, [{"a": 1}, {"a": 2}]


def generic(d: Any) -> tuple[type, list[dict[str, Any]]]:
    @d(frozen=True)
    class Made(Generic[T]):
        a: T

    return Made, [{"a": 1}, {"a": "x"}]


def abstract(d: Any) -> tuple[type, list[dict[str, Any]]]:
    @d(frozen=True)
    class Base(abc.ABC):
        a: int

        @abc.abstractmethod
        def size(self) -> int: ...

    @d(frozen=True)
    class Made(Base):
        def size(self) -> int:
            return self.a

    with pytest.raises(TypeError):
        Base(1)  # type: ignore[abstract]
    return Made, [{"a": 1}, {"a": 2}]


def ordered(d: Any) -> tuple[type, list[dict[str, Any]]]:
    @d(frozen=True, order=True)
    class Made:
        a: int

    assert Made(1) < Made(2)  # type: ignore[operator]
    return Made, [{"a": 1}, {"a": 2}]


SHAPES: tuple[Shape, ...] = (
    plain, one_field, no_field, by_identity, keywords, some_keywords, factories, marked, checked, own_functions,
    own_hash, inherited, of_standard, under_standard, undecorated, generic, abstract, ordered,
)  # fmt: skip


@pytest.fixture(params=SHAPES, ids=lambda shape: shape.__name__)
def pair(request: pytest.FixtureRequest) -> tuple[tuple[type, list[Any]], tuple[type, list[Any]]]:
    """The class and its instances, made by either decorator; before anything has looked at it."""
    (own, given), (standard, same) = request.param(values.dataclass), request.param(dataclasses.dataclass)
    return (own, [own(**kw) for kw in given]), (standard, [standard(**kw) for kw in same])


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives, or the error that it ends with; addresses apart."""
    try:
        return call()
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_signature_before_and_after_first_use(shape: Shape) -> None:
    (own, given), (standard, _) = shape(values.dataclass), shape(dataclasses.dataclass)
    assert str(inspect.signature(own)) == str(inspect.signature(standard))
    own(**given[0])
    assert str(inspect.signature(own)) == str(inspect.signature(standard))
    assert own.__init__.__qualname__ == standard.__init__.__qualname__
    assert own.__init__.__annotations__ == standard.__init__.__annotations__
    assert own.__init__.__globals__ is standard.__init__.__globals__  # where annotations are looked up


def test_fields(pair: Any) -> None:
    (own, _), (standard, _) = pair
    assert dataclasses.is_dataclass(own)
    words = ("name", "type", "default", "init", "repr", "hash", "compare", "kw_only", "metadata")
    listed = [[[getattr(f, w) for w in words] for f in dataclasses.fields(c)] for c in (own, standard)]  # type: ignore[arg-type]
    assert listed[0] == listed[1]
    assert own.__match_args__ == standard.__match_args__  # type: ignore[attr-defined]
    assert {n for n in vars(own) if not n.startswith("__")} == {n for n in vars(standard) if not n.startswith("__")}
    assert bool(own.__doc__) == bool(standard.__doc__)


def test_instances(pair: Any) -> None:
    (_, made), (_, same) = pair
    for a, b in zip(made, same, strict=True):
        assert vars(a) == vars(b)
        if "object at" not in repr(b):
            assert repr(a) == repr(b)
        assert outcome(lambda a=a: dataclasses.asdict(a)) == outcome(lambda b=b: dataclasses.asdict(b))
    assert [[x == y for x in made] for y in made] == [[x == y for x in same] for y in same]
    assert all(x != 1 for x in made)


def test_hashes(pair: Any) -> None:
    (own, made), (standard, same) = pair
    if (own.__hash__ is object.__hash__) or (standard.__hash__ is object.__hash__):
        assert own.__hash__ is standard.__hash__
    else:
        assert [outcome(lambda x=x: hash(x)) for x in made] == [outcome(lambda x=x: hash(x)) for x in same]


def test_wrong_arguments(pair: Any) -> None:
    (own, _), (standard, _) = pair
    for given in ((), (1,), (1, 2, 3, 4, 5, 6)):
        assert outcome(lambda g=given: vars(own(*g))) == outcome(lambda g=given: vars(standard(*g)))
    assert outcome(lambda: own(nobody=1)) == outcome(lambda: standard(nobody=1))


def test_frozen(pair: Any) -> None:
    for cls, made in pair:
        for name in {f.name for f in dataclasses.fields(cls)}:
            with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
                setattr(made[0], name, 1)
            with pytest.raises(FrozenInstanceError, match=f"cannot delete field '{name}'"):
                delattr(made[0], name)
    (_, made), (_, same) = pair
    assert outcome(lambda: setattr(made[0], "other", 1)) == outcome(lambda: setattr(same[0], "other", 1))
    assert outcome(lambda: delattr(made[0], "another"))[0] == outcome(lambda: delattr(same[0], "another"))[0]


def test_copies(pair: Any) -> None:
    for _, made in pair:
        for value in made:
            for again in (copy.copy(value), copy.deepcopy(value)):
                assert vars(again) == vars(value)
                assert type(again) is type(value)
    (_, made), (_, same) = pair
    replaced = [outcome(lambda v=v: vars(dataclasses.replace(v, a=9))) for v in (*made, *same)]
    assert replaced[: len(made)] == replaced[len(made) :]
    if hasattr(same[0], "__replace__"):
        assert [outcome(lambda v=v: vars(v.__replace__(a=9))) for v in made] == replaced[len(made) :]


def test_read_by_pydantic(pair: Any) -> None:
    (own, made), (standard, _) = pair
    if own.__init__.__qualname__.startswith(("own_functions", "undecorated")):
        pytest.skip("pydantic calls no __init__")
    for value in made:
        given = {f.name: getattr(value, f.name) for f in dataclasses.fields(own) if f.init}
        assert vars(TypeAdapter(own).validate_python(given)) == vars(TypeAdapter(standard).validate_python(given))
    for cls in (own, standard):
        with pytest.raises(ValidationError):
            TypeAdapter(cls).validate_python(5)


@values.dataclass(frozen=True)
class Kept:
    a: int
    other: Any = None

    @cached_property
    def doubled(self) -> int:
        return 2 * self.a


class Further(Kept):
    @cached_property
    def code(self) -> Any:
        return lambda: self.a


@pytest.mark.parametrize("again", [lambda v: pickle.loads(pickle.dumps(v)), copy.copy, copy.deepcopy])
def test_what_was_worked_out_is_neither_pickled_nor_copied(again) -> None:
    value = Further(3, [4.0])
    assert value.doubled == 6
    assert value.code() == 3
    made = again(value)
    assert vars(made) == {"a": 3, "other": [4.0]}
    assert made.code() == 3


def test_a_value_within_itself_has_a_repr() -> None:
    value = Kept(3, [])
    value.other.append(value)
    assert repr(value) == "Kept(a=3, other=[...])"


def test_large_arrays_are_shown_by_their_shape() -> None:
    small, large = Kept(3, np.arange(3)), Kept(3, np.zeros((40, 3)))
    assert repr(small) == "Kept(a=3, other=array([0, 1, 2]))"
    assert repr(large) == "Kept(a=3, other=<array (40, 3)>)"


def test_same_arrays_are_equal_without_looking_into_them() -> None:
    array = np.zeros(3)
    assert (Kept(1, array) == Kept(1, array)) is True


def test_matched_by_place() -> None:
    match Kept(1, 2):
        case Kept(a, other):
            assert (a, other) == (1, 2)


def test_every_instance_has_a_list_of_its_own() -> None:
    cls, _ = factories(values.dataclass)
    assert cls().a is not cls().a


def test_subclass_that_is_not_decorated_may_have_attributes_of_its_own() -> None:
    class Freer(Kept):
        pass

    value: Any = Freer(1)
    value.more = 2
    del value.more
    assert not hasattr(value, "more")
    with pytest.raises(FrozenInstanceError):
        value.a = 2


def classes_that_are_refused(d: Any) -> list[Callable[[], Any]]:
    def order() -> Any:
        @d(frozen=True)
        class Made:
            a: int = 1
            b: int  # type: ignore[misc]

    def shared_list() -> Any:
        @d(frozen=True)
        class Made:
            a: list[int] = []  # noqa: RUF012

    def no_type() -> Any:
        @d(frozen=True)
        class Made:
            a = field(default=1)

    def assigns() -> Any:
        @d(frozen=True)
        class Made:
            a: int

            def __setattr__(self, name: str, value: Any) -> None: ...

    def of_mutable() -> Any:
        @dataclasses.dataclass
        class Base:
            a: int

        @d(frozen=True)
        class Made(Base):
            b: int = 1

    def mutable() -> Any:
        @d
        class Made(Kept):
            pass

    return [order, shared_list, no_type, assigns, of_mutable, mutable]


def test_classes_that_the_standard_library_refuses() -> None:
    own, standard = classes_that_are_refused(values.dataclass), classes_that_are_refused(dataclasses.dataclass)
    for mine, theirs in zip(own, standard, strict=True):
        refusal = outcome(theirs)
        assert isinstance(refusal, tuple)
        assert outcome(mine)[0] is refusal[0]


def test_init_is_compiled_once_and_when_it_is_needed() -> None:
    cls, (first, *_) = plain(values.dataclass)
    assert not inspect.isfunction(vars(cls)["__init__"])
    cls(**first)
    made = vars(cls)["__init__"]
    assert inspect.isfunction(made)
    cls(**first)
    assert vars(cls)["__init__"] is made
