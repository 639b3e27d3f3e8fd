"""Pages taken apart: tags, attributes and text, closed in order and loading nothing."""

from __future__ import annotations

from html.parser import HTMLParser

LOADING = {"src", "href", "srcset", "data", "poster", "action", "xlink:href"}
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """Collects tags, attributes and text, and checks that tags are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def check_alone(text: str) -> Page:
    """The page, found to be whole and to load nothing from anywhere."""
    page = Page(text)
    assert not page.open
    assert not {name for name, _ in page.attributes} & LOADING
    assert not {"script", "link", "img", "iframe", "object", "embed", "base"} & set(page.tags)
    assert "@import" not in text and "url(" not in text and "http" not in text
    return page
