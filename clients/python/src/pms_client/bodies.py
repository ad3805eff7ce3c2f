"""Bodies of requests. Made from the OpenAPI document by scripts/generate.py: do not edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from typing_extensions import Required, TypedDict

from .types import Time


class AcceptImprovement(TypedDict, total=False):
    candidate: int
    """Default: the one of the verdict."""
    unproved: bool
    """Required for a candidate that no verdict has proved to be better."""
    base_changed: bool
    """Required if the prompt has versions after the base: the new version does not have their changes."""
    release: Mapping[str, Any]
    """Starts a release of the new version, as `POST /releases`."""


class AddQueueItems(TypedDict, total=False):
    execution_ids: Sequence[str]
    examples: Sequence[Mapping[str, Any]]
    """Evaluation examples that have a score."""
    traces: Sequence[Mapping[str, Any]]
    """Traces, or steps of traces."""
    pairs: Sequence[Mapping[str, Any]]
    """Pairs of completed executions with the same variables, or of two evaluations’ outputs for an example, to be compared. Their outputs must differ."""
    compared: Mapping[str, Any]
    """Adds pairs of the outputs of two evaluations for the same examples, if they differ: a random choice of at most `limit`."""
    filter: Mapping[str, Any]
    """Adds the newest matching executions. Default `status`: completed."""
    trace_filter: Mapping[str, Any]
    """Adds the newest matching traces that are settled."""
    sample_rate: float
    """With a filter: the share of matches to add. Default: 1."""
    limit: int
    """With a filter or `compared`: the maximum number to add. Default: 1000."""


class ApproveDeviceAuthorization(TypedDict, total=False):
    scopes: Sequence[Literal["read", "execute", "score", "ingest", "write", "publish", "admin"]]
    """Scopes of the key. Default: all scopes of the session. Other scopes are rejected."""
    expires_in_days: int


class CheckParameters(TypedDict, total=False):
    model: Required[str]
    """`openai/…`, `anthropic/…`, `google/…`, `mistral/…`, `openai-compatible/…`, `sandbox/…`, or a bare name."""
    parameters: Required[Mapping[str, Any]]


class CompleteQueueItem(TypedDict, total=False):
    scores: Sequence[Mapping[str, Any]]
    """Values of the queue's scores."""
    correction: Any
    """The correct output, stored as the `expected` value of an example in `dataset`. Any JSON."""
    dataset: str
    """The dataset whose new version gets the correction as an example."""


class CreateApiKey(TypedDict, total=False):
    name: Required[str]
    scopes: Required[Sequence[Literal["read", "execute", "score", "ingest", "write", "publish", "admin"]]]
    """`read`, `execute` (run prompts and evaluations), `score` (store scores), `ingest` (store traces and recorded executions), `write` (change resources), `publish` (move protected labels), `admin` (everything, including keys)."""
    expires_at: Time | None


class CreateBackfill(TypedDict, total=False):
    since: Required[Time]
    """Executions created at or after this time."""
    until: Time
    """Executions created before this time. Default: now."""
    max_cost: float | str | None
    """The maximum cost in US dollars, separate from the budget of the rule. Null: no limit."""


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
    """Replace all tools of the prompt."""
    tool_choice: Literal["auto", "none", "required"] | Mapping[str, Any] | None
    """Replaces the tool choice of the prompt."""
    temperature: float | None
    top_p: float | None
    top_k: int | None
    """Left out if the provider has no such parameter."""
    max_tokens: int | None
    max_completion_tokens: int | None
    """Takes precedence over `max_tokens`."""
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
    """Used as `rollout_key` if neither the body nor `metadata` has one. Defaults to `user`."""
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
    """The name of the evaluated code. Runs with the same name are compared."""
    dataset: str | Mapping[str, Any]
    """A dataset by name, or `{'name', 'version'}`."""
    examples: Sequence[Mapping[str, Any]]
    scores: Required[Sequence[Mapping[str, Any]]]
    """The scores of each result. The score of an example is their weighted mean."""
    threshold: float
    """The minimum score for the run to pass."""
    baseline: Literal["previous"] | str | None
    """The baseline for regressions: the newest completed run with this name over the same examples, a given run, or none."""
    metadata: Mapping[str, Any]
    """Up to 50 custom strings, returned unchanged."""
    resume: bool
    """Whether to continue the newest `running` run with this name, the same examples and the same scores, if there is one."""


