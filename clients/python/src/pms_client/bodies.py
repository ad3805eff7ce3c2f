"""Bodies of requests. Made from the OpenAPI document by scripts/generate.py: do not edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from typing_extensions import Required, TypedDict

from .types import Time


class AddQueueItems(TypedDict, total=False):
    execution_ids: Sequence[str]
    examples: Sequence[Mapping[str, Any]]
    """Examples of evaluations that have a score."""
    filter: Mapping[str, Any]
    """The newest executions that match. Without `status`: completed ones."""
    sample_rate: float
    """With `filter`: the share of them. Default: 1."""
    limit: int
    """With `filter`: how many at most. Default: 1000."""


class ApproveDeviceAuthorization(TypedDict, total=False):
    scopes: Sequence[Literal["read", "execute", "score", "write", "publish", "admin"]]
    """Of the key. Default: all that the session has; others than these are refused."""
    expires_in_days: int


class CheckParameters(TypedDict, total=False):
    model: Required[str]
    """`openai/…`, `anthropic/…`, `google/…`, `mistral/…`, `openai-compatible/…`, `sandbox/…`, or a bare name."""
    parameters: Required[Mapping[str, Any]]


class CompleteQueueItem(TypedDict, total=False):
    scores: Sequence[Mapping[str, Any]]
    """Values of the queue's scores."""
    correction: Any
    """What the output should have been: `expected` of an example of `dataset`. Any JSON."""
    dataset: str
    """Where the correction becomes an example, in a new version."""


class CreateApiKey(TypedDict, total=False):
    name: Required[str]
    scopes: Required[Sequence[Literal["read", "execute", "score", "write", "publish", "admin"]]]
    """`read`, `execute` (run prompts and evaluations), `write` (change things), `publish` (move protected labels), `admin` (keys, and everything)."""
    expires_at: Time | None


class CreateBackfill(TypedDict, total=False):
    since: Required[Time]
    """Executions created at or after this time."""
    until: Time
    """Executions created before this time. Default: now."""
    max_cost: float | str | None
    """US dollars that it may cost, apart from the budget of the rule. Null: no limit."""


class CreateChatCompletion(TypedDict, total=False):
    model: Required[str]
    """A prompt: `name` (its latest version), `name@3` or `name@label`."""
    messages: Sequence[Mapping[str, Any]]
    """Appended to the prompt's own messages."""
    variables: Mapping[str, Any]
    """A value for each placeholder of the prompt: a string, number, boolean, object or array."""
    stream: bool | None
    stream_options: Mapping[str, Any] | None
    """`include_usage`: a last chunk without choices has the tokens, if they are known."""
    tools: Sequence[Mapping[str, Any]] | None
    """Take the place of all tools of the prompt."""
    tool_choice: Literal["auto", "none", "required"] | Mapping[str, Any] | None
    """Takes the place of that of the prompt."""
    temperature: float | None
    top_p: float | None
    top_k: int | None
    """Left out if the provider has no such parameter."""
    max_tokens: int | None
    max_completion_tokens: int | None
    """Comes before `max_tokens`."""
    stop: str | Sequence[str] | None
    seed: int | None
    frequency_penalty: float | None
    presence_penalty: float | None
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None
    parallel_tool_calls: bool | None
    verbosity: Literal["medium"] | Literal["low", "high"] | None
    response_format: Mapping[str, Any] | None
    metadata: Mapping[str, Any] | None
    rollout_key: str | None
    user: str | None
    """Kept in the `metadata` of the execution, as `user`."""
    store: Any
    """Ignored."""
    safety_identifier: Any
    """Taken as `rollout_key` where there is none in the body or in `metadata`. Without it, `user` is."""
    prompt_cache_key: Any
    """Ignored."""
    prompt_cache_retention: Any
    """Ignored."""
    n: Literal[1] | None
    logprobs: Literal[False] | None
    top_logprobs: Literal[0] | None
    logit_bias: Mapping[str, Any] | None
    modalities: Sequence[Literal["text"]] | None
    audio: None
    prediction: None
    web_search_options: None
    service_tier: Literal["auto", "default"] | None
    functions: None
    function_call: None


class CreateCodeEvaluation(TypedDict, total=False):
    name: Required[str]
    """Of what is evaluated: the runs of one name are compared."""
    dataset: str | Mapping[str, Any]
    """A dataset by name, or `{'name', 'version'}`."""
    examples: Sequence[Mapping[str, Any]]
    scores: Required[Sequence[Mapping[str, Any]]]
    """What each result is scored by. The score of an example is their weighted mean."""
    threshold: float
    """The run passes from this score on."""
    baseline: Literal["previous"] | str | None
    """What regressions are counted against: the newest completed run of this name over the same examples, a given one, or none."""
    metadata: Mapping[str, Any]
    """Up to 50 strings of your own, returned unchanged."""
    resume: bool
    """Whether to go on with the newest run of this name that is `running`, has equal examples and the same scores, if there is one."""


