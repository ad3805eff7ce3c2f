from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, Literal

from .._call import Call, change, create, params_of, path_of, read
from .._json import compact, plain
from .._lazy import models
from .operations import AsyncDatasetsOperations
from .transport import AsyncTransport

_UPLOAD_SECONDS = 300.0


class AsyncDatasets(AsyncDatasetsOperations):
    """Examples for evaluations."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def upload(
        self,
        name: str,
        examples: Iterable[Mapping[str, Any]] | bytes,
        *,
        format: Literal["jsonl", "csv"] = "jsonl",
        description: str | None = None,
        mode: Literal["add", "replace"] | None = None,
    ) -> models.DatasetChange:
        """Creates the next version of a dataset.

        Args:
            examples: `{"variables": {…}, "expected": …, "id": …, "metadata": {…}}`, or the bytes of a file.
            format: of the bytes.
            mode: `add` keeps existing examples and replaces those with the same id. Default: `replace`.
        """
        if not isinstance(examples, bytes):
            examples = "".join(f"{compact(plain(example))}\n" for example in examples).encode()
        type_ = "text/csv" if format == "csv" else "application/x-ndjson"
        call = Call(
            "PUT",
            path_of("datasets", name),
            params_of(description=description, mode=mode),
            content=examples,
            headers={"Content-Type": type_},
            timeout=_UPLOAD_SECONDS,
        )
        return await self._transport.fetch(models.DatasetChange, call)

    async def get(self, name: str, *, version: int | None = None) -> models.Dataset:
        return await self._transport.fetch(models.Dataset, read("datasets", name, version=version))

    def list(self, *, limit: int | None = None) -> AsyncIterator[models.Dataset]:
        """All datasets by name, in their latest version."""
        return self._transport.pages(models.Dataset, "datasets", limit=limit)

    def versions(self, name: str, *, limit: int | None = None) -> AsyncIterator[models.Dataset]:
        return self._transport.pages(models.Dataset, "datasets", name, "versions", limit=limit)

    def examples(
        self, name: str, *, version: int | None = None, q: str | None = None, limit: int | None = None
    ) -> AsyncIterator[models.DatasetExample]:
        """The examples of a version, in order. Default: the latest.

        Args:
            q: only examples with this text in their id or in a value.
        """
        return self._transport.pages(
            models.DatasetExample, "datasets", name, "examples", version=version, q=q, limit=limit
        )

    async def add_examples(
        self, name: str, *, examples: Iterable[Mapping[str, Any]], idempotency_key: str | None = None
    ) -> models.DatasetChange:
        """Adds at most 1,000 examples to the latest version; one with the id of an existing example replaces it.

        Args:
            examples: `{"variables": {…}, "expected": …, "id": …, "metadata": {…}}`.
        """
        body = {"examples": list(examples)}
        call = create("datasets", name, "examples", body=body, idempotency_key=idempotency_key)
        return await self._transport.fetch(models.DatasetChange, call)

    async def create_from_executions(
        self, name: str, *, idempotency_key: str | None = None, **fields: Any
    ) -> models.DatasetChange:
        """Adds recorded executions as examples: their variables, and their output as `expected`.

        Args:
            fields: select the executions; `mode="replace"` keeps no existing examples.
        """
        call = create("datasets", name, "from-executions", body=fields, idempotency_key=idempotency_key)
        return await self._transport.fetch(models.DatasetChange, call)

    async def delete(self, name: str) -> models.Dataset:
        """Deletes all its versions."""
        return await self._transport.fetch(models.Dataset, change("DELETE", "datasets", name))