class CreateDeviceAuthorization(TypedDict, total=False):
    client: Required[str]
    """The program and where it runs. Shown to the person and used as the name of the key."""


class CreateEvaluation(TypedDict, total=False):
    name: str
    """A title for people, such as what was tried. It need not be unique."""
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
    """The minimum score for the run to pass."""
    example_threshold: float
    """An example with at least this score counts as 1, any other as 0. Default: each example counts as its score."""
    baseline: Literal["previous"] | str | None
    """The baseline for regressions: the newest completed run of this prompt over the same examples, a given run, or none. With `executions`, `previous` is a run of their recorded outputs."""
    mode: Literal["interactive", "batch", "auto"]
    """`batch`: calls models through the batch APIs of their providers, which cost less and respond within hours; a model without one is a 400. `auto`: uses `batch` if all models of the run support it, otherwise `interactive`."""
    batch: Mapping[str, Any]
    concurrency: int
    """The number of examples run at a time."""
    max_cost: float | str
    """US dollars, including judges. A call of unknown cost counts as the amount reserved for it. The run pauses when too little is left for another example."""
    reuse: Mapping[str, Any]
    """If this workspace made the same call (model, input, parameters, tools) for an evaluation or execution within that time, its response is reused at no cost."""
    metadata: Mapping[str, Any]
    """Up to 50 custom strings, returned unchanged."""
    executions: Mapping[str, Any]
    draft: Mapping[str, Any]
    start_at: Time
    """When to start. Default: immediately."""


class CreateFeedback(TypedDict, total=False):
    name: Required[str]
    """1–200 characters: segments of letters, digits, '.', '_' and '-', joined by '/'."""
    value: Required[float | bool | str]
    """The type that the name is defined with: a number (at most 1e+100), a boolean, a category (at most 200 characters) or a text (10,000)."""
    comment: str | None


class CreateImprovement(TypedDict, total=False):
    prompt_name: Required[str]
    """1–200 characters: segments of letters, digits, '.', '_' and '-', joined by '/'."""
    version: int
    """A version of the prompt, from 1."""
    label: str
    """A label such as `production`; `latest` always means the newest version."""
    dataset: Required[str | Mapping[str, Any]]
    """A dataset by name, or `{'name', 'version'}`."""
    evaluators: Sequence[Mapping[str, Any]]
    example_threshold: float
    """An example with at least this score counts as 1, any other as 0. Default: each example counts as its score."""
    reflection: Required[Mapping[str, Any]]
    parts: Sequence[str]
    """The texts to rewrite: `template`, `messages.N` or `tools.NAME.description`. Default: the template; without one, the system messages; without these, the first user message."""
    keep: Sequence[str]
    """Texts that must stay word for word."""
    few_shot: int
    """The maximum number of examples that a candidate shows as messages. They become part of the prompt: use it only with data that may be shown."""
    feedback: Mapping[str, Any]
    """Also shows scores by people of this prompt, the newest first, with their comments and corrections. Inputs of the check and held-out parts are left out. Default: none."""
    max_cost: Required[float | str | None]
    """US dollars for everything: the runs of the prompt, judges, reflections and the verdict, whose part is set aside first. Null: no limit."""
    max_proposals: int
    parallel: int
    """Proposals of a round, which do not know of each other: more are faster and learn less."""
    minibatch: int
    """Train examples on which a proposal must gain before it is checked."""
    patience: int
    """The search ends after so many proposals without a new best."""
    deadline: Time
    """The search ends by then, and the verdict follows."""
    max_length: int
    """Characters of the whole prompt. Default: four times the base, or 4,000 more."""
    concurrency: int
    """The number of examples run at a time."""
    mode: Literal["interactive", "batch", "auto"]
    """How the check and held-out parts are run, as for an evaluation. Minibatches are always interactive."""
    batch: Mapping[str, Any]
    reuse: Mapping[str, Any]
    group_by: str
    """A key of the metadata: examples with the same value stay in the same part."""
    seed: str
    """The same seed with the same data draws the same parents and examples."""
    metadata: Mapping[str, Any]
    """Up to 50 custom strings, returned unchanged."""


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
    """Functions that replace all tools of the prompt."""
    tool_choice: Literal["auto", "none", "required"] | Mapping[str, Any] | None
    """Replaces the tool choice of the prompt."""
    temperature: float | None
    top_p: float | None
    max_output_tokens: int | None
    reasoning: Mapping[str, Any] | None
    text: Mapping[str, Any] | None
    metadata: Mapping[str, Any] | None
    user: str | None
    """Kept in the `metadata` of the execution, as `user`."""
    store: Any
    """Ignored: the workspace decides how long executions are kept."""
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
    """An API key. The session has the permissions of the key and ends with it."""


