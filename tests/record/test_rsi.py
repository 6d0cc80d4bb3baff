"""The recorder against a simulated controller on loopback: answers, log and counts, for every fault of a network."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from base64 import b64decode
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.app.commands.record import record as run
from elastocal.app.commands.record import status_line
from elastocal.errors import InputError
from elastocal.files.log.read import read_log
from elastocal.files.robot.read import read_robot
from elastocal.files.write import AppendedLog
from elastocal.record.network import Address, bound, listen, read_address
from elastocal.record.rsi import FIRST_LINE, Peer, record
from elastocal.record.simulated import FIRST, Sent, send, telegram_at
from elastocal.record.statistics import TelegramTally

KR5 = read_robot("kuka-kr5")
LOOPBACK = read_address("127.0.0.1:0")
COUNT = 160


@dataclass(frozen=True)
class Faults:
    """Shares of telegrams: never sent, sent twice, sent after the next one, cut in half."""

    lost: float = 0.0
    doubled: float = 0.0
    reordered: float = 0.0
    malformed: float = 0.0


def planned_telegrams(number: int, cycle_ms: int, faults: Faults, rng: np.random.Generator) -> list[Sent]:
    """What is sent, in order; the first two and the last telegram have no fault, so that every loss shows."""
    out: list[Sent] = []
    held: Sent | None = None
    shares = np.cumsum([faults.lost, faults.doubled, faults.reordered, faults.malformed])
    for step, draw in enumerate(rng.random(number)):
        sent = Sent(step, FIRST + step * cycle_ms, telegram_at(step, cycle_ms))
        fault = int(np.searchsorted(shares, draw, side="right")) if 1 < step < number - 2 and held is None else 4
        if fault == 2:
            held = sent
            continue
        if fault == 3:
            sent = Sent(step, sent.ipoc, sent.data[: len(sent.data) // 2], whole=False)
        out += [[], [sent, sent], [], [sent], [sent]][fault]
        if held is not None:
            out.append(Sent(step, held.ipoc, held.data))
            held = None
    return out


class Recording:
    """A recorder in a thread."""

    def __init__(self, out: Path, controller: str | None = None) -> None:
        self.tally, self.ended, self.peer = TelegramTally(), threading.Event(), Peer(controller)
        self.sock = listen(LOOPBACK)
        self.address = bound(self.sock)
        self.log = AppendedLog(out, FIRST_LINE)
        self.thread = threading.Thread(
            target=record, args=(self.sock, self.log, self.tally, "ImFree", self.ended.is_set, self.peer)
        )


@contextmanager
def recording(out: Path, controller: str | None = None):
    found = Recording(out, controller)
    with found.sock, found.log:
        found.thread.start()
        try:
            yield found
        finally:
            found.ended.set()
            found.thread.join()


PACE = 1
"""ms between telegrams, whatever cycle their counters tell of: nothing here is about the time between two of them."""


def sent(plan, address):
    """All answers, however long they take on a busy machine."""
    return send(plan, PACE, address, patience=60.0, awaited=sum(s.whole for s in plan))


def ipoc_of(answer: bytes) -> int:
    """The counter of an answer that holds nothing else."""
    root = ElementTree.fromstring(answer)
    assert (root.tag, root.attrib, [e.tag for e in root]) == ("Sen", {"Type": "ImFree"}, ["IPOC"])
    assert answer == b'<Sen Type="ImFree"><IPOC>%d</IPOC></Sen>' % int(root[0].text)
    return int(root[0].text)


@pytest.mark.parametrize("cycle", [4, 12])
def test_a_clean_stream(tmp_path, cycle):
    plan = planned_telegrams(COUNT, cycle, Faults(), np.random.default_rng(0))
    with recording(tmp_path / "log.xml") as found:
        answers = sent(plan, found.address)
    assert [ipoc_of(a) for a in answers] == [FIRST + cycle * i for i in range(COUNT)]
    s = found.tally.summary()
    assert (s.telegrams, s.answered, s.lost, s.reordered, s.doubled, s.malformed) == (COUNT, COUNT, 0, 0, 0, 0)
    assert s.step == cycle
    log = read_log(tmp_path / "log.xml", KR5)
    assert len(log.notes) == 1
    np.testing.assert_allclose(log.time, 1e-3 * cycle * np.arange(COUNT))
    a2 = np.radians(-90 + 30 * np.sin(2 * np.pi * log.time / 20))
    np.testing.assert_allclose(log.q[:, 1], a2, atol=np.radians(1e-4))


@pytest.mark.parametrize("cycle", [4, 12])
def test_loss_doubling_reordering_and_spoilt_telegrams(tmp_path, cycle):
    faults = Faults(lost=0.08, doubled=0.08, reordered=0.08, malformed=0.08)
    plan = planned_telegrams(COUNT, cycle, faults, np.random.default_rng(cycle))
    whole = [s.ipoc for s in plan if s.whole]
    assert min(len(plan) - len(whole), len(whole) - len(set(whole)), COUNT - len({s.ipoc for s in plan})) > 3
    with recording(tmp_path / "log.xml") as found:
        answers = sent(plan, found.address)
    assert Counter(ipoc_of(a) for a in answers) == Counter(whole)
    s = found.tally.summary()
    assert s.telegrams == s.answered == len(whole)
    assert s.malformed == len(plan) - len(whole)
    assert s.doubled == len(whole) - len(set(whole))
    assert s.lost == COUNT - len(set(whole))
    different = list(dict.fromkeys(whole))
    assert s.reordered == sum(n < max(different[:i], default=0) for i, n in enumerate(different)) > 3
    log = read_log(tmp_path / "log.xml", KR5)
    assert np.rint(1e3 * log.time).astype(int).tolist() == [n - FIRST for n in sorted(set(whole))]
    notes = " ".join(log.notes)
    assert f"{s.reordered} telegrams came out of order" in notes
    assert f"{s.lost} telegrams are missing" in notes
    assert re.search(rf"{s.doubled} pieces left out, doubled", notes)
    assert re.search(rf"{s.malformed} pieces left out, set aside by the recorder as malformed", notes)


HOSTILE = (
    b"",
    b"\0" * 40,
    b"--> <Rob><IPOC>1</IPOC></Rob>",
    b'<!DOCTYPE r [<!ENTITY a "x">]><Rob A="&a;"><IPOC>1</IPOC></Rob>',
    b"<Rob><IPOC>1</IPOC><IPOC>2</IPOC></Rob>",
    b'<Rob x="--><Rob><IPOC>7</IPOC></Rob>',
    os.urandom(60_000),
)


def test_hostile_datagrams_are_set_aside_whole_and_not_answered(tmp_path):
    with (
        recording(tmp_path / "log.xml", "127.0.0.1") as found,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock,
    ):
        sock.settimeout(5)
        for data in HOSTILE:
            sock.sendto(data, (str(found.address.ip), found.address.port))
        sock.sendto(telegram_at(0, 4) + b"\r\n\0", (str(found.address.ip), found.address.port))
        assert ipoc_of(sock.recv(2048)) == FIRST
        wait(lambda: (tmp_path / "log.xml").read_bytes().count(b"\n") == 2 + len(HOSTILE))
    assert found.tally.summary().malformed == len(HOSTILE)
    assert found.tally.summary().answered == 1
    lines = (tmp_path / "log.xml").read_bytes().splitlines()
    assert lines[0] == FIRST_LINE
    assert lines[-1] == telegram_at(0, 4)
    kept = [b64decode(line.removesuffix(b" -->").rpartition(b": ")[2]) for line in lines[1:-1]]
    assert kept == list(HOSTILE)
    log = read_log(tmp_path / "log.xml", KR5)
    assert log.count == 1
    assert f"{len(HOSTILE)} pieces left out, set aside by the recorder" in " ".join(log.notes)


def test_a_telegram_of_several_lines_is_one_line_of_the_log(tmp_path):
    with (
        recording(tmp_path / "log.xml", "127.0.0.1") as found,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock,
    ):
        sock.settimeout(5)
        sock.sendto(telegram_at(3, 4).replace(b"><", b">\r\n<"), (str(found.address.ip), found.address.port))
        assert ipoc_of(sock.recv(2048)) == FIRST + 12
        wait(lambda: (tmp_path / "log.xml").read_bytes().count(b"\n") == 2)
    assert read_log(tmp_path / "log.xml", KR5).lines.tolist() == [2]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has all of 127.0.0.0/8 on its loopback")
def test_only_the_controller_that_is_named_is_answered(tmp_path):
    with recording(tmp_path / "log.xml", "127.0.0.3") as found:
        heard = {}
        for host, patience in (("127.0.0.2", 0.3), ("127.0.0.3", 5)):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
                sock.bind((host, 0))
                sock.settimeout(patience)
                sock.sendto(telegram_at(0, 4), (str(found.address.ip), found.address.port))
                try:
                    heard[host] = ipoc_of(sock.recv(2048))
                except TimeoutError:
                    heard[host] = None
    assert heard == {"127.0.0.2": None, "127.0.0.3": FIRST}
    assert (found.tally.summary().foreign, found.tally.summary().telegrams) == (1, 1)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has all of 127.0.0.0/8 on its loopback")
def test_a_false_telegram_before_the_first_starves_nobody(tmp_path):
    with recording(tmp_path / "log.xml") as found:
        for host, count in (("127.0.0.2", 1), ("127.0.0.3", 7), ("127.0.0.2", 1)):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
                sock.bind((host, 0))
                sock.settimeout(20)
                for step in range(count):
                    sock.sendto(telegram_at(step, 4), (str(found.address.ip), found.address.port))
                    if host == "127.0.0.3":
                        assert ipoc_of(sock.recv(2048)) == FIRST + 4 * step
        wait(lambda: found.tally.foreign == 2)
    s = found.tally.summary()
    assert (s.telegrams, s.answered, s.foreign, found.peer.learned) == (7, 7, 2, ["127.0.0.3"])
    assert read_log(tmp_path / "log.xml", KR5).lines.tolist() == list(range(2, 9))


def test_the_answer_leaves_before_anything_is_written(tmp_path):
    class Held:
        """A disk that does not take anything until it may."""

        may = threading.Event()
        lines: tuple[bytes, ...] = ()

        def add(self, line):
            assert self.may.wait(20)
            self.lines += (line,)

    ended, tally, held = threading.Event(), TelegramTally(), Held()
    with listen(LOOPBACK) as sock, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mine:
        thread = threading.Thread(target=record, args=(sock, held, tally, "ImFree", ended.is_set, Peer("127.0.0.1")))
        thread.start()
        mine.settimeout(10)
        mine.sendto(telegram_at(0, 12), sock.getsockname())
        assert ipoc_of(mine.recv(2048)) == FIRST
        assert held.lines == ()
        held.may.set()
        wait(lambda: held.lines == (telegram_at(0, 12),))
        ended.set()
        thread.join()


def test_an_answer_that_cannot_be_sent_is_counted_and_the_telegram_logged(tmp_path, monkeypatch):
    monkeypatch.setattr("elastocal.record.rsi.answer", lambda telegram, sender: b" " * 100_000)
    with (
        recording(tmp_path / "log.xml", "127.0.0.1") as found,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock,
    ):
        sock.sendto(telegram_at(0, 4), (str(found.address.ip), found.address.port))
        wait(lambda: b"<Rob" in (tmp_path / "log.xml").read_bytes())
    s = found.tally.summary()
    assert (s.telegrams, s.answered, s.unanswered) == (1, 0, 1)


def wait(true, seconds=20.0):
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until
        time.sleep(0.01)


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@contextmanager
def process(out: Path, *words: str):
    """The command in a process of its own, listening, with its address."""
    port = free_port()
    line = [sys.executable, "-m", "elastocal", "record", "rsi", "--listen", f"127.0.0.1:{port}", "--out", str(out)]
    with subprocess.Popen([*line, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        try:
            wait(lambda: out.exists() and out.stat().st_size > 0)
            yield running, Address(ip_address("127.0.0.1"), port)
        finally:
            running.kill()


def test_a_killed_recorder_has_logged_what_it_answered(tmp_path):
    """At most the telegram in hand may be answered and not logged."""
    out = tmp_path / "log.xml"
    answers: list[bytes] = []
    plan = planned_telegrams(2000, 4, Faults(), np.random.default_rng(0))
    with process(out) as (running, address):
        sending = threading.Thread(target=lambda: answers.extend(send(plan, 4, address)))
        sending.start()
        wait(lambda: out.stat().st_size > 60_000)
        running.send_signal(signal.SIGKILL)
        running.wait()
        sending.join()
    assert running.returncode == -signal.SIGKILL
    answered = {ipoc_of(a) for a in answers}
    log = read_log(out, KR5)
    logged = {FIRST + round(1e3 * t) for t in log.time}
    assert len(answered) > 200
    assert len(answered - logged) <= 1
    assert answered - logged <= {max(answered)}
    assert logged <= {s.ipoc for s in plan}
    assert not any("cut off" in n for n in log.notes)


@pytest.mark.parametrize(("number", "name"), [(signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "SIGTERM")])
def test_a_signal_ends_it_in_good_order(tmp_path, number, name):
    out = tmp_path / "log.xml"
    with process(out, "--json") as (running, address):
        answers = sent(planned_telegrams(50, 4, Faults(), np.random.default_rng(0)), address)
        running.send_signal(number)
        said, complained = running.communicate(timeout=60)
    assert running.returncode == 0, complained
    data = json.loads(said)
    assert data["inputs"]["ended_by"] == name
    assert {r["kind"]: r["count"] for r in data["telegrams"]}["telegrams"] == len(answers) == 50
    assert read_log(out, KR5).count == 50


@pytest.mark.parametrize("cycle", [4, 12])
def test_a_rehearsal_ends_by_its_count(tmp_path, cycle):
    result = run("rsi", "127.0.0.1:0", tmp_path / "a.xml", most=40, rehearse=cycle)
    assert (result.ended, result.summary.telegrams, result.summary.step) == ("40 telegrams", 40, cycle)
    assert not result.failed
    assert "/s, 40 telegrams: late " in status_line(result.summary, "x")
    assert read_log(tmp_path / "a.xml", KR5).count == 40


def test_silence_ends_by_its_time_and_is_a_failure(tmp_path):
    result = run("rsi", "127.0.0.1:0", tmp_path / "a.xml", duration=0.2)
    assert result.ended == "0.2 s"
    assert "no telegram came to 127.0.0.1:" in result.failed
    assert status_line(result.summary, "x").startswith("x: waiting")


def test_a_full_disk_ends_it_and_keeps_what_was_written(tmp_path, monkeypatch):
    real, lines = os.write, []

    def full(file, data):
        if bytes(data).startswith(b"<Rob"):
            lines.append(bytes(data))
            if len(lines) > 10:
                raise OSError(28, "No space left on device")
        return real(file, data)

    monkeypatch.setattr("elastocal.files.write.os.write", full)
    result = run("rsi", "127.0.0.1:0", tmp_path / "a.xml", duration=30, rehearse=4)
    assert "No space left on device" in result.failed
    assert result.ended == "an error"
    assert read_log(tmp_path / "a.xml", KR5).count == 10


def test_a_line_is_written_whole_where_the_system_takes_it_in_pieces(tmp_path, monkeypatch):
    real = os.write
    monkeypatch.setattr("elastocal.files.write.os.write", lambda file, data: real(file, bytes(data)[:7]))
    with AppendedLog(tmp_path / "a.xml", b"first") as log:
        log.add(b"a line of more than seven bytes")
    assert (tmp_path / "a.xml").read_bytes() == b"first\na line of more than seven bytes\n"


def test_a_disk_that_fails_to_keep_is_noticed(tmp_path, monkeypatch):
    def fail(file):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("elastocal.files.write.SYNC_EVERY", 0.01)
    monkeypatch.setattr("elastocal.files.write.os.fsync", fail)
    with AppendedLog(tmp_path / "a.xml", b"first") as log:
        wait(lambda: log._failed is not None)
        with pytest.raises(OSError, match="Input/output"):
            log.add(b"second")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0.0.0.0:49152", ("all-networks", "0.0.0.0:49152")),
        ("[::]:49152", ("all-networks", "[::]:49152")),
        ("[::ffff:0.0.0.0]:49152", ("all-networks", "[::ffff:0.0.0.0]:49152")),
        ("224.0.0.1:49152", ("multicast", "224.0.0.1:49152")),
        ("255.255.255.255:49152", ("multicast", "255.255.255.255:49152")),
        (":49152", ("address", ":49152")),
        ("*:49152", ("address", "*:49152")),
        ("localhost:49152", ("address", "localhost:49152")),
        ("192.168.1.10", ("port", "192.168.1.10")),
        ("192.168.1.10:", ("port", "192.168.1.10:")),
        ("192.168.1.10:70000", ("port", "192.168.1.10:70000")),
        ("192.168.1.10:4x", ("port", "192.168.1.10:4x")),
    ],
)
def test_addresses_that_are_refused(text, said):
    with refused(*said) as error:
        read_address(text)
    assert (error.value.parameter, error.value.value) == ("listen", text)


def test_addresses_that_are_taken_or_elsewhere():
    with listen(LOOPBACK) as sock:
        taken = bound(sock)
        with refused("address-taken", str(taken), parameter="listen"):
            listen(taken)
    with refused("address-elsewhere", "192.0.2.1:49152", parameter="listen"):
        listen(read_address("192.0.2.1:49152"))
    assert str(read_address("[::1]:5")) == "[::1]:5"


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"protocol": "egm"}, "unknown-protocol"),
        ({"duration": 0.0}, "range"),
        ({"duration": float("nan")}, "range"),
        ({"most": 0}, "range"),
        ({"rehearse": 5}, "range"),
        ({"rehearse": 4, "listen": "192.168.1.10:0"}, "conflict"),
        ({"controller": "krc"}, "format"),
        ({"sen_type": '"/><AKorr A1="1'}, "range"),
    ],
)
def test_wrong_requests_write_nothing(tmp_path, changed, code):
    plain = {"protocol": "rsi", "listen": "127.0.0.1:0", "out": tmp_path / "a.xml"}
    with pytest.raises(InputError) as error:
        run(**{**plain, **changed})
    assert error.value.code == code
    if len(changed) == 1 and error.value.parameter:
        assert str({error.value.parameter: error.value.value}) == str(changed)
    assert list(tmp_path.iterdir()) == []


def test_no_recording_is_overwritten(tmp_path):
    (tmp_path / "a.xml").write_text("old", encoding="utf-8")
    with refused("would-replace", file="a.xml", parameter="out"):
        run("rsi", "127.0.0.1:0", tmp_path / "a.xml", duration=1)
    assert (tmp_path / "a.xml").read_text(encoding="utf-8") == "old"
