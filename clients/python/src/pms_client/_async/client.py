from __future__ import annotations

import math
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any

import httpx
from typing_extensions import Unpack

from .._call import Call, params_of, read
from .._json import plain
from .._lazy import models
from .._runtime import async_sleep
from .._scorers import EvaluateResult, ScoreSpec, Task
from ..types import CodeEvaluationFields, ExecutionFields, RunFields, Time
from . import operations
from .datasets import AsyncDatasets
from .evaluate import async_evaluate
from .evaluations import AsyncEvaluations
from .events import AsyncEvents
from .executions import DEFAULT_WAIT_SECONDS, AsyncExecutions
from .improvements import AsyncImprovements
from .prompts import AsyncPrompts
from .recorder import AsyncRecorder, OnDrop
from .releases import AsyncReleases
from .scores import AsyncScores
from .stream import AsyncExecutionStream
from .transport import AsyncTransport
from .webhooks import AsyncWebhooks

_POLL_SECONDS = 2.0


class AsyncPms:
    """A client of the Prompt Management Service. Create one per program and keep it: it holds the cache and connections.

    Args:
        base_url: the address of the service, such as `http://127.0.0.1:3000`. Default: `PMS_BASE_URL`.
        api_key: a key of the service. Default: `PMS_API_KEY`.
        timeout: seconds without a byte; runs of prompts have their own.
        retry_for: seconds for which a failing request is retried, from its first failure, if that is useful and safe. 0
            disables retries.
        max_retries: maximum number of retries. Default: limited only by `retry_for`.
        prompt_ttl: seconds for which a cached prompt is used without a refresh.
        prompt_timeout: seconds to wait for a prompt that is not in the cache: for the response, and then as long again for
            retries if the request fails and there is no fallback.
        max_prompts: maximum number of cached prompts; the least recently used are removed.
        max_recorded_runs: maximum number of runs of `record` that are waiting or being sent.
        max_recorded_bytes: the same limit in bytes of JSON.
        flush_after: seconds that a run of `record` waits to be batched with others.
        on_drop: receives runs that are not recorded, and why, in the background.
        http_client: your own, for a proxy or certificates; you close it.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = 30.0,
        retry_for: float = 120.0,
        max_retries: int | None = None,
        prompt_ttl: float = 60.0,
        prompt_timeout: float = 5.0,
        max_prompts: int = 1_000,
        max_recorded_runs: int = 10_000,
        max_recorded_bytes: int = 16 * 1024 * 1024,
        flush_after: float = 1.0,
        on_drop: OnDrop | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        transport = AsyncTransport(
            base_url,
            api_key,
            timeout=timeout,
            retry_for=retry_for,
            max_retries=max_retries,
            http_client=http_client,
        )
        self._transport = transport
        self.prompts = AsyncPrompts(
            transport, ttl=prompt_ttl, max_prompts=max_prompts, timeout=min(prompt_timeout, timeout)
        )
        self.executions = AsyncExecutions(transport)
        self.evaluations = AsyncEvaluations(transport)
        self.datasets = AsyncDatasets(transport)
        self.releases = AsyncReleases(transport)
        self.scores = AsyncScores(transport)
        self.webhooks = AsyncWebhooks(transport)
        self.audit_log = operations.AsyncAuditLogOperations(transport)
        self.chat_completions = operations.AsyncChatCompletionsOperations(transport)
        self.conversations = operations.AsyncConversationsOperations(transport)
        self.deliveries = operations.AsyncDeliveriesOperations(transport)
        self.devices = operations.AsyncDevicesOperations(transport)
        self.evaluators = operations.AsyncEvaluatorsOperations(transport)
        self.events = AsyncEvents(transport)
        self.improvements = AsyncImprovements(transport)
        self.keys = operations.AsyncKeysOperations(transport)
        self.labels = operations.AsyncLabelsOperations(transport)
        self.me = operations.AsyncMeOperations(transport)
        self.members = operations.AsyncMembersOperations(transport)
        self.models = operations.AsyncModelsOperations(transport)
        self.monitors = operations.AsyncMonitorsOperations(transport)
        self.notifications = operations.AsyncNotificationsOperations(transport)
        self.providers = operations.AsyncProvidersOperations(transport)
        self.queues = operations.AsyncQueuesOperations(transport)
        self.responses = operations.AsyncResponsesOperations(transport)
        self.rules = operations.AsyncRulesOperations(transport)
        self.saved_evaluators = operations.AsyncSavedEvaluatorsOperations(transport)
        self.schedules = operations.AsyncSchedulesOperations(transport)
        self.score_definitions = operations.AsyncScoreDefinitionsOperations(transport)
        self.sessions = operations.AsyncSessionsOperations(transport)
        self.statistics = operations.AsyncStatisticsOperations(transport)
        self.traces = operations.AsyncTracesOperations(transport)
        self.views = operations.AsyncViewsOperations(transport)
        self._recorder = AsyncRecorder(
            transport,
            max_runs=max_recorded_runs,
            max_bytes=max_recorded_bytes,
            flush_after=flush_after,
            retry_for=retry_for,
            on_drop=on_drop,
        )

    async def execute(
        self,
        prompt_name: str | None = None,
        variables: Mapping[str, object] | None = None,
        *,
        wait: float | None = None,
        idempotency_key: str | None = None,
        **fields: Unpack[ExecutionFields],
    ) -> models.Execution:
        """Runs a prompt, and waits for its end, even through a restart of the service (`retry_for`). There is only one run,
        however often the request is sent. Its errors have the `idempotency_key`, and the `execution_id` if it is
        known.

        Args:
            wait: seconds. The run continues after that; 0 does not wait. Default: no limit.

        Returns:
            The record, also of a failed run (`status`, `error`); after `wait`, its current state.
        """
        until = math.inf if wait is None else time.monotonic() + wait
        first = DEFAULT_WAIT_SECONDS if wait is None else min(DEFAULT_WAIT_SECONDS, math.ceil(wait))
        key = idempotency_key or str(uuid.uuid4())
        execution = await self.executions.create(prompt_name, variables, wait=first, idempotency_key=key, **fields)
        while execution.status in ("queued", "running") and time.monotonic() < until:
            await async_sleep(min(_POLL_SECONDS, max(0.0, until - time.monotonic())))
            look = replace(read("executions", execution.id), idempotency_key=key)
            execution = await self._transport.fetch(models.Execution, look)
        return execution

    def stream(
        self,
        prompt_name: str | None = None,
        variables: Mapping[str, object] | None = None,
        *,
        idempotency_key: str | None = None,
        **fields: Unpack[ExecutionFields],
    ) -> AsyncExecutionStream:
        """Runs a prompt, and yields its events as the model writes: `executions.stream`."""
        return self.executions.stream(prompt_name, variables, idempotency_key=idempotency_key, **fields)

    async def evaluate(
        self,
        name: str,
        *,
        data: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
        task: Task,
        scores: Sequence[ScoreSpec],
        concurrency: int = 10,
        resume: bool | str = False,
        **fields: Unpack[CodeEvaluationFields],
    ) -> EvaluateResult:
        """Evaluates a function on examples, and stores the results as an evaluation of the service.

        Args:
            name: of the evaluated code, such as `support/agent`: runs with the same name are compared.
            data: a dataset by name, or `{"name", "version"}`; or up to 1,000 examples.
            task: receives the variables of an example, and the example. An example fails if it raises.
            scores: functions of an output and its example, names of built-in scores (`exact_match`, `contains`), or
                `NamedScore`.
            concurrency: number of concurrent examples.
            resume: continues a run. True: the newest running one with this name, the same examples and the same scores, if any.
                An id: that run, whose failures are repeated.

        Returns:
            The completed evaluation, and its comparison with the baseline.
        """
        return await async_evaluate(
            self._transport,
            name,
            data=data,
            task=task,
            scores=scores,
            concurrency=concurrency,
            resume=resume,
            fields=fields,
        )

    def record(self, **run: Unpack[RunFields]) -> str:
        """Records a run that the program made itself. It is sent later in a batch, in the background, and again through a
        restart of the service (`retry_for`). It never raises: `on_drop` receives runs that are not recorded.

        Returns:
            The id of the execution, if the run has no `id`.
        """
        return self._recorder.record(run)

    async def flush(self, timeout: float | None = None) -> bool:
        """Sends the waiting runs.

        Args:
            timeout: seconds. Default: until each is recorded or dropped.

        Returns:
            Whether each is.
        """
        return await self._recorder.flush(timeout)

    async def usage(
        self,
        *,
        since: Time | None = None,
        until: Time | None = None,
        prompt_name: str | None = None,
        model: str | None = None,
        group_by: str | None = None,
    ) -> models.Usage:
        """Tokens and cost by prompt, model and day."""
        call = read("usage", since=since, until=until, prompt_name=prompt_name, model=model, group_by=group_by)
        return await self._transport.fetch(models.Usage, call)

    async def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, object] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Any other operation, with the same errors and retries.

        Args:
            path: below `/v1`, such as `/schedules`.

        Returns:
            The response, parsed.
        """
        headers = headers or {}
        key = next((value for name, value in headers.items() if name.lower() == "idempotency-key"), None)
        call = Call(
            method,
            path,
            params_of(**(params or {})),
            body=None if body is None else plain(body),
            headers=headers,
            is_repeatable=method in ("GET", "HEAD") or key is not None,
            idempotency_key=key,
        )
        return (await self._transport.send(call)).json()

    async def aclose(self) -> None:
        """Sends the waiting runs, then closes the connections, and stops refreshing the cache."""
        await self._recorder.flush()
        await self.prompts.aclose()
        await self._transport.aclose()

    async def __aenter__(self) -> AsyncPms:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()
