"""What Schemathesis is to read otherwise than it does; see schemathesis.toml."""

from typing import Any

import schemathesis


@schemathesis.hook
def before_load_schema(context: schemathesis.HookContext, raw_schema: dict[str, Any]) -> None:
    """Takes away the schemas of streams.

    In OpenAPI 3.1 such a schema describes the whole body, which is text. Schemathesis holds each event against it, as OpenAPI 3.2
    does by `itemSchema`. The type of the content is still checked.
    """
    for operations in raw_schema["paths"].values():
        for operation in operations.values():
            for response in operation["responses"].values():
                response.get("content", {}).get("text/event-stream", {}).pop("schema", None)
