"""Damage to files, as people, programs and those who mean harm do it; every choice comes from a generator."""

from __future__ import annotations

import random
import re

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{','.join([f'*{chr(97 + i)}'] * 9)}]\n" for i in range(9)
)
"""Aliases that unfold to 9^9 entries."""
WORDS = (
    "nan", "inf", "-inf", "Infinity", ".nan", ".inf", "-.INF", "1e999", "-1e999", "1_0", "0x10", "1e-400", "1:30",
    "1,5", "9" * 400, "9" * 5000, "1" + "0" * 400 + ".5", "1e308", "-1e308", "5e-324", "-0", "0", "-1", "1e9",
    "999999999999999999", "\u0663\u0664", "\u00bd", "\u00b2", "\u2212" + "5", "TRUE", "null", "~", "", " ",
    "x" * 20_000, "A" * 300, "\x1b[2J", "\x9b31m", "\u202eevil", "=cmd|'/c calc'!A0", "@SUM(1)", "'=1",
    "<script>alert(1)</script>", "\ud800", "\0", "\ufeff", "\u2028", "!!int x", "!!timestamp 2020-99-99",
    "!!timestamp x", "!!float y", "!!binary ====", "!!python/object/apply:os.system [x]", "&a [*a]", "*nowhere",
    "<<: *a", "<<: 3", "? [a]", "[" * 200, "{a: " * 200, "- " * 200, "%", "---", "...", "#", "'", '"', "[", "]",
    "{", "}", "(", ")", ";", ":", ",", "\t", "\r", "\n", "\\", "/", "//", "..", "../../etc/passwd", "/dev/zero",
    "$", "$config", "G", "X", "G" + "9" * 400, "X" + "9" * 400, "N10", "M30", "LIN", "PTP", "MoveL", "PERS",
    "ENDPROC", "DECL", "#HOME", "<Rob", "</Rob>", "<IPOC>", "<!--", "-->", "<!DOCTYPE x [<!ENTITY a 'x'>]>", "&a;",
    "<robot>", "xacro:", "${x}", "1e", "e5", "+-3", "--5", "0.0.0", "1 2", "12,34,56", "10%", "5mm", "1/0",
    "\u00b5m", "_", "__class__", "true", "false",
)  # fmt: skip
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
WORD = re.compile(r"[\w.+-]+")


def damaged(content: bytes, rng: random.Random) -> bytes:
    """One to four changes."""
    text = content.decode("utf-8", "surrogateescape")
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        text = rng.choice(_CHANGES)(text, rng)
    return text.encode("utf-8", "surrogatepass" if "\ud800" in text else "surrogateescape") if _fits(text) else content


def _fits(text: str) -> bool:
    try:
        text.encode("utf-8", "surrogatepass" if "\ud800" in text else "surrogateescape")
    except UnicodeEncodeError:
        return False
    return len(text) < 2_000_000


def _number(text: str, rng: random.Random) -> str:
    """Another number, or what is none, in place of one."""
    found = list(NUMBER.finditer(text))
    if not found:
        return _insert(text, rng)
    at = rng.choice(found)
    try:
        value = float(at[0])
    except ValueError:
        value = 1.0
    scaled = rng.choice((-1.0, 1e-3, 1e3, 1e6, 1e15, 1e300, 0.0, 1.0 + 1e-9))
    new = rng.choice((*WORDS[:36], repr(value * scaled), str(rng.randint(-5, 400))))
    return text[: at.start()] + new + text[at.end() :]


def _word(text: str, rng: random.Random) -> str:
    found = list(WORD.finditer(text))
    if not found:
        return _insert(text, rng)
    at, other = rng.choice(found), rng.choice(found)
    new = rng.choice((rng.choice(WORDS), other[0], at[0][::-1], at[0] * 2, at[0].upper()))
    return text[: at.start()] + new + text[at.end() :]


def _insert(text: str, rng: random.Random) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + rng.choice(WORDS) + text[at:]


def _cut(text: str, rng: random.Random) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + text[at + rng.choice((1, 1, 2, 5, 30)) :]


def _truncate(text: str, rng: random.Random) -> str:
    return text[: rng.randint(0, len(text))]


def _character(text: str, rng: random.Random) -> str:
    if not text:
        return text
    at = rng.randrange(len(text))
    new = chr(rng.choice((rng.randint(0, 255), rng.randint(32, 126), rng.randint(0, 0xD7FF))))
    return text[:at] + new + text[at + 1 :]


def _lines(text: str, rng: random.Random) -> str:
    """A line lost, doubled, moved, many times over, or with another end."""
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(6)
    if kind == 0:
        del lines[i]
    elif kind == 1:
        lines.insert(j, lines[i])
    elif kind == 2:
        lines[i], lines[j] = lines[j], lines[i]
    elif kind == 3:
        lines[i:i] = [lines[i]] * rng.choice((10, 200))
    elif kind == 4:
        lines[i] = lines[i].rstrip("\r\n") + rng.choice(("\r\n", "\r", "", "\n\n"))
    else:
        lines[i] = rng.choice((" ", "\t", "    ")) + lines[i]
    return "".join(lines)


def _encoding(text: str, rng: random.Random) -> str:
    """Text of another encoding, as bytes that are no UTF-8."""
    if rng.random() < 0.7:
        return _character(text, rng)
    raw = text.encode("utf-8", "surrogateescape") if _fits(text) and "\ud800" not in text else b"x"
    raw = rng.choice((b"\xff\xfe" + raw, b"\xef\xbb\xbf" + raw, raw.replace(b"e", b"\xe4"), raw + b"\x1a"))
    return raw.decode("utf-8", "surrogateescape")


def _bomb(text: str, rng: random.Random) -> str:
    if rng.random() < 0.95:  # it costs a hundred times as much as anything else
        return _word(text, rng)
    return rng.choice((BOMB + text, text + BOMB, text.replace(": ", ": &a ", 1)))


_CHANGES = (
    _number, _number, _number, _number, _word, _word, _word, _insert, _insert, _cut, _cut, _truncate, _character,
    _character, _lines, _lines, _lines, _encoding, _bomb,
)  # fmt: skip