class CreateDeviceAuthorization(TypedDict, total=False):
    client: Required[str]
    """What asks, and where it runs: the person is shown it, and the key has it as its name."""


class CreateEvaluation(TypedDict, total=False):
    prompt_name: Required[str]
    """1–200 characters: segments of letters, digits, '.', '_' and '-', joined by '/'."""
    version: int
    """A version of the prompt, from 1."""
    label: str
    """A label such as `production`; `latest` always means the newest version."""
    dataset: str | Mapping[str, Any]
    """A dataset by name, or `{'name', 'version'}`."""
    examples: Sequence[Mapping[str, Any]]
    evaluators: Sequence[Mapping[str, Any]]
    threshold: float
    """The run passes from this score on."""
    example_threshold: float
    """From this score on an example counts 1, below it 0. Unless given it counts its score."""
    baseline: Literal["previous"] | str | None
    """What regressions are counted against: the newest completed run of this prompt over the same examples, a given one, or none."""
    mode: Literal["interactive", "batch", "auto"]
    """`batch`: models are called through the batch APIs of their providers, for less money and within hours; a model without one is a 400. `auto`: so where all models of the run have one, otherwise `interactive`."""
    batch: Mapping[str, Any]
    concurrency: int
    """Examples at a time."""
    max_cost: float | str
    """US dollars, judges included. A call whose cost comes back unknown counts as what was set aside for it. The run pauses when too little is left for another example."""
    reuse: Mapping[str, Any]
    """Where the same call (model, input, parameters, tools) was made for an evaluation or execution of this workspace within that time, its response is taken and costs nothing."""
    metadata: Mapping[str, Any]
    """Up to 50 strings of your own, returned unchanged."""
    draft: Mapping[str, Any]
    start_at: Time
    """When to begin; at once unless given."""


class CreateFeedback(TypedDict, total=False):
    name: Required[str]
    """1–200 characters: segments of letters, digits, '.', '_' and '-', joined by '/'."""
    value: Required[float | bool | str]
    """As the name is defined: a number (at most 1e+100), a boolean, a category (at most 200 characters) or a text (10,000)."""
    comment: str | None


class CreateResponse(TypedDict, total=False):
    model: str
    """A prompt: `name` (its latest version), `name@3` or `name@label`. With `prompt`: the model to run it with."""
    prompt: Mapping[str, Any] | None
    """OpenAI's own form of the prompt, its version or label, and its variables. Replaces `model` and `variables`."""
    input: str | Sequence[Mapping[str, Any]]
    """Appended to the prompt's own messages: a user's text, or items: messages (`input_text`, `input_image`, `input_file`, `output_text`), `function_call`, `function_call_output`, `reasoning` and `item_reference`."""
    instructions: str | None
    """A system message between the prompt's own messages and `input`."""
    variables: Mapping[str, Any]
    """A value for each placeholder of the prompt: a string, number, boolean, object or array."""
    stream: bool | None
    stream_options: Mapping[str, Any] | None
    tools: Sequence[Mapping[str, Any]] | None
    """Functions. They take the place of all tools of the prompt."""
    tool_choice: Literal["auto", "none", "required"] | Mapping[str, Any] | None
    """Takes the place of that of the prompt."""
    temperature: float | None
    top_p: float | None
    max_output_tokens: int | None
    reasoning: Mapping[str, Any] | None
    text: Mapping[str, Any] | None
    metadata: Mapping[str, Any] | None
    user: str | None
    """Kept in the `metadata` of the execution, as `user`."""
    store: Any
    """Ignored: executions are kept as the workspace keeps them."""
    safety_identifier: Any
    """Ignored."""
    prompt_cache_key: Any
    """Ignored."""
    prompt_cache_options: Any
    """Ignored."""
    prompt_cache_retention: Any
    """Ignored."""
    previous_response_id: None
    conversation: None
    background: Literal[False] | None
    context_management: None
    include: Sequence[Literal["reasoning.encrypted_content"]] | None
    image: None
    max_tool_calls: None
    moderation: None
    parallel_tool_calls: Literal[True] | None
    service_tier: Literal["auto", "default"] | None
    top_logprobs: Literal[0] | None
    truncation: Literal["disabled"] | None


class CreateSchedule(TypedDict, total=False):
    name: Required[str]
    cron: Required[str]
    """Five fields: minute, hour, day of month, month, weekday; or an alias such as `@daily`."""
    time_zone: str
    """IANA time zone of `cron`."""
    paused: bool
    evaluation: Required[Mapping[str, Any]]


