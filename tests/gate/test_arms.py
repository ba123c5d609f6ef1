"""Tables from small logs that are written by hand, and so counted by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from gate import arms
from gate.page import write
from harness.errors import USAGE, Problem
from harness.log import Log, LogBroken, open_log

# Two mutants of one function, one of another, and one that an import runs.
F1, F2, G, CONSTANT = "m.py:f:compare:1", "m.py:f:message:1", "m.py:g:compare:1", "m.py::constant:1"
KINDS = {F1: "behaviour", F2: "message", G: "behaviour", CONSTANT: "constant"}


class Written:
    """A log under way; each method writes what a study would at that point."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.log: Log = open_log(path)
        for id_, kind in KINDS.items():
            _, qualname, _, _ = id_.split(":")
            place = "body" if qualname else "import"
            change = {"before": "a  <\n b", "after": "" if kind == "message" else "a > b"}
            self.log.event("mutant", id=id_, qualname=qualname, kind=kind, place=place, **change)

    def begins(self, arm: str, *survivors: str) -> None:
        self.log.event("gate.arm", arm=arm, survivors=list(survivors), ceiling=None)

    def ends(self, arm: str, seconds: float = 0.0) -> None:
        self.log.event("gate.arm-end", arm=arm, seconds=seconds)

    def asked(
        self,
        request: str,
        tokens: tuple[int, int] = (0, 0),
        *,
        outcome: str = "reply",
        retry: bool = False,
        **more: Any,
    ) -> None:
        roles = ("system", "user", "assistant", "user")[: 4 if retry else 2]
        fields = {"final": True, "stored": False, "outcome": outcome, **more}
        self.log.event(
            "gate.exchange",
            request=request,
            messages=[{"role": role, "content": ""} for role in roles],
            tokens_in=tokens[0],
            tokens_out=tokens[1],
            **fields,
        )

    def drafted(self, draft: str, mutant: str, request: str | None = None) -> None:
        exchange = None if request is None else {"request": request}
        self.log.event("gate.draft", draft=draft, mutant=mutant, exchange=exchange)

    def scored(self, draft: str, mutant: str, *also: str) -> None:
        self.log.event("gate.score", draft=draft, mutant=mutant, also=dict.fromkeys(also, "run"))

    def passed(self, draft: str, mutant: str, *also: str) -> None:
        self.scored(draft, mutant, *also)
        self.log.event("gate.passed", draft=draft, mutant=mutant, runs={})

    def decided(self, draft: str, mutant: str, reason: str) -> None:
        kept = reason == "kept"
        self.log.event("gate.decision", draft=draft, mutant=mutant, kept=kept, reason=reason)

    def left(self, mutant: str, author: str, why: str) -> None:
        self.log.event("gate.left", mutant=mutant, author=author, why=why)

    def plain(self, draft: str, *also: str, passes: bool = True) -> None:
        self.drafted(draft, F1, "a")
        self.log.event("gate.plain", draft=draft, path="m.py", run="run", passes=passes)
        if passes:
            self.scored(draft, "", *also)


@pytest.fixture
def log(tmp_path: Path) -> Written:
    return Written(tmp_path / "log.jsonl")


def table(*logs: Written) -> str:
    for one in logs:
        one.log.close()
    return arms.table([one.path for one in logs])


def row(text: str, arm: str) -> Mapping[str, str]:
    """The first table's line of an arm, by the column's name."""
    lines = text.partition("\n\n")[0].split("\n")
    cells = next(line[2:-2].split(" | ") for line in lines if line.startswith(f"| {arm} |"))
    assert len(cells) == len(arms.COLUMNS)
    return dict(zip(arms.COLUMNS, cells, strict=True))


def seen(text: str, arm: str, *columns: str) -> Sequence[str]:
    found = row(text, arm)
    return [found[column] for column in columns]


