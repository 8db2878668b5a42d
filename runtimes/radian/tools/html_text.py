"""The text of a page, without its markup: good enough to read, links kept."""

from __future__ import annotations

from html.parser import HTMLParser

_UNSEEN = frozenset({"script", "style", "noscript", "template", "svg", "head"})
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "main", "header", "footer", "nav", "aside", "table", "tr"}
    | {"ul", "ol", "dl", "dt", "dd", "pre", "blockquote", "form", "br", "hr", "figure"}
)
_HEADINGS = {"h1": "# ", "h2": "## ", "h3": "### ", "h4": "#### ", "h5": "##### ", "h6": "###### "}


class _Text(HTMLParser):
    """Collects the text; a page may be broken in any way."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.title = ""
        self._unseen = 0
        self._in_title = False
        self._pre = 0
        self._links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _UNSEEN:
            self._unseen += 1
        self._in_title = tag == "title"
        if tag == "body":
            self._unseen = 0  # a page that never closed its head
        if tag == "pre":
            self._pre += 1
        if tag in _BLOCKS:
            self.pieces.append("\n")
        if tag in _HEADINGS:
            self.pieces.append(f"\n\n{_HEADINGS[tag]}")
        if tag == "li":
            self.pieces.append("\n- ")
        if tag in {"td", "th"}:
            self.pieces.append(" | ")
        if tag == "a":
            self._links.append(dict(attrs).get("href") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        if tag == "title":
            self._in_title = False
        if tag == "pre":
            self._pre = max(0, self._pre - 1)
        if tag == "a" and self._links:
            link = self._links.pop()
            if link.startswith(("http://", "https://")) and not self._unseen:
                self.pieces.append(f" ({link})")
        if tag in _BLOCKS or tag in _HEADINGS:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._unseen:
            self.pieces.append(data if self._pre else _spaced(data))


def html_text(page: str) -> str:
    """Return a page's title and text."""
    parser = _Text()
    parser.feed(page)
    parser.close()
    lines = [line.rstrip() for line in "".join(parser.pieces).splitlines()]
    kept = [line for at, line in enumerate(lines) if line.strip() or (at and lines[at - 1].strip())]
    text = "\n".join(kept).strip()
    title = " ".join(parser.title.split())
    return f"{title}\n\n{text}" if title else text


def _spaced(data: str) -> str:
    """Make each run of white space one space."""
    words = " ".join(data.split())
    before = " " if data[:1].isspace() else ""
    after = " " if data[-1:].isspace() and words else ""
    return f"{before}{words}{after}"