class CreateSubjectFeedbackToken(TypedDict, total=False):
    subject: Required[Mapping[str, Any]]
    names: Required[Sequence[str]]
    """The scores that the token can submit."""
    expires_in: int
    """The lifetime of the token in seconds."""


class DatasetFromScores(TypedDict, total=False):
    score: Required[str]
    """The name of the score that people gave."""
    feedback: bool
    """Whether scores submitted with feedback tokens count, too."""
    since: Time
    """Scores stored at or after this time."""
    until: Time
    """Scores stored before this time."""
    limit: int
    """If people scored more outputs, those with the newest scores are used."""


class DatasetFromTraces(TypedDict, total=False):
    traces: Required[Sequence[Mapping[str, Any]]]
    expected: Literal["output", "none"]
    """The expected value of the examples: the output of the trace or step, or none."""


class DeviceToken(TypedDict, total=False):
    device_code: Required[str]


class ExportTraceServiceRequest(TypedDict, total=False):
    resourceSpans: Required[Sequence[Mapping[str, Any]]]
    """Spans by resource and scope, as in OTLP/JSON."""


class GenerateExamples(TypedDict, total=False):
    prompt_name: Required[str]
    """1–200 characters: segments of letters, digits, '.', '_' and '-', joined by '/'."""
    version: int
    """A version of the prompt, from 1."""
    label: str
    """A label such as `production`; `latest` always means the newest version."""
    model: Required[str]
    """The model that writes the examples."""
    parameters: Mapping[str, Any]
    count: int
    instructions: str
    """Further instructions for the inputs."""
    max_cost: float | str
    """US dollars. A call that could cost more is refused. Default: only the budget of the workspace applies."""


class PutMonitor(TypedDict, total=False):
    prompt_name: str
    """Default: all prompts, including drafts."""
    label: str
    """Only runs that requested this label."""
    window: Required[str]
    """The time window of a measurement, by when runs ended: `1m` to `24h`."""
    checks: Required[Sequence[Mapping[str, Any]]]
    notify: Mapping[str, Any]
    enabled: bool


class PutQueue(TypedDict, total=False):
    description: str
    """Instructions for reviewers."""
    score_names: Required[Sequence[str]]
    """The scores that reviewers give."""
    filter: Mapping[str, Any]
    """From now on, matching executions are added automatically once they end or get a score. Default `status`: completed. If omitted, none are added."""
    trace_filter: Mapping[str, Any]
    """The same for traces: they are added when they settle or get a score. If omitted, none are."""
    sample_rate: float
    """The share of matching executions and traces to add, chosen by a hash of their ids."""
    reviewers_per_item: int
    """The number of different reviewers per item."""


class PutRule(TypedDict, total=False):
    prompt_name: str
    """Only executions of this prompt. Default: all prompts."""
    group: str
    """Only executions of prompts whose name starts with this and a `/`."""
    label: str
    """Only executions that requested this label."""
    filter: Mapping[str, Any]
    """An additional filter, applied when executions are scored."""
    trace_filter: Mapping[str, Any]
    """Scores traces instead of executions: those that match when they are settled, and again if they change after that. Empty: all traces. Excludes `prompt_name`, `group`, `label` and `filter`."""
    sample_rate: float
    """The share of executions or traces to score, chosen by a hash of rule and execution or trace."""
    evaluators: Required[Sequence[Mapping[str, Any]]]
    """As for evaluations, except those that compare with an expected value."""
    max_cost_per_day: float | str | None
    """The maximum cost of its judges per UTC day, in US dollars. Executions and traces beyond it are skipped. Null: no limit."""
    enabled: bool


