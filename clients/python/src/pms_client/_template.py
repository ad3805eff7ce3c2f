"""Templates: placeholders, escapes and includes, by the service's rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

# `{{ name }}` and `{{> prompt }}`, `{{> prompt@3 }}`, `{{> prompt@label }}`; a preceding backslash makes it literal.
_TAG = re.compile(
    r"(\\)?\{\{(?:[ \t]*([A-Za-z_][A-Za-z0-9_]*)|>[ \t]*([A-Za-z0-9._/-]+(?:@[A-Za-z0-9._-]+)?))[ \t]*\}\}"
)


@dataclass(frozen=True, slots=True)
class Placeholder:
    name: str


@dataclass(frozen=True, slots=True)
class Include:
    ref: str
    """As written in the text: `name`, `name@3` or `name@label`."""


def pieces_of(text: str) -> Iterator[str | Placeholder | Include]:
    """Alternating literal text and tags; no literal is empty."""
    literal = ""
    end = 0
    for found in _TAG.finditer(text):
        literal += text[end : found.start()]
        end = found.end()
        backslash, name, ref = found.groups()
        if backslash is not None:
            literal += found[0][1:]
            continue
        if literal:
            yield literal
        literal = ""
        yield Placeholder(name) if name is not None else Include(ref)
    literal += text[end:]
    if literal:
        yield literal


def includes_in(text: str) -> list[str]:
    """The includes written in a text itself, without duplicates, in order of appearance."""
    if "{{>" not in text:
        return []
    return list(dict.fromkeys(piece.ref for piece in pieces_of(text) if isinstance(piece, Include)))


@dataclass(slots=True)
class Filling:
    """Replacement texts. A text included many times is counted and rendered once."""

    texts: Mapping[str, str]
    chars: dict[int, int] = field(default_factory=dict)
    rendered: dict[int, str] = field(default_factory=dict)


class Template:
    """A text, parsed once for any number of uses."""

    __slots__ = ("pieces",)

    def __init__(self, pieces: list[str | Placeholder | Template]) -> None:
        # Each include is a separate piece, so that no placeholder arises where texts meet.
        self.pieces = pieces

    def add_names(self, names: dict[str, None], seen: set[int]) -> None:
        """Adds the names of its placeholders, including those of its includes."""
        if id(self) in seen:
            return
        seen.add(id(self))
        for piece in self.pieces:
            if isinstance(piece, Template):
                piece.add_names(names, seen)
            elif isinstance(piece, Placeholder):
                names[piece.name] = None

    def count_chars(self, filling: Filling) -> int:
        """The length of the filled text, computed without filling it."""
        known = filling.chars.get(id(self))
        if known is not None:
            return known
        chars = 0
        for piece in self.pieces:
            if isinstance(piece, Template):
                chars += piece.count_chars(filling)
            else:
                chars += utf16_length(piece if isinstance(piece, str) else filling.texts.get(piece.name, ""))
        filling.chars[id(self)] = chars
        return chars

    def render(self, filling: Filling) -> str:
        """Fills the placeholders in one pass: text from values is never expanded again."""
        known = filling.rendered.get(id(self))
        if known is not None:
            return known
        text = "".join(
            piece.render(filling)
            if isinstance(piece, Template)
            else piece
            if isinstance(piece, str)
            else filling.texts.get(piece.name, "")
            for piece in self.pieces
        )
        filling.rendered[id(self)] = text
        return text


def template_parser(includes: Mapping[str, Mapping[str, Any]]) -> Callable[[str], Template]:
    """A function that parses the texts of a prompt; each include is parsed once for all of them.

    Args:
        includes: everything that the texts include, at any depth, by reference; without a cycle.
    """
    parsed: dict[str, Template] = {}

    def included(ref: str) -> Template:
        known = parsed.get(ref)
        if known is None:
            found = includes.get(ref)
            if found is None:
                raise LookupError(f'The include "{ref}" is missing from the prompt.')
            known = parsed[ref] = parse(found["template"])
        return known

    def parse(text: str) -> Template:
        return Template([included(piece.ref) if isinstance(piece, Include) else piece for piece in pieces_of(text)])

    return parse


def utf16_length(text: str) -> int:
    """Counts characters like the service."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
