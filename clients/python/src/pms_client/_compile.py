"""Fills prompts with variables by the service's rules: it rejects exactly what the service would reject."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._json import JsonValue, compact, plain
from ._messages import Fault, Message, file_fault, message_faults, order_fault
from ._template import Filling, Template, template_parser, utf16_length
from .errors import ErrorDetail, VariablesError

MAX_CHARS = 4 * 1024 * 1024
MAX_FILLED_MESSAGES = 1_000
_MAX_DETAILS = 1_000


@dataclass(slots=True)
class _Variable:
    """The types that a variable's value is used as, and its declaration in the prompt."""

    name: str
    input: Mapping[str, Any] | None
    in_text: bool = False
    as_messages: bool = False
    as_file: bool = False
    is_optional: bool = False
    """Whether each message placeholder with its name is optional."""

    @property
    def is_required(self) -> bool:
        declared = self.input or {}
        required = declared.get("required")
        if isinstance(required, bool):
            return required
        return declared.get("default") is None and not self.is_optional


@dataclass(slots=True)
class _Value:
    """A variable's value, for each of its uses."""

    text: str | None = None
    messages: list[Message] | None = None
    file: dict[str, Any] | None = None
    faults: list[Fault] = field(default_factory=list)


# An entry of `messages` with parsed texts: a placeholder's name, or role and content. The text of a part is a `Template`.
_Entry = str | tuple[dict[str, Any], Template | list[dict[str, Any]]]


class CompiledPrompt:
    """A prompt, parsed once for any number of uses.

    Args:
        content: `template` or `messages`, and `inputs`, as in the API.
        includes: everything included by its texts, at any depth, by reference.

    Raises:
        LookupError: for a missing include.
    """

    def __init__(self, content: Mapping[str, Any], includes: Mapping[str, Mapping[str, Any]]) -> None:
        parse = template_parser(includes)
        template = content.get("template")
        self._template = None if template is None else parse(template)
        self._entries = [_parse_entry(entry, parse) for entry in content.get("messages") or []]
        self._variables = _variables_of(content, self._template, self._entries)

    @property
    def names(self) -> list[str]:
        """Names of all its variables without duplicates, in order of appearance; then those that are only declared."""
        return [variable.name for variable in self._variables]

    def fill(self, given: Mapping[str, object], appended: Sequence[Mapping[str, Any]] = ()) -> str | list[Message]:
        """Fills the prompt in one pass: text from values is never expanded again. Extra variables are ignored.

        Args:
            appended: messages appended to the prompt's own.

        Returns:
            The text of a template; messages if the prompt has some, or some are appended.

        Raises:
            VariablesError: naming the variables that are missing or invalid.
        """
        behind: Any = plain(list(appended))
        _refuse(message_faults(behind, "messages"))
        values = {variable.name: _read(variable, given) for variable in self._variables}
        _refuse([fault for value in values.values() for fault in value.faults])
        filling = Filling({name: value.text for name, value in values.items() if value.text is not None})
        if self._count_chars(values, filling) + _chars_of(behind) > MAX_CHARS:
            _refuse([Fault("variables", f"make the prompt longer than {MAX_CHARS} characters")])
        if self._template is not None and not behind:
            return self._template.render(filling)
        messages, paths = self._build(values, filling)
        messages.extend(behind)
        paths.extend(f"messages.{at}" for at in range(len(behind)))
        if not messages:
            _refuse([Fault("variables", "leave the prompt without a message: give at least one")])
        if len(messages) > MAX_FILLED_MESSAGES:
            _refuse([Fault("variables", f"make the prompt longer than {MAX_FILLED_MESSAGES} messages")])
        fault = order_fault(messages)
        if fault is not None:
            _refuse([Fault(paths[fault[0]], fault[1])])
        return messages

    def _build(self, values: Mapping[str, _Value], filling: Filling) -> tuple[list[Message], list[str]]:
        messages: list[Message] = []
        paths: list[str] = []
        if self._template is not None:
            messages.append({"role": "user", "content": self._template.render(filling)})
            paths.append("template")
        for index, entry in enumerate(self._entries):
            if isinstance(entry, str):
                history = values[entry].messages or []
                messages.extend(history)
                paths.extend(f"variables.{entry}.{at}" for at in range(len(history)))
                continue
            fields, content = entry
            filled: str | list[dict[str, Any]]
            if isinstance(content, Template):
                filled = content.render(filling)
            else:
                filled = [part for part in (_fill_part(part, values, filling) for part in content) if part is not None]
                if not filled:
                    continue
            messages.append({**fields, "content": filled})
            paths.append(f"prompt.messages.{index}")
        return messages, paths

    def _count_chars(self, values: Mapping[str, _Value], filling: Filling) -> int:
        lengths: dict[str, int] = {}

        def length_of(name: str) -> int:
            if name not in lengths:
                value = values[name]
                if value.messages is not None:
                    lengths[name] = _chars_of(value.messages)
                else:
                    file = value.file or {}
                    lengths[name] = utf16_length(file.get("data") or file.get("url") or "")
            return lengths[name]

        chars = 0 if self._template is None else self._template.count_chars(filling)
        for entry in self._entries:
            if isinstance(entry, str):
                chars += length_of(entry)
                continue
            content = entry[1]
            if isinstance(content, Template):
                chars += content.count_chars(filling)
                continue
            for part in content:
                if part["type"] == "text":
                    chars += part["text"].count_chars(filling)
                elif "variable" in part:
                    chars += length_of(part["variable"])
        return chars