class PutView(TypedDict, total=False):
    page: Required[Literal["executions", "traces"]]
    """The console list that the view belongs to."""
    query: Mapping[str, Any]
    """Filters, as in the URL of the list in the console."""
    columns: Sequence[str]
    """Columns of the list in the console, in order. If empty, the default columns."""
    shared: bool
    """Whether all members of the workspace see the view. Sharing also requires the scope `write`."""


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


class ResumeImprovement(TypedDict, total=False):
    max_cost: float | str
    """A higher limit."""


class SetProtection(TypedDict, total=False):
    protected: bool
    """Whether only keys with the scope `publish` (or `admin`) may move or remove the label, on any prompt."""
    release: Mapping[str, Any] | None
    """The default steps of releases on this label; null removes them."""


class SetSavedEvaluator(TypedDict, total=False):
    evaluator: Required[Mapping[str, Any]]
    """Its `name` is replaced by the name of the saved evaluator."""
    description: str | None
    """The quality that it measures."""


class SetScoreDefinition(TypedDict, total=False):
    data_type: Required[Literal["numeric", "boolean", "categorical", "text"]]
    min: float | None
    """For `numeric`, inclusive."""
    max: float | None
    """For `numeric`, inclusive."""
    categories: Sequence[Mapping[str, Any]] | None
    """For `categorical`. If omitted, any category is allowed."""
    description: str | None


class SetTracePolicy(TypedDict, total=False):
    contents: Literal["keep", "drop"]
    """`drop`: inputs, outputs, tool calls, variables and attributes are not stored."""
    mask: Sequence[Literal["email", "card", "phone", "ip", "secret"] | Mapping[str, Any]]
    """Patterns to replace in all texts before they are stored. `secret`: keys and tokens of known forms, and attributes such as `authorization` or `password`. Names of users, conversations, models and tools are not masked."""
    drop_attributes: Sequence[str]
    """Attributes to ignore. A `*` at the end matches any suffix."""
    sample_rate: float
    """The share of traces to store. The trace id decides, so a trace is stored with all its spans or not at all."""
    others: Literal["skeleton", "keep", "drop"]
    """Steps of the type `other`. `skeleton`: only names, times and errors; `drop`: none, so that steps below them are at the top. With either, traces without any other step are deleted when they are settled."""


class StoreCodeResults(TypedDict, total=False):
    results: Required[Sequence[Mapping[str, Any]]]


class SuggestPrompt(TypedDict, total=False):
    prompt_name: Required[str]
    """1–200 characters: segments of letters, digits, '.', '_' and '-', joined by '/'."""
    version: int
    """A version of the prompt, from 1."""
    label: str
    """A label such as `production`; `latest` always means the newest version."""
    evaluation_id: str
    """The worst results of this evaluation of the prompt. Only a quarter of the examples is used, as an improvement would; the others stay unseen."""
    execution_ids: Sequence[str]
    """Executions of the prompt, which are shown with all of their scores and comments."""
    model: Required[str]
    """The model that writes it."""
    parameters: Mapping[str, Any]
    parts: Sequence[str]
    """The texts to rewrite: `template`, `messages.N` or `tools.NAME.description`. Default: the template; without one, the system messages; without these, the first user message."""
    keep: Sequence[str]
    """Texts that must stay word for word."""
    instructions: str
    """Instructions that the new text must follow."""


class SwitchWorkspace(TypedDict, total=False):
    workspace: Required[str]


class TryEvaluators(TypedDict, total=False):
    evaluators: Required[Sequence[Mapping[str, Any]]]
    """As in `POST /evaluations`, except `similar`, `pairwise` and `http`, which cannot score a single output."""
    output: Required[str]
    """The output to score."""
    tool_calls: Sequence[Mapping[str, Any]]
    """The tool calls that the model requested."""
    expected: Any
    """The expected output. Omit it if there is none."""
    variables: Mapping[str, Any]
    """The variables that filled the prompt."""
    input: str | Sequence[Mapping[str, Any]]
    """The input sent to the model. It is shown to judges."""
    model_ms: int | None
    """The duration of the call that produced the output; null if unknown."""
    cost: str | None
    """The cost of the output in US dollars; null if unknown."""


class UpdateEvaluation(TypedDict, total=False):
    name: Required[str | None]
    """Null removes the name."""


class UpdateMember(TypedDict, total=False):
    role: Literal["viewer", "runner", "editor", "publisher", "admin"] | None
    """Null restores the role of the identity provider."""
    status: Literal["active", "suspended"]
