"""Nobody but the owner's browser talks to the studio, and it touches nothing outside of its folder."""

from __future__ import annotations

import re
import socket
from contextlib import suppress
from pathlib import Path

import pytest
from studio.studio_desk import Studio, studio

BOUNDARY = "part"


Fields = dict[str, str] | list[tuple[str, str]]


def multipart(fields: Fields, file: tuple[str, bytes] | None = None) -> tuple[bytes, dict[str, str]]:
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n'.encode() for k, v in _pairs(fields)
    ]
    if file is not None:
        head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{file[0]}"\r\n\r\n'
        parts.append(head.encode() + file[1] + b"\r\n")
    body = b"".join(parts) + f"--{BOUNDARY}--\r\n".encode()
    return body, {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}


def _pairs(fields: Fields) -> list[tuple[str, str]]:
    return list(fields.items()) if isinstance(fields, dict) else fields


def mark(of: Studio) -> str:
    found = re.search(r'name="form_mark" value="(\w+)"', of.get("/"))
    assert found is not None
    return found[1]


def posted(
    of: Studio, path: str, fields: Fields, file: tuple[str, bytes] | None = None, **headers: str
) -> tuple[int, dict[str, str], str]:
    """As a browser posts a form of the studio; ``headers`` say what is different."""
    body, kind = multipart(
        [*(() if "form_mark" in dict(_pairs(fields)) else [("form_mark", mark(of))]), *_pairs(fields)], file
    )
    usual = {"Cookie": of.cookie, "Origin": of.address, "Accept": "text/html", **kind}
    return of.ask(path, "POST", body, {**usual, **headers})


def test_without_the_token_nothing_is_told(running: Studio) -> None:
    for headers in ({}, {"Cookie": running.cookie[:-1]}, {"Authorization": "Bearer wrong"}):
        status, _, text = running.ask("/", headers=headers)
        assert status == 403
        assert "token" in text
        assert "New cell" not in text
    assert running.ask("/?token=wrong")[0] == 403
    assert running.ask("/", headers={"Authorization": f"Bearer {running.token}"})[0] == 200


def test_the_token_leaves_the_address_and_becomes_a_strict_cookie(running: Studio) -> None:
    status, headers, _ = running.ask(f"/?token={running.token}&x=1")
    assert status == 303
    assert headers["location"] == "/?x=1"
    cookie = headers["set-cookie"].lower()
    assert "samesite=strict" in cookie
    assert "httponly" in cookie


def test_a_redirect_stays_on_this_server(running: Studio) -> None:
    headers = running.ask(f"//evil.example/?token={running.token}")[1]
    assert headers["location"].startswith("/evil.example")


def test_another_name_for_this_server_is_refused(running: Studio) -> None:
    """A name of another site that was made to lead to 127.0.0.1."""
    status, _, text = running.ask("/", headers={"Host": "evil.example", "Cookie": running.cookie})
    assert status == 421
    assert "New cell" not in text


