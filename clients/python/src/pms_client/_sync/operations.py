# Made from _async by scripts/generate.py: do not edit.
"""Operations of the API. Made from the OpenAPI document by scripts/generate.py: do not edit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from typing_extensions import Unpack

from .. import bodies
from .._call import change, create, read
from .._lazy import models
from ..types import Time
from .transport import Transport


class AuditLogOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        limit: int | None = None,
        actor: str | None = None,
        action: Literal[
            "api_key.created",
            "api_key.revoked",
            "session.created",
            "session.ended",
            "member.joined",
            "member.role_changed",
            "member.suspended",
            "member.reinstated",
            "member.removed",
            "workspace.created",
            "workspace.owner_changed",
            "webhook.created",
            "webhook.updated",
            "webhook.deleted",
            "webhook.enabled",
            "webhook.disabled",
            "webhook.secret_rotated",
            "webhook.tested",
            "webhook.replayed",
            "webhook.redelivered",
            "saved_evaluator.set",
            "saved_evaluator.deleted",
            "score.deleted",
            "score_definition.set",
            "score_definition.deleted",
            "prompt.created",
            "prompt.updated",
            "prompt.archived",
            "prompt.restored",
            "prompt.version_deleted",
            "label.moved",
            "label.removed",
            "label.protected",
            "label.unprotected",
            "label.policy_set",
            "label.policy_removed",
            "execution.canceled",
            "execution.deleted",
            "dataset.created",
            "dataset.updated",
            "dataset.deleted",
            "evaluation.updated",
            "evaluation.paused",
            "evaluation.resumed",
            "evaluation.canceled",
            "evaluation.retried",
            "evaluation.batch_resubmitted",
            "evaluation.deleted",
            "schedule.created",
            "schedule.paused",
            "schedule.resumed",
            "schedule.triggered",
            "schedule.deleted",
            "trace.deleted",
            "conversation.deleted",
            "trace_user.deleted",
            "trace_policy.updated",
            "rule.created",
            "rule.updated",
            "rule.deleted",
            "rule.backfill_started",
            "rule.backfill_paused",
            "rule.backfill_resumed",
            "rule.backfill_canceled",
            "release.started",
            "release.approved",
            "release.rejected",
            "release.paused",
            "release.resumed",
            "release.promoted",
            "release.rolled_back",
            "release.canceled",
            "release.superseded",
            "improvement.started",
            "improvement.paused",
            "improvement.resumed",
            "improvement.finished",
            "improvement.canceled",
            "improvement.retried",
            "improvement.accepted",
            "improvement.deleted",
            "monitor.created",
            "monitor.updated",
            "monitor.deleted",
            "queue.created",
            "queue.updated",
            "queue.deleted",
            "queue.items_added",
            "queue.item_completed",
            "queue.item_skipped",
            "queue.item_returned",
            "view.deleted",
        ]
        | None = None,
        resource: str | None = None,
        since: Time | None = None,
        until: Time | None = None,
    ) -> Iterator[models.AuditEntry]:
        """List audit log entries, newest first: `GET /audit-log`"""
        return self._transport.pages(
            models.AuditEntry,
            "audit-log",
            limit=limit,
            actor=actor,
            action=action,
            resource=resource,
            since=since,
            until=until,
        )


class ChatCompletionsOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self, *, idempotency_key: str | None = None, **body: Unpack[bodies.CreateChatCompletion]
    ) -> models.ChatCompletion:
        """Run a prompt in OpenAI's Chat Completions format: `POST /chat/completions`"""
        return self._transport.fetch(
            models.ChatCompletion, create("chat", "completions", body=body, idempotency_key=idempotency_key)
        )


class ConversationsOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        user_id: str | None = None,
        since: Time | None = None,
        until: Time | None = None,
        limit: int | None = None,
    ) -> Iterator[models.Conversation]:
        """List conversations, the most recent first: `GET /conversations`"""
        return self._transport.pages(
            models.Conversation, "conversations", user_id=user_id, since=since, until=until, limit=limit
        )

    def traces(self, name: str, *, limit: int | None = None) -> Iterator[models.Trace]:
        """Retrieve a conversation with its traces, oldest first: `GET /conversations/{name}`"""
        return self._transport.pages(models.Trace, "conversations", name, limit=limit)

    def delete(self, name: str) -> models.DeletedConversation:
        """Delete all traces of a conversation: `DELETE /conversations/{name}`"""
        return self._transport.fetch(models.DeletedConversation, change("DELETE", "conversations", name))


class DatasetsOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def generate(
        self, name: str, *, idempotency_key: str | None = None, **body: Unpack[bodies.GenerateExamples]
    ) -> models.GeneratedExamples:
        """Generate examples for a dataset from a prompt, with one call: `POST /datasets/{name}/generate`"""
        return self._transport.fetch(
            models.GeneratedExamples, create("datasets", name, "generate", body=body, idempotency_key=idempotency_key)
        )

    def export(self, name: str, *, version: int | None = None, format: Literal["jsonl", "csv"] | None = None) -> str:
        """Export a dataset version as JSON Lines or CSV: `GET /datasets/{name}/export`"""
        return (self._transport.send(read("datasets", name, "export", version=version, format=format))).text

    def create_from_scores(
        self, name: str, *, idempotency_key: str | None = None, **body: Unpack[bodies.DatasetFromScores]
    ) -> models.DatasetChange:
        """Add what people scored to a dataset, as examples for a judge: `POST /datasets/{name}/from-scores`"""
        return self._transport.fetch(
            models.DatasetChange, create("datasets", name, "from-scores", body=body, idempotency_key=idempotency_key)
        )

    def create_from_traces(
        self, name: str, *, idempotency_key: str | None = None, **body: Unpack[bodies.DatasetFromTraces]
    ) -> models.DatasetChange:
        """Add traces, or steps of traces, to a dataset: `POST /datasets/{name}/from-traces`"""
        return self._transport.fetch(
            models.DatasetChange, create("datasets", name, "from-traces", body=body, idempotency_key=idempotency_key)
        )


class DeliveriesOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self, delivery_id: str) -> models.DeliveryWithAttempts:
        """Retrieve a delivery with its attempts: `GET /deliveries/{id}`"""
        return self._transport.fetch(models.DeliveryWithAttempts, read("deliveries", delivery_id))

    def send_now(self, delivery_id: str) -> models.Delivery:
        """Send a waiting delivery now: `POST /deliveries/{id}/send-now`"""
        return self._transport.fetch(models.Delivery, change("POST", "deliveries", delivery_id, "send-now"))

    def redeliver(self, delivery_id: str, *, idempotency_key: str | None = None) -> models.Delivery:
        """Redeliver an event: `POST /deliveries/{id}/redeliver`"""
        return self._transport.fetch(
            models.Delivery, create("deliveries", delivery_id, "redeliver", idempotency_key=idempotency_key)
        )


class DevicesOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def authorize(self, **body: Unpack[bodies.CreateDeviceAuthorization]) -> models.CreatedDeviceAuthorization:
        """Create a device authorization: `POST /device/authorizations`"""
        return self._transport.fetch(
            models.CreatedDeviceAuthorization, change("POST", "device", "authorizations", body=body)
        )

    def key(self, **body: Unpack[bodies.DeviceToken]) -> models.DeviceKey:
        """Exchange an approved device code for a key, shown once: `POST /device/token`"""
        return self._transport.fetch(models.DeviceKey, change("POST", "device", "token", body=body))

    def get(self, user_code: str) -> models.DeviceAuthorization:
        """Retrieve a device authorization: `GET /device/authorizations/{user_code}`"""
        return self._transport.fetch(models.DeviceAuthorization, read("device", "authorizations", user_code))

    def approve(self, user_code: str, **body: Unpack[bodies.ApproveDeviceAuthorization]) -> models.DeviceAuthorization:
        """Approve a device authorization: `POST /device/authorizations/{user_code}/approve`"""
        return self._transport.fetch(
            models.DeviceAuthorization, change("POST", "device", "authorizations", user_code, "approve", body=body)
        )

    def deny(self, user_code: str) -> models.DeviceAuthorization:
        """Deny a device authorization: `POST /device/authorizations/{user_code}/deny`"""
        return self._transport.fetch(
            models.DeviceAuthorization, change("POST", "device", "authorizations", user_code, "deny")
        )


class EvaluationsOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def estimate(self, **body: Unpack[bodies.CreateEvaluation]) -> models.EvaluationEstimate:
        """Estimate what an evaluation would cost: `POST /evaluations/estimate`"""
        return self._transport.fetch(models.EvaluationEstimate, change("POST", "evaluations", "estimate", body=body))

    def update(self, evaluation_id: str, **body: Unpack[bodies.UpdateEvaluation]) -> models.Evaluation:
        """Name an evaluation: `PATCH /evaluations/{id}`"""
        return self._transport.fetch(models.Evaluation, change("PATCH", "evaluations", evaluation_id, body=body))

    def store_results(self, evaluation_id: str, **body: Unpack[bodies.StoreCodeResults]) -> models.StoredCodeResults:
        """Store results of a code evaluation: `POST /evaluations/{id}/results`"""
        return self._transport.fetch(
            models.StoredCodeResults,
            change("POST", "evaluations", evaluation_id, "results", body=body, is_repeatable=True),
        )

    def summarize_results(
        self,
        evaluation_id: str,
        *,
        regression: bool | None = None,
        improvement: bool | None = None,
        failed: bool | None = None,
        example_id: str | None = None,
        min_score: float | None = None,
        max_score: float | None = None,
        evaluator: str | None = None,
        q: str | None = None,
        metadata_key: str | None = None,
        metadata_value: str | None = None,
    ) -> models.EvaluationResultsSummary:
        """Summarize the results that match the filters: `GET /evaluations/{id}/results/summary`"""
        return self._transport.fetch(
            models.EvaluationResultsSummary,
            read(
                "evaluations",
                evaluation_id,
                "results",
                "summary",
                regression=regression,
                improvement=improvement,
                failed=failed,
                example_id=example_id,
                min_score=min_score,
                max_score=max_score,
                evaluator=evaluator,
                q=q,
                metadata_key=metadata_key,
                metadata_value=metadata_value,
            ),
        )

    def input(self, evaluation_id: str, seq: int) -> models.EvaluationInput:
        """Retrieve the model input of one example: `GET /evaluations/{id}/results/{seq}/input`"""
        return self._transport.fetch(
            models.EvaluationInput, read("evaluations", evaluation_id, "results", str(seq), "input")
        )

    def create_code(
        self, *, idempotency_key: str | None = None, **body: Unpack[bodies.CreateCodeEvaluation]
    ) -> models.Evaluation:
        """Create an evaluation of code that the caller runs: `POST /evaluations/code`"""
        return self._transport.fetch(
            models.Evaluation, create("evaluations", "code", body=body, idempotency_key=idempotency_key)
        )

    def open_examples(self, evaluation_id: str, *, limit: int | None = None) -> Iterator[models.OpenExample]:
        """List the examples that have no result yet: `GET /evaluations/{id}/open-examples`"""
        return self._transport.pages(models.OpenExample, "evaluations", evaluation_id, "open-examples", limit=limit)

    def finish(self, evaluation_id: str) -> models.Evaluation:
        """Finish a code evaluation: `POST /evaluations/{id}/finish`"""
        return self._transport.fetch(
            models.Evaluation, change("POST", "evaluations", evaluation_id, "finish", is_repeatable=True)
        )

    def resubmit_batch(self, evaluation_id: str, number: int) -> models.Evaluation:
        """Resubmit a batch in an unknown state: `POST /evaluations/{id}/batches/{number}/resubmit`"""
        return self._transport.fetch(
            models.Evaluation, change("POST", "evaluations", evaluation_id, "batches", str(number), "resubmit")
        )


class EvaluatorsOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> Iterator[models.EvaluatorType]:
        """List the types of evaluators, with their options: `GET /evaluators`"""
        return self._transport.pages(models.EvaluatorType, "evaluators")

    def score(self, **body: Unpack[bodies.TryEvaluators]) -> models.TriedScores:
        """Score one output: `POST /evaluators/try`"""
        return self._transport.fetch(models.TriedScores, change("POST", "evaluators", "try", body=body))

    def agreement(
        self,
        *,
        score: str,
        rule: str | None = None,
        feedback: bool | None = None,
        ordered: bool | None = None,
        since: Time | None = None,
        until: Time | None = None,
        disagreements: int | None = None,
    ) -> models.EvaluatorAgreement:
        """Compare evaluator scores with human scores: `GET /evaluators/agreement`"""
        return self._transport.fetch(
            models.EvaluatorAgreement,
            read(
                "evaluators",
                "agreement",
                score=score,
                rule=rule,
                feedback=feedback,
                ordered=ordered,
                since=since,
                until=until,
                disagreements=disagreements,
            ),
        )


class EventsOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        limit: int | None = None,
        event: str | None = None,
        since: Time | None = None,
        until: Time | None = None,
    ) -> Iterator[models.Event]:
        """List events, newest first: `GET /events`"""
        return self._transport.pages(models.Event, "events", limit=limit, event=event, since=since, until=until)

    def get(self, event_id: str) -> models.Event:
        """Retrieve an event: `GET /events/{id}`"""
        return self._transport.fetch(models.Event, read("events", event_id))


class ExecutionsOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def count(
        self,
        *,
        q: str | None = None,
        id: str | None = None,
        prompt_name: str | None = None,
        group: str | None = None,
        status: Literal["queued", "running", "completed", "failed", "canceled"] | None = None,
        model: str | None = None,
        label: str | None = None,
        release: str | None = None,
        arm: Literal["stable", "candidate"] | None = None,
        error_code: str | None = None,
        since: Time | None = None,
        until: Time | None = None,
        prompt_version: int | None = None,
        min_cost: str | None = None,
        max_cost: str | None = None,
        min_latency_ms: int | None = None,
        max_latency_ms: int | None = None,
        metadata: Sequence[str] | None = None,
        recorded: bool | None = None,
        trace_id: str | None = None,
        score: Sequence[str] | None = None,
    ) -> models.ExecutionFacets:
        """Count executions by status, prompt, version, model, label, origin and error: `GET /executions/facets`"""
        return self._transport.fetch(
            models.ExecutionFacets,
            read(
                "executions",
                "facets",
                q=q,
                id=id,
                prompt_name=prompt_name,
                group=group,
                status=status,
                model=model,
                label=label,
                release=release,
                arm=arm,
                error_code=error_code,
                since=since,
                until=until,
                prompt_version=prompt_version,
                min_cost=min_cost,
                max_cost=max_cost,
                min_latency_ms=min_latency_ms,
                max_latency_ms=max_latency_ms,
                metadata=metadata,
                recorded=recorded,
                trace_id=trace_id,
                score=score,
            ),
        )

    def deliveries(self, execution_id: str) -> models.ExecutionDeliveries:
        """List the webhook deliveries of an execution, oldest first: `GET /executions/{id}/deliveries`"""
        return self._transport.fetch(models.ExecutionDeliveries, read("executions", execution_id, "deliveries"))

    def record(self, *, idempotency_key: str | None = None, **body: Unpack[bodies.RecordRuns]) -> models.RecordedRuns:
        """Record runs made outside the service: `POST /executions/record`"""
        return self._transport.fetch(
            models.RecordedRuns, create("executions", "record", body=body, idempotency_key=idempotency_key)
        )


class ImprovementsOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self, *, idempotency_key: str | None = None, **body: Unpack[bodies.CreateImprovement]
    ) -> models.Improvement:
        """Create an improvement: a search for a better version of a prompt: `POST /improvements`"""
        return self._transport.fetch(
            models.Improvement, create("improvements", body=body, idempotency_key=idempotency_key)
        )

    def list(
        self,
        *,
        limit: int | None = None,
        prompt_name: str | None = None,
        status: Literal["running", "paused", "completed", "failed", "canceled"] | None = None,
    ) -> Iterator[models.Improvement]:
        """List improvements, newest first: `GET /improvements`"""
        return self._transport.pages(
            models.Improvement, "improvements", limit=limit, prompt_name=prompt_name, status=status
        )

    def estimate(self, **body: Unpack[bodies.CreateImprovement]) -> models.ImprovementEstimate:
        """Estimate what an improvement would cost, and what it could prove: `POST /improvements/estimate`"""
        return self._transport.fetch(models.ImprovementEstimate, change("POST", "improvements", "estimate", body=body))

    def suggest(
        self, *, idempotency_key: str | None = None, **body: Unpack[bodies.SuggestPrompt]
    ) -> models.PromptSuggestion:
        """Suggest a better prompt from examples that fail, with one call: `POST /improvements/suggest`"""
        return self._transport.fetch(
            models.PromptSuggestion, create("improvements", "suggest", body=body, idempotency_key=idempotency_key)
        )

    def reflection_prompt(self) -> models.ReflectionPrompt:
        """Retrieve the prompt that asks for candidates unless another is given: `GET /improvements/reflection-prompt`"""
        return self._transport.fetch(models.ReflectionPrompt, read("improvements", "reflection-prompt"))

    def get(self, improvement_id: str) -> models.Improvement:
        """Retrieve an improvement: its progress, spending and verdict: `GET /improvements/{id}`"""
        return self._transport.fetch(models.Improvement, read("improvements", improvement_id))

    def delete(self, improvement_id: str) -> models.Improvement:
        """Delete an ended improvement, its candidates and their evaluations: `DELETE /improvements/{id}`"""
        return self._transport.fetch(models.Improvement, change("DELETE", "improvements", improvement_id))

    def candidates(self, improvement_id: str, *, limit: int | None = None) -> Iterator[models.ImprovementCandidate]:
        """List the candidates of an improvement by number: `GET /improvements/{id}/candidates`"""
        return self._transport.pages(
            models.ImprovementCandidate, "improvements", improvement_id, "candidates", limit=limit
        )

    def candidate(self, improvement_id: str, number: int) -> models.ImprovementCandidate:
        """Retrieve a candidate of an improvement, with what it changes: `GET /improvements/{id}/candidates/{number}`"""
        return self._transport.fetch(
            models.ImprovementCandidate, read("improvements", improvement_id, "candidates", str(number))
        )

    def pause(self, improvement_id: str) -> models.Improvement:
        """Pause an improvement: `POST /improvements/{id}/pause`"""
        return self._transport.fetch(models.Improvement, change("POST", "improvements", improvement_id, "pause"))

    def resume(self, improvement_id: str, **body: Unpack[bodies.ResumeImprovement]) -> models.Improvement:
        """Resume a paused improvement, optionally with a higher limit: `POST /improvements/{id}/resume`"""
        return self._transport.fetch(
            models.Improvement, change("POST", "improvements", improvement_id, "resume", body=body)
        )

    def finish(self, improvement_id: str) -> models.Improvement:
        """End the search of an improvement, and have its verdict now: `POST /improvements/{id}/finish`"""
        return self._transport.fetch(models.Improvement, change("POST", "improvements", improvement_id, "finish"))

    def cancel(self, improvement_id: str) -> models.Improvement:
        """Cancel an improvement: `POST /improvements/{id}/cancel`"""
        return self._transport.fetch(models.Improvement, change("POST", "improvements", improvement_id, "cancel"))

    def retry(self, improvement_id: str) -> models.Improvement:
        """Retry a failed improvement from where it was: `POST /improvements/{id}/retry`"""
        return self._transport.fetch(models.Improvement, change("POST", "improvements", improvement_id, "retry"))

    def accept(self, improvement_id: str, **body: Unpack[bodies.AcceptImprovement]) -> models.Improvement:
        """Accept a candidate: create a version of it, and optionally a release: `POST /improvements/{id}/accept`"""
        return self._transport.fetch(
            models.Improvement, change("POST", "improvements", improvement_id, "accept", body=body)
        )


class KeysOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, limit: int | None = None) -> Iterator[models.ApiKey]:
        """List API keys, newest first: `GET /api-keys`"""
        return self._transport.pages(models.ApiKey, "api-keys", limit=limit)

    def create(
        self, *, idempotency_key: str | None = None, **body: Unpack[bodies.CreateApiKey]
    ) -> models.CreatedApiKey:
        """Create an API key; it is shown once: `POST /api-keys`"""
        return self._transport.fetch(
            models.CreatedApiKey, create("api-keys", body=body, idempotency_key=idempotency_key)
        )

    def current(self) -> models.CurrentApiKey:
        """Retrieve the API key of the request: `GET /api-keys/current`"""
        return self._transport.fetch(models.CurrentApiKey, read("api-keys", "current"))

    def revoke_current(self) -> models.ApiKey:
        """Revoke the API key of the request immediately: `DELETE /api-keys/current`"""
        return self._transport.fetch(models.ApiKey, change("DELETE", "api-keys", "current"))

    def revoke(self, api_key_id: str) -> models.ApiKey:
        """Revoke an API key immediately: `DELETE /api-keys/{id}`"""
        return self._transport.fetch(models.ApiKey, change("DELETE", "api-keys", api_key_id))


class LabelsOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, limit: int | None = None) -> Iterator[models.Label]:
        """List labels on prompts and protected labels, by name: `GET /labels`"""
        return self._transport.pages(models.Label, "labels", limit=limit)

    def protect(self, label: str, **body: Unpack[bodies.SetProtection]) -> models.Label:
        """Protect or unprotect a label: `PUT /labels/{label}`"""
        return self._transport.fetch(models.Label, change("PUT", "labels", label, body=body))


class MeOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self) -> models.Me:
        """Retrieve the caller and its permissions: `GET /me`"""
        return self._transport.fetch(models.Me, read("me"))

    def keys(self, *, limit: int | None = None) -> Iterator[models.ApiKey]:
        """List your personal API keys, newest first: `GET /me/api-keys`"""
        return self._transport.pages(models.ApiKey, "me", "api-keys", limit=limit)

    def create_key(
        self, *, idempotency_key: str | None = None, **body: Unpack[bodies.CreateApiKey]
    ) -> models.CreatedApiKey:
        """Create a personal API key; it is shown once: `POST /me/api-keys`"""
        return self._transport.fetch(
            models.CreatedApiKey, create("me", "api-keys", body=body, idempotency_key=idempotency_key)
        )

    def revoke_key(self, api_key_id: str) -> models.ApiKey:
        """Revoke a personal API key immediately: `DELETE /me/api-keys/{id}`"""
        return self._transport.fetch(models.ApiKey, change("DELETE", "me", "api-keys", api_key_id))


class MembersOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        limit: int | None = None,
        search: str | None = None,
        status: Literal["active", "suspended", "removed"] | None = None,
    ) -> Iterator[models.Member]:
        """List members, newest first: `GET /members`"""
        return self._transport.pages(models.Member, "members", limit=limit, search=search, status=status)

    def get(self, member_id: str) -> models.Member:
        """Retrieve a member: `GET /members/{id}`"""
        return self._transport.fetch(models.Member, read("members", member_id))

    def update(self, member_id: str, **body: Unpack[bodies.UpdateMember]) -> models.Member:
        """Change the role of a member, or suspend or reinstate a member: `PATCH /members/{id}`"""
        return self._transport.fetch(models.Member, change("PATCH", "members", member_id, body=body))

    def remove(self, member_id: str) -> models.Member:
        """Remove a member immediately: `DELETE /members/{id}`"""
        return self._transport.fetch(models.Member, change("DELETE", "members", member_id))


class ModelsOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> models.ModelList:
        """List prompts as models, by name: `GET /models`"""
        return self._transport.fetch(models.ModelList, read("models"))

    def get(self, name: str) -> models.Model:
        """Retrieve a prompt as a model: `GET /models/{name}`"""
        return self._transport.fetch(models.Model, read("models", name))


class MonitorsOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, limit: int | None = None) -> Iterator[models.Monitor]:
        """List monitors by name: `GET /monitors`"""
        return self._transport.pages(models.Monitor, "monitors", limit=limit)

    def history(self, name: str, *, limit: int | None = None) -> Iterator[models.MonitorChange]:
        """List the state changes of a monitor, newest first: `GET /monitors/{name}/history`"""
        return self._transport.pages(models.MonitorChange, "monitors", name, "history", limit=limit)

    def numbers(self, name: str) -> models.MonitorNumbers:
        """Retrieve what the checks of a monitor measure over time: `GET /monitors/{name}/history/numbers`"""
        return self._transport.fetch(models.MonitorNumbers, read("monitors", name, "history", "numbers"))

    def get(self, name: str) -> models.Monitor:
        """Retrieve a monitor, its state and its latest measurements: `GET /monitors/{name}`"""
        return self._transport.fetch(models.Monitor, read("monitors", name))

    def set(self, name: str, **body: Unpack[bodies.PutMonitor]) -> models.Monitor:
        """Create or replace a monitor: `PUT /monitors/{name}`"""
        return self._transport.fetch(models.Monitor, change("PUT", "monitors", name, body=body))

    def delete(self, name: str) -> models.Monitor:
        """Delete a monitor and its history, and end any alert: `DELETE /monitors/{name}`"""
        return self._transport.fetch(models.Monitor, change("DELETE", "monitors", name))


class NotificationsOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, limit: int | None = None) -> Iterator[models.Notification]:
        """List notifications to the workspace owner, newest first: `GET /notifications`"""
        return self._transport.pages(models.Notification, "notifications", limit=limit)


class PromptsOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def resolve(self, **body: Unpack[bodies.ResolvePrompts]) -> models.ResolvedPrompts:
        """Resolve many prompts, skipping unchanged ones: `POST /prompts/resolve`"""
        return self._transport.fetch(
            models.ResolvedPrompts, change("POST", "prompts", "resolve", body=body, is_repeatable=True)
        )

    def delete_version(self, name: str, version: int) -> models.Prompt:
        """Delete an unused version of a prompt: `DELETE /prompts/{name}/versions/{version}`"""
        return self._transport.fetch(models.Prompt, change("DELETE", "prompts", name, "versions", str(version)))

    def labels(self, name: str) -> Iterator[models.PromptLabel]:
        """List the labels of a prompt and the versions they point to: `GET /prompts/{name}/labels`"""
        return self._transport.pages(models.PromptLabel, "prompts", name, "labels")


class ProvidersOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> Iterator[models.Provider]:
        """List providers and their models, with prices: `GET /providers`"""
        return self._transport.pages(models.Provider, "providers")

    def check_parameters(self, **body: Unpack[bodies.CheckParameters]) -> models.ParametersCheck:
        """Check whether a model supports parameters: `POST /parameters/check`"""
        return self._transport.fetch(models.ParametersCheck, change("POST", "parameters", "check", body=body))

    def test(self, name: str) -> models.ProviderTest:
        """Test the connection to a provider: `POST /providers/{name}/test`"""
        return self._transport.fetch(models.ProviderTest, change("POST", "providers", name, "test"))


class QueuesOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def next_item(self, name: str) -> models.NextQueueItem:
        """Lease the next item of a queue for review: `POST /queues/{name}/next`"""
        return self._transport.fetch(models.NextQueueItem, change("POST", "queues", name, "next"))

    def complete_item(self, name: str, item_id: str, **body: Unpack[bodies.CompleteQueueItem]) -> models.QueueItem:
        """Complete an item with scores and an optional correction: `POST /queues/{name}/items/{id}/complete`"""
        return self._transport.fetch(
            models.QueueItem, change("POST", "queues", name, "items", item_id, "complete", body=body)
        )

    def skip_item(self, name: str, item_id: str) -> models.QueueItem:
        """Skip an item and leave it to other reviewers: `POST /queues/{name}/items/{id}/skip`"""
        return self._transport.fetch(models.QueueItem, change("POST", "queues", name, "items", item_id, "skip"))

    def return_item(self, name: str, item_id: str) -> models.QueueItem:
        """Return an item: undo its lease, skip or completion: `POST /queues/{name}/items/{id}/back`"""
        return self._transport.fetch(models.QueueItem, change("POST", "queues", name, "items", item_id, "back"))

    def list(self, *, limit: int | None = None) -> Iterator[models.Queue]:
        """List queues by name: `GET /queues`"""
        return self._transport.pages(models.Queue, "queues", limit=limit)

    def items(
        self,
        name: str,
        *,
        limit: int | None = None,
        state: Literal["pending", "leased", "completed", "skipped"] | None = None,
    ) -> Iterator[models.QueueItem]:
        """List the items of a queue in the order they were added: `GET /queues/{name}/items`"""
        return self._transport.pages(models.QueueItem, "queues", name, "items", limit=limit, state=state)

    def add_items(self, name: str, **body: Unpack[bodies.AddQueueItems]) -> models.AddedQueueItems:
        """Add executions, examples of evaluations, traces, steps or pairs of outputs to a queue: `POST /queues/{name}/items`"""
        return self._transport.fetch(models.AddedQueueItems, change("POST", "queues", name, "items", body=body))

    def agreement(self, name: str) -> models.QueueAgreement:
        """Measure reviewer agreement in a queue: `GET /queues/{name}/agreement`"""
        return self._transport.fetch(models.QueueAgreement, read("queues", name, "agreement"))

    def get(self, name: str) -> models.Queue:
        """Retrieve a queue and its progress: `GET /queues/{name}`"""
        return self._transport.fetch(models.Queue, read("queues", name))

    def set(self, name: str, **body: Unpack[bodies.PutQueue]) -> models.Queue:
        """Create a queue, or replace its settings: `PUT /queues/{name}`"""
        return self._transport.fetch(models.Queue, change("PUT", "queues", name, body=body))

    def delete(self, name: str) -> models.Queue:
        """Delete a queue and its items: `DELETE /queues/{name}`"""
        return self._transport.fetch(models.Queue, change("DELETE", "queues", name))


class ReleasesOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def numbers(
        self, release_id: str, *, unit: Literal["minute", "hour", "day"] | None = None
    ) -> models.ReleaseNumbers:
        """Retrieve the metrics of both arms over time: `GET /releases/{id}/numbers`"""
        return self._transport.fetch(models.ReleaseNumbers, read("releases", release_id, "numbers", unit=unit))


class ResponsesOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self, *, idempotency_key: str | None = None, **body: Unpack[bodies.CreateResponse]
    ) -> models.ModelResponse:
        """Run a prompt in OpenAI's Responses API format: `POST /responses`"""
        return self._transport.fetch(
            models.ModelResponse, create("responses", body=body, idempotency_key=idempotency_key)
        )


class RulesOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create_backfill(
        self, name: str, *, idempotency_key: str | None = None, **body: Unpack[bodies.CreateBackfill]
    ) -> models.Backfill:
        """Create a backfill that scores past executions by a rule: `POST /rules/{name}/backfill`"""
        return self._transport.fetch(
            models.Backfill, create("rules", name, "backfill", body=body, idempotency_key=idempotency_key)
        )

    def backfills(self, name: str, *, limit: int | None = None) -> Iterator[models.Backfill]:
        """List backfills of a rule, newest first: `GET /rules/{name}/backfills`"""
        return self._transport.pages(models.Backfill, "rules", name, "backfills", limit=limit)

    def backfill(self, name: str, backfill_id: str) -> models.Backfill:
        """Retrieve a backfill and its progress: `GET /rules/{name}/backfills/{id}`"""
        return self._transport.fetch(models.Backfill, read("rules", name, "backfills", backfill_id))

    def pause_backfill(self, name: str, backfill_id: str) -> models.Backfill:
        """Pause a backfill: `POST /rules/{name}/backfills/{id}/pause`"""
        return self._transport.fetch(models.Backfill, change("POST", "rules", name, "backfills", backfill_id, "pause"))

    def cancel_backfill(self, name: str, backfill_id: str) -> models.Backfill:
        """Cancel a backfill and keep its scores: `POST /rules/{name}/backfills/{id}/cancel`"""
        return self._transport.fetch(models.Backfill, change("POST", "rules", name, "backfills", backfill_id, "cancel"))

    def resume_backfill(self, name: str, backfill_id: str, **body: Unpack[bodies.ResumeBackfill]) -> models.Backfill:
        """Resume a paused backfill, optionally with a higher budget: `POST /rules/{name}/backfills/{id}/resume`"""
        return self._transport.fetch(
            models.Backfill, change("POST", "rules", name, "backfills", backfill_id, "resume", body=body)
        )

    def list(self, *, limit: int | None = None) -> Iterator[models.Rule]:
        """List rules by name: `GET /rules`"""
        return self._transport.pages(models.Rule, "rules", limit=limit)

    def set(self, name: str, **body: Unpack[bodies.PutRule]) -> models.Rule:
        """Create or replace a rule that scores executions as they complete, or traces as they settle: `PUT /rules/{name}`"""
        return self._transport.fetch(models.Rule, change("PUT", "rules", name, body=body))

    def get(self, name: str) -> models.Rule:
        """Retrieve a rule, its counts and its spending: `GET /rules/{name}`"""
        return self._transport.fetch(models.Rule, read("rules", name))

    def delete(self, name: str) -> models.Rule:
        """Delete a rule and its backfills, and keep its scores: `DELETE /rules/{name}`"""
        return self._transport.fetch(models.Rule, change("DELETE", "rules", name))


class SavedEvaluatorsOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, limit: int | None = None) -> Iterator[models.SavedEvaluator]:
        """List saved evaluators, each with its newest version: `GET /saved-evaluators`"""
        return self._transport.pages(models.SavedEvaluator, "saved-evaluators", limit=limit)

    def get(self, name: str, *, version: int | None = None) -> models.SavedEvaluator:
        """Retrieve a saved evaluator, or an older version of it: `GET /saved-evaluators/{name}`"""
        return self._transport.fetch(models.SavedEvaluator, read("saved-evaluators", name, version=version))

    def set(self, name: str, **body: Unpack[bodies.SetSavedEvaluator]) -> models.SavedEvaluator:
        """Save an evaluator, or a new version of it: `PUT /saved-evaluators/{name}`"""
        return self._transport.fetch(models.SavedEvaluator, change("PUT", "saved-evaluators", name, body=body))

    def delete(self, name: str) -> models.SavedEvaluator:
        """Delete a saved evaluator with all its versions: `DELETE /saved-evaluators/{name}`"""
        return self._transport.fetch(models.SavedEvaluator, change("DELETE", "saved-evaluators", name))


class SchedulesOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, *, idempotency_key: str | None = None, **body: Unpack[bodies.CreateSchedule]) -> models.Schedule:
        """Create a schedule of evaluations: `POST /schedules`"""
        return self._transport.fetch(models.Schedule, create("schedules", body=body, idempotency_key=idempotency_key))

    def list(self, *, limit: int | None = None) -> Iterator[models.Schedule]:
        """List schedules, newest first: `GET /schedules`"""
        return self._transport.pages(models.Schedule, "schedules", limit=limit)

    def get(self, schedule_id: str) -> models.Schedule:
        """Retrieve a schedule and its next runs: `GET /schedules/{id}`"""
        return self._transport.fetch(models.Schedule, read("schedules", schedule_id))

    def delete(self, schedule_id: str) -> models.Schedule:
        """Delete a schedule and keep its evaluations: `DELETE /schedules/{id}`"""
        return self._transport.fetch(models.Schedule, change("DELETE", "schedules", schedule_id))

    def pause(self, schedule_id: str) -> models.Schedule:
        """Pause a schedule: `POST /schedules/{id}/pause`"""
        return self._transport.fetch(models.Schedule, change("POST", "schedules", schedule_id, "pause"))

    def resume(self, schedule_id: str) -> models.Schedule:
        """Resume a paused schedule: `POST /schedules/{id}/resume`"""
        return self._transport.fetch(models.Schedule, change("POST", "schedules", schedule_id, "resume"))

    def trigger(self, schedule_id: str) -> models.Schedule:
        """Trigger a schedule now: `POST /schedules/{id}/trigger`"""
        return self._transport.fetch(models.Schedule, change("POST", "schedules", schedule_id, "trigger"))


class ScoreDefinitionsOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, limit: int | None = None) -> Iterator[models.ScoreDefinition]:
        """List score names and their definitions: `GET /score-definitions`"""
        return self._transport.pages(models.ScoreDefinition, "score-definitions", limit=limit)

    def get(self, name: str) -> models.ScoreDefinition:
        """Retrieve a score definition: `GET /score-definitions/{name}`"""
        return self._transport.fetch(models.ScoreDefinition, read("score-definitions", name))

    def set(self, name: str, **body: Unpack[bodies.SetScoreDefinition]) -> models.ScoreDefinition:
        """Create or replace a score definition: `PUT /score-definitions/{name}`"""
        return self._transport.fetch(models.ScoreDefinition, change("PUT", "score-definitions", name, body=body))

    def delete(self, name: str) -> models.ScoreDefinition:
        """Delete a score definition: `DELETE /score-definitions/{name}`"""
        return self._transport.fetch(models.ScoreDefinition, change("DELETE", "score-definitions", name))


class ScoresOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def delete(self, score_id: str) -> models.Score:
        """Delete a score: `DELETE /scores/{id}`"""
        return self._transport.fetch(models.Score, change("DELETE", "scores", score_id))

    def subject_feedback_token(
        self, *, idempotency_key: str | None = None, **body: Unpack[bodies.CreateSubjectFeedbackToken]
    ) -> models.SubjectFeedbackToken:
        """Create a feedback token for a trace, a step or a conversation: `POST /feedback-tokens`"""
        return self._transport.fetch(
            models.SubjectFeedbackToken, create("feedback-tokens", body=body, idempotency_key=idempotency_key)
        )

    def give_feedback(self, **body: Unpack[bodies.CreateFeedback]) -> models.Feedback:
        """Submit a score with a feedback token: `POST /feedback`"""
        return self._transport.fetch(models.Feedback, change("POST", "feedback", body=body))


class SessionsOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, **body: Unpack[bodies.CreateSession]) -> models.OwnSession:
        """Create a session (sign in): `POST /session`"""
        return self._transport.fetch(models.OwnSession, change("POST", "session", body=body))

    def current(self) -> models.OwnSession:
        """Retrieve the session of the request: `GET /session`"""
        return self._transport.fetch(models.OwnSession, read("session"))

    def end_current(self) -> models.EndedSession:
        """End the session of the request (sign out): `DELETE /session`"""
        return self._transport.fetch(models.EndedSession, change("DELETE", "session"))

    def switch_workspace(self, **body: Unpack[bodies.SwitchWorkspace]) -> models.OwnSession:
        """Switch the session to another workspace: `POST /session/workspace`"""
        return self._transport.fetch(models.OwnSession, change("POST", "session", "workspace", body=body))

    def list(self, *, limit: int | None = None) -> Iterator[models.Session]:
        """List sessions, newest first: `GET /sessions`"""
        return self._transport.pages(models.Session, "sessions", limit=limit)

    def end(self, session_id: str) -> models.Session:
        """End a session immediately: `DELETE /sessions/{id}`"""
        return self._transport.fetch(models.Session, change("DELETE", "sessions", session_id))


class StatisticsOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def prompts(
        self,
        *,
        limit: int | None = None,
        group: str | None = None,
        since: Time | None = None,
        until: Time | None = None,
    ) -> Iterator[models.PromptStatistics]:
        """List runs, cost, latency and last score of each prompt, by name: `GET /statistics/prompts`"""
        return self._transport.pages(
            models.PromptStatistics, "statistics", "prompts", limit=limit, group=group, since=since, until=until
        )

    def prompt(self, name: str, *, since: Time | None = None, until: Time | None = None) -> models.PromptSeries:
        """Retrieve runs of a prompt by day and version, and its evaluation scores: `GET /statistics/prompts/{name}`"""
        return self._transport.fetch(models.PromptSeries, read("statistics", "prompts", name, since=since, until=until))


class TracesOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def ingest(self, **body: Unpack[bodies.ExportTraceServiceRequest]) -> models.ExportTraceServiceResponse:
        """Store spans in the protocol of OpenTelemetry (OTLP/HTTP): `POST /traces`"""
        return self._transport.fetch(
            models.ExportTraceServiceResponse, change("POST", "traces", body=body, is_repeatable=True)
        )

    def list(
        self,
        *,
        name: str | None = None,
        status: Literal["running", "ok", "error"] | None = None,
        user_id: str | None = None,
        prompt_name: str | None = None,
        group: str | None = None,
        release: str | None = None,
        arm: Literal["stable", "candidate"] | None = None,
        model: str | None = None,
        tool: str | None = None,
        agent: str | None = None,
        tag: str | None = None,
        service: str | None = None,
        environment: str | None = None,
        conversation_id: str | None = None,
        prompt_version: int | None = None,
        min_steps: int | None = None,
        min_errors: int | None = None,
        settled: bool | None = None,
        min_cost: str | None = None,
        max_cost: str | None = None,
        min_latency_ms: int | None = None,
        max_latency_ms: int | None = None,
        score: Sequence[str] | None = None,
        metadata: Sequence[str] | None = None,
        q: str | None = None,
        since: Time | None = None,
        until: Time | None = None,
        limit: int | None = None,
        sort: Literal["cost", "-cost", "latency", "-latency", "tokens", "-tokens", "steps", "-steps"] | None = None,
    ) -> Iterator[models.Trace]:
        """List traces, newest first: `GET /traces`"""
        return self._transport.pages(
            models.Trace,
            "traces",
            name=name,
            status=status,
            user_id=user_id,
            prompt_name=prompt_name,
            group=group,
            release=release,
            arm=arm,
            model=model,
            tool=tool,
            agent=agent,
            tag=tag,
            service=service,
            environment=environment,
            conversation_id=conversation_id,
            prompt_version=prompt_version,
            min_steps=min_steps,
            min_errors=min_errors,
            settled=settled,
            min_cost=min_cost,
            max_cost=max_cost,
            min_latency_ms=min_latency_ms,
            max_latency_ms=max_latency_ms,
            score=score,
            metadata=metadata,
            q=q,
            since=since,
            until=until,
            limit=limit,
            sort=sort,
        )

    def deleteOfUser(self, *, user_id: str) -> models.DeletedTracesOfUser:
        """Delete all traces of a user: `DELETE /traces`"""
        return self._transport.fetch(models.DeletedTracesOfUser, change("DELETE", "traces"))

    def count(
        self,
        *,
        name: str | None = None,
        status: Literal["running", "ok", "error"] | None = None,
        user_id: str | None = None,
        prompt_name: str | None = None,
        group: str | None = None,
        release: str | None = None,
        arm: Literal["stable", "candidate"] | None = None,
        model: str | None = None,
        tool: str | None = None,
        agent: str | None = None,
        tag: str | None = None,
        service: str | None = None,
        environment: str | None = None,
        conversation_id: str | None = None,
        prompt_version: int | None = None,
        min_steps: int | None = None,
        min_errors: int | None = None,
        settled: bool | None = None,
        min_cost: str | None = None,
        max_cost: str | None = None,
        min_latency_ms: int | None = None,
        max_latency_ms: int | None = None,
        score: Sequence[str] | None = None,
        metadata: Sequence[str] | None = None,
        q: str | None = None,
        since: Time | None = None,
        until: Time | None = None,
    ) -> models.TraceFacets:
        """Count traces by status, name, service, environment, user, model, tool, agent and tag: `GET /traces/facets`"""
        return self._transport.fetch(
            models.TraceFacets,
            read(
                "traces",
                "facets",
                name=name,
                status=status,
                user_id=user_id,
                prompt_name=prompt_name,
                group=group,
                release=release,
                arm=arm,
                model=model,
                tool=tool,
                agent=agent,
                tag=tag,
                service=service,
                environment=environment,
                conversation_id=conversation_id,
                prompt_version=prompt_version,
                min_steps=min_steps,
                min_errors=min_errors,
                settled=settled,
                min_cost=min_cost,
                max_cost=max_cost,
                min_latency_ms=min_latency_ms,
                max_latency_ms=max_latency_ms,
                score=score,
                metadata=metadata,
                q=q,
                since=since,
                until=until,
            ),
        )

    def get(self, trace_id: str) -> models.Trace:
        """Retrieve a trace: its tokens, cost and errors: `GET /traces/{id}`"""
        return self._transport.fetch(models.Trace, read("traces", trace_id))

    def delete(self, trace_id: str) -> models.Trace:
        """Delete a trace, with its steps and the executions recorded from them: `DELETE /traces/{id}`"""
        return self._transport.fetch(models.Trace, change("DELETE", "traces", trace_id))

    def steps(self, trace_id: str, *, limit: int | None = None) -> Iterator[models.TraceStep]:
        """List the steps of a trace as a tree, each before those below it: `GET /traces/{id}/steps`"""
        return self._transport.pages(models.TraceStep, "traces", trace_id, "steps", limit=limit)

    def step(self, trace_id: str, span_id: str) -> models.WholeTraceStep:
        """Retrieve a step of a trace, with its texts: `GET /traces/{id}/steps/{span_id}`"""
        return self._transport.fetch(models.WholeTraceStep, read("traces", trace_id, "steps", span_id))

    def policy(self) -> models.TracePolicy:
        """Retrieve the policy for storing traces and recorded runs: `GET /trace-policy`"""
        return self._transport.fetch(models.TracePolicy, read("trace-policy"))

    def setPolicy(self, **body: Unpack[bodies.SetTracePolicy]) -> models.TracePolicy:
        """Set the policy for storing traces and recorded runs: `PUT /trace-policy`"""
        return self._transport.fetch(models.TracePolicy, change("PUT", "trace-policy", body=body))


class ViewsOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self, *, limit: int | None = None, page: Literal["executions", "traces"] | None = None
    ) -> Iterator[models.View]:
        """List your views and shared views, oldest first: `GET /views`"""
        return self._transport.pages(models.View, "views", limit=limit, page=page)

    def set(self, name: str, **body: Unpack[bodies.PutView]) -> models.View:
        """Create or replace one of your views: `PUT /views/{name}`"""
        return self._transport.fetch(models.View, change("PUT", "views", name, body=body))

    def delete(self, name: str, *, owner: str | None = None) -> models.View:
        """Delete a view: `DELETE /views/{name}`"""
        return self._transport.fetch(models.View, change("DELETE", "views", name))


class WebhooksOperations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def replay(
        self, webhook_id: str, *, idempotency_key: str | None = None, **body: Unpack[bodies.ReplayEvents]
    ) -> models.ReplayedEvents:
        """Replay events to a webhook: `POST /webhooks/{id}/replay`"""
        return self._transport.fetch(
            models.ReplayedEvents, create("webhooks", webhook_id, "replay", body=body, idempotency_key=idempotency_key)
        )
