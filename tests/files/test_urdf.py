"""The URDF reader against Pinocchio, and against files a user may really have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.errors import InputError, UnknownNameError
from elastocal.files.robot.links import SerialRobot
from elastocal.files.robot.read import read_robot, shipped_text
from elastocal.files.robot.urdf import read_urdf
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.robot import Robot

MED7 = Path(__file__).resolve().parents[3] / "shared" / "data" / "kuka-med7" / "med7_nomesh.urdf"
needs_med7 = pytest.mark.skipif(not MED7.exists(), reason="../shared/data/kuka-med7 is not beside the repository")

LIMIT = '<limit lower="-2" upper="2.5" effort="9" velocity="9"/>'
INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'


def link(name: str, mass: float = 0.0, xyz: str = "0 0 0") -> str:
    if not mass:
        return f'<link name="{name}"/>\n'
    origin = f'<origin rpy="0.4 -1 2" xyz="{xyz}"/>'
    return f'<link name="{name}"><inertial>{origin}<mass value="{mass}"/>{INERTIA}</inertial></link>\n'


def joint(name: str, kind: str, parent: str, child: str, inside: str = "") -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>\n'


def robot(*parts: str) -> str:
    return '<?xml version="1.0"?>\n<robot name="odd">\n' + "".join(parts) + "</robot>\n"


# every kind of joint, axes off the coordinate axes and not of unit length, a follower on the path, and beside the path
# a gripper with mass: a finger, and a flap and a nail that follow the finger and so stand at 0.4 rad and 0.06 m
ODD = robot(
    link("world"),
    link("pedestal", 11.0, "0.3 0.1 0.2"),
    link("upper", 5.0, "0.1 -0.2 0.3"),
    link("carriage", 4.0, "0.3 0.2 0.1"),
    link("wheel", 3.0, "-0.1 0.2 0.05"),
    link("nodding", 2.0, "0.2 0.2 -0.1"),
    link("bracket", 1.5, "0.02 0.03 0.4"),
    link("finger", 0.7, "0.1 0.2 0.3"),
    link("flap", 0.6, "0.3 -0.2 0.1"),
    link("nail", 0.5, "0.1 0.1 0.2"),
    link("tcp"),
    joint("stand", "fixed", "world", "pedestal", '<origin xyz="0.1 0.2 0.3" rpy="0.5 -0.3 1.1"/>'),
    joint("swing", "revolute", "pedestal", "upper", f'<origin xyz="0 0.3 0.1"/><axis xyz="1 2 -0.5"/>{LIMIT}'),
    joint("slide", "prismatic", "upper", "carriage", f'<origin rpy="0.2 0.3 0.4"/><axis xyz="0.3 0 2"/>{LIMIT}'),
    joint("spin", "continuous", "carriage", "wheel", '<origin xyz="0.4 0 0" rpy="0 0 -1.2"/>'),
    joint(
        "nod",
        "revolute",
        "wheel",
        "nodding",
        f'<origin xyz="0.1 0 0.2"/><axis xyz="0 -1 0"/><mimic joint="swing" multiplier="-1.5" offset="0.2"/>{LIMIT}',
    ),
    joint("grip", "prismatic", "nodding", "finger", f'<origin xyz="0 0.1 0"/><axis xyz="0 1 0"/>{LIMIT}'),
    joint(
        "fold",
        "revolute",
        "finger",
        "flap",
        f'<origin xyz="0.1 0 0"/><axis xyz="1 0 2"/><mimic joint="grip" multiplier="3" offset="0.4"/>{LIMIT}',
    ),
    joint("poke", "prismatic", "flap", "nail", f'<axis xyz="0 3 4"/><mimic joint="grip" offset="0.06"/>{LIMIT}'),
    joint("mount", "fixed", "nodding", "bracket", '<origin xyz="0 0 0.3" rpy="1 2 3"/>'),
    joint("point", "fixed", "bracket", "tcp", '<origin xyz="0.05 0.06 0.07"/>'),
)

TWO = (link("a"), link("b", 2.0, "1 2 3"))


def saved(folder: Path, text: str, name: str = "arm.urdf") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def odd(tmp_path: Path) -> SerialRobot:
    return read_urdf(saved(tmp_path, ODD), tool="tcp")


class Oracle:
    """Pinocchio with one row of our joint values at a time; joints it has and we froze stay at zero."""

    def __init__(self, path: Path, ours: Robot) -> None:
        self.pin = pytest.importorskip("pinocchio", reason="Pinocchio is the oracle here and has no Windows wheel")
        self.model = self.pin.buildModelFromUrdf(str(path), mimic=True)
        self.model.gravity.linear = np.array([0.0, 0.0, -9.80665])
        self.data = self.model.createData()
        self.joints = ours.joints

    def configuration(self, q: np.ndarray) -> np.ndarray:
        out = self.pin.neutral(self.model)
        for name, value in zip(self.joints, q, strict=True):
            j = self.model.joints[self.model.getJointId(name)]
            out[j.idx_q : j.idx_q + j.nq] = (np.cos(value), np.sin(value)) if j.nq == 2 else value
        return out

    def placement(self, link_name: str, q: np.ndarray) -> np.ndarray:
        self.pin.framesForwardKinematics(self.model, self.data, self.configuration(q))
        return self.data.oMf[self.model.getFrameId(link_name, self.pin.FrameType.BODY)].homogeneous.copy()

    def gravity_torque(self, q: np.ndarray) -> np.ndarray:
        all_torques = self.pin.computeGeneralizedGravity(self.model, self.data, self.configuration(q))
        return np.array([all_torques[self.model.joints[self.model.getJointId(n)].idx_v] for n in self.joints])


def placements(model: Robot, frame: str, q: np.ndarray) -> np.ndarray:
    """(N, 4, 4)"""
    state = model.chain.evaluate(model.chain.values(q.T, [0.0] * len(model.chain.dofs)), len(q))
    out = np.tile(np.eye(4), (len(q), 1, 1))
    out[:, :3, :3] = np.moveaxis(state.rotation(frame), -1, 0)
    out[:, :3, 3] = state.origin(frame).T
    return out


def potential(model: Robot, q: np.ndarray) -> np.ndarray:
    """Height energy (N,) of all masses, from the frames alone."""
    total = np.zeros(len(q))
    for mass in model.elements:
        assert isinstance(mass, LinkMass)
        total -= placements(model, mass.frame, q)[:, :3] @ (*mass.moment, mass.mass) @ model.gravity
    return total


def gravity_torque(model: Robot, q: np.ndarray, h: float = 1e-4) -> np.ndarray:
    """Derivative (n,) of the energy at one configuration by central differences."""
    step = h * np.eye(model.n)
    return (potential(model, q + step) - potential(model, q - step)) / (2 * h)


def agree(path: Path, robot: SerialRobot, rng: np.random.Generator) -> None:
    oracle = Oracle(path, robot.model)
    q = rng.uniform(-1.9, 1.9, (8, robot.model.n))
    bodies = {f.name for f in oracle.model.frames if f.type == oracle.pin.FrameType.BODY}
    links = sorted(bodies & set(robot.model.tree.names))
    assert len(links) >= 7
    for name in links:
        expected = np.array([oracle.placement(name, row) for row in q])
        assert np.max(np.abs(expected[:, :3, 3])) > 0 or name == "link_0"
        np.testing.assert_allclose(placements(robot.model, name, q), expected, atol=1e-12)
    expected = np.array([oracle.gravity_torque(row) for row in q])
    felt = np.max(np.abs(expected), axis=0)
    assert all(f > 1e-5 for name, f in zip(robot.model.joints, felt, strict=True) if name != "A1"), felt
    np.testing.assert_allclose([gravity_torque(robot.model, row) for row in q], expected, atol=1e-7)


@needs_med7
def test_med7_agrees_with_pinocchio() -> None:
    robot = read_urdf(MED7)
    assert robot.model.joints == ("A1", "A2", "A3", "A4", "A5", "A6", "A7")
    assert robot.model.tool == "link_shaft"
    assert robot.model.motions[1].limits == (-2.0943951023931953, 2.0943951023931953)
    agree(MED7, robot, np.random.default_rng(1))


def test_all_joint_kinds_agree_with_pinocchio(tmp_path: Path, odd: SerialRobot) -> None:
    assert odd.model.joints == ("swing", "slide", "spin")
    agree(tmp_path / "arm.urdf", odd, np.random.default_rng(2))


def test_another_base_keeps_poses_and_the_direction_of_gravity(tmp_path: Path) -> None:
    path = saved(tmp_path, ODD)
    model = read_urdf(path, tool="tcp", base="pedestal").model
    oracle = Oracle(path, model)
    q = np.array([0.7, -0.4, 1.3])
    expected = np.linalg.solve(oracle.placement("pedestal", q), oracle.placement("tcp", q))
    np.testing.assert_allclose(placements(model, "tcp", q[None])[0], expected, atol=1e-12)
    assert abs(model.gravity[0]) > 1
    np.testing.assert_allclose(gravity_torque(model, q), oracle.gravity_torque(q), atol=1e-7)


def test_a_moving_joint_before_the_base_is_frozen_and_named(tmp_path: Path) -> None:
    robot = read_urdf(saved(tmp_path, ODD), tool="tcp", base="upper")
    assert robot.model.joints == ("slide", "spin")
    assert any("'swing' at 0.0 rad is frozen" in n for n in robot.notes)
    assert any("left out: world, pedestal" in n for n in robot.notes)
    # its follower on the path stays where that joint's zero puts it
    assert any("'nod' at 0.2 rad" in n and "'swing'" in n for n in robot.notes)


def test_notes_name_every_assumption(odd: SerialRobot) -> None:
    text = "\n".join(odd.notes)
    assert "9.80665 m/s2 along -z of link 'world'" in text
    assert "link 'world' is frame 'base'" in text
    assert "'grip' at 0.0 m" in text
    assert "'fold' at 0.4 rad, where 'grip' is zero" in text
    assert "'poke' at 0.06 m, where 'grip' is zero" in text
    assert "1.8 kg" in text
    assert odd.left_out == ("grip", "fold", "poke")
    assert len(odd.notes) == 3


def test_frames_masses_and_sources(odd: SerialRobot) -> None:
    tree = odd.model.tree
    assert tree.frame("swing").joint is not None
    assert tree.frame("upper").parent == "swing"
    assert tree.frame("slide").parent == "upper"
    assert tree.joint("nod").follows == "swing"
    assert (tree.joint("nod").ratio, tree.joint("nod").offset) == (-1.5, 0.2)
    assert tree.joint("spin").limits is None
    assert tree.joint("spin").axis == (1.0, 0.0, 0.0)
    mass = next(e for e in odd.model.elements if isinstance(e, LinkMass) and e.frame == "bracket")
    assert mass.mass == 1.5
    np.testing.assert_allclose(mass.moment, (0.03, 0.045, 0.6), rtol=1e-15)
    assert mass.source == "arm.urdf, link bracket"
    assert tree.frame("bracket").source == "arm.urdf, joint mount"
    assert odd.joint_of["bracket"] == "mount"
    assert odd.joint_of["swing"] == "swing"
    assert not {"grip", "fold", "poke"} & {*odd.joint_of, *tree.names}


def test_a_tool_inside_the_tree_leaves_out_what_lies_beyond(tmp_path: Path) -> None:
    robot = read_urdf(saved(tmp_path, ODD), tool="carriage")
    assert robot.model.joints == ("swing", "slide")
    assert robot.left_out == ("spin", "nod", "grip", "fold", "poke")
    assert any("'nod' at 0.2 rad, where 'swing' is zero" in n for n in robot.notes)
    masses = [e.mass for e in robot.model.elements if isinstance(e, LinkMass)]
    assert sum(masses) == pytest.approx(28.3)


def test_a_frozen_zero_outside_the_limits_is_said(tmp_path: Path) -> None:
    limit = '<limit lower="0.5" upper="1"/>'
    text = robot(*TWO, link("c"), joint("j", "revolute", "a", "b", limit), joint("k", "fixed", "a", "c"))
    notes = read_urdf(saved(tmp_path, text), tool="c").notes
    assert any("outside its limits 0.5 to 1.0" in n for n in notes)


def test_the_default_tool_is_the_leaf_with_most_joints(tmp_path: Path) -> None:
    text = robot(
        *TWO,
        link("c"),
        link("camera"),
        joint("look", "fixed", "a", "camera"),
        joint("j", "revolute", "a", "b", LIMIT),
        joint("k", "fixed", "b", "c"),
    )
    assert read_urdf(saved(tmp_path, text)).model.tool == "c"


def test_equal_leaves_ask_for_the_tool(tmp_path: Path) -> None:
    text = robot(*TWO, link("c"), joint("j", "revolute", "a", "b", LIMIT), joint("k", "revolute", "a", "c", LIMIT))
    with refused("missing", parameter="tool"):
        read_urdf(saved(tmp_path, text))


def test_the_last_moving_link_is_the_tool_where_several_are_fixed_to_it(tmp_path: Path) -> None:
    text = robot(*TWO, link("c"), link("d"), joint("j", "revolute", "a", "b", LIMIT),
                 joint("k", "fixed", "b", "c"), joint("l", "fixed", "b", "d"))  # fmt: skip
    read = read_urdf(saved(tmp_path, text))
    assert read.model.tool == "b"
    assert any("link 'b', the last that a joint moves, since c and d are fixed to it" in n for n in read.notes)


def test_a_chain_of_followers_is_referred_to_the_first(tmp_path: Path) -> None:
    text = robot(
        *TWO,
        link("c"),
        link("d"),
        joint("j", "revolute", "a", "b", LIMIT),
        joint("k", "revolute", "b", "c", f'{LIMIT}<mimic joint="j" multiplier="2" offset="0.5"/>'),
        joint("l", "prismatic", "c", "d", f'{LIMIT}<mimic joint="k" multiplier="-3" offset="0.25"/>'),
    )
    last = read_urdf(saved(tmp_path, text)).model.tree.joint("l")
    assert (last.follows, last.ratio, last.offset) == ("j", -6.0, -1.25)


def test_a_follower_without_numbers_does_the_same(tmp_path: Path) -> None:
    follower = joint("k", "revolute", "b", "c", '<mimic joint="j"/>')
    text = robot(*TWO, link("c"), joint("j", "revolute", "a", "b", LIMIT), follower)
    motion = read_urdf(saved(tmp_path, text)).model.tree.joint("k")
    assert (motion.follows, motion.ratio, motion.offset) == ("j", 1.0, 0.0)


def test_a_new_name_is_never_that_of_another_link(tmp_path: Path) -> None:
    text = robot(link("base_frame"), link("base"), joint("f", "fixed", "base_frame", "base"))
    assert read_urdf(saved(tmp_path, text)).model.tree.names == ("base", "base_frame_frame")


def test_clashing_names_are_told_apart(tmp_path: Path) -> None:
    text = robot(
        link("base_link"),
        link("base", 3.0, "0 0 1"),
        link("wrist"),
        link("elbow"),
        joint("b", "fixed", "base_link", "base", '<origin xyz="0 0 0.5"/>'),
        joint("elbow", "revolute", "base", "wrist", f'<origin xyz="0 0 0.25"/>{LIMIT}'),
        joint("wrist", "revolute", "wrist", "elbow", LIMIT),
    )
    read = read_urdf(saved(tmp_path, text))
    assert read.model.tree.names == ("base", "base_frame", "elbow", "wrist_frame", "wrist", "elbow_frame")
    assert "link 'wrist' is frame 'wrist_frame'" in read.notes
    assert "link 'base' is frame 'base_frame'" in read.notes
    assert read.model.tool == "elbow_frame"
    assert read.joint_of["base_frame"] == "b"
    assert placements(read.model, "wrist", np.array([[0.1, 0.2]]))[0, 2, 3] == 0.75


def test_one_frame_where_joint_and_link_share_their_name(tmp_path: Path) -> None:
    text = robot(link("a"), link("j", 2.0), joint("j", "revolute", "a", "j", LIMIT))
    assert read_urdf(saved(tmp_path, text)).model.tree.names == ("base", "j")


def test_missing_limits_are_noted(tmp_path: Path) -> None:
    text = robot(*TWO, joint("j", "revolute", "a", "b", '<limit effort="9" velocity="9"/>'))
    read = read_urdf(saved(tmp_path, text))
    assert read.model.motions[0].limits is None
    assert any("'j' has no limits" in n for n in read.notes)


def test_a_deep_tree_does_not_recurse(tmp_path: Path) -> None:
    n = 900
    parts = [link(f"l{i}") for i in range(n)] + [joint(f"f{i}", "fixed", f"l{i}", f"l{i + 1}") for i in range(n - 1)]
    assert read_urdf(saved(tmp_path, robot(*parts))).model.tool == f"l{n - 1}"


def j(inside: str, kind: str = "revolute") -> str:
    return robot(*TWO, joint("j", kind, "a", "b", inside))


FAULTS = {
    "no link": (robot(), "line 2, <robot> 'odd': holds no <link>"),
    "not robot": ("<sdf><model/></sdf>", "line 1: the outermost element is <sdf>, not <robot>"),
    "not xml": ("solid cube\nfacet", "line 1: not valid XML"),
    "empty": ("", "is empty; give a URDF file"),
    "unclosed": ("<robot>\n<link name='a'>\n</robot>", "line 3: not valid XML"),
    "floating": (j("", "floating"), "line 5, <joint> 'j': type 'floating' moves in several directions"),
    "planar": (j("", "planar"), "type 'planar' moves"),
    "type": (j("", "revolut"), "no joint type 'revolut'; did you mean 'revolute'?"),
    "no type": (robot(*TWO, "<joint name='j'><parent link='a'/><child link='b'/></joint>"), "'j': has no type; add"),
    "no parent": (robot(*TWO, "<joint name='j' type='fixed'><child link='b'/></joint>"), "'j': has no <parent>; add"),
    "no child": (robot(*TWO, "<joint name='j' type='fixed'><parent link='a'/></joint>"), "has no <child>"),
    "unknown link": (
        robot(*TWO, link("tool0"), joint("j", "fixed", "a", "tool1")),
        "line 6, <child> of <joint> 'j': there is no link 'tool1'; did you mean 'tool0'? valid: a, b, tool0",
    ),
    "word": (j('<limit lower="abc" upper="1"/>'), "<limit> of <joint> 'j': lower='abc': 'abc' is not a finite number"),
    "nan": (j('<origin xyz="0 nan 0"/>'), "xyz='0 nan 0': 'nan' is not a finite number"),
    "inf": (j('<origin xyz="0 1e999 0"/>'), "'1e999' is not a finite number"),
    "underscore": (j('<origin xyz="0 1_0 0"/>'), "'1_0' is not a finite number"),
    "commas": (j('<origin xyz="0,0,1"/>'), "xyz='0,0,1' must hold 3 numbers separated by spaces"),
    "two numbers": (j('<origin rpy="0 1"/>'), "rpy='0 1' must hold 3 numbers"),
    "typo": (j('<origin xzy="0 1 0"/>'), "there is no attribute 'xzy'; did you mean 'xyz'?"),
    "quaternion": (j('<origin quat_xyzw="0 0 0 1"/>'), "there is no attribute 'quat_xyzw'"),
    "zero axis": (j('<axis xyz="0 0 0"/>'), "line 5, <axis> of <joint> 'j': xyz='0 0 0' has no direction"),
    "axis without xyz": (j("<axis/>"), "<axis> of <joint> 'j': has no xyz"),
    "reversed": (j('<limit lower="2" upper="1"/>'), "lower 2.0 is not below upper 1.0"),
    "twice": (j('<axis xyz="0 0 1"/><axis xyz="0 1 0"/>'), "stands here for the second time"),
    "mimic nobody": (j('<mimic joint="q"/>'), "there is no moving joint 'q'"),
    "mimic itself": (j('<mimic joint="j"/>'), "mimic leads back to 'j'"),
    "joint called base": (robot(*TWO, joint("base", "revolute", "a", "b")), "'base' is the name of the fixed end"),
    "same link": (robot(*TWO, link("a")), "line 5, <link> 'a': this name stands in line 3 already"),
    "same joint": (j("").replace("</robot>", joint("j", "fixed", "a", "b") + "</robot>"), "stands in line 5 already"),
    "two parents": (
        robot(*TWO, link("c"), *(joint(n, "fixed", p, "c") for n, p in (("p", "a"), ("q", "b")))),
        "line 7, <joint> 'q': link 'c' already hangs on joint 'p' (line 6), which closes a loop",
    ),
    "two roots": (robot(*TWO), "links a, b all lack a parent"),
    "cycle": (
        robot(*TWO, joint("p", "fixed", "a", "b"), joint("q", "fixed", "b", "a")),
        "<joint> 'p': belongs to a cycle",
    ),
    "cycle beside": (
        robot(*TWO, link("c"), joint("p", "fixed", "b", "c"), joint("q", "fixed", "c", "b")),
        "'p': belongs to a cycle",
    ),
    "no mass": (
        robot("<link name='a'><inertial/></link>"),
        "<inertial> of <link> 'a': has no <mass>; add one",
    ),
    "negative mass": (
        robot("<link name='a'><inertial><mass value='-2'/></inertial></link>"),
        "<mass> of <link> 'a': value -2.0 is negative",
    ),
    "xacro": (
        "<robot xmlns:xacro='http://www.ros.org/wiki/xacro'>\n<xacro:property name='x' value='1'/></robot>",
        "line 2, <xacro:property>: this is xacro, not URDF; rename it to .xacro",
    ),
    "xacro prefix": ("<robot>\n<xacro:arm/></robot>", "line 2: not valid XML (Namespace prefix xacro"),
    "xacro value": (j('<origin xyz="0 0 ${h}"/>'), "xyz='0 0 ${h}' is xacro, not a number; rename it to .xacro"),
    "doctype": ("<!DOCTYPE robot [<!ENTITY h '1'>]>\n<robot name='&h;'><link name='a'/></robot>", "holds a DOCTYPE"),
    "entity file": ("<!DOCTYPE robot SYSTEM 'other.dtd'>\n<robot><link name='a'/></robot>", "holds a DOCTYPE"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_faults_name_file_place_and_remedy(tmp_path: Path, case: str) -> None:
    text, expected = FAULTS[case]
    with pytest.raises(InputError) as caught:
        read_urdf(saved(tmp_path, text))
    message = str(caught.value)
    assert message.startswith(str(tmp_path / "arm.urdf"))
    assert expected in message
    assert "\n" not in message


def test_unknown_tool_and_base_list_the_links(tmp_path: Path) -> None:
    path = saved(tmp_path, ODD)
    with refused("unknown-link", "tpc", nearest="tcp") as caught:
        read_urdf(path, tool="tpc")
    assert "flap" in caught.value.allowed
    with refused("unknown-link", "stnad"):
        read_urdf(path, base="stnad")
    with refused("unsupported", "tcp"):
        read_urdf(path, tool="tcp", base="finger")


def test_a_missing_file_and_a_folder_are_said_so(tmp_path: Path) -> None:
    with refused("no-file", file="none.urdf"):
        read_urdf(tmp_path / "none.urdf")
    with refused("no-file", file=tmp_path.name):
        read_urdf(tmp_path)


def test_encodings(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    for codec, declared in (("iso-8859-1", "ISO-8859-1"), ("utf-16", "UTF-16"), ("utf-8-sig", "UTF-8")):
        path.write_bytes(f"<?xml version='1.0' encoding='{declared}'?><robot name='t'><link name='Füße'/></robot>"
                         .encode(codec))  # fmt: skip
        assert "link 'Füße' is frame 'base'" in read_urdf(path).notes
    path.write_bytes("<?xml version='1.0' encoding='UTF-8'?>\n<robot><link name='Füße'/></robot>".encode("latin-1"))
    with refused("not-xml"):
        read_urdf(path)


def test_a_robot_by_name_or_path_as_text_or_path(tmp_path: Path) -> None:
    urdf = saved(tmp_path, ODD)
    for given in (urdf, str(urdf)):
        model = read_robot(given, tool="tcp")
        assert model.joints == ("swing", "slide", "spin")
        assert any("grip" in note for note in model.notes)
    assert read_robot("arm.urdf", tool="tcp", folder=str(tmp_path)).tool == "tcp"
    text = shipped_text("kuka-kr5")
    yaml = saved(tmp_path, text, "kr5.yaml")
    names = {read_robot(given).tool for given in ("kuka-kr5", "kr5", yaml, str(yaml))}
    assert len(names) == 1
    for given in ("kuka-kr5", yaml, str(yaml)):
        assert read_robot(given, tool="A3").tool == "A3"
        with pytest.raises(UnknownNameError) as caught:
            read_robot(given, tool="A9")
        assert {"A1", "A6", "base"} <= set(caught.value.allowed)
    with pytest.raises(UnknownNameError):
        read_robot("nonesuch")


def test_a_joint_names_the_link_it_carries(tmp_path: Path) -> None:
    assert read_urdf(saved(tmp_path, ODD), tool="slide").model.tool == "carriage"


@pytest.mark.parametrize("name", ["flange", "tool0"])
def test_a_link_by_its_name_is_the_tool(tmp_path: Path, name: str) -> None:
    """Also where fingers beyond it make a longer path."""
    text = robot(
        *TWO,
        link(name),
        link("finger", 0.5, "0 0 1"),
        joint("j", "revolute", "a", "b", LIMIT),
        joint("k", "fixed", "b", name, '<origin xyz="0 0 1"/>'),
        joint("f", "prismatic", name, "finger", f'<origin xyz="0 0 1"/><axis xyz="0 0 1"/>{LIMIT}'),
    )
    read = read_urdf(saved(tmp_path, text))
    assert (read.model.tool, read.model.joints, read.left_out) == (name, ("j",), ("f",))
    assert any(name in note for note in read.notes)
    (mass,) = (e for e in read.model.elements if isinstance(e, LinkMass) and e.frame == name)
    assert (mass.mass, mass.moment) == (0.5, (0.0, 0.0, 1.0))


def test_several_fixed_ends_are_the_last_moving_link(tmp_path: Path) -> None:
    ends = [link("camera"), link("marker"), joint("c", "fixed", "b", "camera"), joint("m", "fixed", "b", "marker")]
    read = read_urdf(saved(tmp_path, robot(*TWO, joint("j", "revolute", "a", "b", LIMIT), *ends)))
    assert read.model.tool == "b"
    assert {"camera", "marker"} <= set(read.model.tree.names)


SHARED = MED7.parents[1]
ARM = tuple(f"arm_left_{i}_joint" for i in range(1, 8))
REAL = {
    "talos/talos_full_v2.urdf gripper_left_base_link": ("torso_1_joint", "torso_2_joint", *ARM),
    "tiago/tiago_no_hand.urdf": ("torso_lift_joint", *(f"arm_{i}_joint" for i in range(1, 8))),
    "ur10/ur10_robot.urdf wrist_3_link": (
        "shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint",
    ),
    "ur10/ur10_robot.urdf": (
        "shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint",
    ),
    "staubli-tx40/tx40_mdh_modified.urdf": tuple(f"joint_{i}" for i in range(1, 7)),
    "kuka-med7/med7_nomesh.urdf": tuple(f"A{i}" for i in range(1, 8)),
}  # fmt: skip


@pytest.mark.skipif(not SHARED.exists(), reason="../shared/data is not beside the repository")
@pytest.mark.parametrize("case", REAL)
def test_real_robots_are_the_path_to_their_tool(case: str) -> None:
    """Joints in the order of the path, poses and own weight as in Pinocchio, which knows all branches."""
    file, _, tool = case.partition(" ")
    path = SHARED / file
    read = read_urdf(path, tool or None)
    assert read.model.joints == REAL[case]
    assert bool(tool) != any("tool is taken" in note for note in read.notes)
    assert not set(read.left_out) & set(read.model.tree.names)
    oracle = Oracle(path, read.model)
    q = np.random.default_rng(4).uniform(-1, 1, (3, read.model.n))
    expected = np.array([oracle.placement(read.model.tool, row) for row in q])
    np.testing.assert_allclose(placements(read.model, read.model.tool, q), expected, atol=1e-12)
    torques = np.array([oracle.gravity_torque(row) for row in q])
    np.testing.assert_allclose([gravity_torque(read.model, row) for row in q], torques, atol=2e-6)
