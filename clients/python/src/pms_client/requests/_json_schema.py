"""The subset of JSON Schema for Anthropic's structured outputs. The service uses the same rules."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

from .._json import compact

Schema = dict[str, Any]

_FORMATS = ("date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid")
_KEPT = ("$schema", "$id", "title", "description", "default", "const", "enum", "type")
# Moved to the description, in this order.
_SAID = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "not",
]
_MAX_OPTIONAL = 10


def _adapted(value: Any) -> Any:
    return adapted_schema(value) if isinstance(value, dict) else value


def _mapped(schemas: Any) -> Any:
    return {name: _adapted(each) for name, each in schemas.items()} if isinstance(schemas, dict) else schemas


def _listed(schemas: Any) -> Any:
    return [_adapted(each) for each in schemas] if isinstance(schemas, list) else _adapted(schemas)


def adapted_schema(schema: Schema) -> Schema:
    """Adapts a schema for Anthropic: unsupported limits move to the description, and objects are closed."""
    result: Schema = {
        name: _mapped(schema[name]) for name in ("definitions", "$defs") if isinstance(schema.get(name), dict)
    }
    if schema.get("$ref") is not None:
        return {"$ref": schema["$ref"], **result}
    for name in _KEPT:
        if name in schema and (schema[name] is not None or name in ("default", "const")):
            result[name] = schema[name]
    if schema.get("type") == "object" or schema.get("properties") is not None:
        if schema.get("properties") is not None:
            result["properties"] = _mapped(schema["properties"])
        if schema.get("required") is not None:
            result["required"] = schema["required"]
        result["additionalProperties"] = False
    if schema.get("items") is not None:
        result["items"] = _listed(schema["items"])
    choices = schema.get("anyOf") if schema.get("anyOf") is not None else schema.get("oneOf")
    if isinstance(choices, list):
        result["anyOf"] = _listed(choices)
    if isinstance(schema.get("allOf"), list):
        result["allOf"] = _listed(schema["allOf"])
    said = [f"{_words(name)}: {_said(schema[name])}" for name in _SAID if _is_said(schema.get(name))]
    format_ = schema.get("format")
    if isinstance(format_, str):
        if format_ in _FORMATS:
            result["format"] = format_
        else:
            said.append(f"format: {format_}")
    if said:
        known = [] if schema.get("description") is None else [schema["description"]]
        result["description"] = "\n".join([*known, f"{'; '.join(said)}."])
    return result


def _is_said(value: Any) -> bool:
    return value is not None and value is not False


def _words(name: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: f" {letter[0].lower()}", name)


def _said(value: Any) -> str:
    return value if isinstance(value, str) else compact(value)


_SCHEMAS = ("additionalProperties", "contains", "else", "if", "items", "not", "then")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_MAPS = ("dependentSchemas", "patternProperties", "properties")


def _inside(schema: Schema) -> list[Schema]:
    """The direct subschemas."""
    found: list[Any] = []
    for name in _SCHEMAS:
        value = schema.get(name)
        found += value if isinstance(value, list) else [value]
    for name in _LISTS:
        if isinstance(schema.get(name), list):
            found += schema[name]
    for name in _MAPS:
        if isinstance(schema.get(name), dict):
            found += schema[name].values()
    return [each for each in found if isinstance(each, dict)]


def _resolved(root: Schema, pointer: str) -> Any:
    at: Any = root
    for segment in pointer.split("/")[1:]:
        name = unquote(segment).replace("~1", "/").replace("~0", "~")
        if isinstance(at, list):
            at = at[int(name)] if name.isdigit() and int(name) < len(at) else None
        else:
            at = at.get(name) if isinstance(at, dict) else None
    return at


def _is_open(schema: Schema) -> bool:
    additional, type_ = schema.get("additionalProperties"), schema.get("type")
    if additional is True or isinstance(additional, dict):
        return True
    if isinstance(schema.get("patternProperties"), dict) and schema["patternProperties"]:
        return True
    is_object = type_ == "object" or (isinstance(type_, list) and "object" in type_)
    return is_object and schema.get("properties") is None and additional is not False


def is_structured(root: Schema) -> bool:
    """Whether structured outputs support a schema: not if it is recursive, or has open objects or many optional fields."""
    optional = 0

    def visit(schema: Schema, open_: tuple[str, ...]) -> bool:
        nonlocal optional
        if _is_open(schema):
            return False
        required = schema.get("required") if isinstance(schema.get("required"), list) else []
        if isinstance(schema.get("properties"), dict):
            optional += sum(name not in (required or []) for name in schema["properties"])
        if optional > _MAX_OPTIONAL:
            return False
        ref = schema.get("$ref")
        if isinstance(ref, str) and ref.startswith("#"):
            if ref in open_:
                return False
            target = _resolved(root, ref)
            if isinstance(target, dict) and not visit(target, (*open_, ref)):
                return False
        return all(visit(each, open_) for each in _inside(schema))

    return visit(root, ("#",))