def conversation(log: Written) -> None:
    """C. For F1 a draft that passes on it (but detects G), then a good one that detects F2 as well;
    for CONSTANT no code at first, then a good one; G is caught by the first draft, tried anew."""
    log.begins("C", F1, F2, G, CONSTANT)
    log.asked("f1", (100, 10))
    log.drafted("weak", F1, "f1")
    log.scored("weak", F1, G)
    log.decided("weak", F1, "passes-on-mutant")
    log.asked("f1-again", (150, 20), retry=True)
    log.drafted("good", F1, "f1-again")
    log.passed("good", F1, F2)
    log.drafted("weak", G, "f1")
    log.passed("weak", G)
    log.asked("constant", (80, 5))
    log.asked("constant-again", (90, 15), retry=True)
    log.drafted("late", CONSTANT, "constant-again")
    log.passed("late", CONSTANT)
    for draft, mutant in (("good", F1), ("weak", G), ("late", CONSTANT)):
        log.decided(draft, mutant, "kept")
    log.ends("C", 7.4)


TOKENS = ("calls", "tokens in", "tokens out")
COUNTED = ("asked for", "caught", "tests", "kept")


def test_an_arm_counts_calls_tokens_tests_and_kills(log: Written) -> None:
    conversation(log)
    text = table(log)
    assert seen(text, "C", *COUNTED) == ["4", "4", "4", "3"]
    # 100 + 150 + 80 + 90, and 10 + 20 + 5 + 15.
    assert seen(text, "C", *TOKENS, "seconds") == ["4", "420", "50", "7"]
    # 4 of 470 tokens.
    assert seen(text, "C", "caught per 1,000 tokens") == ["8.51"]


def cascade(log: Written, **answer: Any) -> None:
    """S+C: search's draft catches F1 and F2, the model's G, and F2 again; 100 and 25 tokens."""
    log.begins("S+C", F1, F2, G)
    log.drafted("searched", F1)
    log.passed("searched", F1, F2)
    log.asked("g", (100, 25), **answer)
    log.drafted("asked", G, "g")
    log.passed("asked", G, F2)
    for draft, mutant in (("searched", F1), ("asked", G)):
        log.decided(draft, mutant, "kept")
    log.ends("S+C", 9.0)


def test_a_cascades_tokens_have_not_bought_what_search_caught(log: Written) -> None:
    cascade(log)
    text = table(log)
    assert seen(text, "S+C", "caught", "seconds") == ["3", "9"]
    # G alone, for 125 tokens.
    assert seen(text, "S+C", "caught per 1,000 tokens") == ["8.00"]


def test_what_a_recording_answered_in_no_time_has_no_seconds(log: Written) -> None:
    cascade(log, stored=True)
    assert seen(table(log), "S+C", "seconds") == [""]


def test_c_without_retry_is_what_the_first_replies_alone_caught_and_cost(log: Written) -> None:
    conversation(log)
    text = table(log)
    # The weak draft alone, which was kept for G. A first reply without code was paid for as well:
    # 100 + 80, and 10 + 5; one of 195 tokens.
    assert seen(text, "C without retry", *COUNTED) == ["4", "1", "2", "1"]
    assert seen(text, "C without retry", *TOKENS, "seconds") == ["2", "180", "15", ""]
    assert seen(text, "C without retry", "caught per 1,000 tokens") == ["5.13"]


def test_c_without_gate_merges_each_first_draft_as_bad_as_it_may_be(log: Written) -> None:
    conversation(log)
    text = table(log)
    assert seen(text, "C without gate", *COUNTED, *TOKENS) == [
        *("4", "1", "2", "2"),
        *("2", "180", "15"),
    ]
    assert "- C without gate: 1 passes-on-mutant\n" in text


def test_a_first_draft_that_misses_its_mutant_still_catches_the_others_that_it_catches(
    log: Written,
) -> None:
    log.begins("C", F1, F2, G)
    log.asked("f1")
    log.drafted("broken", F1, "f1")
    log.decided("broken", F1, "fails-on-clean")
    log.drafted("second", F1, "f1")
    log.passed("second", F1)
    log.asked("f2")
    log.drafted("weak", F2, "f2")
    log.scored("weak", F2, G)
    log.decided("weak", F2, "passes-on-mutant")
    log.decided("second", F1, "kept")
    log.ends("C")
    text = table(log)
    # Of F1's only reply the second draft counts with the gate; unseen, the first one was merged.
    assert seen(text, "C", "caught", "kept") == ["1", "1"]
    assert seen(text, "C without retry", "caught", "kept") == ["1", "1"]
    assert seen(text, "C without gate", "caught", "kept") == ["1", "2"]
    assert "- C without gate: 1 fails-on-clean, 1 passes-on-mutant\n" in text


