"""Records of the API. Made from its OpenAPI document by scripts/generate.py: do not edit."""

from __future__ import annotations

from typing import Annotated, Any, Dict, Literal

from pydantic import BaseModel, ConfigDict, Field

from ._time import UtcDatetime


class CacheControl(BaseModel):
    """
    The provider caches the prompt up to here. Left out if the provider has no such marks.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    type: Literal["ephemeral"]
    ttl: Literal["5m", "1h"] | None = None


class StoredFilePart(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    type: Literal["file"]
    media_type: Annotated[str, Field(description="The media type of an image, a sound or a document.")]
    filename: str | None = None
    cache_control: CacheControl | None = None
    data: Annotated[str | None, Field(description="The file in base64.")] = None
    url: Annotated[str | None, Field(description="The address of the file.")] = None
    variable: str | None = None


class ToolCallPart(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    type: Literal["tool_call"]
    id: str
    name: str
    input: Annotated[Any, Field(description="Any JSON.")]
    cache_control: CacheControl | None = None


class ToolResultPart(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    type: Literal["tool_result"]
    id: str
    name: str
    output: Annotated[Any, Field(description="Any JSON.")]
    cache_control: CacheControl | None = None


class MessagePlaceholder(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    placeholder: str
    required: Annotated[bool | None, Field(description="Whether a run must give it. Default: true.")] = None


class Tool(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str
    description: Annotated[str | None, Field(description="Tells the model when to use it.")] = None
    input_schema: Annotated[dict[str, Any], Field(description="A JSON schema of its input.")]
    strict: Annotated[
        bool | None,
        Field(description="Whether the provider must enforce the schema, if it can."),
    ] = None
    cache_control: CacheControl | None = None


class NamedTool(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str


class PromptInput(BaseModel):
    """
    The description of a variable.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    type: Literal["string", "number", "boolean", "json", "messages", "file"]
    required: Annotated[bool | None, Field(description="Default: true, unless there is a default.")] = None
    default: Annotated[Any | None, Field(description="The value if a run passes none.")] = None
    description: str | None = None
    enum: Annotated[
        list[str | float | bool] | None,
        Field(description="The values that it may have."),
    ] = None


