"""Offs, RelTool, LIN_REL and constants: followed where they are known, named where not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from elastocal.compensation.posts.poses import constant
from elastocal.compensation.posts.post import post_kinds
from elastocal.compensation.program import Changes, Program
from elastocal.files.programs import read_program

EAX = "[9E9,9E9,9E9,9E9,9E9,9E9]"
RAPID = rf"""MODULE a
  CONST num up:=50;
  CONST num twice:=2*up;
  VAR num free:=3;
  CONST robtarget p1:=[[100,20,0],[0,0.6,0.8,0],[0,0,0,0],{EAX}];
  CONST robtarget p2:=[[100,20,0],[0.5,0.5,-0.5,0.5],[0,0,0,0],{EAX}];
  PROC main()
    MoveJ Offs(p1,0,0,twice-10),v500,z10,tool0;
    MoveL p1,v100,fine,tool0;
    MoveL RelTool(p2,0,5.5,-up),v100,fine,tool0;
    MoveL Offs(p1,0,0,free),v100,fine,tool0;
    MoveL RelTool(p2,0,0,5\Rz:=10),v100,fine,tool0;
    MoveL Offs(Offs(p1,1,2,3),0,0,5),v100,fine,tool0;
  ENDPROC
ENDMODULE
"""
KRL = """DEF a()
$BASE={X 0,Y 0,Z 0,A 0,B 0,C 0}
$TOOL={X 0,Y 0,Z 0,A 0,B 0,C 0}
LIN_REL {Z 1}
LIN {X 500,Y 10,Z 600,A 90,B 0,C 180}
LIN_REL {Z 10,X 5} C_DIS
LIN_REL {Z 20} #TOOL
LIN_REL {A 5}
LIN {X 500,Y 10,Z 600,A 90,B 0,C 180}
LIN_REL {X 1}
LIN {Y 3}
END
"""


def again(program: Program, changes: Changes) -> tuple[Program, str]:
    post = post_kinds()[program.language]()
    files = post.write(program, changes)
    return post.read(files), next(iter(files.values())).decode()


def test_offs_and_reltool_of_constants_are_targets_and_others_are_named() -> None:
    program = read_program(RAPID, "rapid")
    assert [t.name for t in program.targets] == ["Offs(p1)", "p1", "RelTool(p2)"]
    turn = Rotation.from_quat([0.5, 0.5, -0.5, 0.5], scalar_first=True)
    np.testing.assert_allclose(program.positions[0], [0.1, 0.02, 0.09])
    np.testing.assert_allclose(program.positions[2], np.array([0.1, 0.02, 0]) + turn.apply([0, 0.0055, -0.05]))
    np.testing.assert_allclose(program.rotations[0], program.rotations[1])
    assert [s.line for s in program.skipped] == [11, 12, 13]
    assert "not known when the file is read" in program.skipped[0].reason


def test_a_shift_leads_from_the_corrected_point_to_the_corrected_place() -> None:
    program = read_program(RAPID, "rapid")
    rng = np.random.default_rng(2)
    wanted = program.positions + rng.normal(0, 1e-3, program.positions.shape)
    turns = program.rotations.copy()
    turns[1] = Rotation.from_rotvec([2e-3, 0, 1e-3]).as_matrix() @ turns[1]
    new, text = again(program, replace(Changes.none(program), positions=wanted, rotations=turns))
    np.testing.assert_allclose(new.positions, wanted, atol=1e-7)
    np.testing.assert_allclose(new.rotations[0], turns[1], atol=1e-7)
    assert "twice-10" not in text
    assert "CONST num up:=50;" in text


def test_a_parent_that_moves_leaves_its_uncorrected_child_where_it_was() -> None:
    program = read_program(RAPID, "rapid")
    wanted = program.positions.copy()
    wanted[1] += 1e-3
    new, _ = again(program, replace(Changes.none(program), positions=wanted))
    np.testing.assert_allclose(new.positions, wanted, atol=1e-7)


def test_relative_lines_of_krl() -> None:
    program = read_program(KRL, "krl")
    assert [m.line for m in program.moves] == [5, 6, 7, 9, 10]
    assert [s.line for s in program.skipped] == [4, 8, 11]
    np.testing.assert_allclose(program.positions[1], [0.505, 0.01, 0.61])
    np.testing.assert_allclose(program.positions[2], [0.505, 0.01, 0.59], atol=1e-12)  # the tool points down
    wanted = program.positions + np.random.default_rng(1).normal(0, 1e-3, program.positions.shape)
    new, text = again(program, replace(Changes.none(program), positions=wanted))
    np.testing.assert_allclose(new.positions, wanted, atol=2e-7)
    assert "LIN_REL {A 5}" in text
    assert post_kinds()["krl"]().write(program, Changes.none(program)) == dict(program.files)


@pytest.mark.parametrize(
    ("text", "value"),
    [("2*h+1.5", 11.5), ("-(h-1)/2", -2.0), ("1/0", None), ("x", None), ("h**2", None), ("__import__('os')", None),
     ("1" * 300, None), ("9e999", None), ("h.real", None)],
)  # fmt: skip
def test_constants(text: str, value: float | None) -> None:
    assert constant(text, {"h": 5.0}) == value
