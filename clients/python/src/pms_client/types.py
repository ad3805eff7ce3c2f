"""Fields of requests. The service's API reference, `/docs`, describes each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypeAlias

from typing_extensions import Required, TypedDict

from ._rollout import DecidedBy

Json: TypeAlias = Any
Time: TypeAlias = str | datetime
"""ISO 8601 with a zone, or a `datetime` that has one."""
MessageLike: TypeAlias = Mapping[str, Any]
"""`{"role": "user", "content": "text" | [part, …]}`"""


class PromptFields(TypedDict, total=False):
    """The content of a prompt version: `template` or `messages`, and everything else."""

    template: str
    messages: Sequence[MessageLike]
    tools: Sequence[Mapping[str, Any]] | None
    tool_choice: str | Mapping[str, str] | None
    inputs: Mapping[str, Mapping[str, Any]] | None
    model: str
    fallback_models: Sequence[str]
    parameters: Mapping[str, Any]
    config: Mapping[str, Any] | None
    description: str | None
    commit_message: str
    base_version: int
    """The version that the change is based on: if there is a newer one, it is a `VersionConflictError`."""


class ExecutionFields(TypedDict, total=False):
    """Options of a run."""

    version: int
    label: str
    draft: Mapping[str, Any]
    """Content to run without storing it."""
    model: str
    parameters: Mapping[str, Any]
    messages: Sequence[MessageLike]
    """Appended to the prompt's own messages."""
    reuse: Mapping[str, Any]
    rollout_key: str
    """Selects between the versions of a release, such as the id of a user: the same key gets the same version."""
    metadata: Mapping[str, str]


class RunFields(TypedDict, total=False):
    """A run that the program made itself."""

    id: str
    """The program's own id: repeating it changes nothing. Default: generated."""
    prompt_name: str
    prompt_version: int | None
    """None for a fallback."""
    label: str
    """The label that chose the version. The run counts toward the release on that label."""
    model: Required[str]
    provider: str
    variables: Mapping[str, Any]
    input: Required[str | Sequence[MessageLike]]
    output: str | None
    tool_calls: Sequence[Mapping[str, Any]]
    tokens: Mapping[str, int]
    cost: str | float | Mapping[str, Any]
    """US dollars. Default: calculated from `tokens` and the price list."""
    latency: int | Mapping[str, int]
    """The model's response time in milliseconds. Default: from the start to the end."""
    error: Mapping[str, str] | None
    started_at: Required[Time]
    finished_at: Required[Time]
    metadata: Mapping[str, str]
    release: Mapping[str, Any] | DecidedBy | None
    """The release that selected the version, as in `prompt.release`."""


class ReleaseFields(TypedDict, total=False):
    """The steps of a release."""

    steps: Sequence[Mapping[str, Any]]
    """Default: those of the label's policy."""
    reason: str
    deadline: Time
    metadata: Mapping[str, str]
    supersede: bool
    override: bool
    """For the scope `admin`: other steps than the policy requires; `reason` says why."""


class EvaluationFields(TypedDict, total=False):
    """The target and settings of an evaluation."""

    version: int
    label: str
    draft: Mapping[str, Any]
    """Content to evaluate instead of the version, without storing it."""
    dataset: str | Mapping[str, Any]
    examples: Sequence[Mapping[str, Any]]
    evaluators: Sequence[Mapping[str, Any]]
    threshold: float
    baseline: str | None
    concurrency: int
    max_cost: str | float
    reuse: Mapping[str, Any]
    metadata: Mapping[str, str]
    start_at: Time


class CodeEvaluationFields(TypedDict, total=False):
    """Settings of a code evaluation."""

    threshold: float
    baseline: str | None
    """`previous`, the id of an evaluation, or None for none."""
    metadata: Mapping[str, str]


class RescoreFields(TypedDict, total=False):
    evaluators: Sequence[Mapping[str, Any]]
    threshold: float
    max_cost: str | float


class ScoreFields(TypedDict, total=False):
    """Optional fields of a score."""

    id: str
    """`score_` and your own UUID: an existing score is replaced."""
    data_type: ScoreDataType
    """Default: the type of the name, otherwise of the value."""
    source: Literal["api", "person"]
    evaluator: Mapping[str, str | None]
    """Your own evaluator: its `rule`, `version` and `model`."""
    comment: str | None
    metadata: Mapping[str, Any]


class NewScore(ScoreFields, total=False):
    """A stored score."""

    name: Required[str]
    value: Required[float | bool | str]
    subject: Required[Mapping[str, str]]
    """`{"execution_id": …}`, `{"evaluation_id": …, "example_id": …}`, `{"trace_id": …}` (`span_id`, too), or `{"conversation_id": …}`."""


class WebhookFields(TypedDict, total=False):
    events: Sequence[str]
    description: str | None
    headers: Mapping[str, str] | None
    rate_limit_per_minute: int | None


ExecutionStatus: TypeAlias = Literal["queued", "running", "completed", "failed", "canceled"]
EvaluationStatus: TypeAlias = Literal["scheduled", "running", "paused", "completed", "failed", "canceled"]
ReleaseStatus: TypeAlias = Literal[
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
ScoreDataType: TypeAlias = Literal["numeric", "boolean", "categorical", "text"]
ScoreSource: TypeAlias = Literal["api", "person", "evaluator", "feedback"]
DeliveryStatus: TypeAlias = Literal["queued", "waiting", "delivered", "failed", "abandoned"]
