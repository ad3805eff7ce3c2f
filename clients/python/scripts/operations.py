"""The client methods generated from the operations of the OpenAPI document, except those written by hand."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ASYNC = Path(__file__).resolve().parent.parent / "src" / "pms_client" / "_async"
MADE = "operations.py"
HEADER = "{}. Made from the OpenAPI document by scripts/generate.py: do not edit."

Schema = dict[str, Any]


def pascal(name: str) -> str:
    return "".join(word[0].upper() + word[1:] for word in re.split("[_-]", name))


def singular(name: str) -> str:
    return re.sub("s$", "", re.sub("ies$", "y", name))


def methods_by_hand() -> set[str]:
    """`prompts.create`, and `usage` for operations of the client itself."""
    found = set()
    for path in ASYNC.glob("*.py"):
        if path.name == MADE:
            continue
        for node in ast.parse(path.read_text()).body:
            if not isinstance(node, ast.ClassDef):
                continue
            resource = re.sub("(?<!^)([A-Z])", r"_\1", node.name.removeprefix("Async")).lower()
            prefix = "" if resource == "pms" else f"{resource}."
            functions = (ast.FunctionDef, ast.AsyncFunctionDef)
            found |= {f"{prefix}{each.name}" for each in node.body if isinstance(each, functions)}
    return found


# Operations without a key that change nothing, or are idempotent; as in `call.ts` of the TypeScript client.
HARMLESS = {"resolvePrompts", "setPromptLabel", "storeEvaluationResults", "ingestTraces", "finishEvaluation"}


class Operation:
    """An operation of the document in Python terms."""

    def __init__(self, api: Any, name: str, method: str, path: str, operation: Any) -> None:
        self.resource, _, self.method_name = name.rpartition(".")
        self.http_method, self.path = method.upper(), path
        self.summary: str = operation["summary"]
        self._schemas = api["components"]["schemas"]
        shared = api["components"]["parameters"]
        parameters = [
            shared[each["$ref"].rsplit("/", 1)[1]] if "$ref" in each else each
            for each in operation.get("parameters", [])
        ]
        self.is_idempotent = any(each["name"] == "Idempotency-Key" for each in parameters)
        self.is_harmless = operation["operationId"] in HARMLESS
        self.query = [each for each in parameters if each["in"] == "query"]
        self._path_types = {each["name"]: each["schema"].get("type") for each in parameters if each["in"] == "path"}
        body = operation.get("requestBody")
        self.body: str | None = None
        if body is not None and "application/json" in body["content"]:
            self.body = body["content"]["application/json"]["schema"].get("$ref", "").rsplit("/", 1)[-1] or None
        content = next(each["content"] for status, each in operation["responses"].items() if status < "3")
        schema = content.get("application/json", {}).get("schema", {})
        self.is_text = schema.get("type") == "string"
        self.record = schema["$ref"].rsplit("/", 1)[1] if "$ref" in schema else None
        fields = self._schemas[self.record]["properties"] if self.record else {}
        self.item: str | None = None
        if "next_cursor" in fields and "data" in fields:
            self.item = fields["data"]["items"]["$ref"].rsplit("/", 1)[1]

    def segments(self) -> Iterator[tuple[str, str | None]]:
        """Each path segment as a Python expression, with its parameter if it is one."""
        before = ""
        for segment in self.path.strip("/").split("/"):
            if not segment.startswith("{"):
                before = segment
                yield f'"{segment}"', None
                continue
            given = segment.strip("{}")
            name = f"{singular(before).replace('-', '_')}_id" if given in ("id", "other") else given
            name = "other_id" if given == "other" else name
            is_number = self._path_types[given] == "integer"
            yield f"str({name})" if is_number else name, f"{name}: {'int' if is_number else 'str'}"

    def source(self) -> str:
        segments = list(self.segments())
        path = ", ".join(segment for segment, _ in segments)
        positional = [parameter for _, parameter in segments if parameter]
        query = [each for each in self.query if each["name"] not in (("cursor", "format") if self.item else ())]
        named = [query_parameter(each) for each in query]
        sent = ", ".join(f"{python_name(each)}={python_name(each)}" for each in query)
        if self.is_idempotent:
            named.append("idempotency_key: str | None = None")
        signature = ["self", *positional, *(["*", *named] if named else [])]
        if self.body:
            signature.append(f"**body: Unpack[bodies.{self.body}]")
        arguments = ", ".join(part for part in (path, sent) if part)
        doc = f'        """{self.summary}: `{self.http_method} {self.path}`"""\n'
        head = f"def {self.method_name}({', '.join(signature)})"
        if self.item:
            item = f"models.{self.item}"
            return f"    {head} -> AsyncIterator[{item}]:\n{doc}        return self._transport.pages({item}, {arguments})\n"
        body = ", body=body" if self.body else ""
        if self.http_method == "GET":
            call = f"read({arguments})"
        elif self.is_idempotent:
            call = f"create({path}{body}, idempotency_key=idempotency_key)"
        else:
            repeatable = ", is_repeatable=True" if self.is_harmless else ""
            call = f'change("{self.http_method}", {path}{body}{repeatable})'
        if self.is_text:
            return f"    async {head} -> str:\n{doc}        return (await self._transport.send({call})).text\n"
        result = f"models.{self.record}"
        return f"    async {head} -> {result}:\n{doc}        return await self._transport.fetch({result}, {call})\n"


def python_name(parameter: Any) -> str:
    name: str = parameter["name"]
    return f"{name}_" if name == "from" else name


def query_parameter(parameter: Any) -> str:
    schema = parameter["schema"]
    kind = type_of(schema, {})
    if schema.get("enum") == ["true", "false"]:
        kind = "bool"
    is_required = parameter.get("required", False)
    return f"{python_name(parameter)}: {kind}" + ("" if is_required else " | None = None")


def literal(value: Any) -> str:
    return json.dumps(value) if isinstance(value, str) else repr(value)


def type_of(schema: Schema, schemas: dict[str, Schema]) -> str:
    """The type of a caller's argument. The service validates the content of objects."""
    if "$ref" in schema:
        return type_of(schemas.get(schema["$ref"].rsplit("/", 1)[1], {"type": "string"}), schemas)
    if "const" in schema:
        return f"Literal[{literal(schema['const'])}]"
    if "enum" in schema:
        return f"Literal[{', '.join(literal(value) for value in schema['enum'])}]"
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(dict.fromkeys(type_of({**schema, "type": each}, schemas) for each in kind))
    branches = schema.get("anyOf") or schema.get("oneOf")
    if branches:
        return " | ".join(dict.fromkeys(type_of(each, schemas) for each in branches))
    if kind == "string":
        return "Time" if schema.get("format") == "date-time" else "str"
    if kind == "array":
        return f"Sequence[{type_of(schema['items'], schemas)}]"
    simple = {"integer": "int", "number": "float", "boolean": "bool", "null": "None", "object": "Mapping[str, Any]"}
    return simple.get(str(kind), "Any")


