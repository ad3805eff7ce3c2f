"""Fields of requests. What each of them means is in the service's API reference, `/docs`."""

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
    """What a version of a prompt is made of: `template` or `messages`, and all else."""

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
    """The version that the change was made from: where there is a newer one, it is a `VersionConflictError`."""


class ExecutionFields(TypedDict, total=False):
    """How a prompt is run."""

    version: int
    label: str
    draft: Mapping[str, Any]
    """Content to run without storing it."""
    model: str
    parameters: Mapping[str, Any]
    messages: Sequence[MessageLike]
    """Appended to the prompt's own."""
    reuse: Mapping[str, Any]
    rollout_key: str
    """Decides between the versions of a release, such as the id of a user: the same key gets the same version."""
    metadata: Mapping[str, str]


class RunFields(TypedDict, total=False):
    """A run that the program made itself."""

    id: str
    """What the program calls it: the same again changes nothing. Default: one is made."""
    prompt_name: str
    prompt_version: int | None
    """None: that of a fallback."""
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
    """How long the model took, in milliseconds. Default: from the start to the end."""
    error: Mapping[str, str] | None
    started_at: Required[Time]
    finished_at: Required[Time]
    metadata: Mapping[str, str]
    release: Mapping[str, Any] | DecidedBy | None
    """The release that decided the version, as `prompt.release` has it."""


class ReleaseFields(TypedDict, total=False):
    """How a version is to reach a label."""

    steps: Sequence[Mapping[str, Any]]
    """Default: those of the policy of the label."""
    reason: str
    deadline: Time
    metadata: Mapping[str, str]
    supersede: bool
    override: bool
    """For the scope `admin`: other steps than the policy wants; `reason` says why."""


class EvaluationFields(TypedDict, total=False):
    """What is evaluated, and how."""

    version: int
    label: str
    draft: Mapping[str, Any]
    """Content that is evaluated in place of the version, and not stored as one."""
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
    """How code is evaluated."""

    threshold: float
    baseline: str | None
    """`previous`, the id of an evaluation, or None for none."""
    metadata: Mapping[str, str]


class RescoreFields(TypedDict, total=False):
    evaluators: Sequence[Mapping[str, Any]]
    threshold: float
    max_cost: str | float


class ScoreFields(TypedDict, total=False):
    """What a score may say besides."""

    id: str
    """`score_` and a UUID of yours: one that is stored is replaced."""
    data_type: ScoreDataType
    """Default: that of the name, or else of the value."""
    source: Literal["api", "person"]
    evaluator: Mapping[str, str | None]
    """An evaluator of your own: its `rule`, `version` and `model`."""
    comment: str | None
    metadata: Mapping[str, Any]


class NewScore(ScoreFields, total=False):
    """A score as it is stored."""

    name: Required[str]
    value: Required[float | bool | str]
    subject: Required[Mapping[str, str]]
    """`{"execution_id": …}`, or `{"evaluation_id": …, "example_id": …}`."""


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