def test_a_test_that_the_suite_refuses_in_the_end_counts_for_nothing(log: Written) -> None:
    log.begins("C", F1, F2)
    log.asked("f1")
    log.drafted("rude", F1, "f1")
    log.passed("rude", F1, F2)
    log.decided("rude", F1, "breaks-neighbour")
    log.ends("C")
    text = table(log)
    assert seen(text, "C", *COUNTED) == ["2", "0", "1", "0"]
    assert "- C: 1 breaks-neighbour\n" in text


def test_a_duplicate_is_a_good_test_and_no_refusal(log: Written) -> None:
    log.begins("S", F1, F2)
    for draft, mutant, reason in (("a", F1, "duplicate"), ("b", F2, "kept")):
        log.drafted(draft, mutant)
        log.passed(draft, mutant)
        log.decided(draft, mutant, reason)
    log.ends("S")
    text = table(log)
    assert seen(text, "S", *COUNTED) == ["2", "2", "2", "2"]
    assert "- S:" not in text


def test_who_asks_nobody_has_no_price(log: Written) -> None:
    log.begins("S", F1)
    log.drafted("a", F1)
    log.passed("a", F1)
    log.decided("a", F1, "kept")
    log.ends("S")
    text = table(log)
    assert seen(text, "S", *TOKENS, "caught per 1,000 tokens") == ["0", "0", "0", ""]
    assert "C without" not in text


def test_further_kills_are_told_apart_by_function(log: Written) -> None:
    log.begins("S", F1, F2, G, CONSTANT)
    log.drafted("a", F1)
    log.passed("a", F1, F2, G, CONSTANT)
    log.decided("a", F1, "kept")
    log.ends("S")
    beyond = ("also caught, same function", "other functions")
    assert seen(table(log), "S", "caught", *beyond) == ["4", "1", "2"]


def test_a_test_without_a_target_counts_if_it_passes_and_only_once(log: Written) -> None:
    log.begins("A", F1, F2, G)
    log.asked("a", (1000, 500))
    log.plain("good", F1, G)
    log.plain("broken", passes=False)
    log.plain("idle")
    log.plain("good", F1, G)
    log.ends("A")
    text = table(log)
    assert seen(text, "A", *COUNTED) == ["3", "2", "4", "2"]
    assert seen(text, "A", "tokens in", "caught per 1,000 tokens") == ["1,000", "1.33"]
    # Without a target there is nothing that it catches beside it.
    assert seen(text, "A", "also caught, same function", "other functions") == ["", ""]


def test_what_was_not_asked_is_no_call_and_a_try_is_none_of_its_own(log: Written) -> None:
    log.begins("B", F1)
    log.asked("one", outcome="server-error", final=False)
    log.asked("one", (7, 3))
    log.asked("one", (7, 3), stored=True)  # the same again: paid once
    log.asked("two", (2, 2), stored=True)  # of an earlier session: paid then, and so counted
    log.asked("three", outcome="bad-key")
    log.asked("four", outcome="bad-key", stored=True)  # not asked any more
    log.asked("five", outcome="budget-spent", stored=True)
    log.asked("six", outcome="not-recorded", stored=True)
    log.ends("B")
    assert seen(table(log), "B", *TOKENS) == ["3", "9", "5"]


def test_the_arms_of_several_logs_are_added_up(tmp_path: Path) -> None:
    logs = [Written(tmp_path / name) for name in ("one", "two")]
    for one, survivors, seconds in zip(logs, ((F1, F2), (G,)), (1.3, 2.4), strict=True):
        one.begins("S", *survivors)
        one.drafted("a", survivors[0])
        one.passed("a", survivors[0])
        one.decided("a", survivors[0], "kept")
        one.ends("S", seconds)
    logs[1].begins("A", G)
    logs[1].ends("A")
    text = table(*logs)
    assert seen(text, "S", *COUNTED, "seconds") == ["3", "2", "2", "2", "4"]
    assert seen(text, "A", *COUNTED) == ["1", "0", "0", "0"]


