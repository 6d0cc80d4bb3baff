"""Robot programs to read and rewrite, and naive interpreters of them that share nothing with the readers under test."""

from __future__ import annotations

import csv
import io
import json
import re
from math import cos, radians, sin
from pathlib import Path

import numpy as np

EXAMPLES = Path(__file__).parents[2] / "examples" / "programs"


def example(*names: str) -> dict[str, bytes]:
    return {name: (EXAMPLES / name).read_bytes() for name in names}


KRL = """&ACCESS RVP
DEF part( )
   ; Fräser, Übermaß 0.5 mm {X 1,Y 2}
   PTP {A1 0, A2 -90, A3 90, A4 0, A5 15.5, A6 -20}
   BAS(#TOOL,1)
   $BASE = BASE_DATA[2] ; Teil
   $VEL.CP=0.05
   lin {x 10.5,y 20,z -3.25,a 0,b 10,c 180,s 2,t 'B100011'} C_DIS
   LIN {Z -4,X 30.125} C_DIS ; keys left out, any order
   SLIN {E6POS: X 40,Y 25,Z -4,A 5,B 10,C 180,S 2,T 35,E1 0,E2 0}
   SCIRC {X 45,Y 30,Z -4},{X 50,Y 25,Z -4}
   SPLINE
      SPL P3
      SLIN P4
   ENDSPLINE
   LIN XP1 C_DIS
   LIN XP1:{X 5}
   LIN_REL {Z 10}
   PTP P9
   P5.X=7
   LIN P5
   $IPO_MODE=#TCP
   LIN P3
   $IPO_MODE=#BASE
   LIN {X XVAR,Y 2,Z 3,A 0,B 0,C 0}
END
"""
KRL_DATA = """DEFDAT part PUBLIC
BASE_DATA[2]={X 1700,Y 0,Z 800,A 90,B 0,C 0}
TOOL_DATA[1]={X 200,Y 100,Z 0,A 0,B 90,C 0}
DECL E6POS XP1={X 1.0,Y 2.0,Z 3.0,A 10,B 20,C 30,S 2,T 35,E1 0.0}
DECL POS P3={X 11.0,Y 12.0,Z 13.0,A 15,B 25,C 35,S 2,T 'H23'}
DECL FRAME P4={A -15,B 25,C 35,Z 23.0,Y 22.0,X 21.0}
DECL POS P5={X 5,Y 5,Z 5,A 0,B 0,C 0}
ENDDAT
"""

EAX = "[9E9,9E9,9E9,9E9,9E9,9E9]"
RAPID = rf"""%%%
  VERSION:1
  LANGUAGE:ENGLISH
%%%
MODULE Part
  ! Fräsen: p10:=[[1,2,3],[1,0,0,0]]
  PERS tooldata tMill:=[TRUE,[[200,100,0],[1,0,0,0]],[12,[0,0,80],[1,0,0,0],0,0,0]];
  PERS wobjdata wPart:=[FALSE,TRUE,"",[[1700,-150,800],[1,0,0,0]],[[0,0,10],[0.7071,0,0,0.7071]]];
  PERS wobjdata wTurn:=[FALSE,FALSE,"STN1",[[1700,-150,800],[1,0,0,0]],[[0,0,10],[1,0,0,0]]];
  CONST robtarget p10:=[[10.5,20,-3.25],[0,0.7071,0.7071,0],[0,-1,0,1],{EAX}];
  LOCAL CONST robtarget p20 := [ [100, 20, 0],
     [0.5,0.5,-0.5,0.5], [0,-1,0,1], {EAX} ];
  CONST jointtarget jHome:=[[0,-90,90,0,30,-1.5],{EAX}];
  CONST robtarget list{{2}}:=[[[1,2,3],[1,0,0,0],[0,0,0,0],{EAX}],[[1,2,3],[1,0,0,0],[0,0,0,0],{EAX}]];
  VAR robtarget pCalc;
  PROC main()
    MoveAbsJ jHome\NoEOffs,v1000,fine,tMill\WObj:=wobj0;
    MoveJ Offs(p10,0,0,up),v500,z10,tMill\WObj:=wPart;
    MoveL p10,v100,fine,tMill\WObj:=wPart;
    movel p20,v50,z1,
      tMill\WObj:=wPart; TPWrite "MoveL p99,v1,z1,t;";
    MoveL [[100,50,0],[0,0.6,0.8,0],[0,-1,0,1],{EAX}],v50,fine,tMill\WObj:=wPart;
    MoveC [[105,55,0],[0,1,0,0],[0,0,0,0],{EAX}],[[110,50,0],[0,1,0,0],[0,0,0,0],{EAX}],v50,z1,tMill\WObj:=wPart;
    pCalc:=Offs(p20,0,0,5);
    MoveL pCalc,v50,z1,tMill\WObj:=wPart;
    MoveL list{{1}},v50,z1,tMill\WObj:=wPart;
    MoveL p20,v50,z1,tMill\WObj:=wTurn;
    TriggL p20,v50,trig1,z1,tMill;
    MoveL p10,v100,z1,tMill\WObj:=wPart;
  ENDPROC
ENDMODULE
"""