def _chars_of(messages: list[Message]) -> int:
    return utf16_length(compact(messages)) if messages else 0


def _refuse(faults: list[Fault]) -> None:
    if faults:
        raise VariablesError([ErrorDetail(path, message) for path, message in faults[:_MAX_DETAILS]])


def _parse_entry(entry: Mapping[str, Any], parse: Callable[[str], Template]) -> _Entry:
    if "placeholder" in entry:
        return str(entry["placeholder"])
    content = entry["content"]
    fields = {name: value for name, value in entry.items() if name != "content"}
    if isinstance(content, str):
        return fields, parse(content)
    return fields, [{**part, "text": parse(part["text"])} if part["type"] == "text" else dict(part) for part in content]


def _variables_of(content: Mapping[str, Any], template: Template | None, entries: list[_Entry]) -> list[_Variable]:
    inputs: Mapping[str, Mapping[str, Any]] = content.get("inputs") or {}
    found: dict[str, _Variable] = {}
    seen: set[int] = set()

    def variable(name: str) -> _Variable:
        if name not in found:
            declared = inputs.get(name)
            type_ = None if declared is None else declared["type"]
            found[name] = _Variable(name, declared, as_messages=type_ == "messages", as_file=type_ == "file")
        return found[name]

    def add_texts(text: Template) -> None:
        names: dict[str, None] = {}
        text.add_names(names, seen)
        for name in names:
            used = variable(name)
            used.in_text, used.is_optional = True, False

    if template is not None:
        add_texts(template)
    for raw, entry in zip(content.get("messages") or [], entries, strict=True):
        if isinstance(entry, str):
            is_new = entry not in found
            used = variable(entry)
            used.is_optional = raw.get("required") is False and (is_new or used.is_optional)
            used.as_messages = True
            continue
        content_ = entry[1]
        if isinstance(content_, Template):
            add_texts(content_)
            continue
        for part in content_:
            if part["type"] == "text":
                add_texts(part["text"])
            elif "variable" in part:
                used = variable(part["variable"])
                used.as_file, used.is_optional = True, False
    for name in inputs:
        variable(name)
    return list(found.values())


def _fill_part(part: dict[str, Any], values: Mapping[str, _Value], filling: Filling) -> dict[str, Any] | None:
    if part["type"] == "text":
        return {**part, "text": part["text"].render(filling)}
    if "variable" not in part:
        return dict(part)
    file = values[part["variable"]].file
    if file is None:
        return None
    return {**{name: value for name, value in part.items() if name != "variable"}, **file}


def _read(variable: _Variable, given: Mapping[str, object]) -> _Value:
    """The value for a variable, ready for use, or its problem."""
    path = f"variables.{variable.name}"
    declared = variable.input or {}
    if variable.name in given:
        try:
            value = plain(given[variable.name])
        except TypeError as error:
            return _Value(faults=[Fault(path, f"can't be sent: {error}")])
        if value is None:
            return _Value(faults=[Fault(path, "is null: use a string, number, boolean, object or array")])
    elif variable.is_required:
        return _Value(faults=[Fault(path, "is missing: the template needs it")])
    else:
        value = declared.get("default")
        if value is None:
            return _Value()
    faults: list[Fault] = []
    if variable.as_messages:
        faults += message_faults(value, path)
    if variable.as_file:
        fault = file_fault(value, path)
        faults += [] if fault is None else [fault]
    if not variable.as_messages and not variable.as_file:
        faults += _input_faults(declared, value, path)
    if faults:
        return _Value(faults=faults)
    try:
        text = _as_text(value) if variable.in_text else None
    except TypeError as error:
        return _Value(faults=[Fault(path, f"can't be sent: {error}")])
    return _Value(
        text=text,
        messages=value if variable.as_messages and isinstance(value, list) else None,
        file=value if variable.as_file and isinstance(value, dict) else None,
    )


def _as_text(value: JsonValue) -> str:
    """Strings are inserted unchanged, numbers and booleans as text, objects and lists as compact JSON."""
    return value if isinstance(value, str) else compact(value)


def _input_faults(declared: Mapping[str, Any], value: JsonValue, path: str) -> list[Fault]:
    type_ = declared.get("type")
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if type_ == "string" and not isinstance(value, str):
        return [Fault(path, "must be a string")]
    if type_ == "number" and not is_number:
        return [Fault(path, "must be a number")]
    if type_ == "boolean" and not isinstance(value, bool):
        return [Fault(path, "must be true or false")]
    allowed = declared.get("enum")
    if allowed is not None and not any(_is_same(value, one) for one in allowed):
        return [Fault(path, f"must be one of {', '.join(compact(one) for one in allowed[:20])}")]
    return []


def _is_same(value: JsonValue, allowed: object) -> bool:
    # In Python, True equals 1.
    return isinstance(value, bool) == isinstance(allowed, bool) and value == allowed
