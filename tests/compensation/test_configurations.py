"""Configuration data and active frames that do not fit with the program are named, and nothing is claimed there."""

from __future__ import annotations

import pytest

from elastocal.compensation.run import compensate
from elastocal.files.programs import read_program
from elastocal.files.robot.read import read_robot
from elastocal.spatial.pose import Pose

HEAD = "DEF t()\n$BASE={X 1650,Y -150,Z 750,A 0,B 0,C 0}\n$TOOL={X 0,Y 0,Z 250,A 0,B 0,C 0}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [  # the arm stands at A1 5, A2 -79, A3 102, A4 0, A5 67, A6 -175 or 185 deg
        ("S 2,T 2", ""),
        ("S 2,T 34", ""),
        ("S 2,T 3", "S 2, T 3 does not fit: A1 stands above zero at t.src, line 4;"),
        ("S 2,T 63", "A1 stands above zero, A3 stands above zero, A5 stands above zero at t.src, line 4;"),
    ],
)
def test_turn_bits_against_the_axes_are_named(words: str, said: str) -> None:
    program = read_program({"t.src": f"{HEAD}PTP {{X 0,Y 0,Z 50,A 0,B 0,C 180,{words}}}\nLIN {{X 10,S 7,T 0}}\nEND\n"})
    done = compensate(read_robot("kuka-kr270"), program)
    named = [w.text for w in done.warnings if w.code == "configuration"]
    assert len(named) == bool(said)
    assert all(said in text for text in named)
    assert done.verdict[0].text.startswith("2 of 2 motions" if said else "Every motion")
    assert ("IF THE ARM REACHES THEM AS COMPUTED" in done.verdict[0].text) == bool(said)


LS = """/PROG  A
/MN
   1:  UFRAME_NUM=1 ;
   2:  UTOOL_NUM=1 ;
   3:J P[1] 50% FINE    ;
   4:L P[2] 100mm/sec FINE    ;
   5:  UTOOL_NUM=2 ;
   6:L P[2] 100mm/sec FINE    ;
   7:  CALL CHANGE ;
   8:L P[3] 100mm/sec FINE    ;
   9:  IF DI[1]=ON,JMP LBL[1] ;
  10:  UFRAME_NUM=2 ;
  11:  LBL[1] ;
  12:L P[4] 100mm/sec FINE    ;
/POS
P[1]{
   GP1:
 UF : 1, UT : 1,
 J1= 0 deg, J2= 0 deg, J3= 0 deg, J4= 0 deg, J5= -80 deg, J6= 0 deg
};
"""
POSITION = """P[%d]{
   GP1:
 UF : %d, UT : %d, CONFIG : '%s, 0, 0, 0',
 X = %d mm, Y = 0 mm, Z = 10 mm, W = 180 deg, P = 0 deg, R = 0 deg
};
"""


def test_positions_in_other_frames_than_the_active_ones_and_another_way_of_the_arm() -> None:
    points = ((2, 1, 1, "N U T", 0), (3, 3, 2, "N U T", 100), (4, 2, 2, "F D T", 200))
    text = LS + "".join(POSITION % point for point in points) + "/END\n"
    frames = dict.fromkeys("123", Pose(translation=[1.2, 0, 0.3]))
    tools = {"1": Pose(translation=[0, 0, 0.2]), "2": Pose(translation=[0, 0, 0.3])}
    program = read_program({"A.LS": text}, bases=frames, tools=tools)
    assert {s.line: s.reason for s in program.skipped} == {
        8: "P[2] is stated for tool 1, and tool 2 is active there; it uses P[2], which may be corrected",
        10: "P[3] is stated for user frame 3, and user frame 1 is active there, unless CHANGE changes it",
    }
    assert program.notes == ("A.LS: the call of CHANGE is taken not to change user frame and tool",)
    done = compensate(read_robot("fanuc-m710ic50"), program)
    (named,) = (w.text for w in done.warnings if w.code == "configuration")
    assert named.startswith(
        "F D T, 0, 0, 0 does not fit: J5 stands below zero, the elbow is bent the other way at A.LS"
    )
    assert done.verdict[0].text.startswith("3 of 5 motions")
    assert "IF THE ARM REACHES THEM AS COMPUTED" in done.verdict[0].text