GCODE = """%
O1000 (CONTOUR ÄÖÜ X1 Y2)
N10 G21 G17 G90 G94
G10 L2 P1 X1700 Y-150 Z800
T1 M6
G54 G0 X0 Y0
Z5. (approach)
N20 G1 Z-2.5 F500 ; plunge
X+100.0
y50
G3 X90 Y60 I-10 J0
X80 Y50 I0 J-10
G1 X0 F800 M8
G2 X-10 Y40 R10
G91 G1 X10 Y-40
X.5Y.5
/ X5
G90 X20 Y0
X20 Y20 Z0
X#100
Y3
G28 Z0
M30
%"""

SIEMENS = """; 5-Achs
N10 G71 G90 G17 TRAORI
N20 T1 D1 M6
N30 G54 G0 X0 Y0 Z50 A3=0 B3=0 C3=1
N40 G1 X=10.5 Y10 Z0 A3=0.1 B3=0 C3=0.99498744 F1000
N50 X20 Y12
N60 X=IC(5)
N70 X30 Y12 Z1 A3=0.2 B3=0 C3=0.9797959
N80 G2 X40 Y22 CR=10
N90 CYCLE832(0.01,1,1)
N100 M30
"""

CSV = """# Fräsbahn
# base {X 1700, Y -150, Z 800, A 0, B 0, C 0}
name;x_mm;y_mm;z_mm;a_deg;b_deg;c_deg;fx_N;tz_Nm;feed_mm_min;power
p1;10,5;20;0;90;0;170;-200;3;500;3
p2;100,0;20;0;90;10;180;-200;3;500;3
p3;abc;20;0;90;0;180;-200;3;500;3
"p;4";"100,0";50;0;-90;0;180;-200;3;500;3
"""

