"""The same on SQLite and on PostgreSQL: entries are added, superseded and never changed, and tell what they say."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from oracle.refusals import refused
from store.readings import loaded_readings

import elastocal as ec
from elastocal.calibration.store import document_text
from elastocal.errors import InputError
from elastocal.files.cell import Stated
from elastocal.store import rows
from elastocal.store.entry import Calibrated, Entry, document, entry_of, entry_schema, stored_entry
from elastocal.store.records import spread_poses
from elastocal.store.robot_history import _tool_changes
from elastocal.store.rows import metadata

SQL = "x'; DROP TABLE entry; --"
Cals = tuple[ec.Calibration, ...]


FILLED: list[bytes] = []


def filled(store: str, cals: Cals) -> ec.desk.History:
    """Three calibrations, the second released; a file is written once and copied after that."""
    if FILLED and not store.startswith("postgresql"):
        Path(store).write_bytes(FILLED[0])
        return ec.history(store)
    with ec.history(store) as histories:
        for i, c in enumerate(cals[:3]):
            histories.add("cell-7", c, who="Meier", reason="yearly", time=f"202{i}-05-01", temperature=20.5 + i)
        histories.release("cell-7", 2, name="first", reason="begin", who="Meier", due="2022-05-01")
    if not store.startswith("postgresql"):
        FILLED.append(Path(store).read_bytes())
    return ec.history(store)


def test_a_store_is_short_to_look_at(tmp_path: Path) -> None:
    with ec.history(str(tmp_path / "some.db")) as store:
        assert repr(store) == f"<History of robots in {store.label}>"


def test_a_history_is_read_as_it_was_recorded(store: str, cals: Cals) -> None:
    filled(store, cals).close()
    with ec.history(store, create=False) as histories:
        found = histories["cell-7"]
        assert [e.kind for e in found.entries] == ["calibration"] * 3 + ["release"]
        assert [e.time for e in found.entries[:3]] == [f"202{i}-05-01T00:00:00Z" for i in range(3)]
        assert [e.temperature for e in found.calibrations] == [20.5, 21.5, 22.5]
        for entry, c in zip(found.calibrations, cals, strict=False):
            assert entry.calibration is not None
            own = entry.calibration.parameters
            assert own.names == c.names
            np.testing.assert_array_equal(own.values, [c.parameters[n].value for n in c.names])
            np.testing.assert_array_equal(own.sd, [c.parameters[n].sd for n in c.names])
        again = histories.calibration("cell-7")  # the released one
        q, w = [[0.3, 0.5, 0.6]], [[0, 0, -900.0, 0, 0, 0]]
        expected = cals[1].predict(q, w, angle="rad", length="m").deflection
        np.testing.assert_array_equal(again.predict(q, w, angle="rad", length="m").deflection, expected)
        assert np.abs(expected).max() > 1e-4
        assert histories.verify() == ()


def test_what_was_read_is_not_read_again_and_what_others_add_is(
    store: str, cals: Cals, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []
    real = rows.stored_entry
    monkeypatch.setattr(rows, "stored_entry", lambda text, where, **c: parsed.append(where) or real(text, where, **c))
    filled(store, cals).close()
    with ec.history(store) as histories, ec.history(store) as other:
        parsed.clear()
        first = histories["cell-7"]
        assert parsed == [f"cell-7 {n}" for n in (1, 2, 3, 4)]
        assert histories["cell-7"] is first
        other.release("cell-7", 3, name="second", reason="r", who="w")
        parsed.clear()
        assert histories["cell-7"].released.release.name == "second"  # type: ignore[union-attr]
        assert parsed == ["cell-7 5"]
        parsed.clear()
        histories._known["cell-7"] = replace(histories["cell-7"], mark="of another database")
        assert len(histories["cell-7"].entries) == len(parsed) == 5
        monkeypatch.setattr("elastocal.store.reader.ENTRIES", 4)
        other.add("arm", cals[3], poses=[[0.3, 0.5, 0.6]] * 4)
        parsed.clear()
        for name in ("arm", "cell-7", "arm"):
            histories[name]
        assert parsed == ["arm 1", *(f"cell-7 {n}" for n in range(1, 6)), "arm 1"]  # only so much stays in memory


def test_what_is_cut_from_a_document_is_what_it_says(store: str, cals: Cals) -> None:
    """Whatever stands in its texts: each name alone, from a fresh entry, against the document read as a whole."""
    hostile = '"parameters":{"names":["x"],"sd":[1]},"points":[],"words":["y"]},"check":,"file":"z"] null'
    with filled(store, cals) as histories:
        entry = histories["cell-7"].entries[0]
        own = entry.calibration
        assert own is not None
        names = tuple(f"{n}]{hostile}" for n in own.parameters.names)
        parameters = replace(own.parameters, names=names, values=(float("nan"), *own.parameters.values[1:]))
        changed = replace(own, parameters=parameters, words=("a", hostile))
        new = Entry(**{f.name: getattr(entry, f.name) for f in fields(Entry)} | {"reason": hostile, "who": hostile,
                    "calibration": changed, "notes": (hostile,)})  # fmt: skip
        documents = [(document(e), e) for e in (*histories["cell-7"].entries, new)]
    for text, e in documents:
        whole = entry_of(text, "here")
        columns = {k: getattr(e, k) for k in ("robot", "number", "kind", "time", "supersedes")}
        for f in fields(Entry):
            if f.name != "calibration":
                assert getattr(stored_entry(text, "here", **columns), f.name) == getattr(whole, f.name), f.name
        for f in fields(Calibrated) if whole.calibration else ():
            fresh = stored_entry(text, "here", **columns).calibration
            assert str(getattr(fresh, f.name)) == str(getattr(whole.calibration, f.name)), f.name  # nan too
        assert document(stored_entry(text, "here", **columns)) == text


def test_a_page_shows_a_part_and_what_drifts_is_that_of_all(store: str, cals: Cals) -> None:
    with filled(store, cals) as histories:
        found = histories["cell-7"]
        whole, part = (found.page(date(2022, 6, 1), *some) for some in ((), (2, 2)))
        tables = [{getattr(b, "key", ""): b for s in r.sections for b in s.blocks} for r in (whole, part)]
        assert [row[0] for row in tables[0]["entries"].rows] == [4, 3, 2, 1]  # type: ignore[union-attr]
        assert [row[0] for row in tables[1]["entries"].rows] == [2, 1]  # type: ignore[union-attr]
        assert [len(t["errors_in_time"].series[0].x) for t in tables] == [3, 2]  # type: ignore[union-attr]
        assert (part.verdict, tables[1]["charts"]) == (whole.verdict, tables[0]["charts"])
        assert part.verdict[1].startswith("WARNING OVERDUE: the release 'first' was due on 2022-05-01, 31 days ago")
        assert found.shown(99, 3).numbers == range(2, 5)


def test_a_release_is_superseded_and_never_overwritten(store: str, cals: Cals) -> None:
    with filled(store, cals) as histories:
        with refused("name-taken", "first", parameter="name") as error:
            histories.release("cell-7", 3, name="first", reason="again", who="Meier")
        assert error.value.code == "name-taken"
        histories.release("cell-7", name="second", reason="service", who="Kurz")
        found = histories["cell-7"]
        assert found.released is not None
        assert found.released.release is not None
        assert (found.released.release.name, found.released.release.of) == ("second", 3)
        assert found.released.supersedes == 4
        assert found.entry(4).release.name == "first"  # type: ignore[union-attr]
        with refused("released", 3):
            histories.withdraw("cell-7", 3, reason="wrong", who="Kurz")
        histories.withdraw("cell-7", 5, reason="wrong", who="Kurz")
        assert histories["cell-7"].released is None
        with refused("not-released", parameter="number"):
            histories.calibration("cell-7")
        (line,) = histories.robots()
        assert line.released is None
        assert line.entries == 6


def test_what_was_wrong_is_superseded_and_counts_no_more(store: str, cals: Cals) -> None:
    with filled(store, cals) as histories:
        made = histories.add("cell-7", cals[3], supersedes=3, reason="wrong tool", who="Kurz", time="2022-05-01")
        found = histories["cell-7"]
        assert [e.number for e in found.calibrations] == [1, 2, made.number]
        assert found.superseded_by(3).number == made.number  # type: ignore[union-attr]
        with refused("superseded", 3, parameter="supersedes"):
            histories.withdraw("cell-7", 3, reason="again", who="Kurz")
        with refused("no-calibration", 3, allowed=(1, 2, 5)):
            histories.release("cell-7", 3, name="n", reason="r", who="w")


def test_the_database_refuses_changes(store: str, cals: Cals) -> None:
    with filled(store, cals) as histories:
        for table in metadata.tables.values():
            column = table.columns.keys()[0]
            for statement in (
                f'UPDATE "{table.name}" SET "{column}" = "{column}"', f'DELETE FROM "{table.name}"',
            ):  # fmt: skip
                with pytest.raises(sa.exc.DBAPIError, match="rows are only added"), _raw(histories) as connection:
                    connection.execute(sa.text(statement))
        backend = histories._database.url.get_backend_name()
        other = "TRUNCATE input" if backend == "postgresql" else "INSERT OR REPLACE INTO content VALUES (:m, 1, '')"
        mark = histories["cell-7"].entries[0].inputs["calibration.json"]
        with pytest.raises(sa.exc.DBAPIError, match="rows are only added"), _raw(histories) as connection:
            connection.execute(sa.text(other), {} if backend == "postgresql" else {"m": mark})
        assert histories.verify() == ()


def test_what_was_changed_behind_its_back_is_named(store: str, cals: Cals) -> None:
    with filled(store, cals) as histories:
        drop = "DROP TRIGGER entry_kept" + (" ON entry" if store.startswith("postgresql") else "")
        with _raw(histories) as connection:
            connection.execute(sa.text(drop))
            connection.execute(
                sa.text("UPDATE entry SET document = replace(document, '20.5', '20.6') WHERE number = 1")
            )
        (found,) = histories.verify()
        assert "cell-7 1" in found.text
        with ec.history(store) as again, refused("damaged"):
            again["cell-7"]
        whole = "UPDATE entry SET document = :d, sha256 = :s WHERE number = 1"
        with _raw(histories) as connection:
            text = connection.execute(sa.text("SELECT document FROM entry WHERE number = 1")).scalar_one()
            from elastocal.store.entry import sha256

            connection.execute(sa.text(whole), {"d": text, "s": sha256(text)})
        (found,) = histories.verify()
        assert "cell-7 2: does not follow" in found.text


@pytest.mark.parametrize("changed", ["time = '2019-01-01T00:00:00Z'", "supersedes = 1", "kind = 'check'"])
def test_columns_that_are_not_those_of_their_document_are_no_history(store: str, cals: Cals, changed: str) -> None:
    with filled(store, cals) as histories:
        drop = "DROP TRIGGER entry_kept" + (" ON entry" if store.startswith("postgresql") else "")
        with _raw(histories) as connection:
            connection.execute(sa.text(drop))
            connection.execute(sa.text(f"UPDATE entry SET {changed} WHERE number = 3"))
        (found,) = histories.verify()
        with ec.history(store) as again, refused("damaged") as error:
            again["cell-7"]
        assert str(error.value) == found.text


@pytest.mark.parametrize("field", ["robot", "who", "reason", "name"])
def test_sql_in_every_field_is_text(store: str, cals: Cals, field: str) -> None:
    values = {"robot": "r", "who": "w", "reason": "why", "name": "n"} | {field: SQL}
    with ec.history(store) as histories:
        made = histories.add(values["robot"], cals[0], who=values["who"], reason=values["reason"],
                             inputs={SQL: SQL.encode()})  # fmt: skip
        histories.release(values["robot"], **{k: values[k] for k in ("name", "reason", "who")})
        found = histories[values["robot"]]
        assert (found.entries[0].who, found.entries[0].reason) == (values["who"], values["reason"])
        assert found.released.release.name == values["name"]  # type: ignore[union-attr]
        assert histories.content(made.inputs[SQL]) == SQL.encode()
        assert [r.robot for r in histories.robots()] == [values["robot"]]
        with pytest.raises(InputError):
            histories[f"{SQL} or 1=1"]
        assert histories.verify() == ()


def test_the_same_calibration_and_its_files_are_stored_once(store: str, cals: Cals) -> None:
    with ec.history(store) as histories:
        histories.add("a", cals[0], inputs={"t.csv": b"1,2"})
        with refused("already", 1) as error:
            histories.add("a", cals[0])
        assert error.value.code == "already"
        histories.add("b", cals[0], inputs={"other.csv": b"1,2"})
        with _raw(histories) as connection:
            assert connection.execute(sa.text("SELECT count(*) FROM content")).scalar() == 2


def test_wrong_words_are_refused_and_nothing_is_kept(store: str, cals: Cals) -> None:
    with filled(store, cals) as histories:
        before = document(histories["cell-7"].entries[-1])
        for call, code in (
            (lambda: histories.release("cell-7", name=" ", reason="r", who="w"), "missing"),
            (lambda: histories.release("cell-7", name="n", reason="", who="w"), "missing"),
            (lambda: histories.release("cell-7", name="n", reason="r", who="w", due="soon"), "day"),
            (lambda: histories.release("cell-7", 9, name="n", reason="r", who="w"), "unknown-number"),
            (lambda: histories.release("cell-7", 4, name="n", reason="r", who="w"), "no-calibration"),
            (lambda: histories.release("cell-8", name="n", reason="r", who="w"), "unknown-robot"),
            (lambda: histories.release("cell-7", name="a\x00b", reason="r", who="w"), "characters"),
            (lambda: histories.release("cell-7", name="n" * 300, reason="r", who="w"), "too-long"),
            (lambda: histories.add("cell-7", cals[3], time="2999-01-01"), "future"),
            (lambda: histories.add("cell-7", cals[3], time="yesterday"), "time"),
            (lambda: histories.add("cell-7", cals[3], supersedes=4), "kind"),
            (lambda: histories.add("new", cals[3], poses=[[1, 2, 3]]), "poses"),
        ):
            with pytest.raises(InputError) as error:
                call()
            assert error.value.code == code
        assert document(histories["cell-7"].entries[-1]) == before
        assert [r.robot for r in histories.robots()] == ["cell-7"]


def test_a_check_is_read_from_a_table_or_from_records(store: str, cals: Cals, tmp_path: Path) -> None:
    read = loaded_readings(7)
    assert read.deflection is not None
    assert read.wrench is not None
    units = ["rad" if m.kind == "revolute" else "m" for m in cals[0].robot.motions]
    titles = [f"{a}_{u}" for a, u in zip(cals[0].robot.controller.axes, units, strict=True)]
    titles += ["fx_N", "fy_N", "fz_N", "dx_m", "dy_m", "dz_m"]
    numbers = np.hstack([read.q, read.wrench[:, :3], read.deflection[:, 0]]).tolist()
    table, records = tmp_path / "later.csv", tmp_path / "later.yaml"
    table.write_text("\n".join(",".join(map(repr, row)) for row in numbers).join([",".join(titles) + "\n", "\n"]))
    records.write_text(json.dumps([dict(zip(titles, row, strict=True)) for row in numbers]))
    with filled(store, cals) as histories:
        made = [histories.check("cell-7", file, time="2023-01-01").check for file in (table, records)]
    assert made[0] is not None
    assert made[1] is not None
    assert made[0].after == made[1].after == cals[1].validate(read).after


def test_a_check_tells_the_error_of_the_released_calibration(store: str, cals: Cals) -> None:
    with filled(store, cals) as histories:
        made = histories.check("cell-7", loaded_readings(7), who="Meier", time="2023-01-01", temperature=19.0)
        assert made.check is not None
        assert made.check.of == 2
        expected = cals[1].validate(loaded_readings(7)).after
        assert made.check.after == expected
        assert expected.mean > 1e-5
        soft = histories.check("cell-7", loaded_readings(7, 4e-7), time="2023-02-01")
        assert soft.check is not None
        assert soft.check.states == made.check.states
        assert soft.check.after.mean > 2 * expected.mean
        other = histories.check("cell-7", loaded_readings(8), time="2023-03-01")
        assert histories["cell-7"].drift.notes[0].data["numbers"] == [made.number, soft.number]
        assert other.check is not None
        assert other.check.states != made.check.states


def test_a_certificate_is_issued_with_its_release_and_kept(store: str, cals: Cals) -> None:
    check = loaded_readings(7)
    read = cals[2].validate(check)
    with filled(store, cals) as histories:
        with refused("no-certificate") as error:
            histories.certificate("cell-7", suffix=".pdf")
        assert error.value.code == "no-certificate"
        limit = 1.2 * read.after.max + 1e-4
        made = histories.release(
            "cell-7", 3, name="2026-11", reason="service", who="Kurz", time="2026-11-02",
            stated=Stated(tolerance=limit, customer="Werk 3"), validation=check,
        )  # fmt: skip
        said = json.loads(histories.certificate("cell-7", suffix=".json"))["certificate"]
        assert said["outcome"] == "PASS"
        assert said["numbers_m"]["value"] == pytest.approx(read.after.max)
        own = {k: said["stated"][k] for k in ("number", "authorised_by", "issued", "customer")}
        assert own == {"number": "2026-11", "authorised_by": "Kurz", "issued": "2026-11-02", "customer": "Werk 3"}
        assert said["sha256"] == histories["cell-7"].entry(3).inputs
        assert histories.certificate("cell-7", suffix=".pdf")[:5] == b"%PDF-"
        histories.release("cell-7", 3, name="later", reason="again", who="Kurz")
        assert b"Werk 3" in histories.certificate("cell-7", made.number)  # the old one stays
        with refused("no-certificate"):
            histories.certificate("cell-7")
        assert histories.verify() == ()


def test_a_certificate_decides_on_the_validation_that_the_calibration_was_made_with(store: str, cals: Cals) -> None:
    read = cals[0].validate(loaded_readings(7))
    file = document_text(cals[0], read).encode()
    with ec.history(store) as histories:
        histories.add("cell-7", cals[0], file=file)
        said = Stated(tolerance=1.2 * read.after.max + 1e-4)
        histories.release("cell-7", name="a", reason="service", who="Kurz", stated=said)
        issued = json.loads(histories.certificate("cell-7", suffix=".json"))["certificate"]
    assert (issued["outcome"], issued["basis"]) == ("PASS", "validation poses")
    assert issued["numbers_m"]["value"] == pytest.approx(read.after.max)


def test_a_first_entry_that_was_refused_leaves_nothing_behind(store: str, cals: Cals) -> None:
    poses = 0.1 * np.arange(15.0).reshape(5, 3)
    with ec.history(store) as histories:
        with refused("unknown-number", 5):
            histories.add("cell-7", cals[0], supersedes=5)
        histories.add("cell-7", cals[0], poses=poses)
        np.testing.assert_array_equal(histories["cell-7"].poses, poses)
        entry = histories["cell-7"].entry(1)
        assert entry.calibration is not None
        assert len(entry.calibration.points) == len(poses)


def test_a_day_that_is_due_is_told(store: str, cals: Cals) -> None:
    with filled(store, cals) as histories:
        found = histories["cell-7"]
        (late,) = (f for f in found.findings(date(2022, 5, 11)) if f.code == "overdue")
        assert late.data["days"] == -10
        (soon,) = (f for f in found.findings(date(2022, 4, 11)) if f.code == "due-soon")
        assert soon.data["days"] == 20
        assert not [f for f in found.findings(date(2021, 5, 1)) if "due" in f.code]
        (line,) = histories.robots()
        assert [f.code for f in line.findings(date(2022, 5, 11))] == ["overdue"]


def test_documents_keep_to_their_schema(store: str, cals: Cals) -> None:
    from pydantic import TypeAdapter

    from elastocal.store.entry import Entry

    with filled(store, cals) as histories:
        schema = json.loads(entry_schema())
        for entry in histories["cell-7"].entries:
            text = document(entry)
            assert document(entry_of(text, "here")) == text
            assert set(json.loads(text)) == set(schema["required"]) == set(schema["properties"])
            TypeAdapter(Entry).validate_json(text)


def test_the_tool_is_compared_without_rigid_motion(tmp_path: Path, cals: Cals) -> None:
    """Points that were turned, shifted and bent give what scipy's alignment leaves of them."""
    from scipy.spatial.transform import Rotation

    with filled(str(tmp_path / "h.db"), cals) as histories:
        found = histories["cell-7"]
    np.testing.assert_array_equal(found.poses, spread_poses(cals[0].robot))
    rng = np.random.default_rng(3)
    own = found.entry(2).calibration
    assert own is not None
    a = rng.normal(size=(24, 3))
    b = Rotation.from_rotvec([0.02, -0.01, 0.03]).apply(a) + rng.normal([0.1, 0.2, 0.3], 1e-3, a.shape)
    first, second = (replace(own, points=tuple(map(tuple, p.tolist())), sd=sd) for p, sd in ((a, 3e-4), (b, 4e-4)))
    ((rms, sd),) = _tool_changes(first, [replace(found.entry(3), calibration=second)]).values()
    turn, _ = Rotation.align_vectors(a - a.mean(0), b - b.mean(0))
    rest = turn.apply(b - b.mean(0)) - (a - a.mean(0))
    assert rms == pytest.approx(float(np.sqrt(np.mean(np.sum(rest**2, axis=1)))), rel=1e-9)
    assert rms > 1e-3
    assert sd == pytest.approx(5e-4)


def _raw(histories: ec.desk.History):  # type: ignore[no-untyped-def]
    histories.robots()
    engine = histories._database._engine
    assert engine is not None
    return engine.begin()
