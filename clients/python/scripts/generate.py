"""Makes what is made from other files: `models.py`, `bodies.py` and `_async/operations.py` from the OpenAPI document, and `_sync` from
`_async`.

python scripts/generate.py            writes them
python scripts/generate.py --check    fails where they are not up to date
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from operations import bodies, operation_classes

HERE = Path(__file__).resolve().parent.parent
PACKAGE = HERE / "src" / "pms_client"
DOCUMENT = HERE.parent.parent / "openapi.json"
NAMES = HERE.parent / "methods.json"

HEADER = '"""Records of the API. Made from its OpenAPI document by scripts/generate.py: do not edit."""\n'
SYNC_HEADER = "# Made from _async by scripts/generate.py: do not edit.\n"

# Constraints on requests are not checked in responses: a newer service may allow more.
CONSTRAINTS = {
    "pattern", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "default", "example", "examples",
}  # fmt: skip


def lenient(schema: Any, *, names: bool = False) -> Any:
    """A schema without constraints that only apply to requests.

    Args:
        names: whether the keys of this object are names of fields, not keywords.
    """
    if isinstance(schema, list):
        return [lenient(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: lenient(value, names=not names and key in ("properties", "patternProperties", "$defs"))
        for key, value in schema.items()
        if names or (key not in CONSTRAINTS and (key != "format" or value == "date-time"))
    }


def references_in(schema: Any) -> set[str]:
    found = re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(schema))
    return set(found)


def received(api: Any) -> dict[str, Any]:
    """The schemas of responses. Errors are raised instead."""
    schemas = api["components"]["schemas"]
    waiting = references_in([method["responses"] for item in api["paths"].values() for method in item.values()])
    # Message types are useful to code that writes messages.
    reached = {"ChatMessage"}
    while waiting:
        reached |= waiting
        waiting = references_in([schemas[name] for name in reached]) - reached
    return {name: lenient(schema) for name, schema in schemas.items() if name in reached}


def models(document: Path) -> str:
    api = json.loads(document.read_text())
    schemas = received(api)
    reduced = {"openapi": api["openapi"], "info": api["info"], "paths": {}, "components": {"schemas": schemas}}
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder, "openapi.json"), Path(folder, "models.py")
        given.write_text(json.dumps(reduced))
        subprocess.run(
            [
                *(sys.executable, "-m", "datamodel_code_generator"),
                *("--input", given, "--input-file-type", "openapi", "--output", made),
                *("--output-model-type", "pydantic_v2.BaseModel", "--target-python-version", "3.10"),
                *("--extra-fields", "ignore", "--enum-field-as-literal", "all", "--use-title-as-name"),
                *("--collapse-root-models", "--use-annotated", "--disable-timestamp"),
                *("--naming-strategy", "parent-prefixed", "--field-type-collision-strategy", "rename-type"),
                *("--formatters", "builtin"),
                *("--use-double-quotes", "--use-union-operator", "--use-standard-collections"),
                *("--use-schema-description", "--custom-file-header", HEADER),
            ],
            check=True,
        )
        text = made.read_text().replace("AwareDatetime", "UtcDatetime")
        text = re.sub(r"(from pydantic import .*?), UtcDatetime\b|UtcDatetime, (?=BaseModel)", r"\1", text, count=1)
        return formatted(
            text.replace("from pydantic import", "from ._time import UtcDatetime\nfrom pydantic import", 1)
        )


def without_async(text: str) -> str:
    for pattern, plain in [
        (r"\bAsync([A-Z]\w*)", r"\1"),
        (r"\basync_(\w+)", r"\1"),
        (r"\basync (def|with|for) ", r"\1 "),
        (r"\bawait ", ""),
        (r"\basynccontextmanager\b", "contextmanager"),
        (r"\b_async\b", "_sync"),
        (r"\b(__)?a(close|read|iter_sse|enter__|exit__|iter__|next__)\b", r"\1\2"),
    ]:
        text = re.sub(pattern, plain, text)
    return SYNC_HEADER + text


def formatted(text: str) -> str:
    """Without `async`, imports have another order or are unused, and lines are shorter."""
    for command in (["check", "--fix", "--select", "I,F401"], ["format"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--quiet", "--config", HERE / "pyproject.toml", "-"],
            input=text, stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
        text = done.stdout
    return text


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("--check", action="store_true", help="write nothing")
    arguments.add_argument("--openapi", type=Path, default=DOCUMENT, help="default: openapi.json of the repository")
    given = arguments.parse_args()

    api = json.loads(given.openapi.read_text())
    names = json.loads(NAMES.read_text())
    operations = PACKAGE / "_async" / "operations.py"
    made = {
        PACKAGE / "models.py": models(given.openapi),
        PACKAGE / "bodies.py": formatted(bodies(api, names)),
        operations: formatted(operation_classes(api, names)),
    }
    sources = {path: path.read_text() for path in sorted((PACKAGE / "_async").glob("*.py"))}
    for path, text in {**sources, operations: made[operations]}.items():
        made[PACKAGE / "_sync" / path.name] = formatted(without_async(text))

    differing = [path for path, text in made.items() if not path.exists() or path.read_text() != text]
    for path in differing:
        if given.check:
            print(f"{path.relative_to(HERE)} is not up to date: run python scripts/generate.py", file=sys.stderr)
            continue
        path.parent.mkdir(exist_ok=True)
        path.write_text(made[path])
        print(f"wrote {path.relative_to(HERE)}", file=sys.stderr)
    return 1 if given.check and differing else 0


if __name__ == "__main__":
    sys.exit(main())