# written from the structure of FANUC's ASCII programs: Handling Tool operator's manual, "ASCII program"
FANUC = """/PROG  PART
/ATTR
OWNER       = MNEDITOR;
COMMENT     = "Fräsen";
PROG_SIZE   = 636;
LINE_COUNT  = 16;
DEFAULT_GROUP   = 1,*,*,*,*;
/MN
   1:  !approach P[1] ;
   2:  UFRAME_NUM=1 ;
   3:  UTOOL_NUM=1 ;
   4:J P[1:HOME] 20% FINE    ;
   5:J P[2] 50% CNT10    ;
   6:L P[3] 500mm/sec CNT100    ;
   7:L P[4] 1200cm/min FINE    ;
   8:C P[5]
    :  P[6] 100mm/sec FINE    ;
   9:L PR[1] 100mm/sec FINE    ;
  10:L P[3] 100mm/sec FINE Offset,PR[2]    ;
  11:  P[8]=PR[3]    ;
  12:L P[8] 100mm/sec FINE    ;
  13:  CALL GRIP    ;
  14:L P[9] 100mm/sec FINE    ;
  15:  //L P[3] 100mm/sec FINE    ;
  16:A P[3] 100mm/sec FINE    ;
/POS
P[1:"HOME"]{
   GP1:
\tUF : 1, UT : 1,
\tJ1=     0.000 deg,\tJ2=   -20.000 deg,\tJ3=    10.500 deg,
\tJ4=     0.000 deg,\tJ5=   -80.000 deg,\tJ6=     0.000 deg
};
P[2]{
   GP1:
\tUF : 1, UT : 1,\t\tCONFIG : 'N U T, 0, 0, 0',
\tX =   210.500  mm,\tY =    20.000  mm,\tZ =    53.250  mm,
\tW =   180.000 deg,\tP =      .000 deg,\tR =   -30.000 deg
};
P[3]{
   GP1:
\tUF : 1, UT : 1,\t\tCONFIG : 'N U T, 0, 0, 0',
\tX =   210.500  mm,\tY =    20.000  mm,\tZ =    -3.250  mm,
\tW =   180.000 deg,\tP =    10.000 deg,\tR =   -30.000 deg
};
P[4]{
   GP1:
\tUF : 1, UT : 1,\t\tCONFIG : 'N U T, 0, 0, 0',
\tX =   310.500  mm,\tY =    20.000  mm,\tZ =    -3.250  mm,
\tW =   180.000 deg,\tP =    10.000 deg,\tR =   -30.000 deg,
\tE1=   100.000  mm
   GP2:
\tUF : 1, UT : 1,
\tJ1=    90.000 deg
};
P[5]{
   GP1:
\tUF : F, UT : F,\t\tCONFIG : 'N U T, 0, 0, 0',
\tX =   330.500  mm,\tY =    30.000  mm,\tZ =    -3.250  mm,
\tW =  -179.000 deg,\tP =    10.000 deg,\tR =   -30.000 deg
};
P[6]{
   GP1:
\tUF : 1, UT : 1,\t\tCONFIG : 'N U T, 0, 0, 0',
\tX =   310.500  mm,\tY =    40.000  mm,\tZ =    -3.250  mm,
\tW =   180.000 deg,\tP =    10.000 deg,\tR =   -30.000 deg
};
P[8]{
   GP1:
\tUF : 1, UT : 1,\t\tCONFIG : 'N U T, 0, 0, 0',
\tX =   310.500  mm,\tY =    40.000  mm,\tZ =    -3.250  mm,
\tW =   180.000 deg,\tP =    10.000 deg,\tR =   -30.000 deg
};
P[9]{
   GP1:
\tUF : 1, UT : 1,\t\tCONFIG : 'N U T, 0, 0, 0',
\tX =********  mm,\tY =    40.000  mm,\tZ =    -3.250  mm,
\tW =   180.000 deg,\tP =    10.000 deg,\tR =   -30.000 deg
};
/END
"""
# written from "The URScript Programming Language" (Universal Robots), chapter Motion
URSCRIPT = """def part():
  # Fräsen p[1,2,3,0,0,0]
  set_tcp(p[0.0, 0.0, 0.1505, 0.0, 0.0, 0.0])
  global home_q=[-1.57, -1.7, -2.2, -0.8, 1.57, 0.0]
  global via_p=p[0.45, -0.2, 0.3, 2.2214, -2.2214, 0.0]
  movej(home_q, a=1.4, v=1.05)
  movej(get_inverse_kin(via_p, qnear=home_q), a=1.4, v=1.05)
  movel(p[.45, -0.2, 0.25, 2.2214, -2.2214, 0.0], a=1.2, v=0.25, r=0.001)
  movel(p[0.5, -0.2, 0.25, 2.2214, -2.2214, 0.1], a=1.2, v=0.25)
  movec(p[0.52, -0.18, 0.25, 2.2214, -2.2214, 0.0], p[0.5, -0.16, 0.25, 2.2214, -2.2214, 0.0], a=1.2, v=0.25)
  movel(pose_trans(via_p, p[0, 0, 0.05, 0, 0, 0]), a=1.2, v=0.25)
  servoj([0, 0, 0, 0, 0, 0], t=0.1)
  if digital_in[0]:
    movel(via_p, v=0.1)
  end
  moved = p[0.5, 0, 0, 0, 0, 0]
  moved = pose_add(moved, via_p)
  movel(moved)
end
"""
# written from the Yaskawa INFORM and data transmission manuals (job data, relative job)
JBI = """/JOB
//NAME PART
//POS
///NPOS 6,0,0,1,0,0
///TOOL 1
///POSTYPE PULSE
///PULSE
C00000=0,-18000,-42000,0,-39000,0
///USER 2
///POSTYPE USER
///RECTAN
///RCONF 1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0
C00001=210.500,20.000,-3.250,180.00,0.00,-30.00
C00002=310.500,20.000,-3.250,180.00,10.00,-30.00
C00003=320.500, 30.000,-3.250,-179.00,10.00,-30.00
///POSTYPE BASE
C00004=1310.500,20.000,400.000,180.00,10.00,-30.00
C00005=1310.500,20.000,abc,180.00,10.00,-30.00
//INST
///DATE 2026/11/17 00:00
///COMM Fräsen
///ATTR SC,RW
///GROUP1 RB1
NOP
'Fräser C00001
MOVJ C00000 VJ=20.00
MOVJ C00001 VJ=20.00
MOVL C00002 V=100.0 PL=0
MOVS C00003 V=100.0
DOUT OT#(1) ON
MOVL C00004 V=50.0
MOVL C00005 V=50.0
MOVL P001 V=50.0
IMOV P002 V=50.0
CALL JOB:GRIP
MOVL C00002 V=100.0
END
"""
# written from the CATIA and Vericut help on APT source
APT = """$$ Fräsbahn GOTO/1,2,3
PARTNO/POCKET
UNITS/MM
MULTAX/ON
CUTTER/10.000000,0.000000
LOADTL/1
SPINDL/9000.0000,RPM,CLW
FROM/0.00000,0.00000,100.00000,0.000000,0.000000,1.000000
RAPID
GOTO/10.50000,20.00000,50.00000,0.000000,0.000000,1.000000
FEDRAT/1000.0000,MMPM
GOTO/10.50000,20.00000,-3.25000,0.000000,0.100000,0.994987 $$ plunge
GOTO / 100.0, 20, -3.25, 0.0, 0.1, 0.99498744
GOTO/100.00000,50.00000,$
-3.25000,0.000000,0.100000,0.994987
GOTO/90.00000,60.00000,-3.25000
GODLTA/0,0,5
CYCLE/DRILL,10
GOTO/abc,1,2
GOTO/80.00000,60.00000,-3.25000
FINI
"""