class TextResponseFormat(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    type: Literal["text"]


class JsonObjectResponseFormat(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    type: Literal["json_object"]


class FilePart(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    type: Literal["file"]
    media_type: Annotated[str, Field(description="The media type of an image, a sound or a document.")]
    filename: str | None = None
    cache_control: CacheControl | None = None
    data: Annotated[str | None, Field(description="The file in base64.")] = None
    url: Annotated[str | None, Field(description="The address of the file.")] = None


class ToolCall(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    name: str
    input: Annotated[Any, Field(description="Any JSON.")]


class PromptRelease(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    candidate_version: Annotated[int, Field(description="A version of the prompt, from 1.")]
    percent: Annotated[float, Field(description="The share of keys that get the candidate, 0–100.")]
    salt: Annotated[
        str,
        Field(
            description="A key gets the candidate if the first 32 bits of the SHA-256 of `salt:key`, modulo 10,000, are below `percent` × 100."
        ),
    ]


class Warning(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    path: str
    message: str


class PromptLabel(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    label: Annotated[
        str,
        Field(description="A label such as `production`; `latest` always means the newest version."),
    ]
    version: Annotated[int, Field(description="A version of the prompt, from 1.")]


class ResolvedPromptIncludes(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: Annotated[
        str,
        Field(description='1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".'),
    ]
    version: Annotated[int, Field(description="A version of the prompt, from 1.")]
    template: str


class ResolvedPromptError(BaseModel):
    """
    `not_found`, or `invalid_request` if an include would make a run fail.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    code: Literal[
        "invalid_request",
        "payload_too_large",
        "prompt_archived",
        "version_conflict",
        "idempotency_key_reused",
        "invalid_state",
        "authorization_pending",
        "slow_down",
        "denied",
        "expired",
        "unauthorized",
        "insufficient_scope",
        "not_found",
        "rate_limited",
        "quota_exceeded",
        "internal_error",
        "temporarily_unavailable",
    ]
    message: str


class VersionDiffChange(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    path: Annotated[
        str,
        Field(
            description="The changed field, in dot notation. A list item has its index in `to`, or in `from` if it was removed."
        ),
    ]
    before: Annotated[Any | None, Field(description="Absent if the field was added.")] = None
    after: Annotated[Any | None, Field(description="Absent if the field was removed.")] = None
    diff: Annotated[
        str | None,
        Field(description="A unified diff instead of `before` and `after`, if both are strings."),
    ] = None


class VersionDiff(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: Annotated[
        str,
        Field(description='1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".'),
    ]
    from_: Annotated[int, Field(alias="from", description="A version of the prompt, from 1.")]
    to: Annotated[int, Field(description="A version of the prompt, from 1.")]
    changes: list[VersionDiffChange]


class PromptLabels(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[PromptLabel]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class ReleaseApprovalBy(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    key_id: Annotated[str | None, Field(description="Null for the service itself.")]
    member_id: Annotated[
        str | None,
        Field(description="The member who owns or created the key; null if there is none."),
    ] = None
    name: str


class ReleaseApproval(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    step: int
    by: ReleaseApprovalBy
    at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    comment: str | None
    candidate_version: Annotated[int, Field(description="A version of the prompt, from 1.")]
    evaluation_id: str | None


class ReleaseDecisionBy(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    key_id: Annotated[str | None, Field(description="Null for the service itself.")]
    member_id: Annotated[
        str | None,
        Field(description="The member who owns or created the key; null if there is none."),
    ] = None
    name: str


class ReleaseDecision(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    step: int
    verdict: Annotated[
        str,
        Field(
            description="`passed`, `failed`, `inconclusive`, `approved`, `rejected`, `paused`, `resumed`, `promoted`, `rolled_back`, `canceled` or `superseded`."
        ),
    ]
    by: ReleaseDecisionBy
    comment: str | None
    numbers: Annotated[
        Any,
        Field(description="The numbers behind the decision: see docs/releases.md. Null if undecided."),
    ]


class ReleaseFailure(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    code: str
    message: Annotated[str, Field(description="The message of one of these failures.")]
    count: int


class ReleaseCreatedBy(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    key_id: Annotated[str | None, Field(description="Null for the service itself.")]
    member_id: Annotated[
        str | None,
        Field(description="The member who owns or created the key; null if there is none."),
    ] = None
    name: str


class ReleaseStep(BaseModel):
    """
    A step as given, and its outcome.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    __annotations__ = {
        "__pydantic_extra__": Dict[str, Any],
    }
    type: str
    state: Literal["pending", "active", "passed", "failed", "inconclusive", "skipped"]
    started_at: UtcDatetime | None
    due_at: Annotated[
        UtcDatetime | None,
        Field(description="The earliest end of the step; null if unknown."),
    ]
    finished_at: UtcDatetime | None
    numbers: Annotated[
        Any,
        Field(description="The numbers behind the decision: see docs/releases.md. Null if undecided."),
    ]


class ReleaseArm(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    executions: Annotated[int, Field(description="Executions that completed or failed.")]
    errors: int
    error_rate: Annotated[
        float | None,
        Field(description="0–1. This and the other numbers are null without executions."),
    ]
    fallbacks: Annotated[int, Field(description="The part of `executions` answered by a fallback model.")]
    reused: Annotated[
        int,
        Field(description="The part of `executions` that reused a response; excluded from latency and cost."),
    ]
    latency_p95_ms: Annotated[
        float | None,
        Field(description="From creation to the end, for completed executions."),
    ]
    cost_mean: Annotated[float | None, Field(description="US dollars, for executions of known cost.")]
    cost_total: Annotated[float, Field(description="US dollars.")]
    tokens: int
    traces: Annotated[
        int,
        Field(description="Settled traces whose executions of the release are all of this arm."),
    ]
    traces_of_both: Annotated[
        int,
        Field(description="Settled traces with executions of both arms: left out of the checks."),
    ]
    scores: Annotated[dict[str, float | None], Field(description="Mean scores by name.")]


class ReleaseNumbersDatum(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    at: Annotated[
        UtcDatetime,
        Field(description="The start of the minute, hour or day (UTC) in which executions were created."),
    ]
    step: Annotated[int, Field(description="The step that set the share in effect at the time.")]
    arm: Literal["stable", "candidate"]
    executions: Annotated[int, Field(description="Executions that completed or failed.")]
    errors: int
    error_rate: Annotated[
        float | None,
        Field(description="0–1. This and the other numbers are null without executions."),
    ]
    fallbacks: Annotated[int, Field(description="The part of `executions` answered by a fallback model.")]
    reused: Annotated[
        int,
        Field(description="The part of `executions` that reused a response; excluded from latency and cost."),
    ]
    latency_p95_ms: Annotated[
        float | None,
        Field(description="From creation to the end, for completed executions."),
    ]
    cost_mean: Annotated[float | None, Field(description="US dollars, for executions of known cost.")]
    cost_total: Annotated[float, Field(description="US dollars.")]
    tokens: int
    traces: Annotated[
        int,
        Field(description="Settled traces whose executions of the release are all of this arm."),
    ]
    traces_of_both: Annotated[
        int,
        Field(description="Settled traces with executions of both arms: left out of the checks."),
    ]
    scores: Annotated[dict[str, float | None], Field(description="Mean scores by name.")]


class ReleaseNumbers(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[ReleaseNumbersDatum]


class ExecutionInclude(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str
    version: int


class ExecutionLatency(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    queue_ms: Annotated[int | None, Field(description="From creation to the first call.")]
    model_ms: Annotated[int | None, Field(description="The duration of the successful call.")]
    total_ms: Annotated[int | None, Field(description="From creation to the end.")]


class Tokens(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    input: int
    output: int
    cached_input: Annotated[int, Field(description="Part of `input` that the provider had in its cache.")]
    reasoning: Annotated[int, Field(description="Part of `output` that was spent on reasoning.")]
    total: Annotated[int, Field(description="`input` + `output`.")]


class CostAmount(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    amount: Annotated[
        str | None,
        Field(description="US dollars; null if the model has no known price."),
    ]
    currency: Literal["USD"]


class ExecutionError(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    code: str
    message: str


class ExecutionFacetsFacetsStatu(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    value: Annotated[str, Field(description="The value to pass to the filter.")]
    count: int


class ExecutionFacetsFacetsPromptNameItem(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    value: Annotated[str, Field(description="The value to pass to the filter.")]
    count: int


class ExecutionFacetsFacetsPromptVersionItem(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    value: Annotated[str, Field(description="The value to pass to the filter.")]
    count: int


class ExecutionFacetsFacetsModelItem(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    value: Annotated[str, Field(description="The value to pass to the filter.")]
    count: int


class ExecutionFacetsFacetsLabelItem(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    value: Annotated[str, Field(description="The value to pass to the filter.")]
    count: int


class ExecutionFacetsFacetsRecordedItem(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    value: Annotated[str, Field(description="The value to pass to the filter.")]
    count: int


class ExecutionFacetsFacetsErrorCodeItem(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    value: Annotated[str, Field(description="The value to pass to the filter.")]
    count: int


class ExecutionFacetsFacets(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    status: Annotated[
        list[ExecutionFacetsFacetsStatu],
        Field(description="The 20 values with the most executions."),
    ]
    prompt_name: Annotated[
        list[ExecutionFacetsFacetsPromptNameItem],
        Field(description="The 20 values with the most executions."),
    ]
    prompt_version: Annotated[
        list[ExecutionFacetsFacetsPromptVersionItem],
        Field(description="The 20 values with the most executions."),
    ]
    model: Annotated[
        list[ExecutionFacetsFacetsModelItem],
        Field(description="The 20 values with the most executions."),
    ]
    label: Annotated[
        list[ExecutionFacetsFacetsLabelItem],
        Field(description="The 20 values with the most executions."),
    ]
    recorded: Annotated[
        list[ExecutionFacetsFacetsRecordedItem],
        Field(description="The 20 values with the most executions."),
    ]
    error_code: Annotated[
        list[ExecutionFacetsFacetsErrorCodeItem],
        Field(description="The 20 values with the most executions."),
    ]


class ExecutionFacetsFailure(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    code: str
    message: Annotated[str, Field(description="The message of one of these failures.")]
    count: int


class ExecutionFacets(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    facets: ExecutionFacetsFacets
    failures: Annotated[
        list[ExecutionFacetsFailure],
        Field(
            description="The causes of the counted failures, the most frequent first; at most 10. Messages that differ only in numbers or ids are one cause."
        ),
    ]
    counted: Annotated[int, Field(description="The number of executions counted.")]
    complete: Annotated[
        bool,
        Field(description="Whether all matches were counted. Otherwise only the newest were."),
    ]


class RecordedRuns(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    ids: Annotated[
        list[str],
        Field(description="The ids of the executions, in the order of the records."),
    ]


class ChatCompletionChoiceMessageToolCallFunction(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str
    arguments: Annotated[str, Field(description="JSON.")]


class ChatCompletionChoiceMessageToolCall(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    type: Literal["function"]
    function: ChatCompletionChoiceMessageToolCallFunction


class ChatCompletionChoiceMessage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    role: Literal["assistant"]
    content: str | None
    refusal: None
    tool_calls: list[ChatCompletionChoiceMessageToolCall] | None = None


class ChatCompletionChoice(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    index: Literal[0]
    message: ChatCompletionChoiceMessage
    logprobs: None
    finish_reason: Literal["stop", "length", "tool_calls", "content_filter"]


class ChatCompletionUsagePromptTokensDetails(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    cached_tokens: int


class ChatCompletionUsageCompletionTokensDetails(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    reasoning_tokens: int


class ChatCompletionUsage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: ChatCompletionUsagePromptTokensDetails
    completion_tokens_details: ChatCompletionUsageCompletionTokensDetails
    tokens_unknown: Annotated[
        bool | None,
        Field(description="True if the provider did not say what it used: the counts leave that call out."),
    ] = None


class ChatCompletion(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: Annotated[str, Field(description="The id of the execution.")]
    object: Literal["chat.completion"]
    created: Annotated[int, Field(description="Seconds since 1970.")]
    model: Annotated[str, Field(description="The prompt version that ran.")]
    choices: list[ChatCompletionChoice]
    usage: ChatCompletionUsage
    warnings: Annotated[
        list[Warning] | None,
        Field(
            description="Parts of the request that were sent to the model in another form, or not at all. Absent if there are none."
        ),
    ] = None


class ModelResponseTool(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    type: Literal["function"]
    name: str
    description: str | None
    parameters: dict[str, Any]
    strict: bool | None


class Model(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: Annotated[str, Field(description="The name of a prompt.")]
    object: Literal["model"]
    created: Annotated[int, Field(description="Seconds since 1970.")]
    owned_by: Annotated[str, Field(description="The workspace.")]


class ParametersCheckUnsupportedItem(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    parameter: str
    message: str


class ParametersCheck(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    unsupported: Annotated[
        list[ParametersCheckUnsupportedItem],
        Field(description="Parameters that would make a call fail. Empty if none is known."),
    ]


class ProviderTest(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    provider: str
    ok: Annotated[
        bool,
        Field(description="Whether the provider was reached and accepted the key."),
    ]
    latency_ms: Annotated[int, Field(description="From the request to the whole response.")]
    models: Annotated[
        int | None,
        Field(
            description="The number of models on the first page of its list; null if the request failed or returned no list."
        ),
    ]
    error: Annotated[
        ExecutionError | None,
        Field(description="Why the test failed, and which setting is missing, if any."),
    ]


class CreatedEvaluationTarget(BaseModel):
    """
    The evaluated target: a prompt, or `code` that the caller runs.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    type: Literal["prompt", "code"]
    name: str


class CreatedEvaluationInclude(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str
    version: int


class CreatedEvaluationEvaluator(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    __annotations__ = {
        "__pydantic_extra__": Dict[str, Any],
    }
    type: str
    name: str
    weight: float
    secret: Annotated[
        str | None,
        Field(
            description="The signing secret of an `http` evaluator in the request. It is stored encrypted and not shown again."
        ),
    ] = None


class CreatedEvaluationFromExecutionsLeftOutItem(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    reason: Annotated[str, Field(description="Minor versions may add values.")]
    message: str
    count: int
    execution_ids: Annotated[list[str], Field(description="The first of them, at most 5.")]


class CreatedEvaluationFromExecutions(BaseModel):
    """
    The executions that the examples were made from, if there are any.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    matched: Annotated[int, Field(description="The number of executions that the selection found.")]
    left_out: Annotated[
        list[CreatedEvaluationFromExecutionsLeftOutItem],
        Field(description="The executions that could not be used, by reason."),
    ]
    recorded: Annotated[
        bool,
        Field(description="Whether the recorded outputs are scored, without calling the model."),
    ]


class CreatedEvaluationFailure(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    code: str
    message: Annotated[str, Field(description="The message of one of these failures.")]
    count: int


class CreatedEvaluationJudge(BaseModel):
    """
    The judges only.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    tokens: Tokens
    cost: CostAmount


class CreatedEvaluationLatency(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    p50_ms: int | None
    p95_ms: int | None


class EvaluationTarget(BaseModel):
    """
    The evaluated target: a prompt, or `code` that the caller runs.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    type: Literal["prompt", "code"]
    name: str


class EvaluationInclude(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str
    version: int


class EvaluationEvaluator(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    __annotations__ = {
        "__pydantic_extra__": Dict[str, Any],
    }
    type: str
    name: str
    weight: float


class EvaluationFromExecutionsLeftOutItem(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    reason: Annotated[str, Field(description="Minor versions may add values.")]
    message: str
    count: int
    execution_ids: Annotated[list[str], Field(description="The first of them, at most 5.")]


class EvaluationFromExecutions(BaseModel):
    """
    The executions that the examples were made from, if there are any.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    matched: Annotated[int, Field(description="The number of executions that the selection found.")]
    left_out: Annotated[
        list[EvaluationFromExecutionsLeftOutItem],
        Field(description="The executions that could not be used, by reason."),
    ]
    recorded: Annotated[
        bool,
        Field(description="Whether the recorded outputs are scored, without calling the model."),
    ]


class EvaluationFailure(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    code: str
    message: Annotated[str, Field(description="The message of one of these failures.")]
    count: int


class EvaluationJudge(BaseModel):
    """
    The judges only.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    tokens: Tokens
    cost: CostAmount


class EvaluationLatency(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    p50_ms: int | None
    p95_ms: int | None


class EvaluationEstimateTokens(BaseModel):
    """
    Model and judges together.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    input: int
    output: int


class EvaluationResultUnscored(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    reason: str | None


class StoredCodeResults(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    stored: Annotated[int, Field(description="The number of new results.")]
    known: Annotated[
        int,
        Field(description="The number of examples that already had a result, which is kept."),
    ]


class EvaluationResultsSummaryLatency(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    p50_ms: int | None
    p95_ms: int | None


class EvaluationResultsSummary(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    results: Annotated[int, Field(description="The number of results that match the filters.")]
    failed: int
    scored: Annotated[
        int,
        Field(description="The number of results with a score (of `evaluator`, if given). Failed examples score 0."),
    ]
    unscored: Annotated[
        int | None,
        Field(description="The number of results without a score, because an evaluator gave none."),
    ] = None
    passed: Annotated[
        int,
        Field(
            description="The number of results that reach the run's `example_threshold`, or its `threshold` if it has none."
        ),
    ]
    score: Annotated[float | None, Field(description="The mean of the scores.")]
    histogram: Annotated[
        list[int],
        Field(description="The number of scores in each tenth from 0 to 1; a score of 1 is in the last."),
    ]
    by_evaluator: Annotated[
        dict[str, float | None],
        Field(description="The mean score of each evaluator. An example that failed counts 0."),
    ]
    unscored_by_evaluator: Annotated[
        dict[str, int] | None,
        Field(description="The number of examples that each evaluator could not score."),
    ] = None
    tokens: int
    tokens_unknown_calls: Annotated[
        int | None,
        Field(
            description="The number of calls that `tokens` leaves out, because the provider has not reported their usage."
        ),
    ] = None
    cost: Annotated[CostAmount, Field(description="Excludes calls of unknown price and judges.")]
    latency: EvaluationResultsSummaryLatency
    complete: Annotated[
        bool,
        Field(
            description="False if only the first results were examined: at most 100,000, or with `q` at most 64 MiB."
        ),
    ]


class EvaluationComparisonLeftOutEvaluator(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str
    reason: Literal["only_in_a", "only_in_b", "changed"]


class EvaluationComparisonRegressionsExample(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    key: str
    seq_a: Annotated[
        int,
        Field(description="The result in the earlier run: `/evaluations/{other}/results/{seq_a}`."),
    ]
    seq_b: Annotated[
        int,
        Field(description="The result in the later run: `/evaluations/{id}/results/{seq_b}`."),
    ]
    score_a: float
    score_b: float
    difference: float
    failed_a: bool
    failed_b: bool


class EvaluationComparisonRegressions(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    total: int
    examples: list[EvaluationComparisonRegressionsExample]


class EvaluationComparisonImprovementsExample(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    key: str
    seq_a: Annotated[
        int,
        Field(description="The result in the earlier run: `/evaluations/{other}/results/{seq_a}`."),
    ]
    seq_b: Annotated[
        int,
        Field(description="The result in the later run: `/evaluations/{id}/results/{seq_b}`."),
    ]
    score_a: float
    score_b: float
    difference: float
    failed_a: bool
    failed_b: bool


class EvaluationComparisonImprovements(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    total: int
    examples: list[EvaluationComparisonImprovementsExample]


class EvaluationComparisonOnlyInA(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    total: int
    keys: list[str]


class EvaluationComparisonOnlyInB(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    total: int
    keys: list[str]


class EvaluationComparisonByEvaluatorItem(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str
    score_a: float | None
    score_b: float | None
    difference: float | None
    regressions: int
    improvements: int
    unchanged: int


class EvaluationComparisonPreferenceInterval(BaseModel):
    """
    95 %, of `share`.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    low: float
    high: float


class EvaluationComparisonPreference(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    source: Annotated[
        str,
        Field(description="`person`: people compared the outputs as pairs of a queue."),
    ]
    evaluator: Annotated[str, Field(description="The name of the score if people compared.")]
    reviews: Annotated[
        int | None,
        Field(description="The number of answers if people compared. An example counts once, with their mean."),
    ] = None
    examples: Annotated[int, Field(description="Examples with a preference or a tie.")]
    preferred: Annotated[int, Field(description="Examples in which the output of b is better.")]
    other_preferred: Annotated[int, Field(description="Examples in which the output of a is better.")]
    ties: int
    share: Annotated[float, Field(description="The mean score, 0–1; 0.5 if neither run is better.")]
    interval: Annotated[EvaluationComparisonPreferenceInterval, Field(description="95 %, of `share`.")]
    p_value: float
    verdict: Literal["preferred", "other_preferred", "within_noise", "too_few_differences"]


class EvaluationComparisonUnchangedExample(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    key: str
    seq_a: Annotated[
        int,
        Field(description="The result in the earlier run: `/evaluations/{other}/results/{seq_a}`."),
    ]
    seq_b: Annotated[
        int,
        Field(description="The result in the later run: `/evaluations/{id}/results/{seq_b}`."),
    ]
    score_a: float
    score_b: float
    difference: float
    failed_a: bool
    failed_b: bool


class OpenExample(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    seq: Annotated[int, Field(description="The position of the example, from 0.")]
    example_id: str
    variables: dict[str, Any]
    expected: Annotated[Any | None, Field(description="Absent if there is no expected value.")] = None
    metadata: dict[str, Any] | None = None


class EvaluatorType(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    type: str
    title: str
    description: Annotated[str, Field(description="When the score is 1.")]
    options: Annotated[
        dict[str, Any],
        Field(
            description="A JSON schema of the options, except those common to all evaluators (`type`, `name`, `weight`). You can render a form from it: `title` and `description` are display texts, `x-enumDescriptions` the display texts of `enum` values; `x-field` names a control other than the default of the type: `long-text`, `model`, `json`, or `none`."
        ),
    ]


class TriedScoresScore(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str
    type: str
    score: Annotated[float | None, Field(description="Null if there is none.")]
    reason: str | None
    category: Annotated[
        str | None,
        Field(description="The category that the judge gave, if it gives categories."),
    ] = None
    problem: Annotated[
        str | None,
        Field(description="Why the output could not be scored. Such a score is 0, or null if its judge gave none."),
    ]
    execution_id: Annotated[str | None, Field(description="The last execution that called the judge.")]
    cost: Annotated[
        CostAmount | None,
        Field(description="The cost of the judge; null if no model was called."),
    ]


class TriedScores(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    score: Annotated[
        float | None,
        Field(description="The weighted mean of those that have a score, 0–1; null if none has."),
    ]
    scores: list[TriedScoresScore]


class ImprovementDataset(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: Annotated[
        str,
        Field(description='1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".'),
    ]
    version: int


class ImprovementEvaluator(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    __annotations__ = {
        "__pydantic_extra__": Dict[str, Any],
    }
    type: str
    name: str


class ImprovementReflection(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    __annotations__ = {
        "__pydantic_extra__": Dict[str, Any],
    }
    model: str


class ImprovementReuse(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    max_age: int


class ImprovementSplit(BaseModel):
    """
    The number of examples of each part.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    train: int
    check: int
    held_out: int


class ImprovementSpent(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    cost: Annotated[float, Field(description="US dollars, as counted against `max_cost`.")]
    calls: Annotated[int, Field(description="Calls of the prompt.")]
    reused: Annotated[int, Field(description="Examples answered by an earlier response.")]
    reflections: int
    savings: Annotated[float, Field(description="US dollars that reused responses would have cost.")]


class ImprovementBase(BaseModel):
    """
    Mean scores of the base. Its two runs of the check part differ by noise.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    train: float | None
    check: float | None
    check_again: float | None


class ImprovementProposals(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    made: int
    rejected: int
    skipped: int
    tried: int
    checked: int


class ImprovementCurveItem(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    proposal: int
    cost: Annotated[float, Field(description="US dollars, as counted against `max_cost`.")]
    check: Annotated[float, Field(description="0–1")]


class ImprovementVerdictByEvaluatorItem(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str
    score_a: float | None
    score_b: float | None
    difference: float | None
    regressions: int
    improvements: int
    unchanged: int


class ImprovementEstimateSplit(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    train: int
    check: int
    held_out: int


class ImprovementEstimateHeldOut(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    fresh: Annotated[int, Field(description="Held-out examples that no verdict has looked at.")]
    look: int
    p_needed: float
    least_provable: Annotated[
        float | None,
        Field(description="The smallest improvement that so many examples can prove; null: none."),
    ]


class ImprovementEstimateCalls(BaseModel):
    """
    Calls of the prompt.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    expected: int
    most: int


class ReflectionPrompt(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: Annotated[
        str,
        Field(description='1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".'),
    ]
    messages: list[Any]
    model: str


class GeneratedExamplesExample(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    variables: dict[str, Any]
    metadata: dict[str, Any]


class GeneratedExamplesDropped(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    invalid: Annotated[int, Field(description="Inputs that do not fill the prompt.")]
    duplicate: Annotated[
        int,
        Field(description="Inputs that repeat another one, or an example of the dataset."),
    ]


class GeneratedExamples(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    prompt_name: str
    prompt_version: int
    examples: Annotated[
        list[GeneratedExamplesExample],
        Field(description="In the form of `POST /datasets/{name}/examples`, with `generated` in their metadata."),
    ]
    dropped: GeneratedExamplesDropped
    status: Annotated[str, Field(description="The status of the call.")]
    execution_id: str
    cost: Annotated[str | None, Field(description="US dollars, as in the execution.")]


class Dataset(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: Annotated[
        str,
        Field(description='1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".'),
    ]
    version: int
    examples_total: int
    hash: Annotated[
        str,
        Field(
            description="SHA-256 over keys, variables and expected values in order. Two versions with the same examples have the same hash."
        ),
    ]
    description: str | None
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    updated_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    version_created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]


class DatasetExample(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    seq: Annotated[int, Field(description="Its position in the version, from 0.")]
    key: Annotated[
        str,
        Field(description="The id of the example, or `sha256:` and a hash of its variables and expected value."),
    ]
    id: Annotated[
        str | None,
        Field(description="Identifies the example across versions. Default: a hash of its content."),
    ] = None
    variables: Annotated[dict[str, Any], Field(description="A value for each placeholder of the prompt.")]
    expected: Annotated[Any | None, Field(description="The expected output. Any JSON.")] = None
    metadata: Annotated[
        dict[str, Any] | None,
        Field(description="Your own metadata, returned unchanged."),
    ] = None


class DatasetChange(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: Annotated[
        str,
        Field(description='1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".'),
    ]
    version: int
    examples_total: int
    hash: Annotated[
        str,
        Field(
            description="SHA-256 over keys, variables and expected values in order. Two versions with the same examples have the same hash."
        ),
    ]
    description: str | None
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    updated_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    version_created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    delimiter: Annotated[str | None, Field(description="The delimiter used to read the uploaded CSV.")] = None
    added: Annotated[
        int | None,
        Field(description="The number of examples added to those of the previous version."),
    ] = None
    replaced: Annotated[
        int | None,
        Field(description="The number of examples of the previous version that have new content."),
    ] = None
    unchanged: Annotated[
        int | None,
        Field(
            description="The number of uploaded examples that the dataset already has. If it has all of them, no version is created."
        ),
    ] = None


class SavedEvaluatorEvaluator(BaseModel):
    """
    Its options, as in a request.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    __annotations__ = {
        "__pydantic_extra__": Dict[str, Any],
    }
    type: str
    name: str


class SavedEvaluator(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str
    version: int
    versions: Annotated[int, Field(description="The number of versions: the newest one.")]
    evaluator: Annotated[SavedEvaluatorEvaluator, Field(description="Its options, as in a request.")]
    description: str | None
    created_at: Annotated[UtcDatetime, Field(description="When the version was stored.")]
    updated_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]


class FeedbackToken(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    token: str
    execution_id: str
    names: list[str]
    expires_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]


class Feedback(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str
    value: float | bool | str
    comment: str | None


class QueueItemSubject(BaseModel):
    """
    An execution, an example of an evaluation, a trace, or a step of one.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    execution_id: str | None = None
    evaluation_id: str | None = None
    example_id: str | None = None
    trace_id: str | None = None
    span_id: str | None = None


class QueueItemOther(BaseModel):
    """
    Only of pairs: the output to compare with that of `subject`. In a response to a reviewer, `subject` is the first and `other` the second in an order that was drawn for them; in lists, `other` is the earlier one.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    execution_id: str | None = None
    evaluation_id: str | None = None
    example_id: str | None = None
    trace_id: str | None = None
    span_id: str | None = None


class QueueProgress(BaseModel):
    """
    The number of items in each state.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    pending: int
    leased: int
    completed: int
    skipped: int


class AddedQueueItems(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    added: int
    present: Annotated[int, Field(description="The number already in the queue.")]


class EvaluatorAgreementEvaluatorDisagreementSubject(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    execution_id: str | None = None
    evaluation_id: str | None = None
    example_id: str | None = None
    trace_id: str | None = None
    span_id: str | None = None
    conversation_id: str | None = None


class EvaluatorAgreementEvaluatorDisagreement(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    subject: EvaluatorAgreementEvaluatorDisagreementSubject
    evaluator: Annotated[
        float | bool | str,
        Field(description="A number, boolean, category or text, as the score is defined."),
    ]
    people: Annotated[
        float | bool | str,
        Field(description="A number, boolean, category or text, as the score is defined."),
    ]
    reviewers: Annotated[int, Field(description="The number of people who scored it.")]
    distance: float
    reason: Annotated[
        str | None,
        Field(description="The evaluator's reason, truncated to 500 characters."),
    ]


class MonitorNotify(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    email: bool


class MonitorCheck(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    metric: str
    above: Annotated[
        float | None,
        Field(description="Alerts if the metric is above this value: a rate (0–1), ms, US dollars or a score."),
    ] = None
    below: Annotated[
        float | None,
        Field(description="Alerts if the metric is below this value. Set either above or below."),
    ] = None
    recover_at: float
    min_executions: int
    for_: Annotated[str, Field(alias="for")]


class MonitorValue(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    metric: str
    value: Annotated[float | None, Field(description="Null if there was nothing to measure.")]
    count: Annotated[int, Field(description="The number of executions or scores measured.")]
    alerting: bool


class MonitorChange(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    previous_state: Annotated[
        Literal["no_data", "ok", "alerting"],
        Field(
            description="`no_data`: too few runs to evaluate the checks. `alerting`: at least one check does not hold."
        ),
    ]
    state: Annotated[
        Literal["no_data", "ok", "alerting"],
        Field(
            description="`no_data`: too few runs to evaluate the checks. `alerting`: at least one check does not hold."
        ),
    ]
    reason: Annotated[str, Field(description="The reason in words.")]
    values: list[MonitorValue]


class MonitorNumbersDatumValue(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    metric: str
    value: Annotated[float | None, Field(description="Null if there was nothing to measure.")]
    count: Annotated[int, Field(description="The number of executions or scores measured.")]


class MonitorNumbersDatum(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    at: Annotated[UtcDatetime, Field(description="The end of the window.")]
    values: Annotated[list[MonitorNumbersDatumValue], Field(description="In the order of the checks.")]


class MonitorNumbers(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[MonitorNumbersDatum]


class WebhookWithSecret(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    url: str
    events: list[str]
    description: str | None
    status: Literal["enabled", "disabled"]
    disabled_reason: str | None
    consecutive_failures: Annotated[int, Field(description="Failed attempts since the last successful one.")]
    rate_limit_per_minute: int | None
    header_names: Annotated[
        list[str] | None,
        Field(
            description="Names of the custom headers; null if they cannot be decrypted because their encryption key is no longer configured."
        ),
    ]
    previous_secret_expires_at: Annotated[
        UtcDatetime | None,
        Field(description="When the previous secret stops signing: 24 hours after the rotation."),
    ]
    last_delivery_at: UtcDatetime | None
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    updated_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    secret: Annotated[
        str,
        Field(description="The signing secret. It is stored encrypted and not shown again."),
    ]


class Webhook(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    url: str
    events: list[str]
    description: str | None
    status: Literal["enabled", "disabled"]
    disabled_reason: str | None
    consecutive_failures: Annotated[int, Field(description="Failed attempts since the last successful one.")]
    rate_limit_per_minute: int | None
    header_names: Annotated[
        list[str] | None,
        Field(
            description="Names of the custom headers; null if they cannot be decrypted because their encryption key is no longer configured."
        ),
    ]
    previous_secret_expires_at: Annotated[
        UtcDatetime | None,
        Field(description="When the previous secret stops signing: 24 hours after the rotation."),
    ]
    last_delivery_at: UtcDatetime | None
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    updated_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]


class ReplayedEvents(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    replayed: Annotated[int, Field(description="The number of new deliveries, 100000 at most.")]


class PromptEventData(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    prompt_name: str
    version: int
    previous_version: Annotated[
        int | None,
        Field(description="The newest version before; null for the first one."),
    ]
    model: str
    commit_message: str | None


class ExecutionCompletedDataLatency(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    queue_ms: Annotated[int, Field(description="From creation to the first call.")]
    model_ms: Annotated[int, Field(description="The call that succeeded.")]
    total_ms: Annotated[int, Field(description="From creation to the end.")]


class ExecutionFailedDataError(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    code: str
    message: str


class ExecutionFailedData(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    execution_id: str
    prompt_name: str
    prompt_version: int
    model: str
    error: ExecutionFailedDataError


class EvaluationCompletedData(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    evaluation_id: str
    prompt_name: str
    score: float
    examples_evaluated: int
    regressions: int


class EvaluationRegressionData(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    evaluation_id: str
    prompt_name: str
    score: float
    examples_evaluated: int
    regressions: int
    threshold: float


class TraceEventDataTokens(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    input: int
    output: int


class TraceEventDataCost(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    amount: str | None
    currency: Literal["USD"]


class TraceEventData(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    trace_id: str
    name: str | None
    status: Literal["running", "ok", "error"]
    duration_ms: float | None
    steps: int
    calls: Annotated[int, Field(description="The number of model calls.")]
    errors: Annotated[int, Field(description="The number of steps that failed.")]
    tokens: TraceEventDataTokens
    cost: TraceEventDataCost
    conversation_id: str | None
    user_id: str | None
    service: str | None
    environment: str | None


class ReleaseEventData(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    release_id: str
    prompt_name: str
    label: str
    stable_version: Annotated[
        int,
        Field(description="The version the label pointed to when the release started."),
    ]
    candidate_version: int
    status: Literal[
        "in_progress",
        "paused",
        "awaiting_approval",
        "baking",
        "succeeded",
        "rolled_back",
        "rejected",
        "failed",
        "superseded",
        "canceled",
    ]
    reason: Annotated[str | None, Field(description="The reason for the status, in words.")]


class ImprovementCompletedData(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    improvement_id: str
    prompt_name: str
    result: Annotated[
        str,
        Field(description="`improvement`, `regression`, `no_proof` or `no_candidate`; more may be added."),
    ]
    difference: Annotated[
        float | None,
        Field(description="The difference of the mean scores on held-out examples."),
    ]
    p_value: float | None
    candidate: Annotated[int | None, Field(description="The number of the candidate that was tested.")]


class ImprovementFailedDataError(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    code: str
    message: str


class ImprovementFailedData(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    improvement_id: str
    prompt_name: str
    error: ImprovementFailedDataError


class MonitorEventDataValue(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    metric: str
    value: float | None
    count: Annotated[int, Field(description="The number of executions or scores measured.")]
    alerting: bool


class MonitorEventData(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    monitor: Annotated[str, Field(description="The name of the monitor.")]
    prompt_name: str | None
    label: str | None
    state: Literal["no_data", "ok", "alerting"]
    reason: Annotated[str, Field(description="The observation, or who ended the alert, in words.")]
    values: list[MonitorEventDataValue]


class NotificationEmail(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    sent_at: Annotated[
        UtcDatetime | None,
        Field(description="When the mail server accepted it; null until then."),
    ]
    error: Annotated[str | None, Field(description="Why the last attempt to send it failed.")]


class Notification(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    type: Literal["webhook.disabled", "monitor.alerted", "monitor.recovered", "emergency_key.created"]
    message: str
    webhook_id: str | None
    monitor: Annotated[str | None, Field(description="The monitor that the notification is about.")]
    email: NotificationEmail
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]


class View(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str
    page: Annotated[
        Literal["executions", "traces"],
        Field(description="The console list that the view belongs to."),
    ]
    query: Annotated[
        dict[str, str],
        Field(description="Filters, as in the URL of the list in the console."),
    ]
    columns: Annotated[
        list[str],
        Field(description="Columns of the list in the console, in order. If empty, the default columns."),
    ]
    shared: bool
    owner: Annotated[str, Field(description="The id of a member, or of a key of the workspace.")]
    own: Annotated[bool, Field(description="Whether the view belongs to the caller.")]
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    updated_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]


class UsageDatumLatency(BaseModel):
    """
    The response time of the call that succeeded.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    mean_ms: Annotated[int | None, Field(description="Null if no response was timed.")]
    responses: Annotated[
        int,
        Field(
            description="Timed responses. Excludes judgements, reused responses, and responses stored before times were recorded."
        ),
    ]


class UsageDatum(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    prompt_name: Annotated[str | None, Field(description="Null for drafts run without a prompt.")] = None
    model: Annotated[
        str | None,
        Field(
            description="For executions, the model that responded; it also carries the cost of earlier failed models."
        ),
    ] = None
    day: str | None = None
    executions: int
    completed: int
    failed: int
    tokens: Tokens
    cost: CostAmount
    unpriced: Annotated[
        int,
        Field(description="Calls to models without a known price, excluded from the cost."),
    ]
    latency: Annotated[
        UsageDatumLatency,
        Field(description="The response time of the call that succeeded."),
    ]


class UsageEvaluationLatency(BaseModel):
    """
    The response time of the call that succeeded.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    mean_ms: Annotated[int | None, Field(description="Null if no response was timed.")]
    responses: Annotated[
        int,
        Field(
            description="Timed responses. Excludes judgements, reused responses, and responses stored before times were recorded."
        ),
    ]


class UsageEvaluation(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    prompt_name: Annotated[str | None, Field(description="Null for drafts run without a prompt.")] = None
    model: Annotated[
        str | None,
        Field(
            description="For executions, the model that responded; it also carries the cost of earlier failed models."
        ),
    ] = None
    day: str | None = None
    examples: Annotated[int, Field(description="Examples whose model was called.")]
    judgements: Annotated[
        int,
        Field(description="Examples sent to a judge, counted under the model of the judge."),
    ]
    tokens: Tokens
    cost: CostAmount
    unpriced: Annotated[
        int,
        Field(description="Calls to models without a known price, excluded from the cost."),
    ]
    latency: Annotated[
        UsageEvaluationLatency,
        Field(description="The response time of the call that succeeded."),
    ]


class UsageRule(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    rule: str | None = None
    model: Annotated[str | None, Field(description="The model of the judge.")] = None
    day: str | None = None
    judgements: Annotated[int, Field(description="Executions sent to a judge.")]
    tokens: Tokens
    cost: CostAmount
    unpriced: Annotated[
        int,
        Field(description="Calls to models without a known price, excluded from the cost."),
    ]


class Usage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: Annotated[list[UsageDatum], Field(description="Executions.")]
    evaluations: Annotated[
        list[UsageEvaluation],
        Field(description="Evaluation examples and their judges, which also cost money; not included in `data`."),
    ]
    rules: Annotated[
        list[UsageRule],
        Field(description="Judges of rules, by rule if `group_by` contains `prompt`. Empty if `prompt_name` is set."),
    ]
    since: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    until: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]


class PromptStatisticsLatency(BaseModel):
    """
    The response time of the models in the newest 100 completed runs.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    p50_ms: int | None
    p95_ms: int | None


class PromptStatistics(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    prompt_name: str
    runs: Annotated[
        int,
        Field(description="Executions, including drafts but not evaluation examples."),
    ]
    failed: int
    tokens: Tokens
    cost: CostAmount
    unpriced: Annotated[
        int,
        Field(description="Runs of models without a known price, excluded from the cost."),
    ]
    latency: Annotated[
        PromptStatisticsLatency,
        Field(description="The response time of the models in the newest 100 completed runs."),
    ]
    last_score: Annotated[
        float | None,
        Field(description="The score of the newest completed evaluation, regardless of the period."),
    ]
    last_evaluation_id: str | None
    last_run_at: Annotated[
        UtcDatetime | None,
        Field(description="The time of the last run, regardless of the period."),
    ]


class PromptSeriesRunLatency(BaseModel):
    """
    The response time of the models.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    p50_ms: int | None
    p95_ms: int | None


class PromptSeriesRun(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    day: Annotated[str, Field(description="In UTC.")]
    prompt_version: Annotated[int | None, Field(description="Null for drafts run instead of a version.")]
    runs: Annotated[
        int,
        Field(description="Executions, including drafts but not evaluation examples."),
    ]
    failed: int
    tokens: Tokens
    cost: CostAmount
    unpriced: Annotated[
        int,
        Field(description="Runs of models without a known price, excluded from the cost."),
    ]
    latency: Annotated[PromptSeriesRunLatency, Field(description="The response time of the models.")]


class PromptSeriesScoreInterval(BaseModel):
    """
    Wilson's 95 % interval of the score. Exact if all examples score 0 or 1, otherwise wider than necessary.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    low: float
    high: float


class CreatedApiKey(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    name: str
    kind: Annotated[
        Literal["service", "personal", "sign_in", "emergency"],
        Field(
            description="`service`: belongs to the workspace. `personal`: belongs to a member and ends with the membership. `sign_in`: the key behind the sessions of a member. `emergency`: created by an operator for signing in."
        ),
    ]
    member_id: Annotated[str | None, Field(description="The member who owns the key.")]
    scopes: Annotated[
        list[str],
        Field(
            description="`read`, `execute` (run prompts and evaluations), `score` (store scores), `ingest` (store traces and recorded executions), `write` (change resources), `publish` (move protected labels), `admin` (everything, including keys)."
        ),
    ]
    expires_at: UtcDatetime | None
    revoked_at: UtcDatetime | None
    last_used_at: UtcDatetime | None
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    key: Annotated[
        str,
        Field(description="The key itself. It is shown only once and never stored."),
    ]


class CurrentApiKeyWorkspace(BaseModel):
    """
    The workspace that the key gives access to.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    name: str


class OwnSessionKey(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    name: str
    scopes: list[str]


class OwnSessionWorkspace(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str


class OwnSessionWorkspace1(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str
    role: Literal["viewer", "runner", "editor", "publisher", "admin"]


class EndedSessionKey(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    name: str
    scopes: list[str]


class EndedSessionWorkspace(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str


class SessionKey(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    name: str
    scopes: list[str]


class SessionWorkspace(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str


class MeKey(BaseModel):
    """
    The key of the request. For a session, the key that the session belongs to.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    name: str
    kind: Literal["service", "personal", "sign_in", "emergency"]


class MeWorkspace(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str


class MeWorkspace1(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str
    member_id: str
    role: Literal["viewer", "runner", "editor", "publisher", "admin"]


class CreatedDeviceAuthorization(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    device_code: Annotated[
        str,
        Field(description="The code for `POST /device/token`. Never show it to anyone."),
    ]
    user_code: Annotated[str, Field(description="The code shown to the person: 8 letters, single use.")]
    verification_uri: Annotated[str, Field(description="The console page where the person enters the code.")]
    verification_uri_complete: Annotated[str, Field(description="The same page with the code filled in.")]
    expires_in: Annotated[int, Field(description="The lifetime of the codes in seconds.")]
    interval: Annotated[int, Field(description="The minimum number of seconds between two polls.")]


class DeviceKeyWorkspace(BaseModel):
    """
    The workspace that the key gives access to.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    name: str


class DeviceKey(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    name: str
    kind: Annotated[
        Literal["service", "personal", "sign_in", "emergency"],
        Field(
            description="`service`: belongs to the workspace. `personal`: belongs to a member and ends with the membership. `sign_in`: the key behind the sessions of a member. `emergency`: created by an operator for signing in."
        ),
    ]
    member_id: Annotated[str | None, Field(description="The member who owns the key.")]
    scopes: Annotated[
        list[str],
        Field(
            description="`read`, `execute` (run prompts and evaluations), `score` (store scores), `ingest` (store traces and recorded executions), `write` (change resources), `publish` (move protected labels), `admin` (everything, including keys)."
        ),
    ]
    expires_at: UtcDatetime | None
    revoked_at: UtcDatetime | None
    last_used_at: UtcDatetime | None
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    key: Annotated[
        str,
        Field(description="The key itself. It is shown only once and never stored."),
    ]
    workspace: Annotated[
        DeviceKeyWorkspace,
        Field(description="The workspace that the key gives access to."),
    ]


class AuditEntryActor(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    type: Annotated[
        Literal["api_key", "session", "operator", "provisioning"],
        Field(
            description="`operator`: the operator command line, and changes that a sign-in or a session check makes on behalf of the identity provider. `provisioning`: changes that the identity provider sends by SCIM."
        ),
    ]
    key_id: Annotated[str | None, Field(description="The key, or the key of the session.")]
    key_name: str | None
    member_id: Annotated[
        str | None,
        Field(description="The member who owns or created the key; null if there is none."),
    ]
    session_id: str | None


class AuditEntryResource(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    type: Annotated[str, Field(description="Minor versions may add values.")]
    id: Annotated[
        str,
        Field(description="The name of a prompt, label or dataset; the id of any other resource."),
    ]


class AuditEntry(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    actor: AuditEntryActor
    action: Annotated[str, Field(description="Minor versions may add values.")]
    resource: AuditEntryResource
    details: Annotated[
        dict[str, Any],
        Field(description="The change; the fields depend on the action. Never contains secrets."),
    ]
    address: Annotated[str | None, Field(description="The IP address that the change was made from.")]
    request_id: Annotated[str | None, Field(description="The `X-Request-Id` of the request.")]
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]


class ExportTraceServiceResponsePartialSuccess(BaseModel):
    """
    Set if some spans, or scores that they report, were refused. All others are stored.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    rejectedSpans: str
    errorMessage: str


class ExportTraceServiceResponse(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    partialSuccess: Annotated[
        ExportTraceServiceResponsePartialSuccess | None,
        Field(description="Set if some spans, or scores that they report, were refused. All others are stored."),
    ] = None


class TraceCost(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    amount: Annotated[
        str | None,
        Field(description="US dollars; null if the model has no known price."),
    ]
    currency: Literal["USD"]
    unpriced_calls: Annotated[
        int,
        Field(description="The number of calls whose cost is unknown. `amount` leaves them out."),
    ]


class TracePrompt(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str
    version: int | None


class DeletedTracesOfUser(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    user_id: str
    traces: int


class TraceFacetValuesTraceFacetValue(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    value: Annotated[str, Field(description="The value to pass to the filter.")]
    count: int


class StepTokens(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    input: int
    output: int
    cached_input: int
    cache_write: int
    reasoning: int


class StepError(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    type: str | None
    message: str | None


class StepEvent(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str
    at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    attributes: dict[str, Any]


class StepLink(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    trace_id: Annotated[str, Field(description="32 hexadecimal digits, as in OpenTelemetry.")]
    span_id: Annotated[str, Field(description="16 hexadecimal digits.")]
    attributes: dict[str, Any]


class StepScope(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str
    version: str | None


class Conversation(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    traces: int
    started_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    last_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    user_id: str | None
    calls: int
    errors: int
    tokens: Tokens
    cost: TraceCost


class DeletedConversation(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    traces: int


class ResponseSchemaOutput(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str
    description: str | None = None
    schema_: Annotated[dict[str, Any], Field(alias="schema")]
    strict: bool | None = None


class BatchOptionsOutput(BaseModel):
    """
    Allowed only with the mode `batch` or `auto`.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    max_wait: Annotated[
        str,
        Field(description="The longest wait for each batch after its submission, from `1h` to `7d`."),
    ]
    then: Annotated[
        Literal["interactive", "fail"],
        Field(
            description="How calls without a response are handled then: made one by one, within `max_cost`, or their examples count as failed."
        ),
    ]


class SetTracePolicyMaskPattern(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    pattern: Annotated[
        str,
        Field(description="In RE2's syntax. It masks at most 1,024 characters at once."),
    ]


class VersionAuthor(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    key_id: str
    member_id: Annotated[
        str | None,
        Field(description="The member who owns or created the key; null if there is none."),
    ]
    name: str


class ReleasePolicyStep(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    __annotations__ = {
        "__pydantic_extra__": Dict[str, Any],
    }
    type: str


class ReleasePolicy(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    steps: list[ReleasePolicyStep]
    required: bool


class ExecutionRelease(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    arm: Literal["stable", "candidate"]
    keyed: Annotated[
        bool,
        Field(description="Whether the `rollout_key` chose the arm. Otherwise it was chosen at random."),
    ]


class CostPricing(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    source: Annotated[str, Field(description="`genai-prices@<version>`, `operator` or `sandbox`.")]
    model: str
    input_per_million: str
    cached_input_per_million: str
    cache_write_per_million: str | None = None
    output_per_million: str
    tier_above_input_tokens: Annotated[
        float | None,
        Field(
            description="For prices that depend on the length of the input: the tier used starts above this many tokens."
        ),
    ] = None
    per_request: str | None = None
    batch_multiplier: Annotated[
        str | None,
        Field(description="The factor applied to the prices above for a call in a batch, such as `0.5`."),
    ] = None
    batch_source: Annotated[str | None, Field(description="The source of the multiplier.")] = None


class ScoredExecution(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    execution_id: str


class ScoredExample(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    evaluation_id: str
    example_id: str


class ScoredTrace(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    trace_id: str
    span_id: str | None = None


class ScoredConversation(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    conversation_id: str


class ScoreEvaluator(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    rule: str
    version: str
    model: str | None


class ModelResponseIncompleteDetails(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    reason: Literal["max_output_tokens", "content_filter"]


class ModelResponseOutputMessageContentItem(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    type: Literal["output_text"]
    text: str
    annotations: Annotated[list[Any], Field(description="Empty.")]
    logprobs: Annotated[list[Any], Field(description="Empty.")]


class ModelResponseOutputMessage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    type: Literal["message"]
    status: Literal["in_progress", "completed", "incomplete", "failed"]
    role: Literal["assistant"]
    content: list[ModelResponseOutputMessageContentItem]


class ModelResponseOutputFunctionCall(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    type: Literal["function_call"]
    status: Literal["in_progress", "completed", "incomplete", "failed"]
    call_id: str
    name: str
    arguments: Annotated[str, Field(description="JSON.")]


class ModelResponseToolChoiceFunction(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    type: Literal["function"]
    name: str


class ModelResponseUsageInputTokensDetails(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    cached_tokens: int


class ModelResponseUsageOutputTokensDetails(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    reasoning_tokens: int


class ModelResponseUsage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    input_tokens: int
    input_tokens_details: ModelResponseUsageInputTokensDetails
    output_tokens: int
    output_tokens_details: ModelResponseUsageOutputTokensDetails
    total_tokens: int


class ProviderModelPricing(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    input: Annotated[str, Field(description="US dollars per million tokens.")]
    output: Annotated[str, Field(description="US dollars per million tokens.")]
    cached_input: Annotated[str, Field(description="US dollars per million tokens.")]


class DatasetVersion(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str
    version: int


class Reuse(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    max_age: int


class ProviderBatchCounts(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    total: int
    succeeded: int
    failed: int


class EvaluationEstimateCost(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    currency: Literal["USD"]
    amount: str


class EvaluationResultScore(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    score: float
    reason: str | None
    category: Annotated[
        str | None,
        Field(description="The category that the judge gave, if it gives categories."),
    ] = None


class EvaluationComparisonInterval(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    low: float
    high: float
    method: Literal["sign_flip", "normal"]


class ImprovementFeedback(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    limit: int
    scores: int


class ImprovementBest(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    number: int
    check: Annotated[float, Field(description="0–1")]


class ImprovementAccepted(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    version: int
    release_id: str | None


class ImprovementVerdictInterval(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    low: float
    high: float


class ImprovementVerdictCostPerCall(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    base: float | None
    candidate: float | None


class ImprovementVerdictLength(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    base: int
    candidate: int


class AgreementMeasureInterval(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    lower: float
    upper: float


class ImprovementEstimateCost(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    expected: str
    most: str


class PromptSuggestionContent(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    template: str | None
    messages: list[Any] | None
    tools: list[Any] | None


class PromptSuggestionReject(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    code: Annotated[str, Field(description="Minor versions may add values.")]
    message: str


class ImprovementCandidateMinibatch(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    parent_score: float | None
    score: float | None
    examples: int


class ImprovementCandidateCheck(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    score: Annotated[float, Field(description="0–1")]
    difference: float


class ImprovementCandidateDiffsParentItem(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    path: Annotated[
        str,
        Field(
            description="The changed field, in dot notation. A list item has its index in `to`, or in `from` if it was removed."
        ),
    ]
    before: Annotated[Any | None, Field(description="Absent if the field was added.")] = None
    after: Annotated[Any | None, Field(description="Absent if the field was removed.")] = None
    diff: Annotated[
        str | None,
        Field(description="A unified diff instead of `before` and `after`, if both are strings."),
    ] = None


class ImprovementCandidateDiffsBaseItem(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    path: Annotated[
        str,
        Field(
            description="The changed field, in dot notation. A list item has its index in `to`, or in `from` if it was removed."
        ),
    ]
    before: Annotated[Any | None, Field(description="Absent if the field was added.")] = None
    after: Annotated[Any | None, Field(description="Absent if the field was removed.")] = None
    diff: Annotated[
        str | None,
        Field(description="A unified diff instead of `before` and `after`, if both are strings."),
    ] = None


class ImprovementCandidateDiffs(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    parent: list[ImprovementCandidateDiffsParentItem]
    base: list[ImprovementCandidateDiffsBaseItem]


class ScoreDefinitionCategory(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    value: str
    label: str


class QueueItemReviewCorrection(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    dataset: str
    version: int


class LastError(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    code: str
    message: str
    at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]


class DeliveryAttemptRequest(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    url: str
    headers: Annotated[
        dict[str, str],
        Field(description="Includes the signatures. The values of custom headers are hidden."),
    ]


class KeyMember(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    name: str
    role: Literal["viewer", "runner", "editor", "publisher", "admin"]


class DeviceAuthorizationKey(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    kind: Literal["personal", "service"]
    scopes: list[str]
    expires_at: UtcDatetime | None


class TextPart(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    type: Literal["text"]
    text: str
    cache_control: CacheControl | None = None


class ToolMessage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    role: Literal["tool"]
    content: list[ToolResultPart]


class Label(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    label: Annotated[
        str,
        Field(description="A label such as `production`; `latest` always means the newest version."),
    ]
    protected: bool
    release: Annotated[
        ReleasePolicy | None,
        Field(description="How the label moves; null if there is no policy."),
    ]
    prompts: Annotated[
        int,
        Field(description="The number of prompts with this label, including archived ones."),
    ]


class ReleaseArms(BaseModel):
    """
    Totals of all executions of the release by arm, a few seconds old.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    stable: ReleaseArm
    candidate: ReleaseArm


class Release(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    prompt_name: Annotated[
        str,
        Field(description='1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".'),
    ]
    label: str
    stable_version: Annotated[
        int,
        Field(description="The version the label pointed to when the release started."),
    ]
    candidate_version: Annotated[int, Field(description="A version of the prompt, from 1.")]
    steps: list[ReleaseStep]
    step: Annotated[int, Field(description="The index of the current step, from 0.")]
    percent: Annotated[float, Field(description="The share of keys that get the candidate now, 0–100.")]
    salt: str
    status: Literal[
        "in_progress",
        "paused",
        "awaiting_approval",
        "baking",
        "succeeded",
        "rolled_back",
        "rejected",
        "failed",
        "superseded",
        "canceled",
    ]
    status_reason: Annotated[str | None, Field(description="The reason for the status, in words.")]
    reason: str | None
    deadline: UtcDatetime | None
    metadata: Annotated[
        dict[str, str],
        Field(description="Up to 50 custom strings, returned unchanged."),
    ]
    approvals: list[ReleaseApproval]
    decisions: list[ReleaseDecision]
    arms: Annotated[
        ReleaseArms,
        Field(description="Totals of all executions of the release by arm, a few seconds old."),
    ]
    failures: Annotated[
        list[ReleaseFailure] | None,
        Field(
            description="The causes of failed executions of the candidate, the most frequent first, at most 10, among the newest 5,000 executions of the release that are kept. Only when a single release is read."
        ),
    ] = None
    evaluation_id: Annotated[str | None, Field(description="The last evaluation of the candidate.")]
    workflow_id: str
    created_by: ReleaseCreatedBy
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    promoted_at: Annotated[UtcDatetime | None, Field(description="When the label moved.")]
    finished_at: UtcDatetime | None


class ReleasePage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[Release]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class Cost(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    amount: Annotated[
        str | None,
        Field(description="US dollars; null if the model has no known price."),
    ]
    currency: Literal["USD"]
    pricing: Annotated[
        CostPricing | None,
        Field(description="The price used, in US dollars per million tokens, and its source."),
    ]


class ExecutionCall(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    model: str
    started_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    duration_ms: Annotated[
        int | None,
        Field(description="Null while the call is in flight, and if its worker died."),
    ]
    tokens: Annotated[Tokens | None, Field(description="As billed; null if unknown.")]
    cost: CostAmount
    error: ExecutionError | None
    skipped: Annotated[
        list[str] | None,
        Field(
            description="Kinds of parts and events of the response that the service does not know. They were left out."
        ),
    ] = None
    response: Annotated[
        str | None,
        Field(description="The first 65,536 characters of a response that was not understood."),
    ] = None
    warnings: Annotated[
        list[Warning] | None,
        Field(
            description="Parts of the request that were changed or left out because the provider does not support them."
        ),
    ] = None


class Score(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    name: str
    value: float | bool | str
    data_type: Literal["numeric", "boolean", "categorical", "text"]
    subject: ScoredExecution | ScoredExample | ScoredTrace | ScoredConversation
    source: Literal["api", "person", "evaluator", "feedback"]
    author: Annotated[
        str | None,
        Field(description="The author of the score: a member, or a key or session without a member."),
    ]
    evaluator: ScoreEvaluator | None
    comment: str | None
    metadata: dict[str, Any]
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    updated_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]


class Delivery(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    webhook_id: str
    event_id: str
    event: Annotated[str, Field(description="Minor versions may add values.")]
    trigger: Annotated[
        Literal["event", "redelivery", "replay", "test"],
        Field(description="The cause: the event itself, or a request to redeliver, replay or test."),
    ]
    status: Annotated[
        Literal["queued", "waiting", "delivered", "failed", "abandoned"],
        Field(
            description="`queued`: the first attempt has not ended. `waiting`: a retry is due at `next_attempt_at`. `failed`: all attempts failed. `abandoned`: the webhook was disabled or deleted."
        ),
    ]
    status_reason: Annotated[str | None, Field(description="The last error, or why it was abandoned.")]
    attempts_made: int
    next_attempt_at: UtcDatetime | None
    workflow_id: Annotated[
        str | None,
        Field(
            description="The Temporal workflow that waits for retries; null if there was none, for example when the first attempt succeeded."
        ),
    ]
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    finished_at: UtcDatetime | None


class ModelResponse(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: Annotated[str, Field(description="The id of the execution.")]
    object: Literal["response"]
    created_at: Annotated[int, Field(description="Seconds since 1970.")]
    completed_at: int | None
    status: Literal["in_progress", "completed", "incomplete", "failed"]
    background: Literal[False]
    error: ExecutionError | None
    incomplete_details: ModelResponseIncompleteDetails | None
    instructions: None
    model: Annotated[str, Field(description="The version of the prompt that was run.")]
    output: list[ModelResponseOutputMessage | ModelResponseOutputFunctionCall]
    previous_response_id: None
    parallel_tool_calls: bool
    temperature: float | None
    top_p: float | None
    max_output_tokens: int | None
    tools: list[ModelResponseTool]
    tool_choice: str | ModelResponseToolChoiceFunction
    truncation: Literal["disabled"]
    metadata: dict[str, str]
    usage: ModelResponseUsage | None
    warnings: Annotated[
        list[Warning] | None,
        Field(
            description="Parts of the request that were sent to the model in another form, or not at all. Absent if there are none."
        ),
    ] = None


class ModelList(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    object: Literal["list"]
    data: list[Model]


class ProviderModel(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    model: str
    pricing: Annotated[
        ProviderModelPricing | None,
        Field(description="If the price depends on the input length, the price for short inputs. Null if unknown."),
    ]
    context_window: Annotated[
        int | None,
        Field(
            description="The maximum number of input and output tokens together, from the price list; null if unknown."
        ),
    ]


class Provider(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    provider: str
    is_configured: Annotated[bool, Field(description="Whether its models can be called.")]
    setting: Annotated[
        str | None,
        Field(description="The setting that enables them; null if none is needed."),
    ]
    has_batches: Annotated[bool, Field(description="Whether evaluations can call its models in batches.")]
    models: Annotated[
        list[ProviderModel],
        Field(
            description="The models in the price list and in `MODEL_PRICES_FILE`, by name. Other models can be used, too."
        ),
    ]


class ProviderBatch(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    number: Annotated[int, Field(description="From 1.")]
    id: Annotated[str, Field(description="The tag of the batch at providers that support tags.")]
    wave: Literal["responses", "judgements"]
    evaluator: Annotated[
        str | None,
        Field(description="The name of the judge, if the batch is of `judgements`."),
    ]
    provider: str
    model: str
    provider_batch_id: str | None
    status: Annotated[
        Literal[
            "preparing",
            "submitting",
            "unknown",
            "in_progress",
            "settling",
            "completed",
            "failed",
            "expired",
            "canceled",
        ],
        Field(
            description="`unknown`: the provider may have the batch but did not confirm it. The service searches for it and resubmits it only on request."
        ),
    ]
    provider_status: Annotated[str | None, Field(description="The status as reported by the provider.")]
    items: Annotated[int, Field(description="The number of calls in the batch.")]
    counts: Annotated[ProviderBatchCounts | None, Field(description="Reported by the provider.")]
    submitted_at: UtcDatetime | None
    expires_at: Annotated[
        UtcDatetime | None,
        Field(description="When the batch expires at the provider."),
    ]
    next_poll_at: UtcDatetime | None
    finished_at: UtcDatetime | None
    error: ExecutionError | None


class EvaluationEstimate(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    examples: int
    model_calls: Annotated[
        int,
        Field(description="Examples that fit the prompt, estimated from a sample of a large dataset."),
    ]
    judge_calls: int
    tokens: Annotated[EvaluationEstimateTokens, Field(description="Model and judges together.")]
    cost: Annotated[
        EvaluationEstimateCost | None,
        Field(description="US dollars, judges included; null if a model has no known price."),
    ]
    savings: Annotated[
        CostAmount | None,
        Field(
            description="The savings by batches, already part of `cost`; null if calls are made one by one or a model has no known price."
        ),
    ]
    basis: Annotated[str, Field(description="How the estimate was calculated, in words.")]


class EvaluationResult(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    seq: int
    example_id: str
    status: Literal["answered", "scored", "failed"]
    variables: dict[str, Any]
    expected: Annotated[Any, Field(description="Any JSON.")]
    output: str | None
    tool_calls: Annotated[
        list[ToolCall],
        Field(description="The tool calls that the model requested. The service never runs tools."),
    ]
    model: Annotated[
        str | None,
        Field(
            description="The model that responded, or the last one that failed: the run's model or one of its fallback models."
        ),
    ]
    reused_from: Annotated[
        str | None,
        Field(description="The execution or evaluation that paid for the output, if it was reused."),
    ]
    finish_reason: str | None
    score: float | None
    scores: dict[str, EvaluationResultScore] | None
    unscored: Annotated[
        dict[str, EvaluationResultUnscored] | None,
        Field(
            description="Evaluators that gave no score, and why. The example then has no score and is left out of the means."
        ),
    ] = None
    stored_scores: Annotated[
        list[Score] | None,
        Field(description="The newest 100 scores stored with `POST /scores`. Only when a single result is read."),
    ] = None
    baseline_score: float | None
    regression: bool | None
    improvement: bool | None
    error: ExecutionError | None
    attempts: int
    tokens: Tokens
    tokens_unknown: Annotated[
        bool | None,
        Field(description="True if a provider has not reported what a call used: `tokens` leaves that call out."),
    ] = None
    skipped: Annotated[
        list[str] | None,
        Field(
            description="Kinds of parts and events of the response that the service does not know. They were left out."
        ),
    ] = None
    warnings: Annotated[
        list[Warning] | None,
        Field(
            description="Parts of the request that were changed or left out because the provider does not support them."
        ),
    ] = None
    cost: CostAmount
    model_ms: int | None


class EvaluationComparisonByGroupGroup(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    value: Annotated[
        str | None,
        Field(description="As text, truncated to 200 characters. Null for examples without this key."),
    ]
    examples: int
    score_a: float
    score_b: float
    difference: float
    interval: EvaluationComparisonInterval | None
    verdict: Literal[
        "regression", "improvement", "within_noise", "too_few_differences", "no_change", "nothing_in_common"
    ]
    regressions: int
    improvements: int


class EvaluationComparisonByGroup(BaseModel):
    """
    With `group_by`: the 50 largest groups.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    total: int
    groups: list[EvaluationComparisonByGroupGroup]


class EvaluationComparison(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    a: str
    b: str
    examples_compared: int
    examples_unscored: Annotated[
        int | None,
        Field(
            description="Examples of both runs that are not compared because an evaluator gave no score in one of them."
        ),
    ] = None
    score_a: float | None
    score_b: float | None
    difference: float | None
    interval: EvaluationComparisonInterval | None
    p_value: float | None
    verdict: Literal[
        "regression", "improvement", "within_noise", "too_few_differences", "no_change", "nothing_in_common"
    ]
    withheld: Annotated[
        Literal["not_comparable", "failures"] | None,
        Field(
            description="Why `verdict` does not describe the difference. `not_comparable`: the runs share no unchanged evaluator. `failures`: more than a tenth of the examples failed in one of the runs, or have no score."
        ),
    ]
    comparable: Annotated[
        bool,
        Field(description="Whether the runs share an unchanged evaluator. If not, there are no scores."),
    ]
    left_out_evaluators: Annotated[
        list[EvaluationComparisonLeftOutEvaluator],
        Field(description="Evaluators that the scores and the verdict leave out, because the runs differ in them."),
    ]
    note: str
    regressions: EvaluationComparisonRegressions
    improvements: EvaluationComparisonImprovements
    unchanged: int
    only_in_a: EvaluationComparisonOnlyInA
    only_in_b: EvaluationComparisonOnlyInB
    by_evaluator: list[EvaluationComparisonByEvaluatorItem]
    by_group: Annotated[
        EvaluationComparisonByGroup | None,
        Field(description="With `group_by`: the 50 largest groups."),
    ] = None
    preferences: Annotated[
        list[EvaluationComparisonPreference] | None,
        Field(
            description="If `pairwise` evaluators of b compared its outputs with those of a (`against`), or people compared them as pairs of a queue."
        ),
    ] = None
    unchanged_examples: Annotated[
        list[EvaluationComparisonUnchangedExample] | None,
        Field(description="With `unchanged=true`."),
    ] = None
    metadata_keys: Annotated[
        list[str] | None,
        Field(description="The metadata keys of the first 200 examples of b: possible values of `group_by`."),
    ] = None


class OpenExamplePage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[OpenExample]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class EvaluatorTypeList(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[EvaluatorType]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class AgreementMeasure(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: Literal[
        "cohen_kappa", "weighted_kappa_linear", "weighted_kappa_quadratic", "spearman_rho", "krippendorff_alpha"
    ]
    value: Annotated[
        float | None,
        Field(description="1: perfect agreement; 0: chance level. Null if undefined."),
    ]
    interval: Annotated[AgreementMeasureInterval | None, Field(description="The 95 % interval.")]


class ImprovementEstimate(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    split: ImprovementEstimateSplit
    held_out: ImprovementEstimateHeldOut
    calls: Annotated[ImprovementEstimateCalls, Field(description="Calls of the prompt.")]
    reflections: int
    cost: Annotated[
        ImprovementEstimateCost | None,
        Field(description="US dollars, judges included; null if a model has no known price."),
    ]
    warnings: list[str]


class PromptSuggestion(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    prompt_name: Annotated[
        str,
        Field(description='1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".'),
    ]
    prompt_version: int
    content: Annotated[
        PromptSuggestionContent | None,
        Field(description="Null if it was rejected, or there is no answer. Other fields are as in the version."),
    ]
    reject: PromptSuggestionReject | None
    change: Annotated[
        str | None,
        Field(description="The change, in the words of the model that made it."),
    ]
    diagnosis: list[str]
    examples: Annotated[int, Field(description="The number of examples that the model saw.")]
    status: Annotated[str, Field(description="The status of the call.")]
    execution_id: str
    cost: Annotated[str | None, Field(description="US dollars; null if unknown.")]
    measured: Annotated[
        bool,
        Field(description="False: whether it is better is unknown until it is evaluated."),
    ]


class ImprovementCandidate(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    number: Annotated[int, Field(description="0 is the base.")]
    parent: int | None
    kind: Annotated[str, Field(description="Minor versions may add values.")]
    status: Annotated[str, Field(description="Minor versions may add values.")]
    reject: PromptSuggestionReject | None
    change: Annotated[
        str | None,
        Field(description="The change, in the words of the model that made it."),
    ]
    diagnosis: list[str]
    content: Annotated[
        PromptSuggestionContent | None,
        Field(description="Null until it is written. Other fields are as in the base."),
    ]
    length: Annotated[int | None, Field(description="Characters.")]
    minibatch: ImprovementCandidateMinibatch | None
    check: Annotated[
        ImprovementCandidateCheck | None,
        Field(description="On the check part; `difference` from the first run of the base."),
    ]
    cost: Annotated[float, Field(description="US dollars, as counted against `max_cost`.")]
    diffs: Annotated[
        ImprovementCandidateDiffs | None,
        Field(
            description="The changes of its texts from its parent and from the base, field by field. Only if a single candidate is retrieved; null until it is written."
        ),
    ] = None
    execution_ids: Annotated[list[str], Field(description="Its reflections.")]
    evaluation_ids: dict[str, str]


class DatasetPage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[Dataset]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class DatasetExamplePage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[DatasetExample]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class SavedEvaluatorPage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[SavedEvaluator]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class Scores(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[Score]


class ScorePage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[Score]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class ScoreSummaryDatum(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str
    data_type: Literal["numeric", "boolean", "categorical", "text"]
    prompt_name: str | None = None
    prompt_version: int | None = None
    label: str | None = None
    release_id: Annotated[str | None, Field(description="With `arm`.")] = None
    arm: Literal["stable", "candidate"] | None = None
    day: Annotated[str | None, Field(description="The day of the subject, in UTC.")] = None
    n: int
    mean: Annotated[float | None, Field(description="The mean of numeric scores.")]
    share_true: Annotated[float | None, Field(description="The share of true among boolean scores, 0–1.")]
    categories: Annotated[
        dict[str, int] | None,
        Field(description="The number of scores in each of the 100 most frequent categories."),
    ]


class ScoreSummary(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[ScoreSummaryDatum]
    since: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    until: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]


class ScoreDefinition(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str
    data_type: Literal["numeric", "boolean", "categorical", "text"]
    min: float | None
    max: float | None
    categories: list[ScoreDefinitionCategory] | None
    description: str | None
    defined: Annotated[bool, Field(description="False if the type comes from the first score.")]
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    updated_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]


class SubjectFeedbackToken(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    token: str
    subject: ScoredTrace | ScoredConversation
    names: list[str]
    expires_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]


class QueueItemReview(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    reviewer: Annotated[str, Field(description="The id of a key or session.")]
    state: Literal["leased", "completed", "skipped"]
    leased_until: UtcDatetime | None
    ended_at: UtcDatetime | None
    correction: Annotated[
        QueueItemReviewCorrection | None,
        Field(description="The example that holds the correction."),
    ]


class QueueItem(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    subject: Annotated[
        QueueItemSubject,
        Field(description="An execution, an example of an evaluation, a trace, or a step of one."),
    ]
    other: Annotated[
        QueueItemOther | None,
        Field(
            description="Only of pairs: the output to compare with that of `subject`. In a response to a reviewer, `subject` is the first and `other` the second in an order that was drawn for them; in lists, `other` is the earlier one."
        ),
    ] = None
    state: Annotated[
        Literal["pending", "leased", "completed", "skipped"],
        Field(
            description="`skipped`: by a reviewer. Other reviewers may still get the item once nothing else is left."
        ),
    ]
    completed: Annotated[int, Field(description="The number of reviewers who completed the item.")]
    skipped: Annotated[int, Field(description="The number of reviewers who skipped the item.")]
    reviews: Annotated[
        list[QueueItemReview],
        Field(description="In lists, up to 20 reviews of all reviewers; otherwise only reviews of the caller."),
    ]
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    completed_at: UtcDatetime | None


class Queue(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: Annotated[
        str,
        Field(description='1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".'),
    ]
    description: str | None
    score_names: list[str]
    filter: Annotated[dict[str, Any] | None, Field(description="As given in the request.")]
    trace_filter: Annotated[dict[str, Any] | None, Field(description="As given in the request.")]
    sample_rate: float
    reviewers_per_item: int
    progress: Annotated[QueueProgress, Field(description="The number of items in each state.")]
    full: Annotated[bool, Field(description="Whether the queue is full.")]
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    updated_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]


class QueueItemPage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[QueueItem]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class QueueAgreementScorePair(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    reviewers: list[str]
    items: int
    measure: AgreementMeasure


class QueueAgreementScore(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str
    data_type: Literal["numeric", "boolean", "categorical"]
    items: Annotated[int, Field(description="Items scored by at least two reviewers.")]
    same: Annotated[
        float | None,
        Field(description="The share of those items on which all reviewers agree."),
    ]
    measure: AgreementMeasure
    pairs: Annotated[
        list[QueueAgreementScorePair],
        Field(description="The 20 pairs with the most items."),
    ]


class QueueAgreement(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    scores: list[QueueAgreementScore]


class EvaluatorAgreementEvaluator(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    rule: str
    version: str
    model: str | None
    n: Annotated[int, Field(description="Subjects scored by both the evaluator and people.")]
    undecided: Annotated[
        int,
        Field(description="Subjects left out because people disagree with each other."),
    ]
    measures: Annotated[
        list[AgreementMeasure],
        Field(description="The verdict is based on the first one."),
    ]
    same: Annotated[
        float | None,
        Field(description="The share of subjects with exactly the same score from both."),
    ]
    mean_distance: Annotated[float | None, Field(description="The mean distance between numeric scores.")]
    better_than_chance: Annotated[bool | None, Field(description="Null if it cannot be determined.")]
    verdict: str
    disagreements_total: int
    disagreements: Annotated[
        list[EvaluatorAgreementEvaluatorDisagreement],
        Field(description="Largest distance first."),
    ]


class EvaluatorAgreement(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    score: str
    data_type: Literal["numeric", "boolean", "categorical"]
    truncated: Annotated[
        bool,
        Field(
            description="Whether a limit of the comparison was exceeded: 20,000 human scores, 100,000 evaluator scores, 50 versions."
        ),
    ]
    evaluators: list[EvaluatorAgreementEvaluator]


class Backfill(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    rule: str
    since: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    until: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    max_cost: str | None
    status: Literal["running", "paused", "completed", "failed", "canceled"]
    status_reason: str | None
    progress: Annotated[float, Field(description="The share of the period searched so far, 0–1.")]
    found: Annotated[int, Field(description="Executions to score found so far.")]
    scored: int
    failed: int
    spent: Annotated[str, Field(description="US dollars, decimal.")]
    error: ExecutionError | None
    last_error: Annotated[
        LastError | None,
        Field(description="The reason why the most recent execution without a score has none."),
    ]
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    finished_at: UtcDatetime | None


class BackfillPage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[Backfill]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class Rule(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: str
    prompt_name: str | None
    group: str | None
    label: str | None
    filter: Annotated[Any, Field(description="As given; null: none.")]
    trace_filter: Annotated[Any, Field(description="As given; null: the rule scores executions.")]
    sample_rate: float
    evaluators: Annotated[
        list[Any],
        Field(description="As given. Secrets of `http` evaluators appear only in the response that creates them."),
    ]
    max_cost_per_day: str | None
    enabled: bool
    scored: Annotated[int, Field(description="Executions (or traces) that have all their scores.")]
    failed: Annotated[int, Field(description="Executions without a score.")]
    skipped: Annotated[int, Field(description="Executions skipped after waiting for a day.")]
    skipped_budget: Annotated[int, Field(description="Executions skipped because the budget was used up.")]
    spent: Annotated[str, Field(description="US dollars, decimal.")]
    spent_today: Annotated[str, Field(description="US dollars spent of `max_cost_per_day`, decimal.")]
    waiting: Annotated[
        int | None,
        Field(description="Executions waiting to be scored; 10,000 means 10,000 or more. Omitted in lists."),
    ] = None
    last_error: Annotated[
        LastError | None,
        Field(description="The reason why the most recent execution without a score has none."),
    ]
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    updated_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]


class Schedule(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    name: str
    cron: str
    time_zone: str
    paused: bool
    evaluation: Annotated[
        Any,
        Field(
            description="The evaluation to start, as given. Its secrets appear only in the response that creates the schedule."
        ),
    ]
    next_runs: Annotated[
        list[UtcDatetime] | None,
        Field(description="The next start times; empty while paused. Omitted in lists."),
    ] = None
    last_error: Annotated[
        LastError | None,
        Field(description="Why the last start failed; null once a start succeeds."),
    ]
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]


class SchedulePage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[Schedule]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class Monitor(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: Annotated[
        str,
        Field(description='1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".'),
    ]
    prompt_name: str | None
    label: str | None
    window: str
    checks: list[MonitorCheck]
    notify: MonitorNotify
    enabled: bool
    state: Annotated[
        Literal["no_data", "ok", "alerting"],
        Field(
            description="`no_data`: too few runs to evaluate the checks. `alerting`: at least one check does not hold."
        ),
    ]
    since: Annotated[UtcDatetime, Field(description="When the monitor entered this state.")]
    values: Annotated[
        list[MonitorValue],
        Field(description="The latest measurements, in the order of `checks`."),
    ]
    last_checked_at: UtcDatetime | None
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    updated_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]


class MonitorHistory(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[MonitorChange]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class WebhookPage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[Webhook]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class DeliveryAttempt(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    attempt: Annotated[int, Field(description="The number of the attempt, from 1.")]
    started_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    request: Annotated[
        DeliveryAttemptRequest | None,
        Field(
            description="The headers sent with the `request_body` of the delivery; null for attempts made before they were recorded."
        ),
    ]
    status: Annotated[
        int | None,
        Field(description="HTTP status of the response; null if there was none."),
    ]
    duration_ms: int
    response_body: Annotated[str | None, Field(description="The first 1 KiB of the response body.")]
    error: Annotated[str | None, Field(description="Why the attempt failed; null on success.")]


class DeliveryPage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[Delivery]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class ExecutionCompletedData(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    execution_id: str
    prompt_name: str
    prompt_version: int
    model: str
    tokens: Tokens
    tokens_unknown: Annotated[
        bool | None,
        Field(
            description="True if the usage of a call is unknown: `tokens` leaves that call out, as in the execution."
        ),
    ] = None
    cost: Cost
    latency: ExecutionCompletedDataLatency


class NotificationPage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[Notification]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class ViewList(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[View]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class PromptStatisticsPage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[PromptStatistics]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]
    since: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    until: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]


class PromptSeriesScore(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    evaluation_id: str
    prompt_version: int
    dataset: Annotated[DatasetVersion | None, Field(description="Null for inline examples.")]
    score: float
    interval: Annotated[
        PromptSeriesScoreInterval,
        Field(
            description="Wilson's 95 % interval of the score. Exact if all examples score 0 or 1, otherwise wider than necessary."
        ),
    ]
    finished_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]


class PromptSeries(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    prompt_name: str
    since: Annotated[
        UtcDatetime,
        Field(
            description="When counting starts; later than requested if there are very many runs. For days that are not yet summarized, at most 20000 runs are counted."
        ),
    ]
    until: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    runs: Annotated[
        list[PromptSeriesRun],
        Field(description="By day and version, oldest first. Days without a run are left out."),
    ]
    scores: Annotated[
        list[PromptSeriesScore],
        Field(description="The newest 500 evaluations that have completed, oldest first."),
    ]


class ApiKey(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    name: str
    kind: Annotated[
        Literal["service", "personal", "sign_in", "emergency"],
        Field(
            description="`service`: belongs to the workspace. `personal`: belongs to a member and ends with the membership. `sign_in`: the key behind the sessions of a member. `emergency`: created by an operator for signing in."
        ),
    ]
    member_id: Annotated[str | None, Field(description="The member who owns the key.")]
    scopes: Annotated[
        list[str],
        Field(
            description="`read`, `execute` (run prompts and evaluations), `score` (store scores), `ingest` (store traces and recorded executions), `write` (change resources), `publish` (move protected labels), `admin` (everything, including keys)."
        ),
    ]
    expires_at: UtcDatetime | None
    revoked_at: UtcDatetime | None
    last_used_at: UtcDatetime | None
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]


class CurrentApiKey(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    name: str
    kind: Annotated[
        Literal["service", "personal", "sign_in", "emergency"],
        Field(
            description="`service`: belongs to the workspace. `personal`: belongs to a member and ends with the membership. `sign_in`: the key behind the sessions of a member. `emergency`: created by an operator for signing in."
        ),
    ]
    member_id: Annotated[str | None, Field(description="The member who owns the key.")]
    scopes: Annotated[
        list[str],
        Field(
            description="`read`, `execute` (run prompts and evaluations), `score` (store scores), `ingest` (store traces and recorded executions), `write` (change resources), `publish` (move protected labels), `admin` (everything, including keys)."
        ),
    ]
    expires_at: UtcDatetime | None
    revoked_at: UtcDatetime | None
    last_used_at: UtcDatetime | None
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    member: Annotated[
        KeyMember | None,
        Field(description="The member who owns the key; null if the workspace owns it."),
    ]
    workspace: Annotated[
        CurrentApiKeyWorkspace,
        Field(description="The workspace that the key gives access to."),
    ]


class OwnSession(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    key: OwnSessionKey
    workspace: OwnSessionWorkspace
    member: Annotated[
        KeyMember | None,
        Field(description="The signed-in member; null if the key belongs to the workspace."),
    ]
    provider: Annotated[
        str | None,
        Field(
            description="The id of the identity provider used to sign in, as in the settings; null if signed in with a key."
        ),
    ]
    is_current: Annotated[bool, Field(description="Whether this is the session of the request.")]
    address: Annotated[str, Field(description="The address that started the session.")]
    user_agent: Annotated[str | None, Field(description="The browser that started the session.")]
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    last_used_at: Annotated[UtcDatetime, Field(description="The time of the last request, to the minute.")]
    expires_at: Annotated[
        UtcDatetime,
        Field(
            description="12 hours after its last use, at most 7 days after its start, and never after its key expires."
        ),
    ]
    drafts_key: Annotated[
        str,
        Field(
            description="The key that the console uses to encrypt unsaved texts stored in the browser: 32 bytes in base64, the same for all sessions of the key."
        ),
    ]
    workspaces: Annotated[
        list[OwnSessionWorkspace1],
        Field(
            description="The workspaces that `POST /v1/session/workspace` can switch to. Empty if the session was started with a key."
        ),
    ]


class EndedSession(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    key: EndedSessionKey
    workspace: EndedSessionWorkspace
    member: Annotated[
        KeyMember | None,
        Field(description="The signed-in member; null if the key belongs to the workspace."),
    ]
    provider: Annotated[
        str | None,
        Field(
            description="The id of the identity provider used to sign in, as in the settings; null if signed in with a key."
        ),
    ]
    is_current: Annotated[bool, Field(description="Whether this is the session of the request.")]
    address: Annotated[str, Field(description="The address that started the session.")]
    user_agent: Annotated[str | None, Field(description="The browser that started the session.")]
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    last_used_at: Annotated[UtcDatetime, Field(description="The time of the last request, to the minute.")]
    expires_at: Annotated[
        UtcDatetime,
        Field(
            description="12 hours after its last use, at most 7 days after its start, and never after its key expires."
        ),
    ]
    end_session_url: Annotated[
        str | None,
        Field(description="The address to visit to sign out of the identity provider, too; null if there is none."),
    ]


class Session(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    key: SessionKey
    workspace: SessionWorkspace
    member: Annotated[
        KeyMember | None,
        Field(description="The signed-in member; null if the key belongs to the workspace."),
    ]
    provider: Annotated[
        str | None,
        Field(
            description="The id of the identity provider used to sign in, as in the settings; null if signed in with a key."
        ),
    ]
    is_current: Annotated[bool, Field(description="Whether this is the session of the request.")]
    address: Annotated[str, Field(description="The address that started the session.")]
    user_agent: Annotated[str | None, Field(description="The browser that started the session.")]
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    last_used_at: Annotated[UtcDatetime, Field(description="The time of the last request, to the minute.")]
    expires_at: Annotated[
        UtcDatetime,
        Field(
            description="12 hours after its last use, at most 7 days after its start, and never after its key expires."
        ),
    ]


class Member(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    name: Annotated[str, Field(description="As last reported by the identity provider.")]
    email: str | None
    role: Annotated[
        Literal["viewer", "runner", "editor", "publisher", "admin"],
        Field(
            description="The permissions of the member: `viewer` (read), `runner` (plus execute and score), `editor` (plus write), `publisher` (plus publish), `admin` (everything)."
        ),
    ]
    role_set: Annotated[
        Literal["viewer", "runner", "editor", "publisher", "admin"] | None,
        Field(description="The role set by an admin. Null if the role follows the identity provider."),
    ]
    status: Annotated[
        Literal["active", "suspended", "removed"],
        Field(
            description="`suspended`: by an admin, until an admin reinstates the member. `removed`: by an admin, or because the identity provider no longer assigns a role here."
        ),
    ]
    last_seen_at: Annotated[
        UtcDatetime | None,
        Field(description="The last use of a session or personal key, to the minute."),
    ]
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    updated_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]


class Me(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    key: Annotated[
        MeKey,
        Field(description="The key of the request. For a session, the key that the session belongs to."),
    ]
    scopes: Annotated[
        list[str],
        Field(description="The scopes of this request, limited by the member’s role."),
    ]
    member: Annotated[
        Member | None,
        Field(description="The member who owns the key or session; null for a key of the workspace."),
    ]
    role: Literal["viewer", "runner", "editor", "publisher", "admin"] | None
    workspace: MeWorkspace
    workspaces: Annotated[
        list[MeWorkspace1],
        Field(
            description="Every workspace in which the same person is an active member. Empty for a key of the workspace."
        ),
    ]


class DeviceAuthorization(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    client: Annotated[str, Field(description="The program, as it identifies itself.")]
    address: Annotated[str, Field(description="The address the request came from.")]
    status: Literal["pending", "approved", "denied"]
    key: Annotated[
        DeviceAuthorizationKey | None,
        Field(description="The key to be issued or, while pending, the most it can be. Null if no key will be issued."),
    ]
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    expires_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]


class AuditLogPage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[AuditEntry]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class Trace(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: Annotated[str, Field(description="32 hexadecimal digits, as in OpenTelemetry.")]
    name: str | None
    status: Annotated[
        Literal["running", "ok", "error"],
        Field(description="The status of its root, or of its first step while the root is missing."),
    ]
    settled: Annotated[
        bool,
        Field(description="Whether no more steps are expected. Tokens and cost are exact then."),
    ]
    started_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    ended_at: UtcDatetime | None
    duration_ms: float | None
    steps: int
    calls: Annotated[int, Field(description="The number of model calls: its executions.")]
    errors: Annotated[int, Field(description="The number of steps that failed.")]
    tokens: Tokens
    cost: TraceCost
    models: list[str]
    tools: list[str]
    agents: list[str]
    prompts: list[TracePrompt]
    conversation_id: str | None
    user_id: str | None
    service: str | None
    environment: str | None
    tags: list[str]
    metadata: dict[str, str]
    input: Annotated[str | None, Field(description="The beginning of the input of the root step.")]
    output: Annotated[str | None, Field(description="The beginning of the output of the root step.")]
    incomplete: Annotated[
        list[Literal["root_missing", "steps_over_limit"]],
        Field(description="The parts that are missing."),
    ]
    scores: Annotated[
        list[Score] | None,
        Field(description="The newest 100 scores of the trace itself, if any. Only in `GET /traces/{id}`."),
    ] = None


class TraceFacetsFacets(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    status: Annotated[
        list[TraceFacetValuesTraceFacetValue],
        Field(description="The 20 values with the most traces."),
    ]
    name: Annotated[
        list[TraceFacetValuesTraceFacetValue],
        Field(description="The 20 values with the most traces."),
    ]
    service: Annotated[
        list[TraceFacetValuesTraceFacetValue],
        Field(description="The 20 values with the most traces."),
    ]
    environment: Annotated[
        list[TraceFacetValuesTraceFacetValue],
        Field(description="The 20 values with the most traces."),
    ]
    user_id: Annotated[
        list[TraceFacetValuesTraceFacetValue],
        Field(description="The 20 values with the most traces."),
    ]
    model: Annotated[
        list[TraceFacetValuesTraceFacetValue],
        Field(description="The 20 values with the most traces."),
    ]
    tool: Annotated[
        list[TraceFacetValuesTraceFacetValue],
        Field(description="The 20 values with the most traces."),
    ]
    agent: Annotated[
        list[TraceFacetValuesTraceFacetValue],
        Field(description="The 20 values with the most traces."),
    ]
    tag: Annotated[
        list[TraceFacetValuesTraceFacetValue],
        Field(description="The 20 values with the most traces."),
    ]


class TraceFacets(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    facets: TraceFacetsFacets
    counted: Annotated[int, Field(description="The number of traces counted.")]
    complete: Annotated[
        bool,
        Field(description="Whether all matches were counted. Otherwise only the newest were."),
    ]


class TraceStep(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: Annotated[str, Field(description="16 hexadecimal digits.")]
    parent_id: str | None
    type: Literal[
        "agent", "model", "tool", "retrieval", "embedding", "rerank", "guardrail", "evaluator", "chain", "other"
    ]
    name: str
    status: Literal["running", "ok", "error"]
    started_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    duration_ms: Annotated[float | None, Field(description="Null while it is running.")]
    tokens: Annotated[
        StepTokens | None,
        Field(description="As reported by the span. A step that contains calls can report their sum."),
    ]
    own_tokens: Annotated[
        StepTokens | None,
        Field(description="`tokens` without those of the steps below it."),
    ]
    cost: CostAmount
    execution_id: Annotated[str | None, Field(description="The execution that holds its texts and cost.")]
    model: str | None
    provider: str | None
    tool: str | None
    agent: str | None
    prompt: TracePrompt | None
    error: StepError | None
    has_input: bool
    has_output: bool
    cut: Annotated[
        list[str],
        Field(description="Fields that were shortened when they were stored."),
    ]


class TracePolicy(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    contents: Annotated[
        Literal["keep", "drop"],
        Field(description="`drop`: inputs, outputs, tool calls, variables and attributes are not stored."),
    ]
    mask: Annotated[
        list[SetTracePolicyMaskPattern | Literal["email", "card", "phone", "ip", "secret"]],
        Field(
            description="Patterns to replace in all texts before they are stored. `secret`: keys and tokens of known forms, and attributes such as `authorization` or `password`. Names of users, conversations, models and tools are not masked."
        ),
    ]
    drop_attributes: Annotated[
        list[str],
        Field(description="Attributes to ignore. A `*` at the end matches any suffix."),
    ]
    sample_rate: Annotated[
        float,
        Field(
            description="The share of traces to store. The trace id decides, so a trace is stored with all its spans or not at all."
        ),
    ]
    others: Annotated[
        Literal["skeleton", "keep", "drop"],
        Field(
            description="Steps of the type `other`. `skeleton`: only names, times and errors; `drop`: none, so that steps below them are at the top. With either, traces without any other step are deleted when they are settled."
        ),
    ]


class ConversationPage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[Conversation]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class WholeConversation(BaseModel):
    """
    A conversation with a page of its traces, oldest first, in `data`.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    traces: int
    started_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    last_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    user_id: str | None
    calls: int
    errors: int
    tokens: Tokens
    cost: TraceCost
    scores: Annotated[
        list[Score] | None,
        Field(description="The newest 100 scores of the conversation, if any."),
    ] = None
    data: list[Trace]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class JsonSchemaResponseFormatOutput(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    type: Literal["json_schema"]
    json_schema: ResponseSchemaOutput


class ImprovementVerdictAgreement(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    score: str
    examples: int
    base: list[AgreementMeasure]
    candidate: list[AgreementMeasure]


class SystemMessage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    role: Literal["system"]
    content: str | list[TextPart]
    name: Annotated[
        str | None,
        Field(
            description="The speaker, if several have the same role. Sent to providers that support names in messages."
        ),
    ] = None


class UserMessage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    role: Literal["user"]
    content: str | list[Annotated[TextPart | StoredFilePart, Field(discriminator="type")]]
    name: Annotated[
        str | None,
        Field(
            description="The speaker, if several have the same role. Sent to providers that support names in messages."
        ),
    ] = None


class AssistantMessage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    role: Literal["assistant"]
    content: str | list[Annotated[TextPart | StoredFilePart | ToolCallPart, Field(discriminator="type")]]
    name: Annotated[
        str | None,
        Field(
            description="The speaker, if several have the same role. Sent to providers that support names in messages."
        ),
    ] = None
    reasoning_content: Annotated[
        str | None,
        Field(description="The reasoning before the response. Sent back to servers that accept it."),
    ] = None
    reasoning_details: Annotated[
        list[dict[str, Any]] | None,
        Field(description="The reasoning as OpenRouter returns it. Sent back to servers that accept it."),
    ] = None


class ChatUserMessage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    role: Literal["user"]
    content: str | list[Annotated[TextPart | FilePart, Field(discriminator="type")]]
    name: Annotated[
        str | None,
        Field(
            description="The speaker, if several have the same role. Sent to providers that support names in messages."
        ),
    ] = None


class ChatAssistantMessage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    role: Literal["assistant"]
    content: str | list[Annotated[TextPart | FilePart | ToolCallPart, Field(discriminator="type")]]
    name: Annotated[
        str | None,
        Field(
            description="The speaker, if several have the same role. Sent to providers that support names in messages."
        ),
    ] = None
    reasoning_content: Annotated[
        str | None,
        Field(description="The reasoning before the response. Sent back to servers that accept it."),
    ] = None
    reasoning_details: Annotated[
        list[dict[str, Any]] | None,
        Field(description="The reasoning as OpenRouter returns it. Sent back to servers that accept it."),
    ] = None


class LabelPage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[Label]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class ExecutionDeliveries(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[Delivery]


class ProviderList(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[Provider]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class EvaluationResultPage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[EvaluationResult]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class ImprovementVerdict(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    result: Annotated[str, Field(description="Minor versions may add values.")]
    candidate: int | None
    evaluation_id: str | None
    base_evaluation_id: str | None
    examples: Annotated[int | None, Field(description="Held-out examples that have both scores.")]
    score_base: float | None
    score: float | None
    difference: float | None
    interval: Annotated[
        ImprovementVerdictInterval | None,
        Field(description="The 95 % confidence interval of the difference."),
    ]
    p_value: float | None
    p_needed: Annotated[
        float | None,
        Field(description="Lower for each further verdict over the same examples."),
    ]
    look: Annotated[
        int | None,
        Field(description="The number of this verdict over these examples, from 1."),
    ]
    note: str
    by_evaluator: list[ImprovementVerdictByEvaluatorItem]
    agreement: Annotated[
        ImprovementVerdictAgreement | None,
        Field(
            description="How well a judge agrees with people on the held-out examples. Null unless all of them come from `POST /datasets/{name}/from-scores`."
        ),
    ]
    optimism: Annotated[
        float | None,
        Field(description="The gain on the examples that chose it, minus the gain on the held-out ones."),
    ]
    cost_per_call: ImprovementVerdictCostPerCall | None
    length: Annotated[ImprovementVerdictLength | None, Field(description="Characters of the prompt.")]


class ImprovementCandidatePage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[ImprovementCandidate]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class ScoreDefinitionPage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[ScoreDefinition]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class NextQueueItem(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    item: Annotated[
        QueueItem | None,
        Field(description="Null if nothing is left for this reviewer at the moment."),
    ]


class QueuePage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[Queue]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class RulePage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[Rule]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class MonitorPage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[Monitor]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class DeliveryWithAttempts(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    webhook_id: str
    event_id: str
    event: Annotated[str, Field(description="Minor versions may add values.")]
    trigger: Annotated[
        Literal["event", "redelivery", "replay", "test"],
        Field(description="The cause: the event itself, or a request to redeliver, replay or test."),
    ]
    status: Annotated[
        Literal["queued", "waiting", "delivered", "failed", "abandoned"],
        Field(
            description="`queued`: the first attempt has not ended. `waiting`: a retry is due at `next_attempt_at`. `failed`: all attempts failed. `abandoned`: the webhook was disabled or deleted."
        ),
    ]
    status_reason: Annotated[str | None, Field(description="The last error, or why it was abandoned.")]
    attempts_made: int
    next_attempt_at: UtcDatetime | None
    workflow_id: Annotated[
        str | None,
        Field(
            description="The Temporal workflow that waits for retries; null if there was none, for example when the first attempt succeeded."
        ),
    ]
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    finished_at: UtcDatetime | None
    request_body: Annotated[
        str | None,
        Field(
            description="The body of every attempt: the event, exactly as signed. Null if the event no longer exists."
        ),
    ]
    attempts: Annotated[list[DeliveryAttempt], Field(description="All attempts so far, oldest first.")]


class Event(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: Annotated[str, Field(description="The `X-Event-Id` of its deliveries.")]
    event: Annotated[str, Field(description="Minor versions may add values.")]
    data: Annotated[
        PromptEventData
        | ExecutionCompletedData
        | ExecutionFailedData
        | EvaluationCompletedData
        | EvaluationRegressionData
        | TraceEventData
        | ReleaseEventData
        | ImprovementCompletedData
        | ImprovementFailedData
        | MonitorEventData,
        Field(description="The payload of the event type."),
    ]
    timestamp: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]


class ApiKeyPage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[ApiKey]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class SessionPage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[Session]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class MemberPage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[Member]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class TracePage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[Trace]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class TraceStepPage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[TraceStep]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class EvaluationInput(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    input: Annotated[
        str
        | list[
            Annotated[SystemMessage | ChatUserMessage | ChatAssistantMessage | ToolMessage, Field(discriminator="role")]
        ]
        | None,
        Field(
            description="The text of a template, sent as one user message, or the messages. Null if the example's variables do not fill the prompt and nothing was sent."
        ),
    ]


class Improvement(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    status: Annotated[str, Field(description="Minor versions may add values.")]
    status_reason: str | None
    phase: Annotated[str, Field(description="Minor versions may add values.")]
    error: ExecutionError | None
    prompt_name: Annotated[
        str,
        Field(description='1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".'),
    ]
    prompt_version: Annotated[int, Field(description="The base.")]
    dataset: ImprovementDataset
    evaluators: list[ImprovementEvaluator]
    example_threshold: float | None
    reflection: ImprovementReflection
    parts: list[str]
    keep: list[str]
    few_shot: int
    feedback: Annotated[
        ImprovementFeedback | None,
        Field(description="Scores by people that reflections can show: the limit, and how many there are."),
    ]
    max_cost: str | None
    max_proposals: int
    parallel: int
    minibatch: int
    patience: int
    deadline: UtcDatetime | None
    max_length: int | None
    concurrency: int
    mode: Annotated[str, Field(description="Minor versions may add values.")]
    batch: BatchOptionsOutput | None
    reuse: ImprovementReuse
    group_by: str | None
    seed: str
    metadata: Annotated[
        dict[str, str],
        Field(description="Up to 50 custom strings, returned unchanged."),
    ]
    split: Annotated[ImprovementSplit, Field(description="The number of examples of each part.")]
    spent: ImprovementSpent
    base: Annotated[
        ImprovementBase,
        Field(description="Mean scores of the base. Its two runs of the check part differ by noise."),
    ]
    best: ImprovementBest | None
    proposals: ImprovementProposals
    curve: Annotated[
        list[ImprovementCurveItem],
        Field(description="The best score on the check part after each round."),
    ]
    stop_reason: str | None
    verdict: ImprovementVerdict | None
    accepted: ImprovementAccepted | None
    workflow_id: str
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    finished_at: UtcDatetime | None


class ImprovementPage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[Improvement]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class EventPage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[Event]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class WholeTraceStep(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: Annotated[str, Field(description="16 hexadecimal digits.")]
    parent_id: str | None
    type: Literal[
        "agent", "model", "tool", "retrieval", "embedding", "rerank", "guardrail", "evaluator", "chain", "other"
    ]
    name: str
    status: Literal["running", "ok", "error"]
    started_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    duration_ms: Annotated[float | None, Field(description="Null while it is running.")]
    tokens: Annotated[
        StepTokens | None,
        Field(description="As reported by the span. A step that contains calls can report their sum."),
    ]
    own_tokens: Annotated[
        StepTokens | None,
        Field(description="`tokens` without those of the steps below it."),
    ]
    cost: CostAmount
    execution_id: Annotated[str | None, Field(description="The execution that holds its texts and cost.")]
    model: str | None
    provider: str | None
    tool: str | None
    agent: str | None
    prompt: TracePrompt | None
    error: StepError | None
    has_input: bool
    has_output: bool
    cut: Annotated[
        list[str],
        Field(description="Fields that were shortened when they were stored."),
    ]
    input: (
        str
        | list[
            Annotated[SystemMessage | ChatUserMessage | ChatAssistantMessage | ToolMessage, Field(discriminator="role")]
        ]
        | None
    )
    output: str | None
    tool_calls: list[ToolCall]
    parameters: dict[str, Any]
    conversation_id: str | None
    user_id: str | None
    service: str | None
    environment: str | None
    tags: list[str]
    metadata: dict[str, str]
    attributes: Annotated[dict[str, Any], Field(description="Attributes that no other field holds.")]
    events: list[StepEvent]
    links: list[StepLink]
    resource: dict[str, Any]
    scope: StepScope | None
    scores: Annotated[
        list[Score] | None,
        Field(description="The newest 100 scores of the step, if any."),
    ] = None


class ModelParametersOutput(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    stop: str | list[str] | None = None
    seed: int | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    response_format: Annotated[
        TextResponseFormat | JsonObjectResponseFormat | JsonSchemaResponseFormatOutput | None,
        Field(discriminator="type"),
    ] = None
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None = None
    verbosity: Annotated[
        Literal["low", "medium", "high"] | None,
        Field(
            description="The length of responses. It is left out if the provider has no such parameter, as `top_k` is."
        ),
    ] = None
    parallel_tool_calls: Annotated[
        bool | None,
        Field(description="`false`: the model calls at most one tool in a response. It changes nothing without tools."),
    ] = None
    provider_options: Annotated[
        dict[str, dict[str, Any]] | None,
        Field(
            description='Options in the provider\'s own names, passed on unchanged: `{"openai": {"store": false}}`. Options that cost something beyond tokens at list prices (more candidates, searches and other tools, faster service, audio) are refused, and so are unknown ones.'
        ),
    ] = None


class ListedPrompt(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: Annotated[
        str,
        Field(description='1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".'),
    ]
    version: Annotated[int, Field(description="A version of the prompt, from 1.")]
    template: Annotated[str | None, Field(description="Null if the prompt has messages.")]
    messages: Annotated[
        list[MessagePlaceholder | SystemMessage | UserMessage | AssistantMessage | ToolMessage] | None,
        Field(description="Null if the prompt is a template."),
    ]
    tools: list[Tool] | None
    tool_choice: NamedTool | Literal["auto", "none", "required"] | None
    inputs: dict[str, PromptInput] | None
    model: str
    fallback_models: list[str]
    parameters: ModelParametersOutput
    config: dict[str, Any] | None
    variables: Annotated[
        list[str],
        Field(
            description="The names of all values that a run must or may pass: placeholders (also of includes), files and inputs."
        ),
    ]
    labels: Annotated[list[str], Field(description="Labels that point to this version.")]
    archived: bool
    description: str | None
    commit_message: str | None
    created_by: Annotated[
        VersionAuthor | None,
        Field(description="The author of the version; null for the operator, or if no longer known."),
    ]
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    updated_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    version_created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    release: Annotated[
        PromptRelease | None,
        Field(
            description="Only when requested by a label with a running release; the returned version is then the stable one."
        ),
    ] = None
    warnings: Annotated[
        list[Warning] | None,
        Field(
            description="In responses to creating and updating: texts with tags of another template language, such as `{{ user.name }}` or `{{#if x}}`, which stay text."
        ),
    ] = None
    all_labels: Annotated[
        list[PromptLabel],
        Field(description="All labels of the prompt, with the versions that they point at."),
    ]


class Prompt(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    name: Annotated[
        str,
        Field(description='1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".'),
    ]
    version: Annotated[int, Field(description="A version of the prompt, from 1.")]
    template: Annotated[str | None, Field(description="Null if the prompt has messages.")]
    messages: Annotated[
        list[MessagePlaceholder | SystemMessage | UserMessage | AssistantMessage | ToolMessage] | None,
        Field(description="Null if the prompt is a template."),
    ]
    tools: list[Tool] | None
    tool_choice: NamedTool | Literal["auto", "none", "required"] | None
    inputs: dict[str, PromptInput] | None
    model: str
    fallback_models: list[str]
    parameters: ModelParametersOutput
    config: dict[str, Any] | None
    variables: Annotated[
        list[str],
        Field(
            description="The names of all values that a run must or may pass: placeholders (also of includes), files and inputs."
        ),
    ]
    labels: Annotated[list[str], Field(description="Labels that point to this version.")]
    archived: bool
    description: str | None
    commit_message: str | None
    created_by: Annotated[
        VersionAuthor | None,
        Field(description="The author of the version; null for the operator, or if no longer known."),
    ]
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    updated_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    version_created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    release: Annotated[
        PromptRelease | None,
        Field(
            description="Only when requested by a label with a running release; the returned version is then the stable one."
        ),
    ] = None
    warnings: Annotated[
        list[Warning] | None,
        Field(
            description="In responses to creating and updating: texts with tags of another template language, such as `{{ user.name }}` or `{{#if x}}`, which stay text."
        ),
    ] = None


class ResolvedPrompt(BaseModel):
    """
    One of: `prompt` with `includes` and `includes_hash`, `unchanged` with `release`, `left_out`, `error`.
    """

    model_config = ConfigDict(
        extra="ignore",
    )
    name: Annotated[
        str,
        Field(description='1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".'),
    ]
    prompt: Prompt | None = None
    includes: Annotated[
        dict[str, ResolvedPromptIncludes] | None,
        Field(
            description="The included prompts, at any depth, by their reference in the text (`support/tone@production`)."
        ),
    ] = None
    includes_hash: Annotated[
        str | None,
        Field(description="Identifies the included versions; null if nothing is included."),
    ] = None
    unchanged: Annotated[Literal[True] | None, Field(description="Your copy is up to date.")] = None
    release: Annotated[
        PromptRelease | None,
        Field(description="With `unchanged`: the release currently running on the label."),
    ] = None
    left_out: Annotated[
        Literal[True] | None,
        Field(description="Omitted to keep the response under about 4 MiB: request this prompt again."),
    ] = None
    error: Annotated[
        ResolvedPromptError | None,
        Field(description="`not_found`, or `invalid_request` if an include would make a run fail."),
    ] = None


class PromptVersionPage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[Prompt]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class Execution(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    status: Literal["queued", "running", "completed", "failed", "canceled"]
    prompt_name: Annotated[str | None, Field(description="Null for a draft that was run on its own.")]
    prompt_version: Annotated[int | None, Field(description="Null for a draft.")]
    model: Annotated[str, Field(description="The model that responded or is being called.")]
    requested_model: Annotated[str, Field(description="The model that was called first.")]
    provider: str
    parameters: ModelParametersOutput
    variables: dict[str, Any]
    input: Annotated[
        str
        | list[
            Annotated[SystemMessage | ChatUserMessage | ChatAssistantMessage | ToolMessage, Field(discriminator="role")]
        ],
        Field(description="The input sent to the model: the filled template or the list of messages."),
    ]
    tools: list[Tool] | None
    tool_choice: NamedTool | Literal["auto", "none", "required"] | None
    includes: Annotated[
        list[ExecutionInclude],
        Field(description="The prompts that the texts include, at any depth."),
    ]
    output: str | None
    output_json: Annotated[
        Any,
        Field(
            description="`output` as parsed JSON if a JSON format was requested and the model complied; otherwise null."
        ),
    ]
    tool_calls: Annotated[
        list[ToolCall],
        Field(description="The tool calls that the model requested. The service never runs tools."),
    ]
    finish_reason: str | None
    tokens: Tokens
    tokens_unknown: Annotated[
        bool | None,
        Field(
            description="True if the usage of a response is unknown: `tokens` leaves that call out, and its entry in `calls` is null. The cost is null, too, unless the application that recorded the run passed one."
        ),
    ] = None
    cost: Cost
    latency: ExecutionLatency
    attempts: Annotated[int, Field(description="Calls to models.")]
    calls: Annotated[
        list[ExecutionCall],
        Field(
            description="Every call in order, including failed ones. Their costs add up to the cost of the execution."
        ),
    ]
    reused_from: Annotated[
        str | None,
        Field(description="The execution whose response was reused. No model was called."),
    ]
    error: ExecutionError | None
    label: Annotated[str | None, Field(description="The label that the request named, if any.")]
    release: Annotated[
        ExecutionRelease | None,
        Field(description="The release on the label that chose the version, if any."),
    ]
    recorded: Annotated[
        bool,
        Field(description="Whether the run was recorded with `POST /executions/record`."),
    ]
    trace_id: Annotated[
        str | None,
        Field(
            description="The trace that the execution is a step of, from the `traceparent` of the request, from a span, or as recorded."
        ),
    ]
    span_id: Annotated[str | None, Field(description="The id of the step of the trace.")]
    parent_id: Annotated[str | None, Field(description="The parent step.")]
    conversation_id: str | None
    kind: str | None
    metadata: Annotated[
        dict[str, str],
        Field(description="Up to 50 custom strings, returned unchanged."),
    ]
    scores: Annotated[
        list[Score] | None,
        Field(description="The newest 100 scores, if any. Only in `GET /executions/{id}`."),
    ] = None
    workflow_id: Annotated[str | None, Field(description="Null for recorded runs.")]
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    started_at: UtcDatetime | None
    finished_at: UtcDatetime | None


class ExecutionPage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[Execution]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class CreatedEvaluation(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    status: Literal["scheduled", "running", "paused", "completed", "failed", "canceled"]
    status_reason: Annotated[str | None, Field(description="Why the evaluation is paused.")]
    name: Annotated[str | None, Field(description="The title that a caller gave it.")]
    target: Annotated[
        CreatedEvaluationTarget,
        Field(description="The evaluated target: a prompt, or `code` that the caller runs."),
    ]
    prompt_name: Annotated[str, Field(description="The name of the target.")]
    prompt_version: Annotated[int, Field(description="0 for code, for a draft and for recorded outputs.")]
    model: Annotated[
        str,
        Field(description="The model of the prompt; `code` if the caller runs code."),
    ]
    fallback_models: Annotated[
        list[str],
        Field(
            description="Called in order when the previous model failed permanently. Pinned, like the rest of the version."
        ),
    ]
    includes: Annotated[
        list[CreatedEvaluationInclude],
        Field(description="The prompts that the texts include, at any depth, pinned when the run was created."),
    ]
    provider: str
    parameters: ModelParametersOutput
    dataset: Annotated[DatasetVersion | None, Field(description="Null for inline examples.")]
    evaluators: list[CreatedEvaluationEvaluator]
    threshold: float
    example_threshold: Annotated[
        float | None,
        Field(
            description="An example with at least this score counts as 1, any other as 0. If null, each example counts as its score."
        ),
    ]
    baseline_id: str | None
    source_evaluation_id: Annotated[
        str | None,
        Field(description="The run whose outputs were rescored without calling the model."),
    ]
    from_executions: Annotated[
        CreatedEvaluationFromExecutions | None,
        Field(description="The executions that the examples were made from, if there are any."),
    ] = None
    reuse: Reuse | None
    concurrency: int
    mode: Literal["interactive", "batch", "auto"]
    batch: Annotated[
        BatchOptionsOutput | None,
        Field(description="Null if models are called one by one, also when `auto` chose that."),
    ]
    batches: Annotated[
        list[ProviderBatch] | None,
        Field(description="Omitted in lists and when a run is created."),
    ] = None
    savings: Annotated[
        CostAmount | None,
        Field(description="The savings by batches so far. Omitted when `batches` is."),
    ] = None
    max_cost: str | None
    start_at: UtcDatetime | None
    metadata: Annotated[
        dict[str, str],
        Field(description="Up to 50 custom strings, returned unchanged."),
    ]
    schedule_id: str | None
    improvement_id: Annotated[str | None, Field(description="The improvement that started it.")]
    score: Annotated[
        float | None,
        Field(
            description="Mean over the examples, 0–1. An example that failed counts 0. An example that an evaluator could not score is left out of every mean; null if no example has a score."
        ),
    ]
    scores_by_evaluator: Annotated[
        dict[str, float] | None,
        Field(description="The same for each evaluator. An evaluator that has scored nothing is left out."),
    ]
    passed: Annotated[
        bool | None,
        Field(
            description="Whether the score reaches the threshold; false without a score, null until the run has completed."
        ),
    ]
    examples_total: int
    examples_evaluated: int
    examples_failed: int
    examples_unscored: Annotated[
        int | None,
        Field(description="Evaluated examples without a score: the answer of a judge or scorer could not be used."),
    ] = None
    unscored_by_evaluator: Annotated[
        dict[str, int] | None,
        Field(description="The number of examples without a score of that evaluator, if there are any."),
    ] = None
    failures: Annotated[
        list[CreatedEvaluationFailure] | None,
        Field(
            description="Why examples failed, the most frequent cause first; at most 10. Messages that differ only in numbers or ids are one cause."
        ),
    ] = None
    regressions: int | None
    improvements: int | None
    tokens: Annotated[Tokens, Field(description="The model and the judges combined.")]
    tokens_unknown_calls: Annotated[
        int | None,
        Field(
            description="The number of calls whose usage is unknown because the provider has not reported it: `tokens` and `judge` leave them out."
        ),
    ] = None
    cost: Annotated[CostAmount, Field(description="The model and the judges combined.")]
    judge: Annotated[CreatedEvaluationJudge, Field(description="The judges only.")]
    latency: CreatedEvaluationLatency
    progress: Annotated[float, Field(description="Share of the examples that have a result, 0–1.")]
    retries: int
    workflow_id: Annotated[
        str,
        Field(description="Empty if a program of the caller runs the evaluation instead of a workflow."),
    ]
    results_due_at: Annotated[
        UtcDatetime | None,
        Field(
            description="For code evaluations: when the run fails unless results arrive. Null if the service runs it."
        ),
    ]
    error: ExecutionError | None
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    started_at: UtcDatetime | None
    finished_at: UtcDatetime | None


class Evaluation(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    id: str
    status: Literal["scheduled", "running", "paused", "completed", "failed", "canceled"]
    status_reason: Annotated[str | None, Field(description="Why the evaluation is paused.")]
    name: Annotated[str | None, Field(description="The title that a caller gave it.")]
    target: Annotated[
        EvaluationTarget,
        Field(description="The evaluated target: a prompt, or `code` that the caller runs."),
    ]
    prompt_name: Annotated[str, Field(description="The name of the target.")]
    prompt_version: Annotated[int, Field(description="0 for code, for a draft and for recorded outputs.")]
    model: Annotated[
        str,
        Field(description="The model of the prompt; `code` if the caller runs code."),
    ]
    fallback_models: Annotated[
        list[str],
        Field(
            description="Called in order when the previous model failed permanently. Pinned, like the rest of the version."
        ),
    ]
    includes: Annotated[
        list[EvaluationInclude],
        Field(description="The prompts that the texts include, at any depth, pinned when the run was created."),
    ]
    provider: str
    parameters: ModelParametersOutput
    dataset: Annotated[DatasetVersion | None, Field(description="Null for inline examples.")]
    evaluators: list[EvaluationEvaluator]
    threshold: float
    example_threshold: Annotated[
        float | None,
        Field(
            description="An example with at least this score counts as 1, any other as 0. If null, each example counts as its score."
        ),
    ]
    baseline_id: str | None
    source_evaluation_id: Annotated[
        str | None,
        Field(description="The run whose outputs were rescored without calling the model."),
    ]
    from_executions: Annotated[
        EvaluationFromExecutions | None,
        Field(description="The executions that the examples were made from, if there are any."),
    ] = None
    reuse: Reuse | None
    concurrency: int
    mode: Literal["interactive", "batch", "auto"]
    batch: Annotated[
        BatchOptionsOutput | None,
        Field(description="Null if models are called one by one, also when `auto` chose that."),
    ]
    batches: Annotated[
        list[ProviderBatch] | None,
        Field(description="Omitted in lists and when a run is created."),
    ] = None
    savings: Annotated[
        CostAmount | None,
        Field(description="The savings by batches so far. Omitted when `batches` is."),
    ] = None
    max_cost: str | None
    start_at: UtcDatetime | None
    metadata: Annotated[
        dict[str, str],
        Field(description="Up to 50 custom strings, returned unchanged."),
    ]
    schedule_id: str | None
    improvement_id: Annotated[str | None, Field(description="The improvement that started it.")]
    score: Annotated[
        float | None,
        Field(
            description="Mean over the examples, 0–1. An example that failed counts 0. An example that an evaluator could not score is left out of every mean; null if no example has a score."
        ),
    ]
    scores_by_evaluator: Annotated[
        dict[str, float] | None,
        Field(description="The same for each evaluator. An evaluator that has scored nothing is left out."),
    ]
    passed: Annotated[
        bool | None,
        Field(
            description="Whether the score reaches the threshold; false without a score, null until the run has completed."
        ),
    ]
    examples_total: int
    examples_evaluated: int
    examples_failed: int
    examples_unscored: Annotated[
        int | None,
        Field(description="Evaluated examples without a score: the answer of a judge or scorer could not be used."),
    ] = None
    unscored_by_evaluator: Annotated[
        dict[str, int] | None,
        Field(description="The number of examples without a score of that evaluator, if there are any."),
    ] = None
    failures: Annotated[
        list[EvaluationFailure] | None,
        Field(
            description="Why examples failed, the most frequent cause first; at most 10. Messages that differ only in numbers or ids are one cause."
        ),
    ] = None
    regressions: int | None
    improvements: int | None
    tokens: Annotated[Tokens, Field(description="The model and the judges combined.")]
    tokens_unknown_calls: Annotated[
        int | None,
        Field(
            description="The number of calls whose usage is unknown because the provider has not reported it: `tokens` and `judge` leave them out."
        ),
    ] = None
    cost: Annotated[CostAmount, Field(description="The model and the judges combined.")]
    judge: Annotated[EvaluationJudge, Field(description="The judges only.")]
    latency: EvaluationLatency
    progress: Annotated[float, Field(description="Share of the examples that have a result, 0–1.")]
    retries: int
    workflow_id: Annotated[
        str,
        Field(description="Empty if a program of the caller runs the evaluation instead of a workflow."),
    ]
    results_due_at: Annotated[
        UtcDatetime | None,
        Field(
            description="For code evaluations: when the run fails unless results arrive. Null if the service runs it."
        ),
    ]
    error: ExecutionError | None
    created_at: Annotated[UtcDatetime, Field(description="ISO 8601 in UTC with milliseconds.")]
    started_at: UtcDatetime | None
    finished_at: UtcDatetime | None


class PromptPage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[ListedPrompt]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]


class ResolvedPrompts(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: Annotated[list[ResolvedPrompt], Field(description="In the order of the request.")]


class EvaluationPage(BaseModel):
    model_config = ConfigDict(
        extra="ignore",
    )
    data: list[Evaluation]
    next_cursor: Annotated[
        str | None,
        Field(description="Pass it as `cursor` to get the next page. Null on the last page."),
    ]