class CreateSession(TypedDict, total=False):
    key: Required[str]
    """An API key. The session can do what it can, and ends with it."""


class DeviceToken(TypedDict, total=False):
    device_code: Required[str]


class PutMonitor(TypedDict, total=False):
    prompt_name: str
    """Default: all prompts, and drafts."""
    label: str
    """Only runs that asked for the version by this label."""
    window: Required[str]
    """How far a look looks back, by when runs ended: `1m` to `24h`."""
    checks: Required[Sequence[Mapping[str, Any]]]
    notify: Mapping[str, Any]
    enabled: bool


class PutQueue(TypedDict, total=False):
    description: str
    """What reviewers are to look at."""
    score_names: Required[Sequence[str]]
    """What reviewers score."""
    filter: Mapping[str, Any]
    """Executions that match enter by themselves from now on, once they have ended or got a score. Without `status`: completed ones. Omitted: none do."""
    sample_rate: float
    """The share of matching executions that enters, by a hash of their ids."""
    reviewers_per_item: int
    """How many different reviewers complete an item."""


class PutRule(TypedDict, total=False):
    prompt_name: str
    """Only executions of this prompt. Default: of every prompt."""
    group: str
    """Only executions of prompts whose names begin with this and a `/`."""
    label: str
    """Only executions whose version was asked for by this label."""
    filter: Mapping[str, Any]
    """Which of them besides, looked at when they are scored."""
    sample_rate: float
    """The share of executions that is scored. A hash of rule and execution decides."""
    evaluators: Required[Sequence[Mapping[str, Any]]]
    """As of evaluations, without those that compare with an expected value."""
    max_cost_per_day: float | str | None
    """US dollars that its judges may cost in a day of UTC. What is over it is skipped. Null: no limit."""
    enabled: bool


class PutView(TypedDict, total=False):
    page: Required[Literal["executions"]]
    """The list."""
    query: Mapping[str, Any]
    """Filters, as the address of the list in the console has them."""
    columns: Sequence[str]
    """Columns of the list in the console, in their order. None: its own."""
    shared: bool
    """Whether everybody in the workspace sees it. That needs the scope `write`, too."""


class RecordRuns(TypedDict, total=False):
    records: Required[Sequence[Mapping[str, Any]]]


class ReplayEvents(TypedDict, total=False):
    since: Required[Time]
    """Events created at or after this time."""
    until: Time
    """Events created before this time. Default: now."""
    undelivered_only: bool
    """Leaves out events that were delivered to this webhook."""


class ResolvePrompts(TypedDict, total=False):
    prompts: Required[Sequence[Mapping[str, Any]]]


class ResumeBackfill(TypedDict, total=False):
    max_cost: float | str | None
    """A higher budget, or null for none."""


class SetProtection(TypedDict, total=False):
    protected: bool
    """Whether only keys with the scope `publish` (or `admin`) may move or remove the label, on any prompt."""
    release: Mapping[str, Any] | None
    """The steps of releases that give none; null takes them away."""


class SetScoreDefinition(TypedDict, total=False):
    data_type: Required[Literal["numeric", "boolean", "categorical", "text"]]
    min: float | None
    """Of `numeric`, included."""
    max: float | None
    """Of `numeric`, included."""
    categories: Sequence[Mapping[str, Any]] | None
    """Of `categorical`; none: any."""
    description: str | None


class StoreCodeResults(TypedDict, total=False):
    results: Required[Sequence[Mapping[str, Any]]]


class SwitchWorkspace(TypedDict, total=False):
    workspace: Required[str]


class TryEvaluators(TypedDict, total=False):
    evaluators: Required[Sequence[Mapping[str, Any]]]
    """As in `POST /evaluations`, but for `similar` and `http`, which only evaluations and rules have."""
    output: Required[str]
    """What is scored."""
    tool_calls: Sequence[Mapping[str, Any]]
    """The tools that the model has asked for."""
    expected: Any
    """What the output should be. Absent: nothing is."""
    variables: Mapping[str, Any]
    """What the prompt was filled with."""
    input: str | Sequence[Mapping[str, Any]]
    """What was sent to the model: judges are shown it."""
    model_ms: int | None
    """How long the call took that gave the output; null where that is not known."""
    cost: str | None
    """What the output cost in US dollars; null where that is not known."""


class UpdateMember(TypedDict, total=False):
    role: Literal["viewer", "runner", "editor", "publisher", "admin"] | None
    """Null: what the identity provider gives, again."""
    status: Literal["active", "suspended"]