def test_what_is_caught_is_split_by_place_and_kind(tmp_path: Path) -> None:
    logs = [Written(tmp_path / name) for name in ("one", "two")]
    logs[0].begins("S", F1, G, CONSTANT)
    logs[0].drafted("a", F1)
    logs[0].passed("a", F1)
    logs[0].decided("a", F1, "kept")
    logs[0].ends("S")
    logs[1].begins("A", F2)
    logs[1].ends("A")
    text = table(*logs)
    assert (
        "| arm | body, behaviour | body, message | import, constant |\n"
        "| --- | --- | --- | --- |\n"
        "| S | 1 of 2 |  | 0 of 1 |\n"
        "| A |  | 0 of 1 |  |\n"
    ) in text


def test_the_refusals_come_with_the_most_frequent_first(log: Written) -> None:
    log.begins("C", F1, F2, G)
    for draft, mutant, reason in (("a", F1, "flaky"), ("b", F2, "patches"), ("c", G, "patches")):
        log.asked(draft)
        log.drafted(draft, mutant, draft)
        log.decided(draft, mutant, reason)
    log.ends("C")
    assert (
        "\n\nWhy drafts were refused:\n\n"
        "- C: 2 patches, 1 flaky\n"
        "- C without gate: 2 patches, 1 flaky\n\n"
    ) in table(log)


def test_what_no_arm_caught_is_listed_with_what_was_tried(log: Written) -> None:
    log.begins("A", F1, F2, G)
    log.ends("A")
    log.begins("S", F1, F2, G)
    log.left(F1, "search", "no call tells them apart")
    log.left(G, "search", "caught by the model later")
    log.ends("S")
    log.begins("S+C", F1, F2, G)
    log.left(F1, "search", "no call tells them apart")
    log.drafted("weak", F1, "f1")
    log.decided("weak", F1, "flaky")
    log.left(F1, "openai", "reply 1: flaky")
    log.drafted("late", F2)
    log.passed("late", F2)
    log.decided("late", F2, "breaks-neighbour")
    log.drafted("good", G, "g")
    log.passed("good", G)
    log.decided("good", G, "kept")
    log.ends("S+C")
    assert table(log).endswith(
        "\n\nCaught by no arm, and what was tried:\n\n"
        f"- `{F1}`, `a < b -> a > b`: search: no call tells them apart; openai: reply 1: "
        "flaky\n"
        f"- `{F2}`, `a < b -> (nothing)`: breaks-neighbour\n"
    )


def test_what_nobody_was_asked_for_is_listed_too(log: Written) -> None:
    log.begins("A", F1)
    log.ends("A")
    assert table(log).endswith(f"- `{F1}`, `a < b -> a > b`: nothing aimed at it\n")


def test_where_all_are_caught_nothing_is_listed(log: Written) -> None:
    log.begins("S", F1)
    log.drafted("good", F1)
    log.passed("good", F1)
    log.decided("good", F1, "kept")
    log.ends("S")
    assert "Caught by no arm" not in table(log)


def test_a_log_that_was_changed_gives_no_table(log: Written) -> None:
    conversation(log)
    log.log.close()
    log.path.write_bytes(log.path.read_bytes().replace(b'"tokens_in":100', b'"tokens_in":1'))
    with pytest.raises(LogBroken):
        arms.table([log.path])


def test_the_table_is_written_between_the_pages_marks_and_nowhere_else(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Ümläute\n<!-- study -->\n<!-- end -->\n\nThe end.\n", encoding="utf-8")
    expected = "# Ümläute\n<!-- study -->\n\n| a |\n\n<!-- end -->\n\nThe end.\n"
    for _ in range(2):  # what was there before goes
        write(page, "| a |\n")
        assert page.read_text(encoding="utf-8") == expected


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "No such file or directory; name a page that has the marks"),
        (b"no marks\n", "it has no lines <!-- study --> and <!-- end --> to write between"),
        (b"<!-- study -->\n", "it has no lines"),
        (b"<!-- end -->\n<!-- study -->\n", "it has no lines"),
        (b"\xff", "name a page that has the marks"),
    ],
)
def test_a_page_without_marks_is_left_alone(
    tmp_path: Path, content: bytes | None, words: str
) -> None:
    page = tmp_path / "page.md"
    if content is not None:
        page.write_bytes(content)
    with pytest.raises(Problem) as told:
        write(page, "| a |\n")
    assert told.value.code == USAGE
    assert told.value.message.startswith(f"could not write into '{page}': ")
    assert words in told.value.message
    assert (page.read_bytes() if page.exists() else None) == content
