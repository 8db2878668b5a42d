"""Reports by values: times, Markdown, and a page that fetches and runs nothing."""

from __future__ import annotations

import html.parser
from typing import Any

import pytest

from runtimes.chant.report.html import html_page
from runtimes.chant.report.markdown import markdown
from runtimes.chant.report.timeline import Timeline, timeline
from tests.runtimes.chant.report.records import EVIL, failed_run, step


def test_a_timeline_has_phases_steps_and_their_times() -> None:
    found = timeline(failed_run())

    assert [(lane.name, lane.status, lane.on_failure) for lane in found.lanes] == [
        ("Build", "ok", False),
        ("Deploy", "fail", False),
        ("Rollback", "ok", True),
    ]
    assert [
        (bar.step["id"], bar.start_ms, bar.duration_ms) for lane in found.lanes for bar in lane.bars
    ] == [
        ("pack", 0, 4000),
        ("test", 4000, 2000),
        ("ask", 6000, 0),
        ("copy", 6000, 2000),
        ("tell", None, 0),
        ("undo", 8000, 2000),
    ]
    assert found.total_ms == 10_000
    assert found.share(2500) == 25.0


def test_an_older_record_without_starts_is_laid_out_phase_by_phase() -> None:
    record = failed_run()
    for phase in record["phases"]:
        for each in phase["steps"]:
            del each["start_ms"]

    bars = [bar for lane in timeline(record).lanes for bar in lane.bars]

    assert [bar.start_ms for bar in bars] == [0, 0, 4000, 4000, None, 6000]


def test_a_record_without_times_or_phases_still_has_a_timeline() -> None:
    assert timeline({}) == Timeline((), 1)
    assert html_page({"id": "x", "op": "o", "status": "interrupted"}, "1").startswith("<!doctype")


@pytest.mark.parametrize(
    ("total_ms", "ticks"),
    [(1, (0, 1)), (10_000, tuple(range(0, 10_001, 2000))), (90, (0, 20, 40, 60, 80))],
)
def test_ticks_are_round_and_few(total_ms: int, ticks: tuple[int, ...]) -> None:
    assert Timeline((), total_ms).ticks == ticks


def test_markdown_has_facts_steps_and_a_timeline() -> None:
    lines = markdown(failed_run()).splitlines()

    assert lines[0] == "# release: fail"
    assert "| commit | 0123456789ab (dirty) |" in lines
    assert "| Build | test | shell | ok | 2.0 s | 2 attempts |" in lines
    assert "| Deploy | ask | shell | ok | 0 ms | approved by ann, bob |" in lines
    assert "| Rollback (on failure) | undo | shell | ok | 2.0 s |  |" in lines
    assert "pack |############                  | 4.0 s" in lines
    assert "tell |                              | skipped" in lines
    assert "undo |                        ######| 2.0 s" in lines


def test_values_are_no_markup_in_markdown() -> None:
    text = markdown(failed_run())

    assert "<img" not in text.replace("\\<img", "")
    rows = [line for line in text.splitlines() if line.startswith("| Deploy | copy")]
    assert rows == [rows[0]]
    assert rows[0].replace("\\|", "").count("|") == 7


class Page(html.parser.HTMLParser):
    """Collects tags and their attributes, and checks that what opens also closes."""

    VOID = frozenset({"meta"})

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(record: dict[str, Any]) -> Page:
    page = Page()
    page.feed(html_page(record, "1.0"))
    page.close()
    assert page.open == []
    return page


def test_the_page_fetches_nothing_and_runs_nothing() -> None:
    page = read(failed_run())

    assert not {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe", "object", "a"}
    names = {name for _, attrs in page.tags for name in attrs}
    assert not {name for name in names if name in {"src", "href"} or name.startswith("on")}
    style = "".join(page.texts[: page.texts.index("release") + 1])
    assert "url(" not in style
    assert "@import" not in style
    policies = [attrs["content"] for _, attrs in page.tags if "http-equiv" in attrs]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'"]


def test_hostile_values_are_text() -> None:
    texts = read(failed_run()).texts

    assert EVIL in texts
    assert any(f"{EVIL} (cli) on box" in text for text in texts)


def test_the_page_has_light_and_dark_and_says_what_colors_say() -> None:
    text = html_page(failed_run(), "1.0")
    page = read(failed_run())

    assert "prefers-color-scheme: dark" in text
    labels = [attrs["aria-label"] for _, attrs in page.tags if "aria-label" in attrs]
    assert labels == ["ok, 4.0 s", "ok, 2.0 s", "ok, 0 ms", "fail, 2.0 s", "ok, 2.0 s"]
    assert "skipped" in page.texts


def test_every_bar_tells_its_time_the_longest_one_within_itself() -> None:
    record = failed_run()
    record["phases"] = [
        {
            "name": "Build",
            "status": "ok",
            "on_failure": False,
            "steps": [
                step("first", start_ms=0, duration_ms=1000),
                step("long", start_ms=1000, duration_ms=8000),
                step("last", start_ms=9000, duration_ms=1000),
            ],
        }
    ]

    page = read(record)

    spans = [attrs for tag, attrs in page.tags if tag == "span"]
    assert [(each["class"], each["style"]) for each in spans if "label" in str(each["class"])] == [
        ("label", "left:10.000%"),
        ("label within", "right:10.000%"),
        ("label", "right:10.000%"),
    ]
    assert "display:none" not in html_page(record, "1.0")


def test_a_lane_tells_its_whole_name_to_who_points_at_it() -> None:
    titles = [attrs["title"] for _, attrs in read(failed_run()).tags if "title" in attrs]

    assert titles[0] == "pack (shell): ok"
    assert "tell (shell): skipped" in titles


def test_every_status_has_a_look() -> None:
    for status in ("ok", "fail", "cancelled", "gated", "waiting", "skipped", "not_reached", "new"):
        record: dict[str, Any] = {**failed_run(), "status": status}
        record["phases"][0]["steps"] = [step("a", status)]
        read(record)