PROGRAMS: dict[str, list[dict[str, str]]] = {
    "fanuc": [{"part.ls": FANUC}],
    "urscript": [{"part.script": URSCRIPT}],
    "jbi": [{"part.jbi": JBI}],
    "apt": [{"part.apt": APT}],
    "krl": [{"part.src": KRL, "part.dat": KRL_DATA}],
    "rapid": [{"part.mod": RAPID}],
    "gcode": [{"part.nc": GCODE}, {"part.mpf": SIEMENS}],
    "csv": [{"path.csv": CSV}],
}


def encoded(files: dict[str, str], encoding: str = "utf-8", newline: str = "\n", end: bool = True) -> dict[str, bytes]:
    texts = {name: text if end else text.rstrip("\n") for name, text in files.items()}
    return {name: text.replace("\n", newline).encode(encoding) for name, text in texts.items()}


# --- rotations, written out ---------------------------------------------------------------------------------------


def about(axis: str, degrees: float) -> np.ndarray:
    c, s = cos(radians(degrees)), sin(radians(degrees))
    matrices = {
        "x": [[1, 0, 0], [0, c, -s], [0, s, c]],
        "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
        "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]],
    }
    return np.array(matrices[axis])


def kuka(a: float, b: float, c: float) -> np.ndarray:
    return about("z", a) @ about("y", b) @ about("x", c)


def of_quaternion(w: float, x: float, y: float, z: float) -> np.ndarray:
    w, x, y, z = np.array([w, x, y, z]) / np.sqrt(w * w + x * x + y * y + z * z)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