@pytest.mark.parametrize(
    "different",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_post_of_another_site_makes_nothing(running: Studio, different: dict[str, str]) -> None:
    status, _, _ = posted(running, "/cells", {"name": "foreign", "robot": "cylindrical"}, **different)
    assert status == 403
    assert not (running.folder / "foreign").exists()


def test_a_form_without_our_mark_makes_nothing(running: Studio) -> None:
    for wrong in ("", "0" * 64):
        status, _, text = posted(running, "/cells", {"form_mark": wrong, "name": "foreign", "robot": "cylindrical"})
        assert status == 403
        assert "reload" in text
    assert not (running.folder / "foreign").exists()


def test_too_large_a_body_is_refused_whether_it_says_so_or_not(tmp_path: Path, running: Studio) -> None:
    status, _, text = running.ask(
        "/cells", "POST", b"x", {"Cookie": running.cookie, "Origin": running.address, "Content-Length": str(1 << 40)}
    )
    assert status == 413
    assert "64 MB" in text
    host, port = running.host.split(":")
    head = f"POST /cells HTTP/1.1\r\nHost: {running.host}\r\nCookie: {running.cookie}\r\nOrigin: {running.address}\r\n"
    head += f"Content-Type: multipart/form-data; boundary={BOUNDARY}\r\nTransfer-Encoding: chunked\r\n\r\n"
    piece = b"x" * (1 << 20)
    with socket.create_connection((host, int(port)), 60) as line:
        line.sendall(head.encode())
        first = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'.encode()
        line.sendall(f"{len(first):x}\r\n".encode() + first + b"\r\n")
        with suppress(OSError):  # it hangs up while more is sent
            for _ in range(70):
                line.sendall(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        answer = line.recv(4096)
    assert b" 413 " in answer.split(b"\r\n", 1)[0]


@pytest.mark.parametrize(
    "path",
    [
        "/cell/../",
        "/cell/..%2f/",
        "/cell/%2e%2e/robot",
        "/cell/one/file/../../secret.txt",
        "/cell/one/file/reports/../../../secret.txt",
        "/cell/one/file/..%2f..%2fsecret.txt",
        "/cell/one/file/reports/%2e%2e/%2e%2e/%2e%2e/secret.txt",
        "/cell/one/file//etc/passwd",
        "/cell/one/file/link/secret.txt",
        "/cell/one/file/reports/link.txt",
        "/cell/one/file/.studio/.gitignore",
        "/cell/one/report/..%2f..%2f..%2fsecret.txt",
        "/cell/one/report/link.html",
    ],
)
def test_no_address_leads_out_of_the_folder(running: Studio, path: str) -> None:
    cell = running.folder / "one"
    if not cell.exists():
        assert posted(running, "/cells", {"name": "one", "robot": "cylindrical"})[0] == 303
        secret = running.folder.parent / "secret.txt"
        (cell / "link").symlink_to(running.folder.parent)
        (cell / "reports" / "link.txt").symlink_to(secret)
        (cell / "reports" / "link.html").symlink_to(secret)
    status, _, text = running.ask(path, headers={"Cookie": running.cookie})
    assert status in (404, 422)
    assert "not yours" not in text
    assert "root:" not in text


@pytest.mark.parametrize("name", ["../up", "/tmp/up", "..", "a/b", "a\\b", "", ".hidden", "x\0y", "con", "n" * 81])
def test_no_name_leads_out_of_the_folder(running: Studio, name: str) -> None:
    before = sorted(p.name for p in running.folder.parent.iterdir()), sorted(p.name for p in running.folder.iterdir())
    status, _, text = posted(running, "/cells", {"name": name, "robot": "cylindrical"})
    assert status == 422
    assert "cannot be" in text
    after = sorted(p.name for p in running.folder.parent.iterdir()), sorted(p.name for p in running.folder.iterdir())
    assert after == before


def test_a_cell_that_is_a_link_out_of_the_folder_is_none(running: Studio, tmp_path: Path) -> None:
    (tmp_path / "cell.yaml").write_text("format: elastocal-cell/1\nname: elsewhere\n", encoding="utf-8")
    (running.folder / "linked").symlink_to(tmp_path)
    assert "linked" not in running.get("/")
    assert running.ask("/cell/linked/", headers={"Cookie": running.cookie})[0] == 404


@pytest.mark.parametrize("kind", [".xacro", ".exe", ".html", ""])
def test_a_file_that_is_no_robot_is_refused_in_one_sentence(running: Studio, kind: str) -> None:
    status, _, text = posted(running, "/cells", {"name": "wrong"}, (f"robot{kind}", b"<robot/>"))
    assert status == 422
    assert "is no robot file" in text
    assert not (running.folder / "wrong").exists()


def test_a_broken_urdf_is_refused_without_naming_places_of_this_machine(running: Studio) -> None:
    status, _, text = posted(running, "/cells", {"name": "wrong"}, ("arm.urdf", b"<robot name='x'><joint"))
    assert status == 422
    assert "arm.urdf" in text
    assert "/tmp" not in text
    assert not (running.folder / "wrong").exists()


def test_a_script_in_a_name_is_text(running: Studio) -> None:
    evil = "<script>alert(1)</script>"
    cell = running.folder / "evil"
    cell.mkdir()
    (cell / "cell.yaml").write_text(f"format: elastocal-cell/1\nname: '{evil}'\n", encoding="utf-8")
    for path in ("/", "/cell/evil/"):
        text = running.get(path)
        assert evil not in text
    assert "&lt;script&gt;alert(1)" in running.get("/cell/evil/")


def test_every_answer_has_a_policy_and_no_foreign_source(running: Studio) -> None:
    _, headers, text = running.ask("/", headers={"Cookie": running.cookie})
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert not re.search(r"https?://", text)
    assert running.ask("/", headers={})[1]["content-security-policy"] == policy  # refusals too


def test_it_listens_on_this_machine_only_and_elsewhere_by_names_that_were_given(tmp_path: Path) -> None:
    with studio(tmp_path, "--host", "0.0.0.0", "--name", "studio.example") as open_one:
        port = open_one.host.split(":")[1]
        named = {"Host": "studio.example", "Cookie": open_one.cookie}
        assert open_one.ask("/", headers=named)[0] == 200
        assert open_one.ask("/", headers={"Host": "studio.example"})[0] == 403
        assert open_one.ask("/", headers={**named, "Host": f"other.example:{port}"})[0] == 421
