"""What every controller language must satisfy; a new one without an example in ``oracle.programs`` fails."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from oracle.programs import PROGRAMS, encoded
from oracle.refusals import refused

from elastocal.compensation.posts.cam import CamPost
from elastocal.compensation.posts.post import ENDINGS, ToolPath, is_program, post_for, post_kinds
from elastocal.compensation.program import Changes, Given, Inserted, uncorrected
from elastocal.compensation.stations import chords
from elastocal.design.method import Stop
from elastocal.files.robot.read import read_robot
from elastocal.model.kinematics import kinematics
from elastocal.spatial.pose import Pose

CASES = [(kind, i) for kind in post_kinds() for i in range(max(len(PROGRAMS.get(kind, [])), 1))]
UNSUPPORTED = {
    "krl": ("part.src", "LIN_REL {Z 10}"),
    "rapid": ("part.mod", "MoveJ Offs(p10,0,0,up)"),
    "gcode": ("part.nc", "X#100"),
    "csv": ("path.csv", "p3;abc"),
    "fanuc": ("part.ls", "L PR[1] 100mm/sec"),
    "urscript": ("part.script", "movel(pose_trans(via_p"),
    "jbi": ("part.jbi", "MOVL P001"),
    "apt": ("part.apt", "GODLTA/0,0,5"),
}
DOWN = np.diag([1.0, -1.0, -1.0])
OFF = np.array([[1e-3, 2e-3, -1e-3], [2e-3, 1e-3, 1e-3]])


def test_every_language_has_an_example() -> None:
    assert set(post_kinds()) == set(PROGRAMS) == set(UNSUPPORTED)


def test_usual_endings_are_those_of_their_languages() -> None:
    for ending, kind in ENDINGS.items():
        post = post_kinds()[kind]
        assert ending in (*post.suffixes, *post.companions)
        assert type(post_for(f"PART{ending.upper()}")) is post
        assert is_program(f"part{ending}") == (ending in post.suffixes)


ONE = """
import sys
from elastocal.compensation.posts.post import post_for
print(post_for("part.src").kind, sorted(m for m in sys.modules if m.endswith((".rapid", ".gcode", ".krl"))))
"""


def test_a_language_is_found_without_loading_the_others() -> None:
    said = subprocess.run([sys.executable, "-c", ONE], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "krl ['elastocal.compensation.posts.krl']"


@pytest.mark.parametrize("end", [True, False], ids=["newline at the end", "none at the end"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
@pytest.mark.parametrize(("kind", "case"), CASES)
def test_no_correction_leaves_every_byte(kind: str, case: int, encoding: str, newline: str, end: bool) -> None:
    files = encoded(PROGRAMS[kind][case], encoding, newline, end)
    post = post_kinds()[kind]()
    program = post.read(files)
    assert len(program.targets) >= 3
    assert post.write(program, Changes.none(program)) == files
    again = Changes(program.positions * (1 + 1e-15), program.rotations * (1 + 1e-15), program.joints * (1 + 1e-15))
    assert post.write(program, again) == files


@pytest.mark.parametrize(("kind", "case"), CASES)
def test_line_ends_and_encodings_change_nothing_else(kind: str, case: int) -> None:
    plain = post_kinds()[kind]().read(encoded(PROGRAMS[kind][case]))
    other = post_kinds()[kind]().read(encoded(PROGRAMS[kind][case], "cp1252", "\r\n"))
    assert plain.targets == other.targets
    assert plain.skipped == other.skipped
    np.testing.assert_array_equal(plain.positions, other.positions)


@pytest.mark.parametrize("kind", post_kinds())
def test_what_is_not_supported_is_named_with_its_line_and_stays(kind: str) -> None:
    files = PROGRAMS[kind][0]
    name, text = UNSUPPORTED[kind]
    line = next(i for i, s in enumerate(files[name].splitlines(), start=1) if text in s)
    program = post_kinds()[kind]().read(encoded(files))
    (found,) = [s for s in program.skipped if (s.file, s.line) == (name, line)]
    assert text.split()[0] in found.text
    assert found.reason
    new = rewritten(kind, encoded(files), np.array([1e-3, 2e-3, 3e-3]))[name].decode()
    assert files[name].splitlines()[line - 1] in new.splitlines()


@pytest.mark.parametrize(("kind", "case"), CASES)
def test_lines_without_corrected_targets_stay_as_they_are(kind: str, case: int) -> None:
    files = encoded(PROGRAMS[kind][case])
    program = post_kinds()[kind]().read(files)
    new = rewritten(kind, files, np.array([1e-3, 2e-3, 3e-3]))
    used = {(t.file, t.line) for t in program.targets} | {(m.file, m.line) for m in program.moves}
    for name, data in files.items():
        left = iter(new[name].decode().splitlines())
        for number, text in enumerate(data.decode().splitlines(), start=1):
            long = 5 if kind == "fanuc" else 1  # lines of a position
            spread = any((name, n) in used for n in range(number - long, number + 1))
            assert spread or text in left, f"{name}, line {number}: {text!r} is lost"


@pytest.mark.parametrize("size", [1.0, 1e-4])
@pytest.mark.parametrize(("kind", "case"), CASES)
def test_reading_the_result_gives_the_corrected_targets(kind: str, case: int, size: float) -> None:
    files = encoded(PROGRAMS[kind][case])
    post = post_kinds()[kind]()
    program = post.read(files, Given(orientation=DOWN))
    shift = size * np.array([1.23456e-3, -2.3456e-3, 3.456e-3])
    wanted = program.positions + shift
    if any(m.arc for m in program.moves):
        program = post.read(rewritten(kind, files, np.zeros(3) + 1e-6), Given(orientation=DOWN))
        wanted = program.positions + shift
    changes = replace(Changes.none(program), positions=wanted, joints=program.joints + 1e-3)
    after = post.read(post.write(program, changes), Given(orientation=DOWN))
    assert [t.line for t in after.targets] == [t.line for t in program.targets]
    np.testing.assert_allclose(after.positions, wanted, atol=5.1e-8, rtol=0)
    np.testing.assert_allclose(after.joints, program.joints + 1e-3, atol=1e-7, rtol=0)
    np.testing.assert_array_equal(after.rotations, program.rotations)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize(("kind", "case"), CASES)
def test_points_put_into_lines_are_read_where_they_were_meant(kind: str, case: int, newline: str) -> None:
    files = encoded(PROGRAMS[kind][case], newline=newline)
    post = post_kinds()[kind]()
    program = post.read(files, Given(orientation=DOWN))
    free = {
        i: program.positions[[m.start, m.end]].mean(axis=0) + OFF
        for i, m in enumerate(program.moves)
        if m.motion == "linear" and not m.fixed and m.start is not None and m.start != m.end
        and np.isfinite(program.positions[[m.start, m.end]]).all()
    }  # fmt: skip
    assert free, "no line of the example takes points"
    inserted = {i: Inserted(p, program.rotations[[program.moves[i].end] * 2]) for i, p in free.items()}
    after = post.read(post.write(program, replace(Changes.none(program), inserted=inserted)), Given(orientation=DOWN))
    assert len(after.moves) == len(program.moves) + 2 * len(free)
    assert len(after.skipped) == len(program.skipped)
    number = 0
    for i, move in enumerate(program.moves):
        ends = [m.end for m in after.moves[number : number + 3]] if i in free else [after.moves[number].end]
        np.testing.assert_allclose(after.positions[ends[-1]], program.positions[move.end], atol=1e-9)
        if i in free:
            np.testing.assert_allclose(after.positions[ends[:2]], free[i], atol=1e-7)
            same = [(after.targets[e].base, after.targets[e].tool, after.targets[e].configuration) for e in ends]
            assert len(set(same)) == 1
            np.testing.assert_allclose(after.rotations[ends[0]], program.rotations[move.end], atol=1e-6)
        number += len(ends)


@pytest.mark.parametrize(("kind", "case"), CASES)
def test_what_stays_uncorrected_is_listed_line_by_line(kind: str, case: int) -> None:
    program = post_kinds()[kind]().read(encoded(PROGRAMS[kind][case]))
    some = np.arange(len(program.targets)) != 1
    left = uncorrected(program, some)
    assert len(left) == len(program.skipped) + sum(m.end == 1 for m in program.moves)
    assert {(s.file, s.line) for s in program.skipped} <= {(s.file, s.line) for s in left}


@pytest.mark.parametrize("kind", post_kinds())
def test_a_target_without_solution_is_refused(kind: str) -> None:
    program = post_kinds()[kind]().read(encoded(PROGRAMS[kind][0]))
    broken = program.positions.copy()
    broken[-1, 1] = np.nan
    with refused("no-solution"):
        post_kinds()[kind]().write(program, replace(Changes.none(program), positions=broken))


@pytest.mark.parametrize("kind", post_kinds())
def test_utf_16_is_refused(kind: str) -> None:
    files = encoded(PROGRAMS[kind][0], "utf-16")
    with refused("format", next(iter(files))):
        post_kinds()[kind]().read(files)


def test_languages_are_found_by_ending() -> None:
    assert post_for("D:/R1/PART.SRC").kind == "krl"
    assert post_for("a/b.nc").kind == "gcode"
    assert post_for("PART.LS").kind == "fanuc"
    with refused("no-post", ".xyz", file="part.xyz") as error:
        post_for("part.xyz")
    assert (error.value.code, error.value.value, error.value.allowed) == ("no-post", ".xyz", tuple(post_kinds()))
    assert all(p.title for p in post_kinds().values())


def test_a_language_without_a_post_is_refused_by_its_name() -> None:
    with refused("no-post", "Staubli VAL 3", file="weld.pgx") as error:
        post_for("weld.pgx")
    assert error.value.code == "no-post"
    with refused("no-post", "a binary FANUC program", file="part.tp"):
        post_for("part.tp")


@pytest.mark.parametrize("kind", post_kinds())
def test_new_programs_are_read_as_they_were_meant_or_refused_in_a_sentence(kind: str) -> None:
    model, post = read_robot("kuka-kr270"), post_kinds()[kind]()
    q = np.radians([[10.0, -80, 95, 5, 40, -20], [-15.0, -70, 80, -30, 50, 10]])
    stops = [Stop(row, ("read",)) for row in q]
    at = kinematics(model, q)
    path = ToolPath("path", q[0], at.position[[0, 1, 0]], at.rotation[0], Pose())
    if post.hindrance(model, stops):
        with refused("unsupported", "m"):
            post.measuring_program("m", model, stops)
    else:
        measured = post.read({n: t.encode("ascii") for n, t in post.measuring_program("m", model, stops).items()})
        assert not measured.skipped
        if isinstance(post, CamPost):
            assert post.cautions(model, stops)
            np.testing.assert_allclose(measured.positions, at.position, atol=1e-7)
            np.testing.assert_allclose(measured.rotations[:, :, 2], -at.rotation[:, :, 2], atol=1e-7)
        else:
            np.testing.assert_allclose(measured.joints, model.controller.to_controller(q), atol=1e-6)
    if post.hindrance(model):
        with refused("unsupported", "path"):
            post.example(model, path)
        return
    made = post.read({n: t.encode("ascii") for n, t in post.example(model, path).items()})
    assert not made.skipped
    ends = [m.end for m in made.moves]
    if made.targets[ends[0]].kind == "joints":
        np.testing.assert_allclose(made.joints[ends[0]], model.controller.to_controller(q[:1])[0], atol=1e-6)
        ends = ends[1:]
    np.testing.assert_allclose(made.positions[ends], path.positions, atol=1e-7)


def rewritten(kind: str, files: dict[str, bytes], shift: np.ndarray) -> dict[str, bytes]:
    """All targets shifted; arcs that must be chorded are, within 0.1 mm."""
    post = post_kinds()[kind]()
    program = post.read(files)
    points = {i: Inserted(p.positions + shift, p.rotations) for i, p in chords(program, 1e-4).items()}
    return post.write(program, replace(Changes.none(program), positions=program.positions + shift, inserted=points))