# --- interpreters: every pose that a program drives to, as (mm, rotation) -------------------------------------------


def krl_poses(src: str, dat: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Poses of LIN, SLIN, SPL, PTP, CIRC and SCIRC with literals or names from the .dat file."""
    data = {n.upper(): body for n, body in re.findall(r"(?m)^DECL \w+ (\w+)=\{(.*)\}", dat)}
    out, now = [], {}
    for line in src.splitlines():
        code = line.split(";")[0].strip()
        if not re.match(r"(?i)(S?LIN|S?PTP|S?CIRC|SPL)\s", code) or "XVAR" in code or ":{" in code:
            continue
        bodies = re.findall(r"\{([^}]*)\}", code) or [data.get(code.split()[1].upper(), "A1 0")]
        for body in bodies:
            pairs = dict(re.findall(r"\b([XYZABC]|A1)\s+([-+\d.]+)", body.upper()))
            if "A1" in pairs:
                continue
            now = {**now, **{k: float(v) for k, v in pairs.items()}}
            out.append((np.array([now[k] for k in "XYZ"]), kuka(now["A"], now["B"], now["C"])))
    return out


def rapid_targets(text: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Every robtarget literal of the file that is not in an array, in the order of the text."""
    code = re.sub(r"!.*|\"[^\"\n]*\"", "", text)
    code = re.sub(r"(?s)list\{2\}:=.*?;", "", code)
    out = []
    for found in re.findall(r"\[\s*\[[^\[\]]*\]\s*,\s*\[[^\[\]]*\]\s*,\s*\[[^\[\]]*\]\s*,\s*\[[^\[\]]*\]\s*\]", code):
        place, quaternion, _, _ = json.loads(found)
        if len(quaternion) == 4:
            out.append((np.array(place), of_quaternion(*quaternion)))
    return out


def gcode_places(text: str) -> list[np.ndarray]:
    """X Y Z (mm) after every straight move; what is not understood makes it forget where it is."""
    at, absolute, out = {}, True, []
    for line in text.splitlines():
        code = re.sub(r"\([^)]*\)|;.*|^\s*/", "", line.upper())
        words = re.findall(r"([A-Z](?:\d(?==))?)=?\s*([-+]?\d*\.?\d+)", code)
        letters = [w for w, _ in words]
        codes = {float(v) for w, v in words if w == "G"}
        if "#" in code or "IC(" in code or codes & {28.0} or "CYCLE" in code:
            at = {}
            continue
        if 10.0 in codes or codes & {2.0, 3.0}:
            continue
        absolute = True if 90.0 in codes else False if 91.0 in codes else absolute
        if not {"X", "Y", "Z"} & set(letters):
            continue
        for letter, value in words:
            if letter in "XYZ":
                at[letter] = float(value) if absolute else at[letter] + float(value)
        if len(at) == 3:
            out.append(np.array([at[k] for k in "XYZ"]))
    return out


def gcode_motions(text: str) -> dict[str, float | None]:
    """The motion in force (group 1) on every line that ends in a comment, by that comment; block delete is off.

    Controls refuse two motions in a block, and a motion beside what uses its coordinates otherwise: so does this.
    """
    force, out = None, {}
    for line in text.splitlines():
        code = re.sub(r"\([^)]*\)|^\s*/", "", line.upper())
        codes = [float(v) for v in re.findall(r"(?<![A-Z])G(\d+(?:\.\d)?)", code)]
        own = [c for c in codes if c < 4 or c in (5, 33, 38.2)]
        others = [c for c in codes if c in (28, 65, 68, 92) or (73 <= c <= 89 and c != 80)]
        assert len(own) + len(others) <= 1, line
        force = own[0] if own else force
        mark = re.search(r"\((\w+)\)\s*$", line)
        if mark:
            out[mark[1]] = force
    return out


def csv_rows(text: str) -> list[dict[str, str]]:
    plain = "\n".join(s for s in text.splitlines() if not s.startswith("#"))
    return list(csv.DictReader(io.StringIO(plain), delimiter=";" if ";" in plain else ","))
