"""The command that records: its words, its page, its exit codes."""

from __future__ import annotations


def test_a_rehearsal_as_text_and_as_json(tmp_path, run):
    words = ("record", "rsi", "--listen", "127.0.0.1:0", "--rehearse", "4", "--max", "30")
    done = run(*words, "--out", tmp_path / "a.xml")
    assert done.code == 0
    assert "30 telegrams in " in done.out
    assert "ended by 30 telegrams" in done.out
    assert "their own IPOC and no correction" in done.out
    assert "A rehearsal" in done.out
    done = run(*words, "--out", tmp_path / "b.xml", "--json")
    counts = {row["kind"]: row["count"] for row in done.data["telegrams"]}
    assert (counts["telegrams"], counts["lost"], counts["malformed"]) == (30, 0, 0)
    assert [row["within_ms"] > 0 for row in done.data["turnaround"]] == [True] * 4
    assert done.data["inputs"]["cycle"] == 4
    assert done.data["inputs"]["rate_per_s"] > 0
    assert "simulated controller" in done.err
    assert (tmp_path / "b.xml").read_bytes().count(b"<Rob") == 30


def test_silence_ends_with_one_and_says_why(tmp_path, run):
    words = ("record", "rsi", "--listen", "127.0.0.1:0", "--out", tmp_path / "a.xml", "--duration", "0.2")
    for _ in range(2):  # nothing that stands in the way of the second attempt
        done = run(*words)
        assert done.code == 1
        assert "Failed: no telegram came to 127.0.0.1:" in done.out
        assert (
            "the controller is who sends five in step" in done.err
        )  # said at the start, not after the first ten seconds
        assert list(tmp_path.iterdir()) == []
    assert run(*words, "--json").data["inputs"]["log"] is None


def test_wrong_words_end_with_two_and_write_nothing(tmp_path, run):
    out = tmp_path / "a.xml"
    for words, said in (
        (("--listen", "0.0.0.0:49152"), "would listen on all networks"),
        (("--listen", "127.0.0.1:0", "--max", "-1"), "--max -1"),
        (("--listen", "127.0.0.1:0", "--sen-type", "a b"), "--sen-type"),
    ):
        done = run("record", "rsi", "--out", out, *words)
        assert (done.code, done.out) == (2, "")
        assert said in done.err
        assert not out.exists()
    done = run("record", "rsi", "--listen", "127.0.0.1:0", "--out", tmp_path / "none" / "a.xml")
    assert done.code == 2
    assert "does not exist" in done.err