def operations_of(api: Any, names: dict[str, str]) -> list[Operation]:
    return [
        Operation(api, names[operation["operationId"]], method, path, operation)
        for path, methods in api["paths"].items()
        for method, operation in methods.items()
        if names[operation["operationId"]] not in methods_by_hand()
    ]


def operation_classes(api: Any, names: dict[str, str]) -> str:
    """The source of a class for each resource, completed by hand where necessary."""
    by_resource: dict[str, list[str]] = {}
    for operation in operations_of(api, names):
        by_resource.setdefault(operation.resource, []).append(operation.source())
    classes = [
        f"class Async{pascal(resource)}Operations:\n"
        f"    def __init__(self, transport: AsyncTransport) -> None:\n"
        f"        self._transport = transport\n\n" + "\n".join(sources)
        for resource, sources in sorted(by_resource.items())
    ]
    text = "\n\n".join(classes)
    imports = """from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Literal

from typing_extensions import Unpack

from .. import bodies
from .._lazy import models
from .._call import change, create, read
from ..types import Time
from .transport import AsyncTransport
"""
    return f'"""{HEADER.format("Operations of the API")}"""\n\n{imports}\n\n{text}'


def bodies(api: Any, names: dict[str, str]) -> str:
    """The source of the types of request bodies."""
    schemas = api["components"]["schemas"]
    used = sorted({operation.body for operation in operations_of(api, names) if operation.body})
    classes = []
    for name in used:
        schema = schemas[name]
        required = schema.get("required", [])
        fields = []
        for field, about in schema.get("properties", {}).items():
            kind = type_of(about, schemas)
            fields.append(f"    {field}: {f'Required[{kind}]' if field in required else kind}")
            if "description" in about:
                text = about["description"].replace("\\", "\\\\").replace('"', "'")
                fields.append(f'    """{text}"""')
        classes.append(f"class {name}(TypedDict, total=False):\n" + ("\n".join(fields) or "    pass") + "\n")
    text = "\n\n".join(classes)
    return f'''"""{HEADER.format("Bodies of requests")}"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from typing_extensions import Required, TypedDict

from .types import Time


{text}'''
