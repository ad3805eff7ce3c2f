// Made by `npm run generate`: do not edit.

export type ClientOptions = {
    baseUrl: `${string}://${string}/v1` | (string & {});
};

export type CreatePrompt = {
    /**
     * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
     */
    name: string;
    /**
     * One text, sent as one user message; either this or `messages`. `{{ name }}` is replaced by the variable of that name, `{{> prompt }}`, `{{> prompt@3 }}` or `{{> prompt@label }}` by the template of that prompt; `\{{ name }}` stays as text.
     */
    template?: string;
    /**
     * A list of messages and placeholders for lists of messages. Set either this or `template`.
     */
    messages?: Array<Message | MessagePlaceholder>;
    /**
     * The tools that the model may call. The service never runs tools.
     */
    tools?: Array<Tool> | null;
    /**
     * Default: the model decides.
     */
    tool_choice?: ToolChoice | null;
    /**
     * Declarations of variables, by name. An undeclared variable is required and accepts any type.
     */
    inputs?: PromptInputs | null;
    /**
     * Tried in order if the previous model fails permanently in a way that another model may not.
     */
    fallback_models?: Array<string>;
    /**
     * Any JSON object. Stored, but never used by the service.
     */
    config?: JsonObject | null;
    /**
     * `openai/…`, `anthropic/…`, `google/…`, `mistral/…`, `openai-compatible/…`, `sandbox/…`, or a bare name.
     */
    model: string;
    parameters?: ModelParameters;
    /**
     * The purpose of the prompt.
     */
    description?: string | null;
    /**
     * Why this version was made.
     */
    commit_message?: string;
    /**
     * The version that this one is based on; 0 if the prompt must be new. If there is a newer one, the request fails with `version_conflict`.
     */
    base_version?: number;
};

export type Message = ({
    role: 'system';
} & SystemMessage) | ({
    role: 'user';
} & UserMessage) | ({
    role: 'assistant';
} & AssistantMessage) | ({
    role: 'tool';
} & ToolMessage);

export type SystemMessage = {
    role: 'system';
    content: string | Array<TextPart>;
    /**
     * The speaker, if several have the same role. Sent to providers that support names in messages.
     */
    name?: string;
};

export type TextPart = {
    type: 'text';
    text: string;
    cache_control?: CacheControl;
};

/**
 * The provider caches the prompt up to here. Left out if the provider has no such marks.
 */
export type CacheControl = {
    type: 'ephemeral';
    ttl?: '5m' | '1h';
};

export type UserMessage = {
    role: 'user';
    content: string | Array<UserMessagePart>;
    /**
     * The speaker, if several have the same role. Sent to providers that support names in messages.
     */
    name?: string;
};

export type StoredFilePart = {
    type: 'file';
    /**
     * The media type of an image, a sound or a document.
     */
    media_type: string;
    filename?: string;
    cache_control?: CacheControl;
    /**
     * The file in base64.
     */
    data?: string;
    /**
     * The address of the file.
     */
    url?: string;
    variable?: string;
};

export type AssistantMessage = {
    role: 'assistant';
    content: string | Array<AssistantMessagePart>;
    /**
     * The speaker, if several have the same role. Sent to providers that support names in messages.
     */
    name?: string;
    /**
     * The reasoning before the response. Sent back to servers that accept it.
     */
    reasoning_content?: string;
    /**
     * The reasoning as OpenRouter returns it. Sent back to servers that accept it.
     */
    reasoning_details?: Array<{
        [key: string]: unknown;
    }>;
};

export type ToolCallPart = {
    type: 'tool_call';
    id: string;
    name: string;
    /**
     * Any JSON.
     */
    input: unknown;
    cache_control?: CacheControl;
};

export type ToolMessage = {
    role: 'tool';
    content: Array<ToolResultPart>;
};

export type ToolResultPart = {
    type: 'tool_result';
    id: string;
    name: string;
    /**
     * Any JSON.
     */
    output: unknown;
    cache_control?: CacheControl;
};

export type MessagePlaceholder = {
    placeholder: string;
    /**
     * Whether a run must give it. Default: true.
     */
    required?: boolean;
};

export type Tool = {
    name: string;
    /**
     * Tells the model when to use it.
     */
    description?: string;
    /**
     * A JSON schema of its input.
     */
    input_schema: {
        [key: string]: unknown;
    };
    /**
     * Whether the provider must enforce the schema, if it can.
     */
    strict?: boolean;
    cache_control?: CacheControl;
};

export type ToolChoice = ToolChoiceOption | NamedTool;

export type NamedTool = {
    name: string;
};

/**
 * The description of a variable.
 */
export type PromptInput = {
    type: 'string' | 'number' | 'boolean' | 'json' | 'messages' | 'file';
    /**
     * Default: true, unless there is a default.
     */
    required?: boolean;
    /**
     * The value if a run passes none.
     */
    default?: unknown;
    description?: string;
    /**
     * The values that it may have.
     */
    enum?: Array<string | number | boolean>;
};

export type ModelParameters = {
    temperature?: number;
    top_p?: number;
    top_k?: number;
    max_tokens?: number;
    stop?: string | Array<string>;
    seed?: number;
    frequency_penalty?: number;
    presence_penalty?: number;
    response_format?: ResponseFormat;
    reasoning_effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh';
    /**
     * The length of responses. It is left out if the provider has no such parameter, as `top_k` is.
     */
    verbosity?: 'low' | 'medium' | 'high';
    /**
     * `false`: the model calls at most one tool in a response. It changes nothing without tools.
     */
    parallel_tool_calls?: boolean;
    /**
     * Options in the provider's own names, passed on unchanged: `{"openai": {"store": false}}`. Options that cost something beyond tokens at list prices (more candidates, searches and other tools, faster service, audio) are refused, and so are unknown ones.
     */
    provider_options?: {
        [key: string]: {
            [key: string]: unknown;
        };
    };
};

export type ResponseFormat = ({
    type: 'text';
} & TextResponseFormat) | ({
    type: 'json_object';
} & JsonObjectResponseFormat) | ({
    type: 'json_schema';
} & JsonSchemaResponseFormat);

export type TextResponseFormat = {
    type: 'text';
};

export type JsonObjectResponseFormat = {
    type: 'json_object';
};

export type JsonSchemaResponseFormat = {
    type: 'json_schema';
    json_schema: ResponseSchema;
};

export type ResponseSchema = {
    name?: string;
    description?: string;
    schema: {
        [key: string]: unknown;
    };
    strict?: boolean;
};

export type ResolvePrompts = {
    prompts: Array<{
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
        /**
         * A version of the prompt, from 1.
         */
        version?: number;
        /**
         * Default if no version is given: `latest`.
         */
        label?: string;
        /**
         * The version that you have.
         */
        known_version?: number;
        /**
         * The `includes_hash` of your copy. If omitted, a prompt with includes is always sent.
         */
        known_includes?: string;
    }>;
};

export type SetLabel = {
    /**
     * A version of the prompt, from 1.
     */
    version: number;
    /**
     * Requires the scope `admin`. Moves a label that otherwise moves only by releases. The audit log keeps the reason.
     */
    override?: true;
    /**
     * The reason for the override.
     */
    reason?: string;
};

export type UpdatePrompt = {
    /**
     * Also replaces messages.
     */
    template?: string;
    /**
     * Also replaces a template.
     */
    messages?: Array<Message | MessagePlaceholder>;
    /**
     * The tools that the model may call. The service never runs tools.
     */
    tools?: Array<Tool> | null;
    /**
     * Default: the model decides.
     */
    tool_choice?: ToolChoice | null;
    /**
     * Declarations of variables, by name. An undeclared variable is required and accepts any type.
     */
    inputs?: PromptInputs | null;
    /**
     * Tried in order if the previous model fails permanently in a way that another model may not.
     */
    fallback_models?: Array<string>;
    /**
     * Any JSON object. Stored, but never used by the service.
     */
    config?: JsonObject | null;
    /**
     * Replaces the parameters as a whole.
     */
    parameters?: ModelParameters;
    /**
     * `openai/…`, `anthropic/…`, `google/…`, `mistral/…`, `openai-compatible/…`, `sandbox/…`, or a bare name.
     */
    model?: string;
    /**
     * The purpose of the prompt.
     */
    description?: string | null;
    /**
     * Why this version was made.
     */
    commit_message?: string;
    /**
     * The version that the change is based on. If there is a newer one, the request fails with `version_conflict`.
     */
    base_version?: number;
};

export type SetProtection = {
    /**
     * Whether only keys with the scope `publish` (or `admin`) may move or remove the label, on any prompt.
     */
    protected?: boolean;
    /**
     * The default steps of releases on this label; null removes them.
     */
    release?: SetReleasePolicy | null;
};

/**
 * The steps in order. A final `promote` step is added if missing.
 */
export type ReleaseSteps = Array<ReleaseStepEvaluate | ReleaseStepApprove | ReleaseStepCanary | ReleaseStepAnalyze | ReleaseStepWait | ReleaseStepPromote>;

export type Evaluator = EvaluatorExactMatch | EvaluatorContains | EvaluatorRegex | EvaluatorJsonValid | EvaluatorJsonSchema | EvaluatorJsonMatch | EvaluatorNumeric | EvaluatorLevenshtein | EvaluatorLength | EvaluatorToolCalls | EvaluatorLatency | EvaluatorCost | EvaluatorSimilar | EvaluatorLlmJudge | EvaluatorPairwise | EvaluatorHttp | SavedEvaluatorReference;

/**
 * A saved evaluator. Requires the scope `read`.
 */
export type SavedEvaluatorReference = {
    type: 'saved';
    /**
     * The name of the saved evaluator, and of its scores.
     */
    name: string;
    /**
     * Default: the newest version.
     */
    version?: number;
    /**
     * Default: the weight of the saved evaluator.
     */
    weight?: number;
};

export type ReleaseCheck = {
    /**
     * error_rate, latency_p95, cost_mean, or `score:NAME`.
     */
    metric: string;
    /**
     * The stable version over the same time, or a number in the unit of the metric: 0–1, ms, US dollars.
     */
    against?: 'stable' | number;
    /**
     * By how much it may be above: of error rates and scores a difference (0.02 is two points), of latency and cost a share (0.2 is 20 %).
     */
    max_increase?: number;
    /**
     * By how much it may be below, in the same way.
     */
    max_decrease?: number;
    /**
     * What happens where the time is over and the numbers can not tell.
     */
    on_inconclusive?: 'pause' | 'continue' | 'rollback';
};

export type CreateRelease = {
    /**
     * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
     */
    prompt_name: string;
    /**
     * A label such as `production`; `latest` always means the newest version.
     */
    label: string;
    /**
     * The candidate: the version to move the label to.
     */
    version: number;
    steps?: ReleaseSteps;
    reason?: string;
    /**
     * The release rolls back if the label has not moved by then.
     */
    deadline?: string;
    /**
     * Up to 50 custom strings, returned unchanged.
     */
    metadata?: {
        [key: string]: string;
    };
    /**
     * Replaces a release running on the label, which ends as `superseded`.
     */
    supersede?: boolean;
    /**
     * Requires the scope `admin`. Uses other steps than the policy of the label. The audit log keeps the reason.
     */
    override?: true;
};

export type ControlRelease = {
    comment?: string;
};

export type PromoteRelease = {
    comment?: string;
    /**
     * Requires the scope `admin`. Skips steps that are not done if the label moves only by releases. The audit log keeps the reason.
     */
    override?: true;
    /**
     * The reason for the override.
     */
    reason?: string;
};

export type CreateExecution = {
    /**
     * Required unless there is a draft.
     */
    prompt_name?: string;
    /**
     * A value for each placeholder: a string, number, boolean, object or array. Extra ones are ignored.
     */
    variables?: {
        [key: string]: unknown;
    };
    /**
     * A version of the prompt, from 1.
     */
    version?: number;
    /**
     * A label such as `production`; `latest` always means the newest version.
     */
    label?: string;
    draft?: ExecutionDraft;
    /**
     * Replaces the model of the prompt. Its fallback models stay.
     */
    model?: string;
    /**
     * Overrides individual parameters of the prompt.
     */
    parameters?: ModelParameters;
    /**
     * Appended to the prompt's own messages.
     */
    messages?: Array<ChatMessage>;
    /**
     * If this workspace completed the same call (model, input, parameters, tools) within that time, its response is returned immediately.
     */
    reuse?: {
        /**
         * The maximum age of the response in seconds.
         */
        max_age: number;
    };
    /**
     * Chooses between the versions of a release, such as the id of a user or conversation: the same key always gets the same version. Without a key, the choice is random for each execution. The key is not stored.
     */
    rollout_key?: string;
    /**
     * Up to 50 custom strings, returned unchanged.
     */
    metadata?: {
        [key: string]: string;
    };
};

/**
 * Runs content that is not stored as a version. If the prompt exists, it changes the version as `PUT /prompts/{name}` would: a field that is left out keeps its value. Otherwise it needs a template or messages, and a model.
 */
export type ExecutionDraft = {
    /**
     * Also replaces messages.
     */
    template?: string;
    /**
     * Also replaces a template.
     */
    messages?: Array<Message | MessagePlaceholder>;
    /**
     * The tools that the model may call. The service never runs tools.
     */
    tools?: Array<Tool> | null;
    /**
     * Default: the model decides.
     */
    tool_choice?: ToolChoice | null;
    /**
     * Declarations of variables, by name. An undeclared variable is required and accepts any type.
     */
    inputs?: PromptInputs | null;
    /**
     * Tried in order if the previous model fails permanently in a way that another model may not.
     */
    fallback_models?: Array<string>;
    /**
     * Any JSON object. Stored, but never used by the service.
     */
    config?: JsonObject | null;
    /**
     * Replaces the parameters as a whole.
     */
    parameters?: ModelParameters;
    /**
     * Required without a prompt.
     */
    model?: string;
};

export type ChatMessage = ({
    role: 'system';
} & SystemMessage) | ({
    role: 'user';
} & ChatUserMessage) | ({
    role: 'assistant';
} & ChatAssistantMessage) | ({
    role: 'tool';
} & ToolMessage);

export type ChatUserMessage = {
    role: 'user';
    content: string | Array<ChatUserMessagePart>;
    /**
     * The speaker, if several have the same role. Sent to providers that support names in messages.
     */
    name?: string;
};

export type FilePart = {
    type: 'file';
    /**
     * The media type of an image, a sound or a document.
     */
    media_type: string;
    filename?: string;
    cache_control?: CacheControl;
    /**
     * The file in base64.
     */
    data?: string;
    /**
     * The address of the file.
     */
    url?: string;
};

export type ChatAssistantMessage = {
    role: 'assistant';
    content: string | Array<ChatAssistantMessagePart>;
    /**
     * The speaker, if several have the same role. Sent to providers that support names in messages.
     */
    name?: string;
    /**
     * The reasoning before the response. Sent back to servers that accept it.
     */
    reasoning_content?: string;
    /**
     * The reasoning as OpenRouter returns it. Sent back to servers that accept it.
     */
    reasoning_details?: Array<{
        [key: string]: unknown;
    }>;
};

export type RecordRuns = {
    records: Array<RecordedRun>;
};

export type RecordedRun = {
    /**
     * Recording the same id again changes nothing. Either an id of your application, or an execution id: `exec_` and a version 7 UUID with the time of `started_at`.
     */
    id?: string;
    /**
     * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
     */
    prompt_name?: string;
    /**
     * The prompt version that ran. Required with a label.
     */
    prompt_version?: number;
    /**
     * The label that chose the version. The run counts toward the release on that label.
     */
    label?: string;
    /**
     * `provider/model`, or with `provider` the name used by that provider.
     */
    model: string;
    provider?: string;
    variables?: {
        [key: string]: unknown;
    };
    /**
     * The input sent to the model: a string or messages.
     */
    input: string | Array<ChatMessage>;
    output?: string | null;
    tool_calls?: Array<ToolCall>;
    tokens?: RecordTokens;
    /**
     * US dollars. Default: calculated from `tokens` and the price list.
     */
    cost?: number | string | RecordCostAmount;
    /**
     * The response time of the model in milliseconds. Default: `finished_at` − `started_at`.
     */
    latency?: number | RecordLatencyMs;
    /**
     * Set if the run failed. Default: the run completed.
     */
    error?: RecordedRunError | null;
    started_at: string;
    finished_at: string;
    /**
     * Up to 50 custom strings, returned unchanged.
     */
    metadata?: {
        [key: string]: string;
    };
    /**
     * The release that chose the version. The run counts toward its arm.
     */
    release?: RecordedRunRelease | null;
    /**
     * The trace that the run is a step of.
     */
    trace_id?: string;
    /**
     * The id of the step. A span with this id is the same call. Default: a new id.
     */
    span_id?: string;
    /**
     * The parent step. Default: none, so the step is at the top.
     */
    parent_id?: string;
    /**
     * The conversation of which the trace is a turn.
     */
    conversation_id?: string;
    /**
     * The type of the step. Default: `model`.
     */
    kind?: 'agent' | 'model' | 'tool' | 'retrieval' | 'embedding' | 'rerank' | 'guardrail' | 'evaluator' | 'chain' | 'other';
};

export type ToolCall = {
    id: string;
    name: string;
    /**
     * Any JSON.
     */
    input: unknown;
};

export type RecordTokens = {
    input: number;
    output: number;
    /**
     * Part of `input`.
     */
    cached_input?: number;
    /**
     * Part of `output`.
     */
    reasoning?: number;
    /**
     * `input` + `output`.
     */
    total?: number;
};

export type RecordCostAmount = {
    amount: number | string;
    currency?: 'USD';
};

export type RecordLatencyMs = {
    model_ms: number;
};

export type CreateChatCompletion = {
    /**
     * A prompt: `name` (its latest version), `name@3` or `name@label`.
     */
    model: string;
    /**
     * Appended to the prompt's own messages.
     */
    messages?: Array<CreateChatCompletionMessageSystem | CreateChatCompletionMessageUser | CreateChatCompletionMessageAssistant | CreateChatCompletionMessageTool>;
    /**
     * A value for each placeholder of the prompt: a string, number, boolean, object or array.
     */
    variables?: {
        [key: string]: unknown;
    };
    stream?: boolean | null;
    /**
     * `include_usage`: a last chunk without choices has the tokens, if they are known.
     */
    stream_options?: CreateChatCompletionStreamOptions | null;
    /**
     * Replace all tools of the prompt.
     */
    tools?: Array<CreateChatCompletionTool> | null;
    /**
     * Replaces the tool choice of the prompt.
     */
    tool_choice?: ToolChoiceOption | CreateChatCompletionToolChoiceFunction | null;
    temperature?: number | null;
    top_p?: number | null;
    /**
     * Left out if the provider has no such parameter.
     */
    top_k?: number | null;
    max_tokens?: number | null;
    /**
     * Takes precedence over `max_tokens`.
     */
    max_completion_tokens?: number | null;
    stop?: string | Array<string> | null;
    seed?: number | null;
    frequency_penalty?: number | null;
    presence_penalty?: number | null;
    reasoning_effort?: ReasoningEffort | null;
    parallel_tool_calls?: boolean | null;
    verbosity?: 'medium' | CreateChatCompletionVerbosityOption | null;
    response_format?: CreateChatCompletionResponseFormat | null;
    metadata?: OpenAiMetadata | null;
    rollout_key?: string | null;
    /**
     * Kept in the `metadata` of the execution, as `user`.
     */
    user?: string | null;
    /**
     * Ignored.
     */
    store?: unknown;
    /**
     * Used as `rollout_key` if neither the body nor `metadata` has one. Defaults to `user`.
     */
    safety_identifier?: unknown;
    /**
     * Ignored.
     */
    prompt_cache_key?: unknown;
    /**
     * Ignored.
     */
    prompt_cache_retention?: unknown;
    n?: 1 | null;
    logprobs?: false | null;
    top_logprobs?: 0 | null;
    logit_bias?: CreateChatCompletionLogitBias | null;
    modalities?: [
        'text'
    ] | null;
    audio?: null;
    prediction?: null;
    web_search_options?: null;
    service_tier?: ServiceTier | null;
    functions?: null;
    function_call?: null;
};

export type CreateResponse = {
    /**
     * A prompt: `name` (its latest version), `name@3` or `name@label`. With `prompt`: the model to run it with.
     */
    model?: string;
    /**
     * OpenAI's own form of the prompt, its version or label, and its variables. Replaces `model` and `variables`.
     */
    prompt?: CreateResponsePrompt | null;
    /**
     * Appended to the prompt's own messages: a user's text, or items: messages (`input_text`, `input_image`, `input_file`, `output_text`), `function_call`, `function_call_output`, `reasoning` and `item_reference`.
     */
    input?: string | Array<ResponseInputItem>;
    /**
     * A system message between the prompt's own messages and `input`.
     */
    instructions?: string | null;
    /**
     * A value for each placeholder of the prompt: a string, number, boolean, object or array.
     */
    variables?: {
        [key: string]: unknown;
    };
    stream?: boolean | null;
    stream_options?: CreateResponseStreamOptions | null;
    /**
     * Functions that replace all tools of the prompt.
     */
    tools?: Array<CreateResponseTool> | null;
    /**
     * Replaces the tool choice of the prompt.
     */
    tool_choice?: ToolChoiceOption | CreateResponseToolChoiceFunction | null;
    temperature?: number | null;
    top_p?: number | null;
    max_output_tokens?: number | null;
    reasoning?: CreateResponseReasoning | null;
    text?: CreateResponseText | null;
    metadata?: OpenAiMetadata | null;
    /**
     * Kept in the `metadata` of the execution, as `user`.
     */
    user?: string | null;
    /**
     * Ignored: the workspace decides how long executions are kept.
     */
    store?: unknown;
    /**
     * Ignored.
     */
    safety_identifier?: unknown;
    /**
     * Ignored.
     */
    prompt_cache_key?: unknown;
    /**
     * Ignored.
     */
    prompt_cache_options?: unknown;
    /**
     * Ignored.
     */
    prompt_cache_retention?: unknown;
    previous_response_id?: null;
    conversation?: null;
    background?: false | null;
    context_management?: null;
    include?: Array<'reasoning.encrypted_content'> | null;
    image?: null;
    max_tool_calls?: null;
    moderation?: null;
    parallel_tool_calls?: true | null;
    service_tier?: ServiceTier | null;
    top_logprobs?: 0 | null;
    truncation?: 'disabled' | null;
};

export type CheckParameters = {
    /**
     * `openai/…`, `anthropic/…`, `google/…`, `mistral/…`, `openai-compatible/…`, `sandbox/…`, or a bare name.
     */
    model: string;
    parameters: ModelParameters;
};

export type CreateEvaluation = {
    /**
     * A title for people, such as what was tried. It need not be unique.
     */
    name?: string;
    /**
     * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
     */
    prompt_name: string;
    /**
     * A version of the prompt, from 1.
     */
    version?: number;
    /**
     * A label such as `production`; `latest` always means the newest version.
     */
    label?: string;
    /**
     * A dataset by name, or `{"name", "version"}`.
     */
    dataset?: string | DatasetReference;
    examples?: Array<Example>;
    evaluators?: Array<Evaluator>;
    /**
     * The minimum score for the run to pass.
     */
    threshold?: number;
    /**
     * An example with at least this score counts as 1, any other as 0. Default: each example counts as its score.
     */
    example_threshold?: number;
    /**
     * The baseline for regressions: the newest completed run of this prompt over the same examples, a given run, or none. With `executions`, `previous` is a run of their recorded outputs.
     */
    baseline?: 'previous' | string | null;
    /**
     * `batch`: calls models through the batch APIs of their providers, which cost less and respond within hours; a model without one is a 400. `auto`: uses `batch` if all models of the run support it, otherwise `interactive`.
     */
    mode?: 'interactive' | 'batch' | 'auto';
    batch?: BatchOptions;
    /**
     * The number of examples run at a time.
     */
    concurrency?: number;
    /**
     * US dollars, including judges. A call of unknown cost counts as the amount reserved for it. The run pauses when too little is left for another example.
     */
    max_cost?: number | string;
    /**
     * If this workspace made the same call (model, input, parameters, tools) for an evaluation or execution within that time, its response is reused at no cost.
     */
    reuse?: {
        /**
         * The maximum age of the response in seconds.
         */
        max_age: number;
    };
    /**
     * Up to 50 custom strings, returned unchanged.
     */
    metadata?: {
        [key: string]: string;
    };
    executions?: EvaluatedExecutions;
    draft?: ExecutionDraft;
    /**
     * When to start. Default: immediately.
     */
    start_at?: string;
};

export type Example = {
    /**
     * Identifies the example across versions. Default: a hash of its content.
     */
    id?: string;
    /**
     * A value for each placeholder of the prompt.
     */
    variables: {
        [key: string]: unknown;
    };
    /**
     * The expected output. Any JSON.
     */
    expected?: unknown;
    /**
     * Your own metadata, returned unchanged.
     */
    metadata?: {
        [key: string]: unknown;
    };
};

/**
 * Allowed only with the mode `batch` or `auto`.
 */
export type BatchOptions = {
    /**
     * The longest wait for each batch after its submission, from `1h` to `7d`.
     */
    max_wait?: string;
    /**
     * How calls without a response are handled then: made one by one, within `max_cost`, or their examples count as failed.
     */
    then?: 'interactive' | 'fail';
};

/**
 * Executions to run again with this version, instead of examples: what would it have said? A version that fits the recorded variables is filled with them, and messages that the caller added follow. Otherwise, as for calls recorded from traces, its leading system messages replace the recorded ones. The recorded outputs are scored by the same evaluators in a second run, which is the baseline unless `baseline` says otherwise. Requires the scope `read`, too.
 */
export type EvaluatedExecutions = {
    /**
     * Only executions of this prompt; null: of any prompt, or of none. Default: the evaluated prompt, or null with `execution_ids` or `trace_id`.
     */
    prompt_name?: string | null;
    /**
     * Only prompts whose name starts with this and a "/".
     */
    group?: string;
    /**
     * Only executions in this state.
     */
    status?: 'queued' | 'running' | 'completed' | 'failed' | 'canceled';
    /**
     * `openai/…`, `anthropic/…`, `google/…`, `mistral/…`, `openai-compatible/…`, `sandbox/…`, or a bare name.
     */
    model?: string;
    /**
     * The label that the request named.
     */
    label?: string;
    /**
     * Only executions whose version this release chose.
     */
    release?: string;
    /**
     * The arm of that release.
     */
    arm?: 'stable' | 'candidate';
    /**
     * The error code of the execution.
     */
    error_code?: string;
    /**
     * Created at or after this time.
     */
    since?: string;
    /**
     * Created before this time.
     */
    until?: string;
    /**
     * A version of the prompt, from 1.
     */
    prompt_version?: number;
    /**
     * US dollars. Executions of unknown cost do not match.
     */
    min_cost?: string | number;
    /**
     * US dollars, inclusive. Executions of unknown cost do not match.
     */
    max_cost?: string | number;
    /**
     * Milliseconds from creation to the end. Unfinished executions do not match.
     */
    min_latency_ms?: number;
    /**
     * Milliseconds from creation to the end. Unfinished executions do not match. Inclusive.
     */
    max_latency_ms?: number;
    /**
     * Metadata that the execution must include.
     */
    metadata?: {
        [key: string]: string;
    };
    /**
     * Only executions recorded by an application, or (`false`) run by the service.
     */
    recorded?: boolean;
    /**
     * Conditions on scores that must all hold: `NAME OPERATOR VALUE` with `<`, `<=`, `>`, `>=`, `=` or `!=`.
     */
    score?: Array<string>;
    /**
     * Only the model calls of this trace.
     */
    trace_id?: string;
    /**
     * Only these executions; all must match the other fields.
     */
    execution_ids?: Array<string>;
    /**
     * If more executions match, the newest are used. All `execution_ids` are used anyway.
     */
    limit?: number;
    /**
     * The expected value of the examples: the recorded output, or none.
     */
    expected?: 'output' | 'none';
};

export type RescoreEvaluation = {
    /**
     * Default: those of the source run.
     */
    evaluators?: Array<Evaluator>;
    /**
     * Default: the threshold of the source run.
     */
    threshold?: number;
    /**
     * The maximum cost of the judges in US dollars.
     */
    max_cost?: number | string;
    /**
     * How the judges are called, as for a new evaluation.
     */
    mode?: 'interactive' | 'batch' | 'auto';
    batch?: BatchOptions;
};

export type UpdateEvaluation = {
    /**
     * Null removes the name.
     */
    name: string | null;
};

export type StoreCodeResults = {
    results: Array<CodeResult>;
};

export type CodeResult = {
    /**
     * The position of the example, from 0.
     */
    seq: number;
    /**
     * The output as text; JSON output as JSON text.
     */
    output?: string | null;
    /**
     * All scores of the evaluation, by name. Absent if the example failed.
     */
    scores?: {
        [key: string]: number | CodeResultScore;
    };
    /**
     * Why the example failed. Replaces `scores`.
     */
    error?: {
        code: string;
        message: string;
    };
    /**
     * The time taken to produce the output.
     */
    duration_ms?: number;
};

export type CreateCodeEvaluation = {
    /**
     * The name of the evaluated code. Runs with the same name are compared.
     */
    name: string;
    /**
     * A dataset by name, or `{"name", "version"}`.
     */
    dataset?: string | DatasetReference;
    examples?: Array<Example>;
    /**
     * The scores of each result. The score of an example is their weighted mean.
     */
    scores: Array<{
        name: string;
        weight?: number;
    }>;
    /**
     * The minimum score for the run to pass.
     */
    threshold?: number;
    /**
     * The baseline for regressions: the newest completed run with this name over the same examples, a given run, or none.
     */
    baseline?: 'previous' | string | null;
    /**
     * Up to 50 custom strings, returned unchanged.
     */
    metadata?: {
        [key: string]: string;
    };
    /**
     * Whether to continue the newest `running` run with this name, the same examples and the same scores, if there is one.
     */
    resume?: boolean;
};

export type ResumeEvaluation = {
    /**
     * A higher limit, or null for no limit.
     */
    max_cost?: number | string | null;
};

export type TryEvaluators = {
    /**
     * As in `POST /evaluations`, except `similar`, `pairwise` and `http`, which cannot score a single output.
     */
    evaluators: Array<Evaluator>;
    /**
     * The output to score.
     */
    output: string;
    /**
     * The tool calls that the model requested.
     */
    tool_calls?: Array<ToolCall>;
    /**
     * The expected output. Omit it if there is none.
     */
    expected?: unknown;
    /**
     * The variables that filled the prompt.
     */
    variables?: {
        [key: string]: unknown;
    };
    /**
     * The input sent to the model. It is shown to judges.
     */
    input?: string | Array<ChatMessage>;
    /**
     * The duration of the call that produced the output; null if unknown.
     */
    model_ms?: number | null;
    /**
     * The cost of the output in US dollars; null if unknown.
     */
    cost?: string | null;
};

export type CreateImprovement = {
    /**
     * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
     */
    prompt_name: string;
    /**
     * A version of the prompt, from 1.
     */
    version?: number;
    /**
     * A label such as `production`; `latest` always means the newest version.
     */
    label?: string;
    /**
     * A dataset by name, or `{"name", "version"}`.
     */
    dataset: string | DatasetReference;
    evaluators?: Array<Evaluator>;
    /**
     * An example with at least this score counts as 1, any other as 0. Default: each example counts as its score.
     */
    example_threshold?: number;
    reflection: ReflectionSettings;
    /**
     * The texts to rewrite: `template`, `messages.N` or `tools.NAME.description`. Default: the template; without one, the system messages; without these, the first user message.
     */
    parts?: Array<string>;
    /**
     * Texts that must stay word for word.
     */
    keep?: Array<string>;
    /**
     * The maximum number of examples that a candidate shows as messages. They become part of the prompt: use it only with data that may be shown.
     */
    few_shot?: number;
    /**
     * Also shows scores by people of this prompt, the newest first, with their comments and corrections. Inputs of the check and held-out parts are left out. Default: none.
     */
    feedback?: {
        /**
         * The maximum number of scores; each reflection shows at most 8.
         */
        limit?: number;
    };
    /**
     * US dollars for everything: the runs of the prompt, judges, reflections and the verdict, whose part is set aside first. Null: no limit.
     */
    max_cost: number | string | null;
    max_proposals?: number;
    /**
     * Proposals of a round, which do not know of each other: more are faster and learn less.
     */
    parallel?: number;
    /**
     * Train examples on which a proposal must gain before it is checked.
     */
    minibatch?: number;
    /**
     * The search ends after so many proposals without a new best.
     */
    patience?: number;
    /**
     * The search ends by then, and the verdict follows.
     */
    deadline?: string;
    /**
     * Characters of the whole prompt. Default: four times the base, or 4,000 more.
     */
    max_length?: number;
    /**
     * The number of examples run at a time.
     */
    concurrency?: number;
    /**
     * How the check and held-out parts are run, as for an evaluation. Minibatches are always interactive.
     */
    mode?: 'interactive' | 'batch' | 'auto';
    batch?: BatchOptions;
    reuse?: {
        /**
         * The maximum age of the response in seconds.
         */
        max_age: number;
    };
    /**
     * A key of the metadata: examples with the same value stay in the same part.
     */
    group_by?: string;
    /**
     * The same seed with the same data draws the same parents and examples.
     */
    seed?: string;
    /**
     * Up to 50 custom strings, returned unchanged.
     */
    metadata?: {
        [key: string]: string;
    };
};

export type ReflectionSettings = {
    /**
     * The model that writes candidates.
     */
    model: string;
    /**
     * A prompt of the workspace that asks for candidates, with `{{ parts }}` and `{{ examples }}`. Default: that of `GET /improvements/reflection-prompt`.
     */
    prompt?: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
        /**
         * A version of the prompt, from 1.
         */
        version?: number;
        /**
         * A label such as `production`; `latest` always means the newest version.
         */
        label?: string;
    };
    parameters?: ModelParameters;
    /**
     * Instructions that a candidate must follow.
     */
    instructions?: string;
};

export type SuggestPrompt = {
    /**
     * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
     */
    prompt_name: string;
    /**
     * A version of the prompt, from 1.
     */
    version?: number;
    /**
     * A label such as `production`; `latest` always means the newest version.
     */
    label?: string;
    /**
     * The worst results of this evaluation of the prompt. Only a quarter of the examples is used, as an improvement would; the others stay unseen.
     */
    evaluation_id?: string;
    /**
     * Executions of the prompt, which are shown with all of their scores and comments.
     */
    execution_ids?: Array<string>;
    /**
     * The model that writes it.
     */
    model: string;
    parameters?: ModelParameters;
    /**
     * The texts to rewrite: `template`, `messages.N` or `tools.NAME.description`. Default: the template; without one, the system messages; without these, the first user message.
     */
    parts?: Array<string>;
    /**
     * Texts that must stay word for word.
     */
    keep?: Array<string>;
    /**
     * Instructions that the new text must follow.
     */
    instructions?: string;
};

export type ResumeImprovement = {
    /**
     * A higher limit.
     */
    max_cost?: number | string;
};

export type AcceptImprovement = {
    /**
     * Default: the one of the verdict.
     */
    candidate?: number;
    /**
     * Required for a candidate that no verdict has proved to be better.
     */
    unproved?: boolean;
    /**
     * Required if the prompt has versions after the base: the new version does not have their changes.
     */
    base_changed?: boolean;
    /**
     * Starts a release of the new version, as `POST /releases`.
     */
    release?: {
        /**
         * A label such as `production`; `latest` always means the newest version.
         */
        label: string;
        steps?: ReleaseSteps;
        reason?: string;
    };
};

export type GenerateExamples = {
    /**
     * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
     */
    prompt_name: string;
    /**
     * A version of the prompt, from 1.
     */
    version?: number;
    /**
     * A label such as `production`; `latest` always means the newest version.
     */
    label?: string;
    /**
     * The model that writes the examples.
     */
    model: string;
    parameters?: ModelParameters;
    count?: number;
    /**
     * Further instructions for the inputs.
     */
    instructions?: string;
    /**
     * US dollars. A call that could cost more is refused. Default: only the budget of the workspace applies.
     */
    max_cost?: number | string;
};

export type AddExamples = {
    examples: Array<Example>;
};

export type DatasetFromExecutions = {
    /**
     * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
     */
    prompt_name?: string;
    /**
     * Only prompts whose name starts with this and a "/".
     */
    group?: string;
    /**
     * Only executions in this state.
     */
    status?: 'queued' | 'running' | 'completed' | 'failed' | 'canceled';
    /**
     * `openai/…`, `anthropic/…`, `google/…`, `mistral/…`, `openai-compatible/…`, `sandbox/…`, or a bare name.
     */
    model?: string;
    /**
     * The label that the request named.
     */
    label?: string;
    /**
     * Only executions whose version this release chose.
     */
    release?: string;
    /**
     * The arm of that release.
     */
    arm?: 'stable' | 'candidate';
    /**
     * The error code of the execution.
     */
    error_code?: string;
    /**
     * Created at or after this time.
     */
    since?: string;
    /**
     * Created before this time.
     */
    until?: string;
    /**
     * A version of the prompt, from 1.
     */
    prompt_version?: number;
    /**
     * US dollars. Executions of unknown cost do not match.
     */
    min_cost?: string | number;
    /**
     * US dollars, inclusive. Executions of unknown cost do not match.
     */
    max_cost?: string | number;
    /**
     * Milliseconds from creation to the end. Unfinished executions do not match.
     */
    min_latency_ms?: number;
    /**
     * Milliseconds from creation to the end. Unfinished executions do not match. Inclusive.
     */
    max_latency_ms?: number;
    /**
     * Metadata that the execution must include.
     */
    metadata?: {
        [key: string]: string;
    };
    /**
     * Only executions recorded by an application, or (`false`) run by the service.
     */
    recorded?: boolean;
    /**
     * Conditions on scores that must all hold: `NAME OPERATOR VALUE` with `<`, `<=`, `>`, `>=`, `=` or `!=`.
     */
    score?: Array<string>;
    /**
     * Only these executions; all must match the other fields.
     */
    execution_ids?: Array<string>;
    /**
     * If more executions match, the newest are used.
     */
    limit?: number;
    /**
     * The expected value of the examples: the output of the execution, or none.
     */
    expected?: 'output' | 'none';
    /**
     * `add`: the examples of the latest version stay, and new ones follow. `replace`: the next version has only these.
     */
    mode?: 'add' | 'replace';
};

export type DatasetFromScores = {
    /**
     * The name of the score that people gave.
     */
    score: string;
    /**
     * Whether scores submitted with feedback tokens count, too.
     */
    feedback?: boolean;
    /**
     * Scores stored at or after this time.
     */
    since?: string;
    /**
     * Scores stored before this time.
     */
    until?: string;
    /**
     * If people scored more outputs, those with the newest scores are used.
     */
    limit?: number;
};

export type SetSavedEvaluator = {
    /**
     * Its `name` is replaced by the name of the saved evaluator.
     */
    evaluator: EvaluatorOptions;
    /**
     * The quality that it measures.
     */
    description?: string | null;
};

export type EvaluatorOptions = EvaluatorExactMatch | EvaluatorContains | EvaluatorRegex | EvaluatorJsonValid | EvaluatorJsonSchema | EvaluatorJsonMatch | EvaluatorNumeric | EvaluatorLevenshtein | EvaluatorLength | EvaluatorToolCalls | EvaluatorLatency | EvaluatorCost | EvaluatorSimilar | EvaluatorLlmJudge | EvaluatorPairwise | EvaluatorHttp;

export type NewScore = {
    /**
     * `score_` and a UUID of your choice. Replaces a stored score with this id if it has the same name and subject.
     */
    id?: string;
    /**
     * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
     */
    name: string;
    /**
     * The type that the name is defined with: a number (at most 1e+100), a boolean, a category (at most 200 characters) or a text (10,000).
     */
    value: number | boolean | string;
    /**
     * The type of a new name. Default: the type of the value; `categorical` for strings.
     */
    data_type?: 'numeric' | 'boolean' | 'categorical' | 'text';
    /**
     * An execution, or an example of an evaluation that has a result.
     */
    subject: ExampleSubject | ExecutionSubject | TraceSubject | ConversationSubject;
    /**
     * The source of the score. Default: `person` with a console session, otherwise `api`.
     */
    source?: 'api' | 'person';
    /**
     * Your own evaluator that gives the score. Without an id, each version scores a subject once; a repeat replaces it.
     */
    evaluator?: {
        /**
         * The question asked; the same for all versions.
         */
        rule: string;
        /**
         * Changes with the settings of the evaluator.
         */
        version: string;
        /**
         * The model of a judge.
         */
        model?: string | null;
    };
    comment?: string | null;
    /**
     * Up to 50 custom strings, returned unchanged.
     */
    metadata?: {
        [key: string]: string;
    };
};

export type SetScoreDefinition = {
    data_type: 'numeric' | 'boolean' | 'categorical' | 'text';
    /**
     * For `numeric`, inclusive.
     */
    min?: number | null;
    /**
     * For `numeric`, inclusive.
     */
    max?: number | null;
    /**
     * For `categorical`. If omitted, any category is allowed.
     */
    categories?: Array<SetScoreDefinitionCategory> | null;
    description?: string | null;
};

export type CreateFeedbackToken = {
    /**
     * The scores that the token can submit.
     */
    names: Array<string>;
    /**
     * The lifetime of the token in seconds.
     */
    expires_in?: number;
};

export type CreateSubjectFeedbackToken = {
    subject: TraceSubject | ConversationSubject;
    /**
     * The scores that the token can submit.
     */
    names: Array<string>;
    /**
     * The lifetime of the token in seconds.
     */
    expires_in?: number;
};

export type CreateFeedback = {
    /**
     * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
     */
    name: string;
    /**
     * The type that the name is defined with: a number (at most 1e+100), a boolean, a category (at most 200 characters) or a text (10,000).
     */
    value: number | boolean | string;
    comment?: string | null;
};

export type CompleteQueueItem = {
    /**
     * Values of the queue's scores.
     */
    scores?: Array<{
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
        /**
         * A number, boolean, category or text, as the score is defined.
         */
        value: number | boolean | string;
        comment?: string;
    }>;
    /**
     * The correct output, stored as the `expected` value of an example in `dataset`. Any JSON.
     */
    correction?: unknown;
    /**
     * The dataset whose new version gets the correction as an example.
     */
    dataset?: string;
};

export type AddQueueItems = {
    execution_ids?: Array<string>;
    /**
     * Evaluation examples that have a score.
     */
    examples?: Array<{
        evaluation_id: string;
        example_id: string;
    }>;
    /**
     * Traces, or steps of traces.
     */
    traces?: Array<{
        /**
         * A trace: 32 hexadecimal digits, as in OpenTelemetry.
         */
        trace_id: string;
        /**
         * Only this step. Omitted: the whole trace.
         */
        span_id?: string;
    }>;
    /**
     * Pairs of completed executions with the same variables, or of two evaluations’ outputs for an example, to be compared. Their outputs must differ.
     */
    pairs?: Array<AddQueueItemsPairExecutionIds | AddQueueItemsPairEvaluationIds>;
    /**
     * Adds pairs of the outputs of two evaluations for the same examples, if they differ: a random choice of at most `limit`.
     */
    compared?: {
        evaluation_ids: [
            string,
            string
        ];
    };
    /**
     * Adds the newest matching executions. Default `status`: completed.
     */
    filter?: ExecutionFilter;
    /**
     * Adds the newest matching traces that are settled.
     */
    trace_filter?: TraceFilter;
    /**
     * With a filter: the share of matches to add. Default: 1.
     */
    sample_rate?: number;
    /**
     * With a filter or `compared`: the maximum number to add. Default: 1000.
     */
    limit?: number;
};

export type ExecutionFilter = {
    /**
     * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
     */
    prompt_name?: string;
    /**
     * Only prompts whose name starts with this and a "/".
     */
    group?: string;
    status?: 'queued' | 'running' | 'completed' | 'failed' | 'canceled';
    /**
     * `openai/…`, `anthropic/…`, `google/…`, `mistral/…`, `openai-compatible/…`, `sandbox/…`, or a bare name.
     */
    model?: string;
    /**
     * The label that the request named.
     */
    label?: string;
    /**
     * Only executions whose version this release chose.
     */
    release?: string;
    /**
     * The arm of that release.
     */
    arm?: 'stable' | 'candidate';
    /**
     * The error code of the execution.
     */
    error_code?: string;
    /**
     * Created at or after this time.
     */
    since?: string;
    /**
     * Created before this time.
     */
    until?: string;
    /**
     * A version of the prompt, from 1.
     */
    prompt_version?: number;
    /**
     * US dollars. Executions of unknown cost do not match.
     */
    min_cost?: string | number;
    /**
     * US dollars, inclusive. Executions of unknown cost do not match.
     */
    max_cost?: string | number;
    /**
     * Milliseconds from creation to the end. Unfinished executions do not match.
     */
    min_latency_ms?: number;
    /**
     * Milliseconds from creation to the end. Unfinished executions do not match. Inclusive.
     */
    max_latency_ms?: number;
    /**
     * Metadata that the execution must include.
     */
    metadata?: {
        [key: string]: string;
    };
    /**
     * Only executions recorded by an application, or (`false`) run by the service.
     */
    recorded?: boolean;
    /**
     * Conditions on scores that must all hold: `NAME OPERATOR VALUE` with `<`, `<=`, `>`, `>=`, `=` or `!=`.
     */
    score?: Array<string>;
};

export type TraceFilter = {
    name?: string;
    status?: 'running' | 'ok' | 'error';
    user_id?: string;
    /**
     * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
     */
    prompt_name?: string;
    /**
     * Only prompts whose name starts with this and a "/".
     */
    group?: string;
    /**
     * Only traces with executions whose version this release chose.
     */
    release?: string;
    /**
     * The arm of these executions.
     */
    arm?: 'stable' | 'candidate';
    model?: string;
    tool?: string;
    agent?: string;
    tag?: string;
    service?: string;
    environment?: string;
    /**
     * Only this version of the prompt. Requires `prompt_name`.
     */
    prompt_version?: number;
    /**
     * The minimum number of steps.
     */
    min_steps?: number;
    /**
     * The minimum number of failed steps.
     */
    min_errors?: number;
    /**
     * US dollars. Traces of unknown cost do not match.
     */
    min_cost?: string | number;
    /**
     * US dollars. Traces of unknown cost do not match. Inclusive.
     */
    max_cost?: string | number;
    /**
     * Milliseconds from the first start to the last end. Running traces do not match.
     */
    min_latency_ms?: number;
    /**
     * Milliseconds from the first start to the last end. Running traces do not match. Inclusive.
     */
    max_latency_ms?: number;
    /**
     * Metadata that the trace must include.
     */
    metadata?: {
        [key: string]: string;
    };
    /**
     * Conditions on scores of the trace or of its steps, such as `helpful=false`. All must hold.
     */
    score?: Array<string>;
};

export type PutQueue = {
    /**
     * Instructions for reviewers.
     */
    description?: string;
    /**
     * The scores that reviewers give.
     */
    score_names: Array<string>;
    /**
     * From now on, matching executions are added automatically once they end or get a score. Default `status`: completed. If omitted, none are added.
     */
    filter?: ExecutionFilter;
    /**
     * The same for traces: they are added when they settle or get a score. If omitted, none are.
     */
    trace_filter?: TraceFilter;
    /**
     * The share of matching executions and traces to add, chosen by a hash of their ids.
     */
    sample_rate?: number;
    /**
     * The number of different reviewers per item.
     */
    reviewers_per_item?: number;
};

export type CreateBackfill = {
    /**
     * Executions created at or after this time.
     */
    since: string;
    /**
     * Executions created before this time. Default: now.
     */
    until?: string;
    /**
     * The maximum cost in US dollars, separate from the budget of the rule. Null: no limit.
     */
    max_cost?: number | string | null;
};

export type ResumeBackfill = {
    /**
     * A higher budget, or null for none.
     */
    max_cost?: number | string | null;
};

export type PutRule = {
    /**
     * Only executions of this prompt. Default: all prompts.
     */
    prompt_name?: string;
    /**
     * Only executions of prompts whose name starts with this and a `/`.
     */
    group?: string;
    /**
     * Only executions that requested this label.
     */
    label?: string;
    /**
     * An additional filter, applied when executions are scored.
     */
    filter?: ExecutionFilter;
    /**
     * Scores traces instead of executions: those that match when they are settled, and again if they change after that. Empty: all traces. Excludes `prompt_name`, `group`, `label` and `filter`.
     */
    trace_filter?: TraceFilter;
    /**
     * The share of executions or traces to score, chosen by a hash of rule and execution or trace.
     */
    sample_rate?: number;
    /**
     * As for evaluations, except those that compare with an expected value.
     */
    evaluators: Array<Evaluator>;
    /**
     * The maximum cost of its judges per UTC day, in US dollars. Executions and traces beyond it are skipped. Null: no limit.
     */
    max_cost_per_day?: number | string | null;
    enabled?: boolean;
};

export type CreateSchedule = {
    name: string;
    /**
     * Five fields: minute, hour, day of month, month, weekday; or an alias such as `@daily`.
     */
    cron: string;
    /**
     * IANA time zone of `cron`.
     */
    time_zone?: string;
    paused?: boolean;
    evaluation: ScheduledEvaluation;
};

export type ScheduledEvaluation = {
    /**
     * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
     */
    prompt_name: string;
    /**
     * A version of the prompt, from 1.
     */
    version?: number;
    /**
     * A label such as `production`; `latest` always means the newest version.
     */
    label?: string;
    /**
     * A dataset by name, or `{"name", "version"}`.
     */
    dataset?: string | DatasetReference;
    examples?: Array<Example>;
    evaluators?: Array<Evaluator>;
    /**
     * The minimum score for the run to pass.
     */
    threshold?: number;
    /**
     * An example with at least this score counts as 1, any other as 0. Default: each example counts as its score.
     */
    example_threshold?: number;
    /**
     * The baseline for regressions: the newest completed run of this prompt over the same examples, a given run, or none. With `executions`, `previous` is a run of their recorded outputs.
     */
    baseline?: 'previous' | string | null;
    /**
     * `batch`: calls models through the batch APIs of their providers, which cost less and respond within hours; a model without one is a 400. `auto`: uses `batch` if all models of the run support it, otherwise `interactive`.
     */
    mode?: 'interactive' | 'batch' | 'auto';
    batch?: BatchOptions;
    /**
     * The number of examples run at a time.
     */
    concurrency?: number;
    /**
     * US dollars, including judges. A call of unknown cost counts as the amount reserved for it. The run pauses when too little is left for another example.
     */
    max_cost?: number | string;
    /**
     * If this workspace made the same call (model, input, parameters, tools) for an evaluation or execution within that time, its response is reused at no cost.
     */
    reuse?: {
        /**
         * The maximum age of the response in seconds.
         */
        max_age: number;
    };
    /**
     * Up to 50 custom strings, returned unchanged.
     */
    metadata?: {
        [key: string]: string;
    };
};

export type PutMonitor = {
    /**
     * Default: all prompts, including drafts.
     */
    prompt_name?: string;
    /**
     * Only runs that requested this label.
     */
    label?: string;
    /**
     * The time window of a measurement, by when runs ended: `1m` to `24h`.
     */
    window: string;
    checks: Array<PutMonitorCheck>;
    notify?: {
        /**
         * Whether the workspace owner gets e-mails, if the operator has configured mail.
         */
        email?: boolean;
    };
    enabled?: boolean;
};

export type PutMonitorCheck = {
    /**
     * error_rate, latency_p95, cost_mean, trace:error_rate, trace:latency_p95, trace:cost_mean, trace:steps_mean, cost_total, refusal_rate, score:NAME, or trace:score:NAME.
     */
    metric: string;
    /**
     * Alerts if the metric is above this value: a rate (0–1), ms, US dollars or a score.
     */
    above?: number;
    /**
     * Alerts if the metric is below this value. Set either above or below.
     */
    below?: number;
    /**
     * The value that ends the alert. Default: a tenth better; see docs/monitors.md.
     */
    recover_at?: number;
    /**
     * The check is skipped with fewer executions (or scores) in the window. Default: 20; 0 for `cost_total`.
     */
    min_executions?: number;
    /**
     * The time for which the condition must hold, at every measurement, to alert or to recover. Measured once a minute.
     */
    for?: string;
};

export type CreateWebhook = {
    /**
     * The `https:` URL that receives the events. The operator may allow other URLs.
     */
    url: string;
    /**
     * The event types that the webhook subscribes to. Events of releases and traces are sent only to webhooks that name them.
     */
    events?: Array<EventType>;
    /**
     * The signing secret: 24–128 visible ASCII characters; after the prefix `whsec_`, if any, padded base64. Default: generated.
     */
    secret?: string;
    description?: string | null;
    /**
     * Up to 20 custom headers for every request. Their values are stored encrypted and not shown again. Headers that the service sets itself are refused.
     */
    headers?: {
        [key: string]: string;
    };
    /**
     * Requests per minute; deliveries beyond the limit wait. Null: no limit.
     */
    rate_limit_per_minute?: number | null;
};

export type EventType = 'prompt.created' | 'prompt.updated' | 'execution.completed' | 'execution.failed' | 'evaluation.completed' | 'evaluation.regression' | 'trace.completed' | 'release.started' | 'release.awaiting_approval' | 'release.promoted' | 'release.rolled_back' | 'release.finished' | 'improvement.completed' | 'improvement.failed' | 'monitor.alerted' | 'monitor.recovered';

export type UpdateWebhook = {
    /**
     * The `https:` URL that receives the events. The operator may allow other URLs.
     */
    url?: string;
    /**
     * The event types that the webhook subscribes to. Events of releases and traces are sent only to webhooks that name them.
     */
    events?: Array<EventType>;
    description?: string | null;
    /**
     * Replaces all headers; null or `{}` removes them.
     */
    headers?: UpdateWebhookHeaders | null;
    /**
     * Requests per minute; deliveries beyond the limit wait. Null: no limit.
     */
    rate_limit_per_minute?: number | null;
};

export type RotateSecret = {
    /**
     * The signing secret: 24–128 visible ASCII characters; after the prefix `whsec_`, if any, padded base64. Default: generated.
     */
    secret?: string;
};

export type TestWebhook = {
    /**
     * The type of the test event. Default: the first event that the webhook is subscribed to.
     */
    event?: EventType;
};

export type ReplayEvents = {
    /**
     * Events created at or after this time.
     */
    since: string;
    /**
     * Events created before this time. Default: now.
     */
    until?: string;
    /**
     * Leaves out events that were delivered to this webhook.
     */
    undelivered_only?: boolean;
};

export type PutView = {
    /**
     * The console list that the view belongs to.
     */
    page: 'executions' | 'traces';
    /**
     * Filters, as in the URL of the list in the console.
     */
    query?: {
        [key: string]: string;
    };
    /**
     * Columns of the list in the console, in order. If empty, the default columns.
     */
    columns?: Array<string>;
    /**
     * Whether all members of the workspace see the view. Sharing also requires the scope `write`.
     */
    shared?: boolean;
};

export type CreateApiKey = {
    name: string;
    /**
     * `read`, `execute` (run prompts and evaluations), `score` (store scores), `ingest` (store traces and recorded executions), `write` (change resources), `publish` (move protected labels), `admin` (everything, including keys).
     */
    scopes: Array<'read' | 'execute' | 'score' | 'ingest' | 'write' | 'publish' | 'admin'>;
    expires_at?: string | null;
};

export type CreateSession = {
    /**
     * An API key. The session has the permissions of the key and ends with it.
     */
    key: string;
};

export type SwitchWorkspace = {
    workspace: string;
};

export type UpdateMember = {
    /**
     * Null restores the role of the identity provider.
     */
    role?: Role | null;
    status?: 'active' | 'suspended';
};

export type CreateDeviceAuthorization = {
    /**
     * The program and where it runs. Shown to the person and used as the name of the key.
     */
    client: string;
};

export type DeviceToken = {
    device_code: string;
};

export type ApproveDeviceAuthorization = {
    /**
     * Scopes of the key. Default: all scopes of the session. Other scopes are rejected.
     */
    scopes?: Array<'read' | 'execute' | 'score' | 'ingest' | 'write' | 'publish' | 'admin'>;
    expires_in_days?: number;
};

export type ExportTraceServiceRequest = {
    /**
     * Spans by resource and scope, as in OTLP/JSON.
     */
    resourceSpans: Array<{
        [key: string]: unknown;
    }>;
    [key: string]: unknown;
};

export type SetTracePolicy = {
    /**
     * `drop`: inputs, outputs, tool calls, variables and attributes are not stored.
     */
    contents?: 'keep' | 'drop';
    /**
     * Patterns to replace in all texts before they are stored. `secret`: keys and tokens of known forms, and attributes such as `authorization` or `password`. Names of users, conversations, models and tools are not masked.
     */
    mask?: Array<SetTracePolicyMaskOption | SetTracePolicyMaskPattern>;
    /**
     * Attributes to ignore. A `*` at the end matches any suffix.
     */
    drop_attributes?: Array<string>;
    /**
     * The share of traces to store. The trace id decides, so a trace is stored with all its spans or not at all.
     */
    sample_rate?: number;
    /**
     * Steps of the type `other`. `skeleton`: only names, times and errors; `drop`: none, so that steps below them are at the top. With either, traces without any other step are deleted when they are settled.
     */
    others?: 'skeleton' | 'keep' | 'drop';
};

export type DatasetFromTraces = {
    traces: Array<{
        /**
         * A trace: 32 hexadecimal digits, as in OpenTelemetry.
         */
        trace_id: string;
        /**
         * Only this step. Default: the whole trace.
         */
        span_id?: string;
    }>;
    /**
     * The expected value of the examples: the output of the trace or step, or none.
     */
    expected?: 'output' | 'none';
};

export type PromptPage = {
    data: Array<ListedPrompt>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type ListedPrompt = {
    /**
     * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
     */
    name: string;
    /**
     * A version of the prompt, from 1.
     */
    version: number;
    /**
     * Null if the prompt has messages.
     */
    template: string | null;
    /**
     * Null if the prompt is a template.
     */
    messages: Array<PromptMessage> | null;
    tools: Array<Tool> | null;
    tool_choice: ToolChoice | null;
    inputs: PromptInputs | null;
    model: string;
    fallback_models: Array<string>;
    parameters: ModelParametersOutput;
    config: JsonObject | null;
    /**
     * The names of all values that a run must or may pass: placeholders (also of includes), files and inputs.
     */
    variables: Array<string>;
    /**
     * Labels that point to this version.
     */
    labels: Array<string>;
    archived: boolean;
    description: string | null;
    commit_message: string | null;
    /**
     * The author of the version; null for the operator, or if no longer known.
     */
    created_by: VersionAuthor | null;
    created_at: Timestamp;
    updated_at: Timestamp;
    version_created_at: Timestamp;
    /**
     * Only when requested by a label with a running release; the returned version is then the stable one.
     */
    release?: PromptRelease;
    /**
     * In responses to creating and updating: texts with tags of another template language, such as `{{ user.name }}` or `{{#if x}}`, which stay text.
     */
    warnings?: Array<Warning>;
    /**
     * All labels of the prompt, with the versions that they point at.
     */
    all_labels: Array<PromptLabel>;
};

/**
 * ISO 8601 in UTC with milliseconds.
 */
export type Timestamp = string;

export type PromptRelease = {
    id: string;
    /**
     * A version of the prompt, from 1.
     */
    candidate_version: number;
    /**
     * The share of keys that get the candidate, 0–100.
     */
    percent: number;
    /**
     * A key gets the candidate if the first 32 bits of the SHA-256 of `salt:key`, modulo 10,000, are below `percent` × 100.
     */
    salt: string;
};

export type Warning = {
    path: string;
    message: string;
};

export type PromptLabel = {
    /**
     * A label such as `production`; `latest` always means the newest version.
     */
    label: string;
    /**
     * A version of the prompt, from 1.
     */
    version: number;
};

export type Error = {
    error: {
        code: 'invalid_request' | 'payload_too_large' | 'prompt_archived' | 'version_conflict' | 'idempotency_key_reused' | 'invalid_state' | 'authorization_pending' | 'slow_down' | 'denied' | 'expired' | 'unauthorized' | 'insufficient_scope' | 'not_found' | 'rate_limited' | 'quota_exceeded' | 'internal_error' | 'temporarily_unavailable';
        /**
         * A description of the error and of how to fix it.
         */
        message: string;
        /**
         * The invalid fields.
         */
        details?: Array<{
            path: string;
            message: string;
        }>;
    };
};

export type Prompt = {
    /**
     * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
     */
    name: string;
    /**
     * A version of the prompt, from 1.
     */
    version: number;
    /**
     * Null if the prompt has messages.
     */
    template: string | null;
    /**
     * Null if the prompt is a template.
     */
    messages: Array<PromptMessage> | null;
    tools: Array<Tool> | null;
    tool_choice: ToolChoice | null;
    inputs: PromptInputs | null;
    model: string;
    fallback_models: Array<string>;
    parameters: ModelParametersOutput;
    config: JsonObject | null;
    /**
     * The names of all values that a run must or may pass: placeholders (also of includes), files and inputs.
     */
    variables: Array<string>;
    /**
     * Labels that point to this version.
     */
    labels: Array<string>;
    archived: boolean;
    description: string | null;
    commit_message: string | null;
    /**
     * The author of the version; null for the operator, or if no longer known.
     */
    created_by: VersionAuthor | null;
    created_at: Timestamp;
    updated_at: Timestamp;
    version_created_at: Timestamp;
    /**
     * Only when requested by a label with a running release; the returned version is then the stable one.
     */
    release?: PromptRelease;
    /**
     * In responses to creating and updating: texts with tags of another template language, such as `{{ user.name }}` or `{{#if x}}`, which stay text.
     */
    warnings?: Array<Warning>;
};

export type ResolvedPrompts = {
    /**
     * In the order of the request.
     */
    data: Array<ResolvedPrompt>;
};

/**
 * One of: `prompt` with `includes` and `includes_hash`, `unchanged` with `release`, `left_out`, `error`.
 */
export type ResolvedPrompt = {
    /**
     * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
     */
    name: string;
    prompt?: Prompt;
    /**
     * The included prompts, at any depth, by their reference in the text (`support/tone@production`).
     */
    includes?: {
        [key: string]: {
            /**
             * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
             */
            name: string;
            /**
             * A version of the prompt, from 1.
             */
            version: number;
            template: string;
        };
    };
    /**
     * Identifies the included versions; null if nothing is included.
     */
    includes_hash?: string | null;
    /**
     * Your copy is up to date.
     */
    unchanged?: true;
    /**
     * With `unchanged`: the release currently running on the label.
     */
    release?: PromptRelease;
    /**
     * Omitted to keep the response under about 4 MiB: request this prompt again.
     */
    left_out?: true;
    /**
     * `not_found`, or `invalid_request` if an include would make a run fail.
     */
    error?: {
        code: 'invalid_request' | 'payload_too_large' | 'prompt_archived' | 'version_conflict' | 'idempotency_key_reused' | 'invalid_state' | 'authorization_pending' | 'slow_down' | 'denied' | 'expired' | 'unauthorized' | 'insufficient_scope' | 'not_found' | 'rate_limited' | 'quota_exceeded' | 'internal_error' | 'temporarily_unavailable';
        message: string;
    };
};

export type PromptVersionPage = {
    data: Array<Prompt>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type VersionDiff = {
    /**
     * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
     */
    name: string;
    /**
     * A version of the prompt, from 1.
     */
    from: number;
    /**
     * A version of the prompt, from 1.
     */
    to: number;
    changes: Array<{
        /**
         * The changed field, in dot notation. A list item has its index in `to`, or in `from` if it was removed.
         */
        path: string;
        /**
         * Absent if the field was added.
         */
        before?: unknown;
        /**
         * Absent if the field was removed.
         */
        after?: unknown;
        /**
         * A unified diff instead of `before` and `after`, if both are strings.
         */
        diff?: string;
    }>;
};

export type PromptLabels = {
    data: Array<PromptLabel>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type LabelPage = {
    data: Array<Label>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type Label = {
    /**
     * A label such as `production`; `latest` always means the newest version.
     */
    label: string;
    protected: boolean;
    /**
     * How the label moves; null if there is no policy.
     */
    release: ReleasePolicy | null;
    /**
     * The number of prompts with this label, including archived ones.
     */
    prompts: number;
};

export type Release = {
    id: string;
    /**
     * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
     */
    prompt_name: string;
    label: string;
    /**
     * The version the label pointed to when the release started.
     */
    stable_version: number;
    /**
     * A version of the prompt, from 1.
     */
    candidate_version: number;
    steps: Array<ReleaseStep>;
    /**
     * The index of the current step, from 0.
     */
    step: number;
    /**
     * The share of keys that get the candidate now, 0–100.
     */
    percent: number;
    salt: string;
    status: 'in_progress' | 'paused' | 'awaiting_approval' | 'baking' | 'succeeded' | 'rolled_back' | 'rejected' | 'failed' | 'superseded' | 'canceled';
    /**
     * The reason for the status, in words.
     */
    status_reason: string | null;
    reason: string | null;
    deadline: Timestamp | null;
    /**
     * Up to 50 custom strings, returned unchanged.
     */
    metadata: {
        [key: string]: string;
    };
    approvals: Array<{
        step: number;
        by: {
            /**
             * Null for the service itself.
             */
            key_id: string | null;
            /**
             * The member who owns or created the key; null if there is none.
             */
            member_id?: string | null;
            name: string;
        };
        at: Timestamp;
        comment: string | null;
        /**
         * A version of the prompt, from 1.
         */
        candidate_version: number;
        evaluation_id: string | null;
    }>;
    decisions: Array<{
        at: Timestamp;
        step: number;
        /**
         * `passed`, `failed`, `inconclusive`, `approved`, `rejected`, `paused`, `resumed`, `promoted`, `rolled_back`, `canceled` or `superseded`.
         */
        verdict: string;
        by: {
            /**
             * Null for the service itself.
             */
            key_id: string | null;
            /**
             * The member who owns or created the key; null if there is none.
             */
            member_id?: string | null;
            name: string;
        };
        comment: string | null;
        /**
         * The numbers behind the decision: see docs/releases.md. Null if undecided.
         */
        numbers: unknown;
    }>;
    /**
     * Totals of all executions of the release by arm, a few seconds old.
     */
    arms: {
        stable: ReleaseArm;
        candidate: ReleaseArm;
    };
    /**
     * The causes of failed executions of the candidate, the most frequent first, at most 10, among the newest 5,000 executions of the release that are kept. Only when a single release is read.
     */
    failures?: Array<{
        code: string;
        /**
         * The message of one of these failures.
         */
        message: string;
        count: number;
    }>;
    /**
     * The last evaluation of the candidate.
     */
    evaluation_id: string | null;
    workflow_id: string;
    created_by: {
        /**
         * Null for the service itself.
         */
        key_id: string | null;
        /**
         * The member who owns or created the key; null if there is none.
         */
        member_id?: string | null;
        name: string;
    };
    created_at: Timestamp;
    /**
     * When the label moved.
     */
    promoted_at: Timestamp | null;
    finished_at: Timestamp | null;
};

/**
 * A step as given, and its outcome.
 */
export type ReleaseStep = {
    type: string;
    state: 'pending' | 'active' | 'passed' | 'failed' | 'inconclusive' | 'skipped';
    started_at: Timestamp | null;
    /**
     * The earliest end of the step; null if unknown.
     */
    due_at: Timestamp | null;
    finished_at: Timestamp | null;
    /**
     * The numbers behind the decision: see docs/releases.md. Null if undecided.
     */
    numbers: unknown;
    [key: string]: unknown;
};

export type ReleaseArm = {
    /**
     * Executions that completed or failed.
     */
    executions: number;
    errors: number;
    /**
     * 0–1. This and the other numbers are null without executions.
     */
    error_rate: number | null;
    /**
     * The part of `executions` answered by a fallback model.
     */
    fallbacks: number;
    /**
     * The part of `executions` that reused a response; excluded from latency and cost.
     */
    reused: number;
    /**
     * From creation to the end, for completed executions.
     */
    latency_p95_ms: number | null;
    /**
     * US dollars, for executions of known cost.
     */
    cost_mean: number | null;
    /**
     * US dollars.
     */
    cost_total: number;
    tokens: number;
    /**
     * Settled traces whose executions of the release are all of this arm.
     */
    traces: number;
    /**
     * Settled traces with executions of both arms: left out of the checks.
     */
    traces_of_both: number;
    /**
     * Mean scores by name.
     */
    scores: {
        [key: string]: number | null;
    };
};

export type ReleasePage = {
    data: Array<Release>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type ReleaseNumbers = {
    data: Array<{
        /**
         * The start of the minute, hour or day (UTC) in which executions were created.
         */
        at: Timestamp;
        /**
         * The step that set the share in effect at the time.
         */
        step: number;
        arm: 'stable' | 'candidate';
        /**
         * Executions that completed or failed.
         */
        executions: number;
        errors: number;
        /**
         * 0–1. This and the other numbers are null without executions.
         */
        error_rate: number | null;
        /**
         * The part of `executions` answered by a fallback model.
         */
        fallbacks: number;
        /**
         * The part of `executions` that reused a response; excluded from latency and cost.
         */
        reused: number;
        /**
         * From creation to the end, for completed executions.
         */
        latency_p95_ms: number | null;
        /**
         * US dollars, for executions of known cost.
         */
        cost_mean: number | null;
        /**
         * US dollars.
         */
        cost_total: number;
        tokens: number;
        /**
         * Settled traces whose executions of the release are all of this arm.
         */
        traces: number;
        /**
         * Settled traces with executions of both arms: left out of the checks.
         */
        traces_of_both: number;
        /**
         * Mean scores by name.
         */
        scores: {
            [key: string]: number | null;
        };
    }>;
};

export type Execution = {
    id: string;
    status: 'queued' | 'running' | 'completed' | 'failed' | 'canceled';
    /**
     * Null for a draft that was run on its own.
     */
    prompt_name: string | null;
    /**
     * Null for a draft.
     */
    prompt_version: number | null;
    /**
     * The model that responded or is being called.
     */
    model: string;
    /**
     * The model that was called first.
     */
    requested_model: string;
    provider: string;
    parameters: ModelParametersOutput;
    variables: {
        [key: string]: unknown;
    };
    /**
     * The input sent to the model: the filled template or the list of messages.
     */
    input: string | Array<ChatMessage>;
    tools: Array<Tool> | null;
    tool_choice: ToolChoice | null;
    /**
     * The prompts that the texts include, at any depth.
     */
    includes: Array<{
        name: string;
        version: number;
    }>;
    output: string | null;
    /**
     * `output` as parsed JSON if a JSON format was requested and the model complied; otherwise null.
     */
    output_json: unknown | null;
    /**
     * The tool calls that the model requested. The service never runs tools.
     */
    tool_calls: Array<ToolCall>;
    finish_reason: string | null;
    tokens: Tokens;
    /**
     * True if the usage of a response is unknown: `tokens` leaves that call out, and its entry in `calls` is null. The cost is null, too, unless the application that recorded the run passed one.
     */
    tokens_unknown?: boolean;
    cost: Cost;
    latency: {
        /**
         * From creation to the first call.
         */
        queue_ms: number | null;
        /**
         * The duration of the successful call.
         */
        model_ms: number | null;
        /**
         * From creation to the end.
         */
        total_ms: number | null;
    };
    /**
     * Calls to models.
     */
    attempts: number;
    /**
     * Every call in order, including failed ones. Their costs add up to the cost of the execution.
     */
    calls: Array<ExecutionCall>;
    /**
     * The execution whose response was reused. No model was called.
     */
    reused_from: string | null;
    error: ExecutionError | null;
    /**
     * The label that the request named, if any.
     */
    label: string | null;
    /**
     * The release on the label that chose the version, if any.
     */
    release: ExecutionRelease | null;
    /**
     * Whether the run was recorded with `POST /executions/record`.
     */
    recorded: boolean;
    /**
     * The trace that the execution is a step of, from the `traceparent` of the request, from a span, or as recorded.
     */
    trace_id: string | null;
    /**
     * The id of the step of the trace.
     */
    span_id: string | null;
    /**
     * The parent step.
     */
    parent_id: string | null;
    conversation_id: string | null;
    kind: string | null;
    /**
     * Up to 50 custom strings, returned unchanged.
     */
    metadata: {
        [key: string]: string;
    };
    /**
     * The newest 100 scores, if any. Only in `GET /executions/{id}`.
     */
    scores?: Array<Score>;
    /**
     * Null for recorded runs.
     */
    workflow_id: string | null;
    created_at: Timestamp;
    started_at: Timestamp | null;
    finished_at: Timestamp | null;
};

export type Tokens = {
    input: number;
    output: number;
    /**
     * Part of `input` that the provider had in its cache.
     */
    cached_input: number;
    /**
     * Part of `output` that was spent on reasoning.
     */
    reasoning: number;
    /**
     * `input` + `output`.
     */
    total: number;
};

export type Cost = {
    /**
     * US dollars; null if the model has no known price.
     */
    amount: string | null;
    currency: 'USD';
    /**
     * The price used, in US dollars per million tokens, and its source.
     */
    pricing: CostPricing | null;
};

export type ExecutionCall = {
    model: string;
    started_at: Timestamp;
    /**
     * Null while the call is in flight, and if its worker died.
     */
    duration_ms: number | null;
    /**
     * As billed; null if unknown.
     */
    tokens: Tokens | null;
    cost: CostAmount;
    error: ExecutionError | null;
    /**
     * Kinds of parts and events of the response that the service does not know. They were left out.
     */
    skipped?: Array<string>;
    /**
     * The first 65,536 characters of a response that was not understood.
     */
    response?: string;
    /**
     * Parts of the request that were changed or left out because the provider does not support them.
     */
    warnings?: Array<Warning>;
};

export type CostAmount = {
    /**
     * US dollars; null if the model has no known price.
     */
    amount: string | null;
    currency: 'USD';
};

export type ExecutionError = {
    code: string;
    message: string;
};

export type Score = {
    id: string;
    name: string;
    value: number | boolean | string;
    data_type: 'numeric' | 'boolean' | 'categorical' | 'text';
    subject: ScoredExecution | ScoredExample | ScoredTrace | ScoredConversation;
    source: 'api' | 'person' | 'evaluator' | 'feedback';
    /**
     * The author of the score: a member, or a key or session without a member.
     */
    author: string | null;
    evaluator: ScoreEvaluator | null;
    comment: string | null;
    metadata: {
        [key: string]: unknown;
    };
    created_at: Timestamp;
    updated_at: Timestamp;
};

export type ExecutionPage = {
    data: Array<Execution>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type ExecutionFacets = {
    facets: {
        /**
         * The 20 values with the most executions.
         */
        status: Array<{
            /**
             * The value to pass to the filter.
             */
            value: string;
            count: number;
        }>;
        /**
         * The 20 values with the most executions.
         */
        prompt_name: Array<{
            /**
             * The value to pass to the filter.
             */
            value: string;
            count: number;
        }>;
        /**
         * The 20 values with the most executions.
         */
        prompt_version: Array<{
            /**
             * The value to pass to the filter.
             */
            value: string;
            count: number;
        }>;
        /**
         * The 20 values with the most executions.
         */
        model: Array<{
            /**
             * The value to pass to the filter.
             */
            value: string;
            count: number;
        }>;
        /**
         * The 20 values with the most executions.
         */
        label: Array<{
            /**
             * The value to pass to the filter.
             */
            value: string;
            count: number;
        }>;
        /**
         * The 20 values with the most executions.
         */
        recorded: Array<{
            /**
             * The value to pass to the filter.
             */
            value: string;
            count: number;
        }>;
        /**
         * The 20 values with the most executions.
         */
        error_code: Array<{
            /**
             * The value to pass to the filter.
             */
            value: string;
            count: number;
        }>;
    };
    /**
     * The causes of the counted failures, the most frequent first; at most 10. Messages that differ only in numbers or ids are one cause.
     */
    failures: Array<{
        code: string;
        /**
         * The message of one of these failures.
         */
        message: string;
        count: number;
    }>;
    /**
     * The number of executions counted.
     */
    counted: number;
    /**
     * Whether all matches were counted. Otherwise only the newest were.
     */
    complete: boolean;
};

export type ExecutionDeliveries = {
    data: Array<Delivery>;
};

export type Delivery = {
    id: string;
    webhook_id: string;
    event_id: string;
    event: EventName;
    /**
     * The cause: the event itself, or a request to redeliver, replay or test.
     */
    trigger: 'event' | 'redelivery' | 'replay' | 'test';
    /**
     * `queued`: the first attempt has not ended. `waiting`: a retry is due at `next_attempt_at`. `failed`: all attempts failed. `abandoned`: the webhook was disabled or deleted.
     */
    status: 'queued' | 'waiting' | 'delivered' | 'failed' | 'abandoned';
    /**
     * The last error, or why it was abandoned.
     */
    status_reason: string | null;
    attempts_made: number;
    next_attempt_at: Timestamp | null;
    /**
     * The Temporal workflow that waits for retries; null if there was none, for example when the first attempt succeeded.
     */
    workflow_id: string | null;
    created_at: Timestamp;
    finished_at: Timestamp | null;
};

/**
 * Minor versions may add values.
 */
export type EventName = string;

export type RecordedRuns = {
    /**
     * The ids of the executions, in the order of the records.
     */
    ids: Array<string>;
};

export type ChatCompletion = {
    /**
     * The id of the execution.
     */
    id: string;
    object: 'chat.completion';
    /**
     * Seconds since 1970.
     */
    created: number;
    /**
     * The prompt version that ran.
     */
    model: string;
    choices: Array<{
        index: 0;
        message: {
            role: 'assistant';
            content: string | null;
            refusal: null;
            tool_calls?: Array<{
                id: string;
                type: 'function';
                function: {
                    name: string;
                    /**
                     * JSON.
                     */
                    arguments: string;
                };
            }>;
        };
        logprobs: null;
        finish_reason: 'stop' | 'length' | 'tool_calls' | 'content_filter';
    }>;
    usage: {
        prompt_tokens: number;
        completion_tokens: number;
        total_tokens: number;
        prompt_tokens_details: {
            cached_tokens: number;
        };
        completion_tokens_details: {
            reasoning_tokens: number;
        };
        /**
         * True if the provider did not say what it used: the counts leave that call out.
         */
        tokens_unknown?: boolean;
    };
    /**
     * Parts of the request that were sent to the model in another form, or not at all. Absent if there are none.
     */
    warnings?: Array<Warning>;
};

export type OpenAiError = {
    error: {
        /**
         * A description of the error and of how to fix it.
         */
        message: string;
        type: 'invalid_request_error' | 'authentication_error' | 'rate_limit_error' | 'server_error';
        /**
         * The first invalid field.
         */
        param: string | null;
        /**
         * The error code of the service, or of the execution.
         */
        code: string;
        /**
         * All invalid fields.
         */
        details?: Array<{
            path: string;
            message: string;
        }>;
    };
};

export type ModelResponse = {
    /**
     * The id of the execution.
     */
    id: string;
    object: 'response';
    /**
     * Seconds since 1970.
     */
    created_at: number;
    completed_at: number | null;
    status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
    background: false;
    error: ExecutionError | null;
    incomplete_details: ModelResponseIncompleteDetails | null;
    instructions: null;
    /**
     * The version of the prompt that was run.
     */
    model: string;
    output: Array<ModelResponseOutputMessage | ModelResponseOutputFunctionCall>;
    previous_response_id: null;
    parallel_tool_calls: boolean;
    temperature: number | null;
    top_p: number | null;
    max_output_tokens: number | null;
    tools: Array<{
        type: 'function';
        name: string;
        description: string | null;
        parameters: {
            [key: string]: unknown;
        };
        strict: boolean | null;
    }>;
    tool_choice: string | ModelResponseToolChoiceFunction;
    truncation: 'disabled';
    metadata: {
        [key: string]: string;
    };
    usage: ModelResponseUsage | null;
    /**
     * Parts of the request that were sent to the model in another form, or not at all. Absent if there are none.
     */
    warnings?: Array<Warning>;
};

export type ModelList = {
    object: 'list';
    data: Array<Model>;
};

export type Model = {
    /**
     * The name of a prompt.
     */
    id: string;
    object: 'model';
    /**
     * Seconds since 1970.
     */
    created: number;
    /**
     * The workspace.
     */
    owned_by: string;
};

export type ProviderList = {
    data: Array<Provider>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type Provider = {
    provider: string;
    /**
     * Whether its models can be called.
     */
    is_configured: boolean;
    /**
     * The setting that enables them; null if none is needed.
     */
    setting: string | null;
    /**
     * Whether evaluations can call its models in batches.
     */
    has_batches: boolean;
    /**
     * The models in the price list and in `MODEL_PRICES_FILE`, by name. Other models can be used, too.
     */
    models: Array<{
        model: string;
        /**
         * If the price depends on the input length, the price for short inputs. Null if unknown.
         */
        pricing: ProviderModelPricing | null;
        /**
         * The maximum number of input and output tokens together, from the price list; null if unknown.
         */
        context_window: number | null;
    }>;
};

export type ParametersCheck = {
    /**
     * Parameters that would make a call fail. Empty if none is known.
     */
    unsupported: Array<{
        parameter: string;
        message: string;
    }>;
};

export type ProviderTest = {
    provider: string;
    /**
     * Whether the provider was reached and accepted the key.
     */
    ok: boolean;
    /**
     * From the request to the whole response.
     */
    latency_ms: number;
    /**
     * The number of models on the first page of its list; null if the request failed or returned no list.
     */
    models: number | null;
    /**
     * Why the test failed, and which setting is missing, if any.
     */
    error: ExecutionError | null;
};

export type CreatedEvaluation = {
    id: string;
    status: 'scheduled' | 'running' | 'paused' | 'completed' | 'failed' | 'canceled';
    /**
     * Why the evaluation is paused.
     */
    status_reason: string | null;
    /**
     * The title that a caller gave it.
     */
    name: string | null;
    /**
     * The evaluated target: a prompt, or `code` that the caller runs.
     */
    target: {
        type: 'prompt' | 'code';
        name: string;
    };
    /**
     * The name of the target.
     */
    prompt_name: string;
    /**
     * 0 for code, for a draft and for recorded outputs.
     */
    prompt_version: number;
    /**
     * The model of the prompt; `code` if the caller runs code.
     */
    model: string;
    /**
     * Called in order when the previous model failed permanently. Pinned, like the rest of the version.
     */
    fallback_models: Array<string>;
    /**
     * The prompts that the texts include, at any depth, pinned when the run was created.
     */
    includes: Array<{
        name: string;
        version: number;
    }>;
    provider: string;
    parameters: ModelParametersOutput;
    /**
     * Null for inline examples.
     */
    dataset: DatasetVersion | null;
    evaluators: Array<{
        type: string;
        name: string;
        weight: number;
        /**
         * The signing secret of an `http` evaluator in the request. It is stored encrypted and not shown again.
         */
        secret?: string;
        [key: string]: unknown;
    }>;
    threshold: number;
    /**
     * An example with at least this score counts as 1, any other as 0. If null, each example counts as its score.
     */
    example_threshold: number | null;
    baseline_id: string | null;
    /**
     * The run whose outputs were rescored without calling the model.
     */
    source_evaluation_id: string | null;
    /**
     * The executions that the examples were made from, if there are any.
     */
    from_executions?: {
        /**
         * The number of executions that the selection found.
         */
        matched: number;
        /**
         * The executions that could not be used, by reason.
         */
        left_out: Array<{
            /**
             * Minor versions may add values.
             */
            reason: string;
            message: string;
            count: number;
            /**
             * The first of them, at most 5.
             */
            execution_ids: Array<string>;
        }>;
        /**
         * Whether the recorded outputs are scored, without calling the model.
         */
        recorded: boolean;
    };
    reuse: Reuse | null;
    concurrency: number;
    mode: 'interactive' | 'batch' | 'auto';
    /**
     * Null if models are called one by one, also when `auto` chose that.
     */
    batch: BatchOptionsOutput | null;
    /**
     * Omitted in lists and when a run is created.
     */
    batches?: Array<ProviderBatch>;
    /**
     * The savings by batches so far. Omitted when `batches` is.
     */
    savings?: CostAmount;
    max_cost: string | null;
    start_at: Timestamp | null;
    /**
     * Up to 50 custom strings, returned unchanged.
     */
    metadata: {
        [key: string]: string;
    };
    schedule_id: string | null;
    /**
     * The improvement that started it.
     */
    improvement_id: string | null;
    /**
     * Mean over the examples, 0–1. An example that failed counts 0. An example that an evaluator could not score is left out of every mean; null if no example has a score.
     */
    score: number | null;
    /**
     * The same for each evaluator. An evaluator that has scored nothing is left out.
     */
    scores_by_evaluator: ScoresByEvaluator | null;
    /**
     * Whether the score reaches the threshold; false without a score, null until the run has completed.
     */
    passed: boolean | null;
    examples_total: number;
    examples_evaluated: number;
    examples_failed: number;
    /**
     * Evaluated examples without a score: the answer of a judge or scorer could not be used.
     */
    examples_unscored?: number;
    /**
     * The number of examples without a score of that evaluator, if there are any.
     */
    unscored_by_evaluator?: {
        [key: string]: number;
    };
    /**
     * Why examples failed, the most frequent cause first; at most 10. Messages that differ only in numbers or ids are one cause.
     */
    failures?: Array<{
        code: string;
        /**
         * The message of one of these failures.
         */
        message: string;
        count: number;
    }>;
    regressions: number | null;
    improvements: number | null;
    /**
     * The model and the judges combined.
     */
    tokens: Tokens;
    /**
     * The number of calls whose usage is unknown because the provider has not reported it: `tokens` and `judge` leave them out.
     */
    tokens_unknown_calls?: number;
    /**
     * The model and the judges combined.
     */
    cost: CostAmount;
    /**
     * The judges only.
     */
    judge: {
        tokens: Tokens;
        cost: CostAmount;
    };
    latency: {
        p50_ms: number | null;
        p95_ms: number | null;
    };
    /**
     * Share of the examples that have a result, 0–1.
     */
    progress: number;
    retries: number;
    /**
     * Empty if a program of the caller runs the evaluation instead of a workflow.
     */
    workflow_id: string;
    /**
     * For code evaluations: when the run fails unless results arrive. Null if the service runs it.
     */
    results_due_at: Timestamp | null;
    error: ExecutionError | null;
    created_at: Timestamp;
    started_at: Timestamp | null;
    finished_at: Timestamp | null;
};

export type ProviderBatch = {
    /**
     * From 1.
     */
    number: number;
    /**
     * The tag of the batch at providers that support tags.
     */
    id: string;
    wave: 'responses' | 'judgements';
    /**
     * The name of the judge, if the batch is of `judgements`.
     */
    evaluator: string | null;
    provider: string;
    model: string;
    provider_batch_id: string | null;
    /**
     * `unknown`: the provider may have the batch but did not confirm it. The service searches for it and resubmits it only on request.
     */
    status: 'preparing' | 'submitting' | 'unknown' | 'in_progress' | 'settling' | 'completed' | 'failed' | 'expired' | 'canceled';
    /**
     * The status as reported by the provider.
     */
    provider_status: string | null;
    /**
     * The number of calls in the batch.
     */
    items: number;
    /**
     * Reported by the provider.
     */
    counts: ProviderBatchCounts | null;
    submitted_at: Timestamp | null;
    /**
     * When the batch expires at the provider.
     */
    expires_at: Timestamp | null;
    next_poll_at: Timestamp | null;
    finished_at: Timestamp | null;
    error: ExecutionError | null;
};

export type EvaluationPage = {
    data: Array<Evaluation>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type Evaluation = {
    id: string;
    status: 'scheduled' | 'running' | 'paused' | 'completed' | 'failed' | 'canceled';
    /**
     * Why the evaluation is paused.
     */
    status_reason: string | null;
    /**
     * The title that a caller gave it.
     */
    name: string | null;
    /**
     * The evaluated target: a prompt, or `code` that the caller runs.
     */
    target: {
        type: 'prompt' | 'code';
        name: string;
    };
    /**
     * The name of the target.
     */
    prompt_name: string;
    /**
     * 0 for code, for a draft and for recorded outputs.
     */
    prompt_version: number;
    /**
     * The model of the prompt; `code` if the caller runs code.
     */
    model: string;
    /**
     * Called in order when the previous model failed permanently. Pinned, like the rest of the version.
     */
    fallback_models: Array<string>;
    /**
     * The prompts that the texts include, at any depth, pinned when the run was created.
     */
    includes: Array<{
        name: string;
        version: number;
    }>;
    provider: string;
    parameters: ModelParametersOutput;
    /**
     * Null for inline examples.
     */
    dataset: DatasetVersion | null;
    evaluators: Array<{
        type: string;
        name: string;
        weight: number;
        [key: string]: unknown;
    }>;
    threshold: number;
    /**
     * An example with at least this score counts as 1, any other as 0. If null, each example counts as its score.
     */
    example_threshold: number | null;
    baseline_id: string | null;
    /**
     * The run whose outputs were rescored without calling the model.
     */
    source_evaluation_id: string | null;
    /**
     * The executions that the examples were made from, if there are any.
     */
    from_executions?: {
        /**
         * The number of executions that the selection found.
         */
        matched: number;
        /**
         * The executions that could not be used, by reason.
         */
        left_out: Array<{
            /**
             * Minor versions may add values.
             */
            reason: string;
            message: string;
            count: number;
            /**
             * The first of them, at most 5.
             */
            execution_ids: Array<string>;
        }>;
        /**
         * Whether the recorded outputs are scored, without calling the model.
         */
        recorded: boolean;
    };
    reuse: Reuse | null;
    concurrency: number;
    mode: 'interactive' | 'batch' | 'auto';
    /**
     * Null if models are called one by one, also when `auto` chose that.
     */
    batch: BatchOptionsOutput | null;
    /**
     * Omitted in lists and when a run is created.
     */
    batches?: Array<ProviderBatch>;
    /**
     * The savings by batches so far. Omitted when `batches` is.
     */
    savings?: CostAmount;
    max_cost: string | null;
    start_at: Timestamp | null;
    /**
     * Up to 50 custom strings, returned unchanged.
     */
    metadata: {
        [key: string]: string;
    };
    schedule_id: string | null;
    /**
     * The improvement that started it.
     */
    improvement_id: string | null;
    /**
     * Mean over the examples, 0–1. An example that failed counts 0. An example that an evaluator could not score is left out of every mean; null if no example has a score.
     */
    score: number | null;
    /**
     * The same for each evaluator. An evaluator that has scored nothing is left out.
     */
    scores_by_evaluator: ScoresByEvaluator | null;
    /**
     * Whether the score reaches the threshold; false without a score, null until the run has completed.
     */
    passed: boolean | null;
    examples_total: number;
    examples_evaluated: number;
    examples_failed: number;
    /**
     * Evaluated examples without a score: the answer of a judge or scorer could not be used.
     */
    examples_unscored?: number;
    /**
     * The number of examples without a score of that evaluator, if there are any.
     */
    unscored_by_evaluator?: {
        [key: string]: number;
    };
    /**
     * Why examples failed, the most frequent cause first; at most 10. Messages that differ only in numbers or ids are one cause.
     */
    failures?: Array<{
        code: string;
        /**
         * The message of one of these failures.
         */
        message: string;
        count: number;
    }>;
    regressions: number | null;
    improvements: number | null;
    /**
     * The model and the judges combined.
     */
    tokens: Tokens;
    /**
     * The number of calls whose usage is unknown because the provider has not reported it: `tokens` and `judge` leave them out.
     */
    tokens_unknown_calls?: number;
    /**
     * The model and the judges combined.
     */
    cost: CostAmount;
    /**
     * The judges only.
     */
    judge: {
        tokens: Tokens;
        cost: CostAmount;
    };
    latency: {
        p50_ms: number | null;
        p95_ms: number | null;
    };
    /**
     * Share of the examples that have a result, 0–1.
     */
    progress: number;
    retries: number;
    /**
     * Empty if a program of the caller runs the evaluation instead of a workflow.
     */
    workflow_id: string;
    /**
     * For code evaluations: when the run fails unless results arrive. Null if the service runs it.
     */
    results_due_at: Timestamp | null;
    error: ExecutionError | null;
    created_at: Timestamp;
    started_at: Timestamp | null;
    finished_at: Timestamp | null;
};

export type EvaluationEstimate = {
    examples: number;
    /**
     * Examples that fit the prompt, estimated from a sample of a large dataset.
     */
    model_calls: number;
    judge_calls: number;
    /**
     * Model and judges together.
     */
    tokens: {
        input: number;
        output: number;
    };
    /**
     * US dollars, judges included; null if a model has no known price.
     */
    cost: EvaluationEstimateCost | null;
    /**
     * The savings by batches, already part of `cost`; null if calls are made one by one or a model has no known price.
     */
    savings: CostAmount | null;
    /**
     * How the estimate was calculated, in words.
     */
    basis: string;
};

export type EvaluationResultPage = {
    data: Array<EvaluationResult>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type EvaluationResult = {
    seq: number;
    example_id: string;
    status: 'answered' | 'scored' | 'failed';
    variables: {
        [key: string]: unknown;
    };
    /**
     * Any JSON.
     */
    expected: unknown;
    output: string | null;
    /**
     * The tool calls that the model requested. The service never runs tools.
     */
    tool_calls: Array<ToolCall>;
    /**
     * The model that responded, or the last one that failed: the run's model or one of its fallback models.
     */
    model: string | null;
    /**
     * The execution or evaluation that paid for the output, if it was reused.
     */
    reused_from: string | null;
    finish_reason: string | null;
    score: number | null;
    scores: EvaluationResultScores | null;
    /**
     * Evaluators that gave no score, and why. The example then has no score and is left out of the means.
     */
    unscored?: {
        [key: string]: {
            reason: string | null;
        };
    };
    /**
     * The newest 100 scores stored with `POST /scores`. Only when a single result is read.
     */
    stored_scores?: Array<Score>;
    baseline_score: number | null;
    regression: boolean | null;
    improvement: boolean | null;
    error: ExecutionError | null;
    attempts: number;
    tokens: Tokens;
    /**
     * True if a provider has not reported what a call used: `tokens` leaves that call out.
     */
    tokens_unknown?: boolean;
    /**
     * Kinds of parts and events of the response that the service does not know. They were left out.
     */
    skipped?: Array<string>;
    /**
     * Parts of the request that were changed or left out because the provider does not support them.
     */
    warnings?: Array<Warning>;
    cost: CostAmount;
    model_ms: number | null;
};

export type StoredCodeResults = {
    /**
     * The number of new results.
     */
    stored: number;
    /**
     * The number of examples that already had a result, which is kept.
     */
    known: number;
};

export type EvaluationResultsSummary = {
    /**
     * The number of results that match the filters.
     */
    results: number;
    failed: number;
    /**
     * The number of results with a score (of `evaluator`, if given). Failed examples score 0.
     */
    scored: number;
    /**
     * The number of results without a score, because an evaluator gave none.
     */
    unscored?: number;
    /**
     * The number of results that reach the run's `example_threshold`, or its `threshold` if it has none.
     */
    passed: number;
    /**
     * The mean of the scores.
     */
    score: number | null;
    /**
     * The number of scores in each tenth from 0 to 1; a score of 1 is in the last.
     */
    histogram: Array<number>;
    /**
     * The mean score of each evaluator. An example that failed counts 0.
     */
    by_evaluator: {
        [key: string]: number | null;
    };
    /**
     * The number of examples that each evaluator could not score.
     */
    unscored_by_evaluator?: {
        [key: string]: number;
    };
    tokens: number;
    /**
     * The number of calls that `tokens` leaves out, because the provider has not reported their usage.
     */
    tokens_unknown_calls?: number;
    /**
     * Excludes calls of unknown price and judges.
     */
    cost: CostAmount;
    latency: {
        p50_ms: number | null;
        p95_ms: number | null;
    };
    /**
     * False if only the first results were examined: at most 100,000, or with `q` at most 64 MiB.
     */
    complete: boolean;
};

export type EvaluationInput = {
    /**
     * The text of a template, sent as one user message, or the messages. Null if the example's variables do not fill the prompt and nothing was sent.
     */
    input: string | Array<ChatMessage> | null;
};

export type EvaluationComparison = {
    a: string;
    b: string;
    examples_compared: number;
    /**
     * Examples of both runs that are not compared because an evaluator gave no score in one of them.
     */
    examples_unscored?: number;
    score_a: number | null;
    score_b: number | null;
    difference: number | null;
    interval: EvaluationComparisonInterval | null;
    p_value: number | null;
    verdict: 'regression' | 'improvement' | 'within_noise' | 'too_few_differences' | 'no_change' | 'nothing_in_common';
    /**
     * Why `verdict` does not describe the difference. `not_comparable`: the runs share no unchanged evaluator. `failures`: more than a tenth of the examples failed in one of the runs, or have no score.
     */
    withheld: EvaluationComparisonWithheld | null;
    /**
     * Whether the runs share an unchanged evaluator. If not, there are no scores.
     */
    comparable: boolean;
    /**
     * Evaluators that the scores and the verdict leave out, because the runs differ in them.
     */
    left_out_evaluators: Array<{
        name: string;
        reason: 'only_in_a' | 'only_in_b' | 'changed';
    }>;
    note: string;
    regressions: {
        total: number;
        examples: Array<{
            key: string;
            /**
             * The result in the earlier run: `/evaluations/{other}/results/{seq_a}`.
             */
            seq_a: number;
            /**
             * The result in the later run: `/evaluations/{id}/results/{seq_b}`.
             */
            seq_b: number;
            score_a: number;
            score_b: number;
            difference: number;
            failed_a: boolean;
            failed_b: boolean;
        }>;
    };
    improvements: {
        total: number;
        examples: Array<{
            key: string;
            /**
             * The result in the earlier run: `/evaluations/{other}/results/{seq_a}`.
             */
            seq_a: number;
            /**
             * The result in the later run: `/evaluations/{id}/results/{seq_b}`.
             */
            seq_b: number;
            score_a: number;
            score_b: number;
            difference: number;
            failed_a: boolean;
            failed_b: boolean;
        }>;
    };
    unchanged: number;
    only_in_a: {
        total: number;
        keys: Array<string>;
    };
    only_in_b: {
        total: number;
        keys: Array<string>;
    };
    by_evaluator: Array<{
        name: string;
        score_a: number | null;
        score_b: number | null;
        difference: number | null;
        regressions: number;
        improvements: number;
        unchanged: number;
    }>;
    /**
     * With `group_by`: the 50 largest groups.
     */
    by_group?: {
        total: number;
        groups: Array<{
            /**
             * As text, truncated to 200 characters. Null for examples without this key.
             */
            value: string | null;
            examples: number;
            score_a: number;
            score_b: number;
            difference: number;
            interval: EvaluationComparisonInterval | null;
            verdict: 'regression' | 'improvement' | 'within_noise' | 'too_few_differences' | 'no_change' | 'nothing_in_common';
            regressions: number;
            improvements: number;
        }>;
    };
    /**
     * If `pairwise` evaluators of b compared its outputs with those of a (`against`), or people compared them as pairs of a queue.
     */
    preferences?: Array<{
        /**
         * `person`: people compared the outputs as pairs of a queue.
         */
        source: string;
        /**
         * The name of the score if people compared.
         */
        evaluator: string;
        /**
         * The number of answers if people compared. An example counts once, with their mean.
         */
        reviews?: number;
        /**
         * Examples with a preference or a tie.
         */
        examples: number;
        /**
         * Examples in which the output of b is better.
         */
        preferred: number;
        /**
         * Examples in which the output of a is better.
         */
        other_preferred: number;
        ties: number;
        /**
         * The mean score, 0–1; 0.5 if neither run is better.
         */
        share: number;
        /**
         * 95 %, of `share`.
         */
        interval: {
            low: number;
            high: number;
        };
        p_value: number;
        verdict: 'preferred' | 'other_preferred' | 'within_noise' | 'too_few_differences';
    }>;
    /**
     * With `unchanged=true`.
     */
    unchanged_examples?: Array<{
        key: string;
        /**
         * The result in the earlier run: `/evaluations/{other}/results/{seq_a}`.
         */
        seq_a: number;
        /**
         * The result in the later run: `/evaluations/{id}/results/{seq_b}`.
         */
        seq_b: number;
        score_a: number;
        score_b: number;
        difference: number;
        failed_a: boolean;
        failed_b: boolean;
    }>;
    /**
     * The metadata keys of the first 200 examples of b: possible values of `group_by`.
     */
    metadata_keys?: Array<string>;
};

export type OpenExamplePage = {
    data: Array<OpenExample>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type OpenExample = {
    /**
     * The position of the example, from 0.
     */
    seq: number;
    example_id: string;
    variables: {
        [key: string]: unknown;
    };
    /**
     * Absent if there is no expected value.
     */
    expected?: unknown;
    metadata?: {
        [key: string]: unknown;
    };
};

export type EvaluatorTypeList = {
    data: Array<EvaluatorType>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type EvaluatorType = {
    type: string;
    title: string;
    /**
     * When the score is 1.
     */
    description: string;
    /**
     * A JSON schema of the options, except those common to all evaluators (`type`, `name`, `weight`). You can render a form from it: `title` and `description` are display texts, `x-enumDescriptions` the display texts of `enum` values; `x-field` names a control other than the default of the type: `long-text`, `model`, `json`, or `none`.
     */
    options: {
        [key: string]: unknown;
    };
};

export type TriedScores = {
    /**
     * The weighted mean of those that have a score, 0–1; null if none has.
     */
    score: number | null;
    scores: Array<{
        name: string;
        type: string;
        /**
         * Null if there is none.
         */
        score: number | null;
        reason: string | null;
        /**
         * The category that the judge gave, if it gives categories.
         */
        category?: string;
        /**
         * Why the output could not be scored. Such a score is 0, or null if its judge gave none.
         */
        problem: string | null;
        /**
         * The last execution that called the judge.
         */
        execution_id: string | null;
        /**
         * The cost of the judge; null if no model was called.
         */
        cost: CostAmount | null;
    }>;
};

export type Improvement = {
    id: string;
    /**
     * Minor versions may add values.
     */
    status: string;
    status_reason: string | null;
    /**
     * Minor versions may add values.
     */
    phase: string;
    error: ExecutionError | null;
    /**
     * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
     */
    prompt_name: string;
    /**
     * The base.
     */
    prompt_version: number;
    dataset: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
        version: number;
    };
    evaluators: Array<{
        type: string;
        name: string;
        [key: string]: unknown;
    }>;
    example_threshold: number | null;
    reflection: {
        model: string;
        [key: string]: unknown;
    };
    parts: Array<string>;
    keep: Array<string>;
    few_shot: number;
    /**
     * Scores by people that reflections can show: the limit, and how many there are.
     */
    feedback: ImprovementFeedback | null;
    max_cost: string | null;
    max_proposals: number;
    parallel: number;
    minibatch: number;
    patience: number;
    deadline: Timestamp | null;
    max_length: number | null;
    concurrency: number;
    /**
     * Minor versions may add values.
     */
    mode: string;
    batch: BatchOptionsOutput | null;
    reuse: {
        max_age: number;
    };
    group_by: string | null;
    seed: string;
    /**
     * Up to 50 custom strings, returned unchanged.
     */
    metadata: {
        [key: string]: string;
    };
    /**
     * The number of examples of each part.
     */
    split: {
        train: number;
        check: number;
        held_out: number;
    };
    spent: {
        /**
         * US dollars, as counted against `max_cost`.
         */
        cost: number;
        /**
         * Calls of the prompt.
         */
        calls: number;
        /**
         * Examples answered by an earlier response.
         */
        reused: number;
        reflections: number;
        /**
         * US dollars that reused responses would have cost.
         */
        savings: number;
    };
    /**
     * Mean scores of the base. Its two runs of the check part differ by noise.
     */
    base: {
        train: number | null;
        check: number | null;
        check_again: number | null;
    };
    best: ImprovementBest | null;
    proposals: {
        made: number;
        rejected: number;
        skipped: number;
        tried: number;
        checked: number;
    };
    /**
     * The best score on the check part after each round.
     */
    curve: Array<{
        proposal: number;
        /**
         * US dollars, as counted against `max_cost`.
         */
        cost: number;
        /**
         * 0–1
         */
        check: number;
    }>;
    stop_reason: string | null;
    verdict: ImprovementVerdict | null;
    accepted: ImprovementAccepted | null;
    workflow_id: string;
    created_at: Timestamp;
    finished_at: Timestamp | null;
};

export type ImprovementVerdict = {
    /**
     * Minor versions may add values.
     */
    result: string;
    candidate: number | null;
    evaluation_id: string | null;
    base_evaluation_id: string | null;
    /**
     * Held-out examples that have both scores.
     */
    examples: number | null;
    score_base: number | null;
    score: number | null;
    difference: number | null;
    /**
     * The 95 % confidence interval of the difference.
     */
    interval: ImprovementVerdictInterval | null;
    p_value: number | null;
    /**
     * Lower for each further verdict over the same examples.
     */
    p_needed: number | null;
    /**
     * The number of this verdict over these examples, from 1.
     */
    look: number | null;
    note: string;
    by_evaluator: Array<{
        name: string;
        score_a: number | null;
        score_b: number | null;
        difference: number | null;
        regressions: number;
        improvements: number;
        unchanged: number;
    }>;
    /**
     * How well a judge agrees with people on the held-out examples. Null unless all of them come from `POST /datasets/{name}/from-scores`.
     */
    agreement: ImprovementVerdictAgreement | null;
    /**
     * The gain on the examples that chose it, minus the gain on the held-out ones.
     */
    optimism: number | null;
    cost_per_call: ImprovementVerdictCostPerCall | null;
    /**
     * Characters of the prompt.
     */
    length: ImprovementVerdictLength | null;
};

export type AgreementMeasure = {
    name: 'cohen_kappa' | 'weighted_kappa_linear' | 'weighted_kappa_quadratic' | 'spearman_rho' | 'krippendorff_alpha';
    /**
     * 1: perfect agreement; 0: chance level. Null if undefined.
     */
    value: number | null;
    /**
     * The 95 % interval.
     */
    interval: AgreementMeasureInterval | null;
};

export type ImprovementPage = {
    data: Array<Improvement>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type ImprovementEstimate = {
    split: {
        train: number;
        check: number;
        held_out: number;
    };
    held_out: {
        /**
         * Held-out examples that no verdict has looked at.
         */
        fresh: number;
        look: number;
        p_needed: number;
        /**
         * The smallest improvement that so many examples can prove; null: none.
         */
        least_provable: number | null;
    };
    /**
     * Calls of the prompt.
     */
    calls: {
        expected: number;
        most: number;
    };
    reflections: number;
    /**
     * US dollars, judges included; null if a model has no known price.
     */
    cost: ImprovementEstimateCost | null;
    warnings: Array<string>;
};

export type PromptSuggestion = {
    /**
     * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
     */
    prompt_name: string;
    prompt_version: number;
    /**
     * Null if it was rejected, or there is no answer. Other fields are as in the version.
     */
    content: PromptSuggestionContent | null;
    reject: PromptSuggestionReject | null;
    /**
     * The change, in the words of the model that made it.
     */
    change: string | null;
    diagnosis: Array<string>;
    /**
     * The number of examples that the model saw.
     */
    examples: number;
    /**
     * The status of the call.
     */
    status: string;
    execution_id: string;
    /**
     * US dollars; null if unknown.
     */
    cost: string | null;
    /**
     * False: whether it is better is unknown until it is evaluated.
     */
    measured: boolean;
};

export type ReflectionPrompt = {
    /**
     * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
     */
    name: string;
    messages: Array<unknown>;
    model: string;
};

export type ImprovementCandidatePage = {
    data: Array<ImprovementCandidate>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type ImprovementCandidate = {
    /**
     * 0 is the base.
     */
    number: number;
    parent: number | null;
    /**
     * Minor versions may add values.
     */
    kind: string;
    /**
     * Minor versions may add values.
     */
    status: string;
    reject: PromptSuggestionReject | null;
    /**
     * The change, in the words of the model that made it.
     */
    change: string | null;
    diagnosis: Array<string>;
    /**
     * Null until it is written. Other fields are as in the base.
     */
    content: PromptSuggestionContent | null;
    /**
     * Characters.
     */
    length: number | null;
    minibatch: ImprovementCandidateMinibatch | null;
    /**
     * On the check part; `difference` from the first run of the base.
     */
    check: ImprovementCandidateCheck | null;
    /**
     * US dollars, as counted against `max_cost`.
     */
    cost: number;
    /**
     * The changes of its texts from its parent and from the base, field by field. Only if a single candidate is retrieved; null until it is written.
     */
    diffs?: ImprovementCandidateDiffs | null;
    /**
     * Its reflections.
     */
    execution_ids: Array<string>;
    evaluation_ids: {
        [key: string]: string;
    };
};

export type GeneratedExamples = {
    prompt_name: string;
    prompt_version: number;
    /**
     * In the form of `POST /datasets/{name}/examples`, with `generated` in their metadata.
     */
    examples: Array<{
        variables: {
            [key: string]: unknown;
        };
        metadata: {
            [key: string]: unknown;
        };
    }>;
    dropped: {
        /**
         * Inputs that do not fill the prompt.
         */
        invalid: number;
        /**
         * Inputs that repeat another one, or an example of the dataset.
         */
        duplicate: number;
    };
    /**
     * The status of the call.
     */
    status: string;
    execution_id: string;
    /**
     * US dollars, as in the execution.
     */
    cost: string | null;
};

export type DatasetPage = {
    data: Array<Dataset>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type Dataset = {
    /**
     * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
     */
    name: string;
    version: number;
    examples_total: number;
    /**
     * SHA-256 over keys, variables and expected values in order. Two versions with the same examples have the same hash.
     */
    hash: string;
    description: string | null;
    created_at: Timestamp;
    updated_at: Timestamp;
    version_created_at: Timestamp;
};

export type DatasetExamplePage = {
    data: Array<DatasetExample>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type DatasetExample = {
    /**
     * Its position in the version, from 0.
     */
    seq: number;
    /**
     * The id of the example, or `sha256:` and a hash of its variables and expected value.
     */
    key: string;
    /**
     * Identifies the example across versions. Default: a hash of its content.
     */
    id?: string;
    /**
     * A value for each placeholder of the prompt.
     */
    variables: {
        [key: string]: unknown;
    };
    /**
     * The expected output. Any JSON.
     */
    expected?: unknown;
    /**
     * Your own metadata, returned unchanged.
     */
    metadata?: {
        [key: string]: unknown;
    };
};

export type DatasetChange = {
    /**
     * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
     */
    name: string;
    version: number;
    examples_total: number;
    /**
     * SHA-256 over keys, variables and expected values in order. Two versions with the same examples have the same hash.
     */
    hash: string;
    description: string | null;
    created_at: Timestamp;
    updated_at: Timestamp;
    version_created_at: Timestamp;
    /**
     * The delimiter used to read the uploaded CSV.
     */
    delimiter?: string;
    /**
     * The number of examples added to those of the previous version.
     */
    added?: number;
    /**
     * The number of examples of the previous version that have new content.
     */
    replaced?: number;
    /**
     * The number of uploaded examples that the dataset already has. If it has all of them, no version is created.
     */
    unchanged?: number;
};

export type SavedEvaluatorPage = {
    data: Array<SavedEvaluator>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type SavedEvaluator = {
    name: string;
    version: number;
    /**
     * The number of versions: the newest one.
     */
    versions: number;
    /**
     * Its options, as in a request.
     */
    evaluator: {
        type: string;
        name: string;
        [key: string]: unknown;
    };
    description: string | null;
    /**
     * When the version was stored.
     */
    created_at: Timestamp;
    updated_at: Timestamp;
};

export type Scores = {
    data: Array<Score>;
};

export type ScorePage = {
    data: Array<Score>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type ScoreSummary = {
    data: Array<{
        name: string;
        data_type: 'numeric' | 'boolean' | 'categorical' | 'text';
        prompt_name?: string | null;
        prompt_version?: number | null;
        label?: string | null;
        /**
         * With `arm`.
         */
        release_id?: string | null;
        arm?: Arm | null;
        /**
         * The day of the subject, in UTC.
         */
        day?: string;
        n: number;
        /**
         * The mean of numeric scores.
         */
        mean: number | null;
        /**
         * The share of true among boolean scores, 0–1.
         */
        share_true: number | null;
        /**
         * The number of scores in each of the 100 most frequent categories.
         */
        categories: ScoreSummaryDataCategories | null;
    }>;
    since: Timestamp;
    until: Timestamp;
};

export type ScoreDefinitionPage = {
    data: Array<ScoreDefinition>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type ScoreDefinition = {
    name: string;
    data_type: 'numeric' | 'boolean' | 'categorical' | 'text';
    min: number | null;
    max: number | null;
    categories: Array<ScoreDefinitionCategory> | null;
    description: string | null;
    /**
     * False if the type comes from the first score.
     */
    defined: boolean;
    created_at: Timestamp;
    updated_at: Timestamp;
};

export type FeedbackToken = {
    token: string;
    execution_id: string;
    names: Array<string>;
    expires_at: Timestamp;
};

export type SubjectFeedbackToken = {
    token: string;
    subject: ScoredTrace | ScoredConversation;
    names: Array<string>;
    expires_at: Timestamp;
};

export type Feedback = {
    name: string;
    value: number | boolean | string;
    comment: string | null;
};

export type NextQueueItem = {
    /**
     * Null if nothing is left for this reviewer at the moment.
     */
    item: QueueItem | null;
};

export type QueueItem = {
    id: string;
    /**
     * An execution, an example of an evaluation, a trace, or a step of one.
     */
    subject: {
        execution_id?: string;
        evaluation_id?: string;
        example_id?: string;
        trace_id?: string;
        span_id?: string;
    };
    /**
     * Only of pairs: the output to compare with that of `subject`. In a response to a reviewer, `subject` is the first and `other` the second in an order that was drawn for them; in lists, `other` is the earlier one.
     */
    other?: {
        execution_id?: string;
        evaluation_id?: string;
        example_id?: string;
        trace_id?: string;
        span_id?: string;
    };
    /**
     * `skipped`: by a reviewer. Other reviewers may still get the item once nothing else is left.
     */
    state: 'pending' | 'leased' | 'completed' | 'skipped';
    /**
     * The number of reviewers who completed the item.
     */
    completed: number;
    /**
     * The number of reviewers who skipped the item.
     */
    skipped: number;
    /**
     * In lists, up to 20 reviews of all reviewers; otherwise only reviews of the caller.
     */
    reviews: Array<{
        /**
         * The id of a key or session.
         */
        reviewer: string;
        state: 'leased' | 'completed' | 'skipped';
        leased_until: Timestamp | null;
        ended_at: Timestamp | null;
        /**
         * The example that holds the correction.
         */
        correction: QueueItemReviewCorrection | null;
    }>;
    created_at: Timestamp;
    completed_at: Timestamp | null;
};

export type QueuePage = {
    data: Array<Queue>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type Queue = {
    /**
     * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
     */
    name: string;
    description: string | null;
    score_names: Array<string>;
    /**
     * As given in the request.
     */
    filter: QueueFilter | null;
    /**
     * As given in the request.
     */
    trace_filter: QueueFilter | null;
    sample_rate: number;
    reviewers_per_item: number;
    /**
     * The number of items in each state.
     */
    progress: {
        pending: number;
        leased: number;
        completed: number;
        skipped: number;
    };
    /**
     * Whether the queue is full.
     */
    full: boolean;
    created_at: Timestamp;
    updated_at: Timestamp;
};

export type QueueItemPage = {
    data: Array<QueueItem>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type AddedQueueItems = {
    added: number;
    /**
     * The number already in the queue.
     */
    present: number;
};

export type QueueAgreement = {
    scores: Array<{
        name: string;
        data_type: 'numeric' | 'boolean' | 'categorical';
        /**
         * Items scored by at least two reviewers.
         */
        items: number;
        /**
         * The share of those items on which all reviewers agree.
         */
        same: number | null;
        measure: AgreementMeasure;
        /**
         * The 20 pairs with the most items.
         */
        pairs: Array<{
            reviewers: Array<string>;
            items: number;
            measure: AgreementMeasure;
        }>;
    }>;
};

export type EvaluatorAgreement = {
    score: string;
    data_type: 'numeric' | 'boolean' | 'categorical';
    /**
     * Whether a limit of the comparison was exceeded: 20,000 human scores, 100,000 evaluator scores, 50 versions.
     */
    truncated: boolean;
    evaluators: Array<{
        rule: string;
        version: string;
        model: string | null;
        /**
         * Subjects scored by both the evaluator and people.
         */
        n: number;
        /**
         * Subjects left out because people disagree with each other.
         */
        undecided: number;
        /**
         * The verdict is based on the first one.
         */
        measures: Array<AgreementMeasure>;
        /**
         * The share of subjects with exactly the same score from both.
         */
        same: number | null;
        /**
         * The mean distance between numeric scores.
         */
        mean_distance: number | null;
        /**
         * Null if it cannot be determined.
         */
        better_than_chance: boolean | null;
        verdict: string;
        disagreements_total: number;
        /**
         * Largest distance first.
         */
        disagreements: Array<{
            subject: {
                execution_id?: string;
                evaluation_id?: string;
                example_id?: string;
                trace_id?: string;
                span_id?: string;
                conversation_id?: string;
            };
            /**
             * A number, boolean, category or text, as the score is defined.
             */
            evaluator: number | boolean | string;
            /**
             * A number, boolean, category or text, as the score is defined.
             */
            people: number | boolean | string;
            /**
             * The number of people who scored it.
             */
            reviewers: number;
            distance: number;
            /**
             * The evaluator's reason, truncated to 500 characters.
             */
            reason: string | null;
        }>;
    }>;
};

export type Backfill = {
    id: string;
    rule: string;
    since: Timestamp;
    until: Timestamp;
    max_cost: string | null;
    status: 'running' | 'paused' | 'completed' | 'failed' | 'canceled';
    status_reason: string | null;
    /**
     * The share of the period searched so far, 0–1.
     */
    progress: number;
    /**
     * Executions to score found so far.
     */
    found: number;
    scored: number;
    failed: number;
    /**
     * US dollars, decimal.
     */
    spent: string;
    error: ExecutionError | null;
    /**
     * The reason why the most recent execution without a score has none.
     */
    last_error: LastError | null;
    created_at: Timestamp;
    finished_at: Timestamp | null;
};

export type BackfillPage = {
    data: Array<Backfill>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type RulePage = {
    data: Array<Rule>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type Rule = {
    name: string;
    prompt_name: string | null;
    group: string | null;
    label: string | null;
    /**
     * As given; null: none.
     */
    filter: unknown | null;
    /**
     * As given; null: the rule scores executions.
     */
    trace_filter: unknown | null;
    sample_rate: number;
    /**
     * As given. Secrets of `http` evaluators appear only in the response that creates them.
     */
    evaluators: Array<unknown>;
    max_cost_per_day: string | null;
    enabled: boolean;
    /**
     * Executions (or traces) that have all their scores.
     */
    scored: number;
    /**
     * Executions without a score.
     */
    failed: number;
    /**
     * Executions skipped after waiting for a day.
     */
    skipped: number;
    /**
     * Executions skipped because the budget was used up.
     */
    skipped_budget: number;
    /**
     * US dollars, decimal.
     */
    spent: string;
    /**
     * US dollars spent of `max_cost_per_day`, decimal.
     */
    spent_today: string;
    /**
     * Executions waiting to be scored; 10,000 means 10,000 or more. Omitted in lists.
     */
    waiting?: number;
    /**
     * The reason why the most recent execution without a score has none.
     */
    last_error: LastError | null;
    created_at: Timestamp;
    updated_at: Timestamp;
};

export type Schedule = {
    id: string;
    name: string;
    cron: string;
    time_zone: string;
    paused: boolean;
    /**
     * The evaluation to start, as given. Its secrets appear only in the response that creates the schedule.
     */
    evaluation: unknown;
    /**
     * The next start times; empty while paused. Omitted in lists.
     */
    next_runs?: Array<Timestamp>;
    /**
     * Why the last start failed; null once a start succeeds.
     */
    last_error: LastError | null;
    created_at: Timestamp;
};

export type SchedulePage = {
    data: Array<Schedule>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type MonitorPage = {
    data: Array<Monitor>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type Monitor = {
    /**
     * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
     */
    name: string;
    prompt_name: string | null;
    label: string | null;
    window: string;
    checks: Array<MonitorCheck>;
    notify: {
        email: boolean;
    };
    enabled: boolean;
    state: MonitorState;
    /**
     * When the monitor entered this state.
     */
    since: Timestamp;
    /**
     * The latest measurements, in the order of `checks`.
     */
    values: Array<MonitorValue>;
    last_checked_at: Timestamp | null;
    created_at: Timestamp;
    updated_at: Timestamp;
};

export type MonitorCheck = {
    metric: string;
    /**
     * Alerts if the metric is above this value: a rate (0–1), ms, US dollars or a score.
     */
    above?: number;
    /**
     * Alerts if the metric is below this value. Set either above or below.
     */
    below?: number;
    recover_at: number;
    min_executions: number;
    for: string;
};

/**
 * `no_data`: too few runs to evaluate the checks. `alerting`: at least one check does not hold.
 */
export type MonitorState = 'no_data' | 'ok' | 'alerting';

export type MonitorValue = {
    metric: string;
    /**
     * Null if there was nothing to measure.
     */
    value: number | null;
    /**
     * The number of executions or scores measured.
     */
    count: number;
    alerting: boolean;
};

export type MonitorHistory = {
    data: Array<MonitorChange>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type MonitorChange = {
    at: Timestamp;
    previous_state: MonitorState;
    state: MonitorState;
    /**
     * The reason in words.
     */
    reason: string;
    values: Array<MonitorValue>;
};

export type MonitorNumbers = {
    data: Array<{
        /**
         * The end of the window.
         */
        at: Timestamp;
        /**
         * In the order of the checks.
         */
        values: Array<{
            metric: string;
            /**
             * Null if there was nothing to measure.
             */
            value: number | null;
            /**
             * The number of executions or scores measured.
             */
            count: number;
        }>;
    }>;
};

export type WebhookWithSecret = {
    id: string;
    url: string;
    events: Array<EventName>;
    description: string | null;
    status: 'enabled' | 'disabled';
    disabled_reason: string | null;
    /**
     * Failed attempts since the last successful one.
     */
    consecutive_failures: number;
    rate_limit_per_minute: number | null;
    /**
     * Names of the custom headers; null if they cannot be decrypted because their encryption key is no longer configured.
     */
    header_names: Array<string> | null;
    /**
     * When the previous secret stops signing: 24 hours after the rotation.
     */
    previous_secret_expires_at: Timestamp | null;
    last_delivery_at: Timestamp | null;
    created_at: Timestamp;
    updated_at: Timestamp;
    /**
     * The signing secret. It is stored encrypted and not shown again.
     */
    secret: string;
};

export type WebhookPage = {
    data: Array<Webhook>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type Webhook = {
    id: string;
    url: string;
    events: Array<EventName>;
    description: string | null;
    status: 'enabled' | 'disabled';
    disabled_reason: string | null;
    /**
     * Failed attempts since the last successful one.
     */
    consecutive_failures: number;
    rate_limit_per_minute: number | null;
    /**
     * Names of the custom headers; null if they cannot be decrypted because their encryption key is no longer configured.
     */
    header_names: Array<string> | null;
    /**
     * When the previous secret stops signing: 24 hours after the rotation.
     */
    previous_secret_expires_at: Timestamp | null;
    last_delivery_at: Timestamp | null;
    created_at: Timestamp;
    updated_at: Timestamp;
};

export type DeliveryWithAttempts = {
    id: string;
    webhook_id: string;
    event_id: string;
    event: EventName;
    /**
     * The cause: the event itself, or a request to redeliver, replay or test.
     */
    trigger: 'event' | 'redelivery' | 'replay' | 'test';
    /**
     * `queued`: the first attempt has not ended. `waiting`: a retry is due at `next_attempt_at`. `failed`: all attempts failed. `abandoned`: the webhook was disabled or deleted.
     */
    status: 'queued' | 'waiting' | 'delivered' | 'failed' | 'abandoned';
    /**
     * The last error, or why it was abandoned.
     */
    status_reason: string | null;
    attempts_made: number;
    next_attempt_at: Timestamp | null;
    /**
     * The Temporal workflow that waits for retries; null if there was none, for example when the first attempt succeeded.
     */
    workflow_id: string | null;
    created_at: Timestamp;
    finished_at: Timestamp | null;
    /**
     * The body of every attempt: the event, exactly as signed. Null if the event no longer exists.
     */
    request_body: string | null;
    /**
     * All attempts so far, oldest first.
     */
    attempts: Array<DeliveryAttempt>;
};

export type DeliveryAttempt = {
    /**
     * The number of the attempt, from 1.
     */
    attempt: number;
    started_at: Timestamp;
    /**
     * The headers sent with the `request_body` of the delivery; null for attempts made before they were recorded.
     */
    request: DeliveryAttemptRequest | null;
    /**
     * HTTP status of the response; null if there was none.
     */
    status: number | null;
    duration_ms: number;
    /**
     * The first 1 KiB of the response body.
     */
    response_body: string | null;
    /**
     * Why the attempt failed; null on success.
     */
    error: string | null;
};

export type ReplayedEvents = {
    /**
     * The number of new deliveries, 100000 at most.
     */
    replayed: number;
};

export type DeliveryPage = {
    data: Array<Delivery>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type EventPage = {
    data: Array<Event>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type Event = {
    /**
     * The `X-Event-Id` of its deliveries.
     */
    id: string;
    event: EventName;
    /**
     * The payload of the event type.
     */
    data: PromptEventData | ExecutionCompletedData | ExecutionFailedData | EvaluationCompletedData | EvaluationRegressionData | TraceEventData | ReleaseEventData | ImprovementCompletedData | ImprovementFailedData | MonitorEventData;
    timestamp: Timestamp;
};

export type PromptEventData = {
    prompt_name: string;
    version: number;
    /**
     * The newest version before; null for the first one.
     */
    previous_version: number | null;
    model: string;
    commit_message: string | null;
};

export type ExecutionCompletedData = {
    execution_id: string;
    prompt_name: string;
    prompt_version: number;
    model: string;
    tokens: Tokens;
    /**
     * True if the usage of a call is unknown: `tokens` leaves that call out, as in the execution.
     */
    tokens_unknown?: boolean;
    cost: Cost;
    latency: {
        /**
         * From creation to the first call.
         */
        queue_ms: number;
        /**
         * The call that succeeded.
         */
        model_ms: number;
        /**
         * From creation to the end.
         */
        total_ms: number;
    };
};

export type ExecutionFailedData = {
    execution_id: string;
    prompt_name: string;
    prompt_version: number;
    model: string;
    error: {
        code: string;
        message: string;
    };
};

export type EvaluationCompletedData = {
    evaluation_id: string;
    prompt_name: string;
    score: number;
    examples_evaluated: number;
    regressions: number;
};

export type EvaluationRegressionData = {
    evaluation_id: string;
    prompt_name: string;
    score: number;
    examples_evaluated: number;
    regressions: number;
    threshold: number;
};

export type TraceEventData = {
    trace_id: string;
    name: string | null;
    status: 'running' | 'ok' | 'error';
    duration_ms: number | null;
    steps: number;
    /**
     * The number of model calls.
     */
    calls: number;
    /**
     * The number of steps that failed.
     */
    errors: number;
    tokens: {
        input: number;
        output: number;
    };
    cost: {
        amount: string | null;
        currency: 'USD';
    };
    conversation_id: string | null;
    user_id: string | null;
    service: string | null;
    environment: string | null;
};

export type ReleaseEventData = {
    release_id: string;
    prompt_name: string;
    label: string;
    /**
     * The version the label pointed to when the release started.
     */
    stable_version: number;
    candidate_version: number;
    status: 'in_progress' | 'paused' | 'awaiting_approval' | 'baking' | 'succeeded' | 'rolled_back' | 'rejected' | 'failed' | 'superseded' | 'canceled';
    /**
     * The reason for the status, in words.
     */
    reason: string | null;
};

export type ImprovementCompletedData = {
    improvement_id: string;
    prompt_name: string;
    /**
     * `improvement`, `regression`, `no_proof` or `no_candidate`; more may be added.
     */
    result: string;
    /**
     * The difference of the mean scores on held-out examples.
     */
    difference: number | null;
    p_value: number | null;
    /**
     * The number of the candidate that was tested.
     */
    candidate: number | null;
};

export type ImprovementFailedData = {
    improvement_id: string;
    prompt_name: string;
    error: {
        code: string;
        message: string;
    };
};

export type MonitorEventData = {
    /**
     * The name of the monitor.
     */
    monitor: string;
    prompt_name: string | null;
    label: string | null;
    state: 'no_data' | 'ok' | 'alerting';
    /**
     * The observation, or who ended the alert, in words.
     */
    reason: string;
    values: Array<{
        metric: string;
        value: number | null;
        /**
         * The number of executions or scores measured.
         */
        count: number;
        alerting: boolean;
    }>;
};

export type NotificationPage = {
    data: Array<Notification>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type Notification = {
    id: string;
    type: 'webhook.disabled' | 'monitor.alerted' | 'monitor.recovered' | 'emergency_key.created';
    message: string;
    webhook_id: string | null;
    /**
     * The monitor that the notification is about.
     */
    monitor: string | null;
    email: {
        /**
         * When the mail server accepted it; null until then.
         */
        sent_at: Timestamp | null;
        /**
         * Why the last attempt to send it failed.
         */
        error: string | null;
    };
    created_at: Timestamp;
};

export type ViewList = {
    data: Array<View>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type View = {
    name: string;
    /**
     * The console list that the view belongs to.
     */
    page: 'executions' | 'traces';
    /**
     * Filters, as in the URL of the list in the console.
     */
    query: {
        [key: string]: string;
    };
    /**
     * Columns of the list in the console, in order. If empty, the default columns.
     */
    columns: Array<string>;
    shared: boolean;
    /**
     * The id of a member, or of a key of the workspace.
     */
    owner: string;
    /**
     * Whether the view belongs to the caller.
     */
    own: boolean;
    created_at: Timestamp;
    updated_at: Timestamp;
};

export type Usage = {
    /**
     * Executions.
     */
    data: Array<{
        /**
         * Null for drafts run without a prompt.
         */
        prompt_name?: string | null;
        /**
         * For executions, the model that responded; it also carries the cost of earlier failed models.
         */
        model?: string;
        day?: string;
        executions: number;
        completed: number;
        failed: number;
        tokens: Tokens;
        cost: CostAmount;
        /**
         * Calls to models without a known price, excluded from the cost.
         */
        unpriced: number;
        /**
         * The response time of the call that succeeded.
         */
        latency: {
            /**
             * Null if no response was timed.
             */
            mean_ms: number | null;
            /**
             * Timed responses. Excludes judgements, reused responses, and responses stored before times were recorded.
             */
            responses: number;
        };
    }>;
    /**
     * Evaluation examples and their judges, which also cost money; not included in `data`.
     */
    evaluations: Array<{
        /**
         * Null for drafts run without a prompt.
         */
        prompt_name?: string | null;
        /**
         * For executions, the model that responded; it also carries the cost of earlier failed models.
         */
        model?: string;
        day?: string;
        /**
         * Examples whose model was called.
         */
        examples: number;
        /**
         * Examples sent to a judge, counted under the model of the judge.
         */
        judgements: number;
        tokens: Tokens;
        cost: CostAmount;
        /**
         * Calls to models without a known price, excluded from the cost.
         */
        unpriced: number;
        /**
         * The response time of the call that succeeded.
         */
        latency: {
            /**
             * Null if no response was timed.
             */
            mean_ms: number | null;
            /**
             * Timed responses. Excludes judgements, reused responses, and responses stored before times were recorded.
             */
            responses: number;
        };
    }>;
    /**
     * Judges of rules, by rule if `group_by` contains `prompt`. Empty if `prompt_name` is set.
     */
    rules: Array<{
        rule?: string | null;
        /**
         * The model of the judge.
         */
        model?: string;
        day?: string;
        /**
         * Executions sent to a judge.
         */
        judgements: number;
        tokens: Tokens;
        cost: CostAmount;
        /**
         * Calls to models without a known price, excluded from the cost.
         */
        unpriced: number;
    }>;
    since: Timestamp;
    until: Timestamp;
};

export type PromptStatisticsPage = {
    data: Array<PromptStatistics>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
    since: Timestamp;
    until: Timestamp;
};

export type PromptStatistics = {
    prompt_name: string;
    /**
     * Executions, including drafts but not evaluation examples.
     */
    runs: number;
    failed: number;
    tokens: Tokens;
    cost: CostAmount;
    /**
     * Runs of models without a known price, excluded from the cost.
     */
    unpriced: number;
    /**
     * The response time of the models in the newest 100 completed runs.
     */
    latency: {
        p50_ms: number | null;
        p95_ms: number | null;
    };
    /**
     * The score of the newest completed evaluation, regardless of the period.
     */
    last_score: number | null;
    last_evaluation_id: string | null;
    /**
     * The time of the last run, regardless of the period.
     */
    last_run_at: Timestamp | null;
};

export type PromptSeries = {
    prompt_name: string;
    /**
     * When counting starts; later than requested if there are very many runs. For days that are not yet summarized, at most 20000 runs are counted.
     */
    since: Timestamp;
    until: Timestamp;
    /**
     * By day and version, oldest first. Days without a run are left out.
     */
    runs: Array<{
        /**
         * In UTC.
         */
        day: string;
        /**
         * Null for drafts run instead of a version.
         */
        prompt_version: number | null;
        /**
         * Executions, including drafts but not evaluation examples.
         */
        runs: number;
        failed: number;
        tokens: Tokens;
        cost: CostAmount;
        /**
         * Runs of models without a known price, excluded from the cost.
         */
        unpriced: number;
        /**
         * The response time of the models.
         */
        latency: {
            p50_ms: number | null;
            p95_ms: number | null;
        };
    }>;
    /**
     * The newest 500 evaluations that have completed, oldest first.
     */
    scores: Array<{
        evaluation_id: string;
        prompt_version: number;
        /**
         * Null for inline examples.
         */
        dataset: DatasetVersion | null;
        score: number;
        /**
         * Wilson's 95 % interval of the score. Exact if all examples score 0 or 1, otherwise wider than necessary.
         */
        interval: {
            low: number;
            high: number;
        };
        finished_at: Timestamp;
    }>;
};

export type ApiKeyPage = {
    data: Array<ApiKey>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type ApiKey = {
    id: string;
    name: string;
    /**
     * `service`: belongs to the workspace. `personal`: belongs to a member and ends with the membership. `sign_in`: the key behind the sessions of a member. `emergency`: created by an operator for signing in.
     */
    kind: 'service' | 'personal' | 'sign_in' | 'emergency';
    /**
     * The member who owns the key.
     */
    member_id: string | null;
    /**
     * `read`, `execute` (run prompts and evaluations), `score` (store scores), `ingest` (store traces and recorded executions), `write` (change resources), `publish` (move protected labels), `admin` (everything, including keys).
     */
    scopes: Array<GrantedScope>;
    expires_at: Timestamp | null;
    revoked_at: Timestamp | null;
    last_used_at: Timestamp | null;
    created_at: Timestamp;
};

/**
 * Minor versions may add values.
 */
export type GrantedScope = string;

export type CreatedApiKey = {
    id: string;
    name: string;
    /**
     * `service`: belongs to the workspace. `personal`: belongs to a member and ends with the membership. `sign_in`: the key behind the sessions of a member. `emergency`: created by an operator for signing in.
     */
    kind: 'service' | 'personal' | 'sign_in' | 'emergency';
    /**
     * The member who owns the key.
     */
    member_id: string | null;
    /**
     * `read`, `execute` (run prompts and evaluations), `score` (store scores), `ingest` (store traces and recorded executions), `write` (change resources), `publish` (move protected labels), `admin` (everything, including keys).
     */
    scopes: Array<GrantedScope>;
    expires_at: Timestamp | null;
    revoked_at: Timestamp | null;
    last_used_at: Timestamp | null;
    created_at: Timestamp;
    /**
     * The key itself. It is shown only once and never stored.
     */
    key: string;
};

export type CurrentApiKey = {
    id: string;
    name: string;
    /**
     * `service`: belongs to the workspace. `personal`: belongs to a member and ends with the membership. `sign_in`: the key behind the sessions of a member. `emergency`: created by an operator for signing in.
     */
    kind: 'service' | 'personal' | 'sign_in' | 'emergency';
    /**
     * The member who owns the key.
     */
    member_id: string | null;
    /**
     * `read`, `execute` (run prompts and evaluations), `score` (store scores), `ingest` (store traces and recorded executions), `write` (change resources), `publish` (move protected labels), `admin` (everything, including keys).
     */
    scopes: Array<GrantedScope>;
    expires_at: Timestamp | null;
    revoked_at: Timestamp | null;
    last_used_at: Timestamp | null;
    created_at: Timestamp;
    /**
     * The member who owns the key; null if the workspace owns it.
     */
    member: KeyMember | null;
    /**
     * The workspace that the key gives access to.
     */
    workspace: {
        name: string;
    };
};

export type OwnSession = {
    id: string;
    key: {
        id: string;
        name: string;
        scopes: Array<GrantedScope>;
    };
    workspace: {
        name: string;
    };
    /**
     * The signed-in member; null if the key belongs to the workspace.
     */
    member: KeyMember | null;
    /**
     * The id of the identity provider used to sign in, as in the settings; null if signed in with a key.
     */
    provider: string | null;
    /**
     * Whether this is the session of the request.
     */
    is_current: boolean;
    /**
     * The address that started the session.
     */
    address: string;
    /**
     * The browser that started the session.
     */
    user_agent: string | null;
    created_at: Timestamp;
    /**
     * The time of the last request, to the minute.
     */
    last_used_at: Timestamp;
    /**
     * 12 hours after its last use, at most 7 days after its start, and never after its key expires.
     */
    expires_at: Timestamp;
    /**
     * The key that the console uses to encrypt unsaved texts stored in the browser: 32 bytes in base64, the same for all sessions of the key.
     */
    drafts_key: string;
    /**
     * The workspaces that `POST /v1/session/workspace` can switch to. Empty if the session was started with a key.
     */
    workspaces: Array<{
        name: string;
        role: 'viewer' | 'runner' | 'editor' | 'publisher' | 'admin';
    }>;
};

export type EndedSession = {
    id: string;
    key: {
        id: string;
        name: string;
        scopes: Array<GrantedScope>;
    };
    workspace: {
        name: string;
    };
    /**
     * The signed-in member; null if the key belongs to the workspace.
     */
    member: KeyMember | null;
    /**
     * The id of the identity provider used to sign in, as in the settings; null if signed in with a key.
     */
    provider: string | null;
    /**
     * Whether this is the session of the request.
     */
    is_current: boolean;
    /**
     * The address that started the session.
     */
    address: string;
    /**
     * The browser that started the session.
     */
    user_agent: string | null;
    created_at: Timestamp;
    /**
     * The time of the last request, to the minute.
     */
    last_used_at: Timestamp;
    /**
     * 12 hours after its last use, at most 7 days after its start, and never after its key expires.
     */
    expires_at: Timestamp;
    /**
     * The address to visit to sign out of the identity provider, too; null if there is none.
     */
    end_session_url: string | null;
};

export type SessionPage = {
    data: Array<Session>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type Session = {
    id: string;
    key: {
        id: string;
        name: string;
        scopes: Array<GrantedScope>;
    };
    workspace: {
        name: string;
    };
    /**
     * The signed-in member; null if the key belongs to the workspace.
     */
    member: KeyMember | null;
    /**
     * The id of the identity provider used to sign in, as in the settings; null if signed in with a key.
     */
    provider: string | null;
    /**
     * Whether this is the session of the request.
     */
    is_current: boolean;
    /**
     * The address that started the session.
     */
    address: string;
    /**
     * The browser that started the session.
     */
    user_agent: string | null;
    created_at: Timestamp;
    /**
     * The time of the last request, to the minute.
     */
    last_used_at: Timestamp;
    /**
     * 12 hours after its last use, at most 7 days after its start, and never after its key expires.
     */
    expires_at: Timestamp;
};

export type MemberPage = {
    data: Array<Member>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type Member = {
    id: string;
    /**
     * As last reported by the identity provider.
     */
    name: string;
    email: string | null;
    /**
     * The permissions of the member: `viewer` (read), `runner` (plus execute and score), `editor` (plus write), `publisher` (plus publish), `admin` (everything).
     */
    role: 'viewer' | 'runner' | 'editor' | 'publisher' | 'admin';
    /**
     * The role set by an admin. Null if the role follows the identity provider.
     */
    role_set: Role | null;
    /**
     * `suspended`: by an admin, until an admin reinstates the member. `removed`: by an admin, or because the identity provider no longer assigns a role here.
     */
    status: 'active' | 'suspended' | 'removed';
    /**
     * The last use of a session or personal key, to the minute.
     */
    last_seen_at: Timestamp | null;
    created_at: Timestamp;
    updated_at: Timestamp;
};

export type Me = {
    /**
     * The key of the request. For a session, the key that the session belongs to.
     */
    key: {
        id: string;
        name: string;
        kind: 'service' | 'personal' | 'sign_in' | 'emergency';
    };
    /**
     * The scopes of this request, limited by the member’s role.
     */
    scopes: Array<GrantedScope>;
    /**
     * The member who owns the key or session; null for a key of the workspace.
     */
    member: Member | null;
    role: Role | null;
    workspace: {
        name: string;
    };
    /**
     * Every workspace in which the same person is an active member. Empty for a key of the workspace.
     */
    workspaces: Array<{
        name: string;
        member_id: string;
        role: 'viewer' | 'runner' | 'editor' | 'publisher' | 'admin';
    }>;
};

export type CreatedDeviceAuthorization = {
    /**
     * The code for `POST /device/token`. Never show it to anyone.
     */
    device_code: string;
    /**
     * The code shown to the person: 8 letters, single use.
     */
    user_code: string;
    /**
     * The console page where the person enters the code.
     */
    verification_uri: string;
    /**
     * The same page with the code filled in.
     */
    verification_uri_complete: string;
    /**
     * The lifetime of the codes in seconds.
     */
    expires_in: number;
    /**
     * The minimum number of seconds between two polls.
     */
    interval: number;
};

export type DeviceKey = {
    id: string;
    name: string;
    /**
     * `service`: belongs to the workspace. `personal`: belongs to a member and ends with the membership. `sign_in`: the key behind the sessions of a member. `emergency`: created by an operator for signing in.
     */
    kind: 'service' | 'personal' | 'sign_in' | 'emergency';
    /**
     * The member who owns the key.
     */
    member_id: string | null;
    /**
     * `read`, `execute` (run prompts and evaluations), `score` (store scores), `ingest` (store traces and recorded executions), `write` (change resources), `publish` (move protected labels), `admin` (everything, including keys).
     */
    scopes: Array<GrantedScope>;
    expires_at: Timestamp | null;
    revoked_at: Timestamp | null;
    last_used_at: Timestamp | null;
    created_at: Timestamp;
    /**
     * The key itself. It is shown only once and never stored.
     */
    key: string;
    /**
     * The workspace that the key gives access to.
     */
    workspace: {
        name: string;
    };
};

export type DeviceAuthorization = {
    /**
     * The program, as it identifies itself.
     */
    client: string;
    /**
     * The address the request came from.
     */
    address: string;
    status: 'pending' | 'approved' | 'denied';
    /**
     * The key to be issued or, while pending, the most it can be. Null if no key will be issued.
     */
    key: DeviceAuthorizationKey | null;
    created_at: Timestamp;
    expires_at: Timestamp;
};

export type AuditLogPage = {
    data: Array<AuditEntry>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type AuditEntry = {
    id: string;
    actor: {
        /**
         * `operator`: the operator command line, and changes that a sign-in or a session check makes on behalf of the identity provider. `provisioning`: changes that the identity provider sends by SCIM.
         */
        type: 'api_key' | 'session' | 'operator' | 'provisioning';
        /**
         * The key, or the key of the session.
         */
        key_id: string | null;
        key_name: string | null;
        /**
         * The member who owns or created the key; null if there is none.
         */
        member_id: string | null;
        session_id: string | null;
    };
    /**
     * Minor versions may add values.
     */
    action: string;
    resource: {
        /**
         * Minor versions may add values.
         */
        type: string;
        /**
         * The name of a prompt, label or dataset; the id of any other resource.
         */
        id: string;
    };
    /**
     * The change; the fields depend on the action. Never contains secrets.
     */
    details: {
        [key: string]: unknown;
    };
    /**
     * The IP address that the change was made from.
     */
    address: string | null;
    /**
     * The `X-Request-Id` of the request.
     */
    request_id: string | null;
    created_at: Timestamp;
};

export type ExportTraceServiceResponse = {
    /**
     * Set if some spans, or scores that they report, were refused. All others are stored.
     */
    partialSuccess?: {
        rejectedSpans: string;
        errorMessage: string;
    };
};

export type RpcStatus = {
    /**
     * A gRPC status code.
     */
    code: number;
    /**
     * A description of the error and of how to fix it.
     */
    message: string;
};

export type TracePage = {
    data: Array<Trace>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type Trace = {
    /**
     * 32 hexadecimal digits, as in OpenTelemetry.
     */
    id: string;
    name: string | null;
    /**
     * The status of its root, or of its first step while the root is missing.
     */
    status: 'running' | 'ok' | 'error';
    /**
     * Whether no more steps are expected. Tokens and cost are exact then.
     */
    settled: boolean;
    started_at: Timestamp;
    ended_at: Timestamp | null;
    duration_ms: number | null;
    steps: number;
    /**
     * The number of model calls: its executions.
     */
    calls: number;
    /**
     * The number of steps that failed.
     */
    errors: number;
    tokens: Tokens;
    cost: TraceCost;
    models: Array<string>;
    tools: Array<string>;
    agents: Array<string>;
    prompts: Array<TracePrompt>;
    conversation_id: string | null;
    user_id: string | null;
    service: string | null;
    environment: string | null;
    tags: Array<string>;
    metadata: {
        [key: string]: string;
    };
    /**
     * The beginning of the input of the root step.
     */
    input: string | null;
    /**
     * The beginning of the output of the root step.
     */
    output: string | null;
    /**
     * The parts that are missing.
     */
    incomplete: Array<'root_missing' | 'steps_over_limit'>;
    /**
     * The newest 100 scores of the trace itself, if any. Only in `GET /traces/{id}`.
     */
    scores?: Array<Score>;
};

export type TraceCost = {
    /**
     * US dollars; null if the model has no known price.
     */
    amount: string | null;
    currency: 'USD';
    /**
     * The number of calls whose cost is unknown. `amount` leaves them out.
     */
    unpriced_calls: number;
};

export type TracePrompt = {
    name: string;
    version: number | null;
};

export type DeletedTracesOfUser = {
    user_id: string;
    traces: number;
};

export type TraceFacets = {
    facets: {
        status: TraceFacetValues;
        name: TraceFacetValues;
        service: TraceFacetValues;
        environment: TraceFacetValues;
        user_id: TraceFacetValues;
        model: TraceFacetValues;
        tool: TraceFacetValues;
        agent: TraceFacetValues;
        tag: TraceFacetValues;
    };
    /**
     * The number of traces counted.
     */
    counted: number;
    /**
     * Whether all matches were counted. Otherwise only the newest were.
     */
    complete: boolean;
};

/**
 * The 20 values with the most traces.
 */
export type TraceFacetValues = Array<{
    /**
     * The value to pass to the filter.
     */
    value: string;
    count: number;
}>;

export type TraceStepPage = {
    data: Array<TraceStep>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type TraceStep = {
    /**
     * 16 hexadecimal digits.
     */
    id: string;
    parent_id: string | null;
    type: 'agent' | 'model' | 'tool' | 'retrieval' | 'embedding' | 'rerank' | 'guardrail' | 'evaluator' | 'chain' | 'other';
    name: string;
    status: 'running' | 'ok' | 'error';
    started_at: Timestamp;
    /**
     * Null while it is running.
     */
    duration_ms: number | null;
    /**
     * As reported by the span. A step that contains calls can report their sum.
     */
    tokens: StepTokens | null;
    /**
     * `tokens` without those of the steps below it.
     */
    own_tokens: StepTokens | null;
    cost: CostAmount;
    /**
     * The execution that holds its texts and cost.
     */
    execution_id: string | null;
    model: string | null;
    provider: string | null;
    tool: string | null;
    agent: string | null;
    prompt: TracePrompt | null;
    error: StepError | null;
    has_input: boolean;
    has_output: boolean;
    /**
     * Fields that were shortened when they were stored.
     */
    cut: Array<string>;
};

export type StepTokens = {
    input: number;
    output: number;
    cached_input: number;
    cache_write: number;
    reasoning: number;
};

export type StepError = {
    type: string | null;
    message: string | null;
};

export type WholeTraceStep = {
    /**
     * 16 hexadecimal digits.
     */
    id: string;
    parent_id: string | null;
    type: 'agent' | 'model' | 'tool' | 'retrieval' | 'embedding' | 'rerank' | 'guardrail' | 'evaluator' | 'chain' | 'other';
    name: string;
    status: 'running' | 'ok' | 'error';
    started_at: Timestamp;
    /**
     * Null while it is running.
     */
    duration_ms: number | null;
    /**
     * As reported by the span. A step that contains calls can report their sum.
     */
    tokens: StepTokens | null;
    /**
     * `tokens` without those of the steps below it.
     */
    own_tokens: StepTokens | null;
    cost: CostAmount;
    /**
     * The execution that holds its texts and cost.
     */
    execution_id: string | null;
    model: string | null;
    provider: string | null;
    tool: string | null;
    agent: string | null;
    prompt: TracePrompt | null;
    error: StepError | null;
    has_input: boolean;
    has_output: boolean;
    /**
     * Fields that were shortened when they were stored.
     */
    cut: Array<string>;
    input: string | Array<ChatMessage> | null;
    output: string | null;
    tool_calls: Array<ToolCall>;
    parameters: {
        [key: string]: unknown;
    };
    conversation_id: string | null;
    user_id: string | null;
    service: string | null;
    environment: string | null;
    tags: Array<string>;
    metadata: {
        [key: string]: string;
    };
    /**
     * Attributes that no other field holds.
     */
    attributes: {
        [key: string]: unknown;
    };
    events: Array<StepEvent>;
    links: Array<StepLink>;
    resource: {
        [key: string]: unknown;
    };
    scope: StepScope | null;
    /**
     * The newest 100 scores of the step, if any.
     */
    scores?: Array<Score>;
};

export type StepEvent = {
    name: string;
    at: Timestamp;
    attributes: {
        [key: string]: unknown;
    };
};

export type StepLink = {
    /**
     * 32 hexadecimal digits, as in OpenTelemetry.
     */
    trace_id: string;
    /**
     * 16 hexadecimal digits.
     */
    span_id: string;
    attributes: {
        [key: string]: unknown;
    };
};

export type StepScope = {
    name: string;
    version: string | null;
};

export type TracePolicy = {
    /**
     * `drop`: inputs, outputs, tool calls, variables and attributes are not stored.
     */
    contents: 'keep' | 'drop';
    /**
     * Patterns to replace in all texts before they are stored. `secret`: keys and tokens of known forms, and attributes such as `authorization` or `password`. Names of users, conversations, models and tools are not masked.
     */
    mask: Array<SetTracePolicyMaskOption | SetTracePolicyMaskPattern>;
    /**
     * Attributes to ignore. A `*` at the end matches any suffix.
     */
    drop_attributes: Array<string>;
    /**
     * The share of traces to store. The trace id decides, so a trace is stored with all its spans or not at all.
     */
    sample_rate: number;
    /**
     * Steps of the type `other`. `skeleton`: only names, times and errors; `drop`: none, so that steps below them are at the top. With either, traces without any other step are deleted when they are settled.
     */
    others: 'skeleton' | 'keep' | 'drop';
};

export type ConversationPage = {
    data: Array<Conversation>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type Conversation = {
    id: string;
    traces: number;
    started_at: Timestamp;
    last_at: Timestamp;
    user_id: string | null;
    calls: number;
    errors: number;
    tokens: Tokens;
    cost: TraceCost;
};

/**
 * A conversation with a page of its traces, oldest first, in `data`.
 */
export type WholeConversation = {
    id: string;
    traces: number;
    started_at: Timestamp;
    last_at: Timestamp;
    user_id: string | null;
    calls: number;
    errors: number;
    tokens: Tokens;
    cost: TraceCost;
    /**
     * The newest 100 scores of the conversation, if any.
     */
    scores?: Array<Score>;
    data: Array<Trace>;
    /**
     * Pass it as `cursor` to get the next page. Null on the last page.
     */
    next_cursor: string | null;
};

export type DeletedConversation = {
    id: string;
    traces: number;
};

export type ModelParametersOutput = {
    temperature?: number;
    top_p?: number;
    top_k?: number;
    max_tokens?: number;
    stop?: string | Array<string>;
    seed?: number;
    frequency_penalty?: number;
    presence_penalty?: number;
    response_format?: ResponseFormatOutput;
    reasoning_effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh';
    /**
     * The length of responses. It is left out if the provider has no such parameter, as `top_k` is.
     */
    verbosity?: 'low' | 'medium' | 'high';
    /**
     * `false`: the model calls at most one tool in a response. It changes nothing without tools.
     */
    parallel_tool_calls?: boolean;
    /**
     * Options in the provider's own names, passed on unchanged: `{"openai": {"store": false}}`. Options that cost something beyond tokens at list prices (more candidates, searches and other tools, faster service, audio) are refused, and so are unknown ones.
     */
    provider_options?: {
        [key: string]: {
            [key: string]: unknown;
        };
    };
};

export type ResponseFormatOutput = ({
    type: 'text';
} & TextResponseFormat) | ({
    type: 'json_object';
} & JsonObjectResponseFormat) | ({
    type: 'json_schema';
} & JsonSchemaResponseFormatOutput);

export type JsonSchemaResponseFormatOutput = {
    type: 'json_schema';
    json_schema: ResponseSchemaOutput;
};

export type ResponseSchemaOutput = {
    name: string;
    description?: string;
    schema: {
        [key: string]: unknown;
    };
    strict?: boolean;
};

/**
 * Allowed only with the mode `batch` or `auto`.
 */
export type BatchOptionsOutput = {
    /**
     * The longest wait for each batch after its submission, from `1h` to `7d`.
     */
    max_wait: string;
    /**
     * How calls without a response are handled then: made one by one, within `max_cost`, or their examples count as failed.
     */
    then: 'interactive' | 'fail';
};

export type PromptInputs = {
    [key: string]: PromptInput;
};

export type JsonObject = {
    [key: string]: unknown;
};

export type UserMessagePart = ({
    type: 'text';
} & TextPart) | ({
    type: 'file';
} & StoredFilePart);

export type AssistantMessagePart = ({
    type: 'text';
} & TextPart) | ({
    type: 'file';
} & StoredFilePart) | ({
    type: 'tool_call';
} & ToolCallPart);

export type ToolChoiceOption = 'auto' | 'none' | 'required';

export type SetReleasePolicy = {
    steps: ReleaseSteps;
    /**
     * Whether the label moves only by releases, unless an `admin` sends `override`.
     */
    required?: boolean;
};

export type DatasetReference = {
    /**
     * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
     */
    name: string;
    /**
     * Default: the latest.
     */
    version?: number;
};

export type ReleaseStepEvaluate = {
    type: 'evaluate';
    /**
     * A dataset by name, or `{"name", "version"}`.
     */
    dataset: string | DatasetReference;
    evaluators?: Array<Evaluator>;
    /**
     * `not_worse`: the comparison with the stable version finds no regression that is more than noise; `better`: it finds an improvement; `threshold`: the score reaches `threshold`.
     */
    require?: 'not_worse' | 'better' | 'threshold';
    threshold?: number;
    /**
     * The number of examples that may score lower than with the stable version.
     */
    max_regressions?: number;
    /**
     * US dollars for each of the two evaluations, judges included.
     */
    max_cost?: number | string;
};

export type ReleaseStepApprove = {
    type: 'approve';
    /**
     * The number of keys that must approve.
     */
    count?: number;
    /**
     * Whether to exclude the keys that created the version or started the release.
     */
    exclude_author?: boolean;
};

export type ReleaseStepCanary = {
    type: 'canary';
    /**
     * The share of keys that get the candidate from now on.
     */
    percent: number;
    /**
     * The share of the candidate's executions that may fail: with more, the release is rolled back immediately, regardless of the other checks. Default: 0.5. 1: any.
     */
    max_error_rate?: number;
};

export type ReleaseStepAnalyze = {
    type: 'analyze';
    /**
     * A duration with a unit: `30s`, `30m`, `6h`, `2d`.
     */
    for: string;
    /**
     * The minimum number of candidate executions since the last canary step.
     */
    min_executions?: number;
    checks: Array<ReleaseCheck>;
    /**
     * Whether runs that applications recorded count, too. Default: only runs of the service.
     */
    recorded?: boolean;
};

export type ReleaseStepWait = {
    type: 'wait';
    /**
     * A duration with a unit: `30s`, `30m`, `6h`, `2d`.
     */
    for: string;
};

export type ReleaseStepPromote = {
    type: 'promote';
    /**
     * Runs after the label has moved: a failed check moves it back.
     */
    bake?: {
        /**
         * A duration with a unit: `30s`, `30m`, `6h`, `2d`.
         */
        for: string;
        checks?: Array<ReleaseCheck> | Array<ReleaseCheck>;
        /**
         * The share of the candidate's executions that may fail: with more, the release is rolled back immediately, regardless of the other checks. Default: 0.5. 1: any.
         */
        max_error_rate?: number;
        /**
         * Whether runs that applications recorded count, too. Default: only runs of the service.
         */
        recorded?: boolean;
    };
};

/**
 * The output is the expected value.
 */
export type EvaluatorExactMatch = {
    type: 'exact_match';
    name?: string;
    weight?: number;
    /**
     * A score of at least this counts as 1, any other as 0. If empty, the score itself counts.
     */
    threshold?: number;
    /**
     * The score becomes 1 minus the score.
     */
    negate?: boolean;
    /**
     * The version, if it is a saved evaluator. Set by the service.
     */
    saved_version?: number;
    /**
     * Upper and lower case differ
     */
    case_sensitive?: boolean;
    /**
     * Ignore white space at both ends
     */
    trim?: boolean;
    /**
     * Treat any white space as one space
     */
    normalize_whitespace?: boolean;
};

/**
 * The output contains texts.
 */
export type EvaluatorContains = {
    type: 'contains';
    name?: string;
    weight?: number;
    /**
     * A score of at least this counts as 1, any other as 0. If empty, the score itself counts.
     */
    threshold?: number;
    /**
     * The score becomes 1 minus the score.
     */
    negate?: boolean;
    /**
     * The version, if it is a saved evaluator. Set by the service.
     */
    saved_version?: number;
    /**
     * Instead of `values`. If neither is set: the example's expected value, or each item if it is a list of strings.
     */
    value?: string;
    /**
     * One per line. If empty: the expected value.
     */
    values?: Array<string>;
    /**
     * Required texts
     */
    mode?: 'all' | 'any';
    /**
     * Upper and lower case differ
     */
    case_sensitive?: boolean;
};

/**
 * The output matches a pattern.
 */
export type EvaluatorRegex = {
    type: 'regex';
    name?: string;
    weight?: number;
    /**
     * A score of at least this counts as 1, any other as 0. If empty, the score itself counts.
     */
    threshold?: number;
    /**
     * The score becomes 1 minus the score.
     */
    negate?: boolean;
    /**
     * The version, if it is a saved evaluator. Set by the service.
     */
    saved_version?: number;
    /**
     * In RE2's syntax.
     */
    pattern: string;
    /**
     * Any of i (upper and lower case are the same), m (^ and $ also at line ends) and s (the dot also matches line ends).
     */
    flags?: string;
    /**
     * The whole output must match
     */
    full_match?: boolean;
};

/**
 * The output is JSON.
 */
export type EvaluatorJsonValid = {
    type: 'json_valid';
    name?: string;
    weight?: number;
    /**
     * A score of at least this counts as 1, any other as 0. If empty, the score itself counts.
     */
    threshold?: number;
    /**
     * The score becomes 1 minus the score.
     */
    negate?: boolean;
    /**
     * The version, if it is a saved evaluator. Set by the service.
     */
    saved_version?: number;
    /**
     * Accept JSON in a Markdown code block
     */
    strip_code_fence?: boolean;
};

/**
 * The output is JSON that is valid against a schema.
 */
export type EvaluatorJsonSchema = {
    type: 'json_schema';
    name?: string;
    weight?: number;
    /**
     * A score of at least this counts as 1, any other as 0. If empty, the score itself counts.
     */
    threshold?: number;
    /**
     * The score becomes 1 minus the score.
     */
    negate?: boolean;
    /**
     * The version, if it is a saved evaluator. Set by the service.
     */
    saved_version?: number;
    /**
     * Draft 2020-12, or draft-07 where `$schema` says so; at most 64 KiB.
     */
    schema: {
        [key: string]: unknown;
    };
    /**
     * Accept JSON in a Markdown code block
     */
    strip_code_fence?: boolean;
};

/**
 * The expected JSON is in the output.
 */
export type EvaluatorJsonMatch = {
    type: 'json_match';
    name?: string;
    weight?: number;
    /**
     * A score of at least this counts as 1, any other as 0. If empty, the score itself counts.
     */
    threshold?: number;
    /**
     * The score becomes 1 minus the score.
     */
    negate?: boolean;
    /**
     * The version, if it is a saved evaluator. Set by the service.
     */
    saved_version?: number;
    /**
     * Any JSON. Default: the expected value.
     */
    value?: unknown;
    /**
     * Keys and items that are not expected
     */
    mode?: 'exact' | 'subset';
    /**
     * Lists may be in any order
     */
    ignore_array_order?: boolean;
    /**
     * Otherwise, a partial match scores 0.
     */
    partial_credit?: boolean;
    /**
     * Accept JSON in a Markdown code block
     */
    strip_code_fence?: boolean;
};

/**
 * The number in the output is the expected one.
 */
export type EvaluatorNumeric = {
    type: 'numeric';
    name?: string;
    weight?: number;
    /**
     * A score of at least this counts as 1, any other as 0. If empty, the score itself counts.
     */
    threshold?: number;
    /**
     * The score becomes 1 minus the score.
     */
    negate?: boolean;
    /**
     * The version, if it is a saved evaluator. Set by the service.
     */
    saved_version?: number;
    /**
     * The larger of the two tolerances counts.
     */
    absolute_tolerance?: number;
    /**
     * As a share of the expected number: 0.01 is 1 %.
     */
    relative_tolerance?: number;
    /**
     * Number to compare
     */
    extract?: 'only' | 'first' | 'last' | 'none';
};

/**
 * How similar the output and the expected value are, by the edits between them.
 */
export type EvaluatorLevenshtein = {
    type: 'levenshtein';
    name?: string;
    weight?: number;
    /**
     * A score of at least this counts as 1, any other as 0. If empty, the score itself counts.
     */
    threshold?: number;
    /**
     * The score becomes 1 minus the score.
     */
    negate?: boolean;
    /**
     * The version, if it is a saved evaluator. Set by the service.
     */
    saved_version?: number;
    /**
     * Upper and lower case differ
     */
    case_sensitive?: boolean;
};

/**
 * The length of the output is within limits.
 */
export type EvaluatorLength = {
    type: 'length';
    name?: string;
    weight?: number;
    /**
     * A score of at least this counts as 1, any other as 0. If empty, the score itself counts.
     */
    threshold?: number;
    /**
     * The score becomes 1 minus the score.
     */
    negate?: boolean;
    /**
     * The version, if it is a saved evaluator. Set by the service.
     */
    saved_version?: number;
    /**
     * Unit
     */
    unit?: 'characters' | 'words';
    /**
     * At least
     */
    at_least?: number;
    /**
     * At most
     */
    at_most?: number;
};

/**
 * The model asks for the expected tools.
 */
export type EvaluatorToolCalls = {
    type: 'tool_calls';
    name?: string;
    weight?: number;
    /**
     * A score of at least this counts as 1, any other as 0. If empty, the score itself counts.
     */
    threshold?: number;
    /**
     * The score becomes 1 minus the score.
     */
    negate?: boolean;
    /**
     * The version, if it is a saved evaluator. Set by the service.
     */
    saved_version?: number;
    /**
     * A list of {"name", "input"}. Default: the expected value.
     */
    value?: Array<{
        name: string;
        /**
         * Any JSON.
         */
        input?: unknown;
    }>;
    /**
     * Inputs of the tools
     */
    input?: 'exact' | 'subset' | 'ignore';
    /**
     * In this order
     */
    ordered?: boolean;
    /**
     * Allow other calls
     */
    allow_extra?: boolean;
    /**
     * Otherwise, a partial match scores 0.
     */
    partial_credit?: boolean;
};

/**
 * The model responded in time.
 */
export type EvaluatorLatency = {
    type: 'latency';
    name?: string;
    weight?: number;
    /**
     * A score of at least this counts as 1, any other as 0. If empty, the score itself counts.
     */
    threshold?: number;
    /**
     * The score becomes 1 minus the score.
     */
    negate?: boolean;
    /**
     * The version, if it is a saved evaluator. Set by the service.
     */
    saved_version?: number;
    /**
     * The duration of the model call that produced the output, excluding earlier waits.
     */
    at_most_ms: number;
};

/**
 * The output was cheap enough.
 */
export type EvaluatorCost = {
    type: 'cost';
    name?: string;
    weight?: number;
    /**
     * A score of at least this counts as 1, any other as 0. If empty, the score itself counts.
     */
    threshold?: number;
    /**
     * The score becomes 1 minus the score.
     */
    negate?: boolean;
    /**
     * The version, if it is a saved evaluator. Set by the service.
     */
    saved_version?: number;
    /**
     * The cost of the output, excluding judges.
     */
    at_most_usd: number;
};

/**
 * How similar the output and a text are in meaning, by the embeddings of a model.
 */
export type EvaluatorSimilar = {
    type: 'similar';
    name?: string;
    weight?: number;
    /**
     * A score of at least this counts as 1, any other as 0. If empty, the score itself counts.
     */
    threshold?: number;
    /**
     * The score becomes 1 minus the score.
     */
    negate?: boolean;
    /**
     * The version, if it is a saved evaluator. Set by the service.
     */
    saved_version?: number;
    /**
     * Such as openai/text-embedding-3-small.
     */
    model: string;
    /**
     * One per line; the most similar one counts. If empty: the expected value.
     */
    values?: Array<string>;
};

/**
 * A model grades the output.
 */
export type EvaluatorLlmJudge = {
    type: 'llm_judge';
    name?: string;
    weight?: number;
    /**
     * A score of at least this counts as 1, any other as 0. If empty, the score itself counts.
     */
    threshold?: number;
    /**
     * The score becomes 1 minus the score.
     */
    negate?: boolean;
    /**
     * The version, if it is a saved evaluator. Set by the service.
     */
    saved_version?: number;
    /**
     * As in a prompt.
     */
    model: string;
    /**
     * Criteria of a good output, and the meaning of each grade.
     */
    rubric: string;
    /**
     * Scaled to a score of 0–1.
     */
    scale?: {
        /**
         * Lowest grade
         */
        min: number;
        /**
         * Highest grade
         */
        max: number;
    };
    /**
     * The answers of the judge that replace a grade, and the score of each: [{"value": "polite", "score": 1}, …].
     */
    categories?: Array<{
        /**
         * Category
         */
        value: string;
        /**
         * The score of the category, 0–1.
         */
        score: number;
    }>;
    /**
     * Show it the expected value
     */
    include_expected?: boolean;
    /**
     * Show it the prompt
     */
    include_input?: boolean;
    /**
     * Such as {"temperature": 0}; all but `response_format`, which this evaluator sets.
     */
    parameters?: {
        temperature?: number;
        top_p?: number;
        top_k?: number;
        max_tokens?: number;
        stop?: string | Array<string>;
        seed?: number;
        frequency_penalty?: number;
        presence_penalty?: number;
        reasoning_effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh';
        /**
         * The length of responses. It is left out if the provider has no such parameter, as `top_k` is.
         */
        verbosity?: 'low' | 'medium' | 'high';
        /**
         * `false`: the model calls at most one tool in a response. It changes nothing without tools.
         */
        parallel_tool_calls?: boolean;
        /**
         * Options in the provider's own names, passed on unchanged: `{"openai": {"store": false}}`. Options that cost something beyond tokens at list prices (more candidates, searches and other tools, faster service, audio) are refused, and so are unknown ones.
         */
        provider_options?: {
            [key: string]: {
                [key: string]: unknown;
            };
        };
    };
};

/**
 * A model prefers the output to another one, in both orders. A tie scores 0.5.
 */
export type EvaluatorPairwise = {
    type: 'pairwise';
    name?: string;
    weight?: number;
    /**
     * A score of at least this counts as 1, any other as 0. If empty, the score itself counts.
     */
    threshold?: number;
    /**
     * The score becomes 1 minus the score.
     */
    negate?: boolean;
    /**
     * The version, if it is a saved evaluator. Set by the service.
     */
    saved_version?: number;
    /**
     * As in a prompt. It is called twice for each example.
     */
    model: string;
    /**
     * Criteria of the better output.
     */
    rubric: string;
    /**
     * The id of a completed evaluation of the same examples. If empty: with the expected values.
     */
    against?: string;
    /**
     * If outputs are compared with those of an evaluation.
     */
    include_expected?: boolean;
    /**
     * Show it the prompt
     */
    include_input?: boolean;
    /**
     * Such as {"temperature": 0}; all but `response_format`, which this evaluator sets.
     */
    parameters?: {
        temperature?: number;
        top_p?: number;
        top_k?: number;
        max_tokens?: number;
        stop?: string | Array<string>;
        seed?: number;
        frequency_penalty?: number;
        presence_penalty?: number;
        reasoning_effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh';
        /**
         * The length of responses. It is left out if the provider has no such parameter, as `top_k` is.
         */
        verbosity?: 'low' | 'medium' | 'high';
        /**
         * `false`: the model calls at most one tool in a response. It changes nothing without tools.
         */
        parallel_tool_calls?: boolean;
        /**
         * Options in the provider's own names, passed on unchanged: `{"openai": {"store": false}}`. Options that cost something beyond tokens at list prices (more candidates, searches and other tools, faster service, audio) are refused, and so are unknown ones.
         */
        provider_options?: {
            [key: string]: {
                [key: string]: unknown;
            };
        };
    };
};

/**
 * Your endpoint gets each example and responds with a score.
 */
export type EvaluatorHttp = {
    type: 'http';
    name?: string;
    weight?: number;
    /**
     * A score of at least this counts as 1, any other as 0. If empty, the score itself counts.
     */
    threshold?: number;
    /**
     * The score becomes 1 minus the score.
     */
    negate?: boolean;
    /**
     * The version, if it is a saved evaluator. Set by the service.
     */
    saved_version?: number;
    /**
     * The `https:` URL of the endpoint that scores. The operator may allow other URLs.
     */
    url: string;
    /**
     * 24–128 visible ASCII characters. If empty, one is generated and shown only in the response that creates the run or schedule.
     */
    secret?: string;
    /**
     * Time for a request, in milliseconds
     */
    timeout_ms?: number;
};

export type ChatUserMessagePart = ({
    type: 'text';
} & TextPart) | ({
    type: 'file';
} & FilePart);

export type ChatAssistantMessagePart = ({
    type: 'text';
} & TextPart) | ({
    type: 'file';
} & FilePart) | ({
    type: 'tool_call';
} & ToolCallPart);

export type RecordedRunError = {
    code: string;
    message: string;
};

export type RecordedRunRelease = {
    id: string;
    arm: 'stable' | 'candidate';
    keyed?: boolean;
};

export type CreateChatCompletionMessageSystem = {
    role: 'system' | 'developer';
    content?: string | Array<TextPart>;
    name?: string | null;
    cache_control?: CacheControl | null;
};

export type CreateChatCompletionMessageUserContentImageUrl = {
    type: 'image_url';
    image_url: {
        /**
         * An https address, or a data URL with base64.
         */
        url: string;
        detail?: 'auto' | null;
    };
    cache_control?: CacheControl | null;
};

export type CreateChatCompletionMessageUserContentInputAudio = {
    type: 'input_audio';
    input_audio: {
        /**
         * The file in base64.
         */
        data: string;
        format: 'wav' | 'mp3';
    };
    cache_control?: CacheControl | null;
};

export type CreateChatCompletionMessageUserContentFile = {
    type: 'file';
    file: {
        /**
         * A data URL with base64.
         */
        file_data: string;
        filename?: string | null;
        file_id?: null;
    };
    cache_control?: CacheControl | null;
};

export type CreateChatCompletionMessageUserContent = TextPart | CreateChatCompletionMessageUserContentImageUrl | CreateChatCompletionMessageUserContentInputAudio | CreateChatCompletionMessageUserContentFile;

export type CreateChatCompletionMessageUser = {
    role: 'user';
    content?: string | Array<CreateChatCompletionMessageUserContent>;
    name?: string | null;
    cache_control?: CacheControl | null;
};

export type CreateChatCompletionMessageAssistantContentRefusal = {
    type: 'refusal';
    refusal: string;
    cache_control?: CacheControl | null;
};

export type CreateChatCompletionMessageAssistantContent = TextPart | CreateChatCompletionMessageAssistantContentRefusal;

export type CreateChatCompletionMessageAssistantToolCall = {
    id: string;
    type: 'function';
    function: {
        name: string;
        arguments: string;
    };
    index?: number;
    cache_control?: CacheControl | null;
};

export type CreateChatCompletionMessageAssistant = {
    role: 'assistant';
    content?: string | Array<CreateChatCompletionMessageAssistantContent> | null;
    refusal?: string | null;
    tool_calls?: Array<CreateChatCompletionMessageAssistantToolCall> | null;
    /**
     * Ignored.
     */
    annotations?: Array<unknown> | null;
    audio?: null;
    function_call?: null;
    name?: string | null;
    cache_control?: CacheControl | null;
    /**
     * Sent back to servers that accept it.
     */
    reasoning_content?: string | null;
    /**
     * Another name for `reasoning_content`.
     */
    reasoning?: string | null;
    reasoning_details?: Array<JsonObject> | null;
};

export type CreateChatCompletionMessageTool = {
    role: 'tool';
    content?: string | Array<TextPart>;
    tool_call_id: string;
    /**
     * Ignored: the tool call determines the tool.
     */
    name?: string | null;
    cache_control?: CacheControl | null;
};

export type CreateChatCompletionStreamOptions = {
    include_usage?: boolean | null;
    /**
     * Ignored.
     */
    include_obfuscation?: unknown;
};

export type CreateChatCompletionTool = {
    type: 'function';
    function: {
        name: string;
        description?: string | null;
        /**
         * A JSON schema of its input.
         */
        parameters?: JsonObject | null;
        strict?: boolean | null;
        cache_control?: CacheControl | null;
    };
    cache_control?: CacheControl | null;
};

export type CreateChatCompletionToolChoiceFunction = {
    type: 'function';
    function: {
        name: string;
    };
};

export type ReasoningEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh';

export type CreateChatCompletionVerbosityOption = 'low' | 'high';

export type CreateChatCompletionResponseFormatJsonSchema = {
    type: 'json_schema';
    json_schema: {
        name?: string;
        description?: string | null;
        schema: {
            [key: string]: unknown;
        };
        strict?: boolean | null;
    };
};

export type CreateChatCompletionResponseFormat = TextResponseFormat | JsonObjectResponseFormat | CreateChatCompletionResponseFormatJsonSchema;

/**
 * Up to 50 custom strings, returned unchanged.
 */
export type OpenAiMetadata = {
    [key: string]: string;
};

export type CreateChatCompletionLogitBias = {
    [key: string]: never;
};

export type ServiceTier = 'auto' | 'default';

export type CreateResponsePromptVariables = {
    [key: string]: unknown;
};

export type CreateResponsePrompt = {
    /**
     * A prompt: `name` (its latest version), `name@3` or `name@label`.
     */
    id: string;
    version?: string | number | null;
    variables?: CreateResponsePromptVariables | null;
};

export type ResponseInputItem = {
    [key: string]: unknown;
};

export type CreateResponseStreamOptions = {
    /**
     * Ignored.
     */
    include_obfuscation?: unknown;
};

export type CreateResponseTool = {
    type: 'function';
    name: string;
    description?: string | null;
    /**
     * A JSON schema of its input.
     */
    parameters?: JsonObject | null;
    strict?: boolean | null;
    cache_control?: CacheControl | null;
};

export type CreateResponseToolChoiceFunction = {
    type: 'function';
    name: string;
};

export type CreateResponseReasoningSummary = 'auto' | 'concise' | 'detailed';

export type CreateResponseReasoning = {
    effort?: ReasoningEffort | null;
    /**
     * Ignored, because responses have no reasoning.
     */
    summary?: CreateResponseReasoningSummary | null;
    /**
     * An earlier name of the same field.
     */
    generate_summary?: CreateResponseReasoningSummary | null;
};

export type CreateResponseTextFormatJsonSchema = {
    type: 'json_schema';
    name?: string;
    description?: string | null;
    schema: {
        [key: string]: unknown;
    };
    strict?: boolean | null;
};

export type CreateResponseTextFormat = TextResponseFormat | JsonObjectResponseFormat | CreateResponseTextFormatJsonSchema;

export type CreateResponseText = {
    format?: CreateResponseTextFormat | null;
    verbosity?: 'medium' | CreateChatCompletionVerbosityOption | null;
};

export type CodeResultScore = {
    score: number;
    reason?: string | null;
};

export type ExampleSubject = {
    evaluation_id: string;
    /**
     * The `example_id` of the result.
     */
    example_id: string;
};

export type ExecutionSubject = {
    execution_id: string;
};

export type TraceSubject = {
    /**
     * A trace: 32 hexadecimal digits, as in OpenTelemetry.
     */
    trace_id: string;
    /**
     * A step of the trace. Default: the trace itself.
     */
    span_id?: string;
};

export type ConversationSubject = {
    conversation_id: string;
};

export type SetScoreDefinitionCategory = {
    value: string;
    /**
     * The display text.
     */
    label?: string;
};

export type AddQueueItemsPairExecutionIds = {
    execution_ids: [
        string,
        string
    ];
};

export type AddQueueItemsPairEvaluationIds = {
    evaluation_ids: [
        string,
        string
    ];
    example_id: string;
};

/**
 * Up to 20 custom headers for every request. Their values are stored encrypted and not shown again. Headers that the service sets itself are refused.
 */
export type UpdateWebhookHeaders = {
    [key: string]: string;
};

export type Role = 'viewer' | 'runner' | 'editor' | 'publisher' | 'admin';

export type SetTracePolicyMaskOption = 'email' | 'card' | 'phone' | 'ip' | 'secret';

export type SetTracePolicyMaskPattern = {
    /**
     * In RE2's syntax. It masks at most 1,024 characters at once.
     */
    pattern: string;
};

export type PromptMessage = Message | MessagePlaceholder;

export type VersionAuthor = {
    key_id: string;
    /**
     * The member who owns or created the key; null if there is none.
     */
    member_id: string | null;
    name: string;
};

export type ReleasePolicy = {
    steps: Array<{
        type: string;
        [key: string]: unknown;
    }>;
    required: boolean;
};

export type ExecutionRelease = {
    id: string;
    arm: 'stable' | 'candidate';
    /**
     * Whether the `rollout_key` chose the arm. Otherwise it was chosen at random.
     */
    keyed: boolean;
};

export type CostPricing = {
    /**
     * `genai-prices@<version>`, `operator` or `sandbox`.
     */
    source: string;
    model: string;
    input_per_million: string;
    cached_input_per_million: string;
    cache_write_per_million?: string;
    output_per_million: string;
    /**
     * For prices that depend on the length of the input: the tier used starts above this many tokens.
     */
    tier_above_input_tokens?: number;
    per_request?: string;
    /**
     * The factor applied to the prices above for a call in a batch, such as `0.5`.
     */
    batch_multiplier?: string;
    /**
     * The source of the multiplier.
     */
    batch_source?: string;
};

export type ScoredExecution = {
    execution_id: string;
};

export type ScoredExample = {
    evaluation_id: string;
    example_id: string;
};

export type ScoredTrace = {
    trace_id: string;
    span_id?: string;
};

export type ScoredConversation = {
    conversation_id: string;
};

export type ScoreEvaluator = {
    rule: string;
    version: string;
    model: string | null;
};

export type ModelResponseIncompleteDetails = {
    reason: 'max_output_tokens' | 'content_filter';
};

export type ModelResponseOutputMessage = {
    id: string;
    type: 'message';
    status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
    role: 'assistant';
    content: Array<{
        type: 'output_text';
        text: string;
        /**
         * Empty.
         */
        annotations: Array<unknown>;
        /**
         * Empty.
         */
        logprobs: Array<unknown>;
    }>;
};

export type ModelResponseOutputFunctionCall = {
    id: string;
    type: 'function_call';
    status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
    call_id: string;
    name: string;
    /**
     * JSON.
     */
    arguments: string;
};

export type ModelResponseToolChoiceFunction = {
    type: 'function';
    name: string;
};

export type ModelResponseUsage = {
    input_tokens: number;
    input_tokens_details: {
        cached_tokens: number;
    };
    output_tokens: number;
    output_tokens_details: {
        reasoning_tokens: number;
    };
    total_tokens: number;
};

export type ProviderModelPricing = {
    /**
     * US dollars per million tokens.
     */
    input: string;
    /**
     * US dollars per million tokens.
     */
    output: string;
    /**
     * US dollars per million tokens.
     */
    cached_input: string;
};

export type DatasetVersion = {
    name: string;
    version: number;
};

export type Reuse = {
    max_age: number;
};

export type ScoresByEvaluator = {
    [key: string]: number;
};

export type ProviderBatchCounts = {
    total: number;
    succeeded: number;
    failed: number;
};

export type EvaluationEstimateCost = {
    currency: 'USD';
    amount: string;
};

export type EvaluationResultScore = {
    score: number;
    reason: string | null;
    /**
     * The category that the judge gave, if it gives categories.
     */
    category?: string;
};

export type EvaluationResultScores = {
    [key: string]: EvaluationResultScore;
};

export type EvaluationComparisonInterval = {
    low: number;
    high: number;
    method: 'sign_flip' | 'normal';
};

export type EvaluationComparisonWithheld = 'not_comparable' | 'failures';

export type ImprovementFeedback = {
    limit: number;
    scores: number;
};

export type ImprovementBest = {
    number: number;
    /**
     * 0–1
     */
    check: number;
};

export type ImprovementAccepted = {
    version: number;
    release_id: string | null;
};

export type ImprovementVerdictInterval = {
    low: number;
    high: number;
};

export type ImprovementVerdictAgreement = {
    score: string;
    examples: number;
    base: Array<AgreementMeasure>;
    candidate: Array<AgreementMeasure>;
};

export type ImprovementVerdictCostPerCall = {
    base: number | null;
    candidate: number | null;
};

export type ImprovementVerdictLength = {
    base: number;
    candidate: number;
};

export type AgreementMeasureInterval = {
    lower: number;
    upper: number;
};

export type ImprovementEstimateCost = {
    expected: string;
    most: string;
};

export type PromptSuggestionContent = {
    template: string | null;
    messages: Array<unknown> | null;
    tools: Array<unknown> | null;
};

export type PromptSuggestionReject = {
    /**
     * Minor versions may add values.
     */
    code: string;
    message: string;
};

export type ImprovementCandidateMinibatch = {
    parent_score: number | null;
    score: number | null;
    examples: number;
};

export type ImprovementCandidateCheck = {
    /**
     * 0–1
     */
    score: number;
    difference: number;
};

export type ImprovementCandidateDiffs = {
    parent: Array<{
        /**
         * The changed field, in dot notation. A list item has its index in `to`, or in `from` if it was removed.
         */
        path: string;
        /**
         * Absent if the field was added.
         */
        before?: unknown;
        /**
         * Absent if the field was removed.
         */
        after?: unknown;
        /**
         * A unified diff instead of `before` and `after`, if both are strings.
         */
        diff?: string;
    }>;
    base: Array<{
        /**
         * The changed field, in dot notation. A list item has its index in `to`, or in `from` if it was removed.
         */
        path: string;
        /**
         * Absent if the field was added.
         */
        before?: unknown;
        /**
         * Absent if the field was removed.
         */
        after?: unknown;
        /**
         * A unified diff instead of `before` and `after`, if both are strings.
         */
        diff?: string;
    }>;
};

export type Arm = 'stable' | 'candidate';

export type ScoreSummaryDataCategories = {
    [key: string]: number;
};

export type ScoreDefinitionCategory = {
    value: string;
    label: string;
};

export type QueueItemReviewCorrection = {
    dataset: string;
    version: number;
};

export type QueueFilter = {
    [key: string]: unknown;
};

export type LastError = {
    code: string;
    message: string;
    at: Timestamp;
};

export type DeliveryAttemptRequest = {
    url: string;
    /**
     * Includes the signatures. The values of custom headers are hidden.
     */
    headers: {
        [key: string]: string;
    };
};

export type KeyMember = {
    id: string;
    name: string;
    role: 'viewer' | 'runner' | 'editor' | 'publisher' | 'admin';
};

export type DeviceAuthorizationKey = {
    kind: 'personal' | 'service';
    scopes: Array<GrantedScope>;
    expires_at: Timestamp | null;
};

export type NewScores = {
    scores: Array<NewScore>;
};

/**
 * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
 */
export type Limit = number;

/**
 * The `next_cursor` of the previous page. Omit it for the first page.
 */
export type Cursor = string;

/**
 * A repeated request with the same key returns the first response again, for 24 hours.
 */
export type IdempotencyKey = string;

/**
 * Created at or after this time.
 */
export type Since = string;

/**
 * Created before this time.
 */
export type Until = string;

/**
 * `wait=N`: 0–300 seconds, default 300.
 */
export type Prefer = string;

export type ListPromptsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
        /**
         * Only prompts whose name starts with this and a "/".
         */
        group?: string;
        /**
         * Only prompts whose name or description contains this text (case-insensitive).
         */
        q?: string;
        /**
         * `openai/…`, `anthropic/…`, `google/…`, `mistral/…`, `openai-compatible/…`, `sandbox/…`, or a bare name.
         */
        model?: string;
        /**
         * Only prompts with this label; the labelled version is shown.
         */
        label?: string;
        /**
         * Only prompts that include any version of this prompt, in their latest version or a labelled one.
         */
        includes?: string;
        archived?: 'true' | 'false' | 'all';
        sort?: 'name' | '-name' | 'created_at' | '-created_at' | 'updated_at' | '-updated_at';
    };
    url: '/prompts';
};

export type ListPromptsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListPromptsError = ListPromptsErrors[keyof ListPromptsErrors];

export type ListPromptsResponses = {
    /**
     * Done.
     */
    200: PromptPage;
};

export type ListPromptsResponse = ListPromptsResponses[keyof ListPromptsResponses];

export type CreatePromptData = {
    body: CreatePrompt;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/prompts';
};

export type CreatePromptErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CreatePromptError = CreatePromptErrors[keyof CreatePromptErrors];

export type CreatePromptResponses = {
    /**
     * Created.
     */
    201: Prompt;
};

export type CreatePromptResponse = CreatePromptResponses[keyof CreatePromptResponses];

export type ResolvePromptsData = {
    body: ResolvePrompts;
    path?: never;
    query?: never;
    url: '/prompts/resolve';
};

export type ResolvePromptsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ResolvePromptsError = ResolvePromptsErrors[keyof ResolvePromptsErrors];

export type ResolvePromptsResponses = {
    /**
     * Done.
     */
    200: ResolvedPrompts;
};

export type ResolvePromptsResponse = ResolvePromptsResponses[keyof ResolvePromptsResponses];

export type ListPromptVersionsData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
    };
    url: '/prompts/{name}/versions';
};

export type ListPromptVersionsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListPromptVersionsError = ListPromptVersionsErrors[keyof ListPromptVersionsErrors];

export type ListPromptVersionsResponses = {
    /**
     * Done.
     */
    200: PromptVersionPage;
};

export type ListPromptVersionsResponse = ListPromptVersionsResponses[keyof ListPromptVersionsResponses];

export type DeletePromptVersionData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
        /**
         * A version of the prompt, from 1.
         */
        version: number;
    };
    query?: never;
    url: '/prompts/{name}/versions/{version}';
};

export type DeletePromptVersionErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type DeletePromptVersionError = DeletePromptVersionErrors[keyof DeletePromptVersionErrors];

export type DeletePromptVersionResponses = {
    /**
     * Done.
     */
    200: Prompt;
};

export type DeletePromptVersionResponse = DeletePromptVersionResponses[keyof DeletePromptVersionResponses];

export type DiffPromptVersionsData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: {
        /**
         * A version of the prompt, from 1.
         */
        from?: number;
        /**
         * A version of the prompt, from 1.
         */
        to?: number;
    };
    url: '/prompts/{name}/diff';
};

export type DiffPromptVersionsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type DiffPromptVersionsError = DiffPromptVersionsErrors[keyof DiffPromptVersionsErrors];

export type DiffPromptVersionsResponses = {
    /**
     * Done.
     */
    200: VersionDiff;
};

export type DiffPromptVersionsResponse = DiffPromptVersionsResponses[keyof DiffPromptVersionsResponses];

export type ListPromptLabelsData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/prompts/{name}/labels';
};

export type ListPromptLabelsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListPromptLabelsError = ListPromptLabelsErrors[keyof ListPromptLabelsErrors];

export type ListPromptLabelsResponses = {
    /**
     * Done.
     */
    200: PromptLabels;
};

export type ListPromptLabelsResponse = ListPromptLabelsResponses[keyof ListPromptLabelsResponses];

export type RemovePromptLabelData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
        /**
         * A label such as `production`; `latest` always means the newest version.
         */
        label: string;
    };
    query?: never;
    url: '/prompts/{name}/labels/{label}';
};

export type RemovePromptLabelErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type RemovePromptLabelError = RemovePromptLabelErrors[keyof RemovePromptLabelErrors];

export type RemovePromptLabelResponses = {
    /**
     * Done.
     */
    200: Prompt;
};

export type RemovePromptLabelResponse = RemovePromptLabelResponses[keyof RemovePromptLabelResponses];

export type SetPromptLabelData = {
    body: SetLabel;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
        /**
         * A label such as `production`; `latest` always means the newest version.
         */
        label: string;
    };
    query?: never;
    url: '/prompts/{name}/labels/{label}';
};

export type SetPromptLabelErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type SetPromptLabelError = SetPromptLabelErrors[keyof SetPromptLabelErrors];

export type SetPromptLabelResponses = {
    /**
     * Done.
     */
    200: Prompt;
};

export type SetPromptLabelResponse = SetPromptLabelResponses[keyof SetPromptLabelResponses];

export type RestorePromptData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/prompts/{name}/restore';
};

export type RestorePromptErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type RestorePromptError = RestorePromptErrors[keyof RestorePromptErrors];

export type RestorePromptResponses = {
    /**
     * Done.
     */
    200: Prompt;
};

export type RestorePromptResponse = RestorePromptResponses[keyof RestorePromptResponses];

export type ArchivePromptData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/prompts/{name}';
};

export type ArchivePromptErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ArchivePromptError = ArchivePromptErrors[keyof ArchivePromptErrors];

export type ArchivePromptResponses = {
    /**
     * Done.
     */
    200: Prompt;
};

export type ArchivePromptResponse = ArchivePromptResponses[keyof ArchivePromptResponses];

export type GetPromptData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: {
        /**
         * A version of the prompt, from 1.
         */
        version?: number;
        /**
         * A label such as `production`; `latest` always means the newest version.
         */
        label?: string;
    };
    url: '/prompts/{name}';
};

export type GetPromptErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetPromptError = GetPromptErrors[keyof GetPromptErrors];

export type GetPromptResponses = {
    /**
     * Done.
     */
    200: Prompt;
};

export type GetPromptResponse = GetPromptResponses[keyof GetPromptResponses];

export type UpdatePromptData = {
    body: UpdatePrompt;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/prompts/{name}';
};

export type UpdatePromptErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type UpdatePromptError = UpdatePromptErrors[keyof UpdatePromptErrors];

export type UpdatePromptResponses = {
    /**
     * Done.
     */
    200: Prompt;
};

export type UpdatePromptResponse = UpdatePromptResponses[keyof UpdatePromptResponses];

export type ListLabelsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
    };
    url: '/labels';
};

export type ListLabelsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListLabelsError = ListLabelsErrors[keyof ListLabelsErrors];

export type ListLabelsResponses = {
    /**
     * Done.
     */
    200: LabelPage;
};

export type ListLabelsResponse = ListLabelsResponses[keyof ListLabelsResponses];

export type ProtectLabelData = {
    body: SetProtection;
    path: {
        /**
         * A label such as `production`; `latest` always means the newest version.
         */
        label: string;
    };
    query?: never;
    url: '/labels/{label}';
};

export type ProtectLabelErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ProtectLabelError = ProtectLabelErrors[keyof ProtectLabelErrors];

export type ProtectLabelResponses = {
    /**
     * Done.
     */
    200: Label;
};

export type ProtectLabelResponse = ProtectLabelResponses[keyof ProtectLabelResponses];

export type ListReleasesData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        prompt_name?: string;
        /**
         * A label such as `production`; `latest` always means the newest version.
         */
        label?: string;
        status?: 'in_progress' | 'paused' | 'awaiting_approval' | 'baking' | 'succeeded' | 'rolled_back' | 'rejected' | 'failed' | 'superseded' | 'canceled';
    };
    url: '/releases';
};

export type ListReleasesErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListReleasesError = ListReleasesErrors[keyof ListReleasesErrors];

export type ListReleasesResponses = {
    /**
     * Done.
     */
    200: ReleasePage;
};

export type ListReleasesResponse = ListReleasesResponses[keyof ListReleasesResponses];

export type CreateReleaseData = {
    body: CreateRelease;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/releases';
};

export type CreateReleaseErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CreateReleaseError = CreateReleaseErrors[keyof CreateReleaseErrors];

export type CreateReleaseResponses = {
    /**
     * Created.
     */
    201: Release;
};

export type CreateReleaseResponse = CreateReleaseResponses[keyof CreateReleaseResponses];

export type GetReleaseNumbersData = {
    body?: never;
    path: {
        id: string;
    };
    query?: {
        unit?: 'minute' | 'hour' | 'day';
    };
    url: '/releases/{id}/numbers';
};

export type GetReleaseNumbersErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetReleaseNumbersError = GetReleaseNumbersErrors[keyof GetReleaseNumbersErrors];

export type GetReleaseNumbersResponses = {
    /**
     * Done.
     */
    200: ReleaseNumbers;
};

export type GetReleaseNumbersResponse = GetReleaseNumbersResponses[keyof GetReleaseNumbersResponses];

export type GetReleaseData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/releases/{id}';
};

export type GetReleaseErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetReleaseError = GetReleaseErrors[keyof GetReleaseErrors];

export type GetReleaseResponses = {
    /**
     * Done.
     */
    200: Release;
};

export type GetReleaseResponse = GetReleaseResponses[keyof GetReleaseResponses];

export type ApproveReleaseData = {
    body?: ControlRelease;
    path: {
        id: string;
    };
    query?: never;
    url: '/releases/{id}/approve';
};

export type ApproveReleaseErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ApproveReleaseError = ApproveReleaseErrors[keyof ApproveReleaseErrors];

export type ApproveReleaseResponses = {
    /**
     * Done.
     */
    200: Release;
};

export type ApproveReleaseResponse = ApproveReleaseResponses[keyof ApproveReleaseResponses];

export type RejectReleaseData = {
    body?: ControlRelease;
    path: {
        id: string;
    };
    query?: never;
    url: '/releases/{id}/reject';
};

export type RejectReleaseErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type RejectReleaseError = RejectReleaseErrors[keyof RejectReleaseErrors];

export type RejectReleaseResponses = {
    /**
     * Done.
     */
    200: Release;
};

export type RejectReleaseResponse = RejectReleaseResponses[keyof RejectReleaseResponses];

export type PauseReleaseData = {
    body?: ControlRelease;
    path: {
        id: string;
    };
    query?: never;
    url: '/releases/{id}/pause';
};

export type PauseReleaseErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type PauseReleaseError = PauseReleaseErrors[keyof PauseReleaseErrors];

export type PauseReleaseResponses = {
    /**
     * Done.
     */
    200: Release;
};

export type PauseReleaseResponse = PauseReleaseResponses[keyof PauseReleaseResponses];

export type ResumeReleaseData = {
    body?: ControlRelease;
    path: {
        id: string;
    };
    query?: never;
    url: '/releases/{id}/resume';
};

export type ResumeReleaseErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ResumeReleaseError = ResumeReleaseErrors[keyof ResumeReleaseErrors];

export type ResumeReleaseResponses = {
    /**
     * Done.
     */
    200: Release;
};

export type ResumeReleaseResponse = ResumeReleaseResponses[keyof ResumeReleaseResponses];

export type PromoteReleaseData = {
    body?: PromoteRelease;
    path: {
        id: string;
    };
    query?: never;
    url: '/releases/{id}/promote';
};

export type PromoteReleaseErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type PromoteReleaseError = PromoteReleaseErrors[keyof PromoteReleaseErrors];

export type PromoteReleaseResponses = {
    /**
     * Done.
     */
    200: Release;
};

export type PromoteReleaseResponse = PromoteReleaseResponses[keyof PromoteReleaseResponses];

export type RollbackReleaseData = {
    body?: ControlRelease;
    path: {
        id: string;
    };
    query?: never;
    url: '/releases/{id}/rollback';
};

export type RollbackReleaseErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type RollbackReleaseError = RollbackReleaseErrors[keyof RollbackReleaseErrors];

export type RollbackReleaseResponses = {
    /**
     * Done.
     */
    200: Release;
};

export type RollbackReleaseResponse = RollbackReleaseResponses[keyof RollbackReleaseResponses];

export type CancelReleaseData = {
    body?: ControlRelease;
    path: {
        id: string;
    };
    query?: never;
    url: '/releases/{id}/cancel';
};

export type CancelReleaseErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CancelReleaseError = CancelReleaseErrors[keyof CancelReleaseErrors];

export type CancelReleaseResponses = {
    /**
     * Done.
     */
    200: Release;
};

export type CancelReleaseResponse = CancelReleaseResponses[keyof CancelReleaseResponses];

export type ListExecutionsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
        /**
         * Words and quoted phrases that must all occur in the input, output, tool calls or error (case-insensitive). Without an index (`SEARCH_INDEX`), a page searches part of the executions, and may be empty even if there is a next page; with one, words match from their beginning.
         */
        q?: string;
        /**
         * An execution id, or the beginning of one.
         */
        id?: string;
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        prompt_name?: string;
        /**
         * Only prompts whose name starts with this and a "/".
         */
        group?: string;
        status?: 'queued' | 'running' | 'completed' | 'failed' | 'canceled';
        /**
         * `openai/…`, `anthropic/…`, `google/…`, `mistral/…`, `openai-compatible/…`, `sandbox/…`, or a bare name.
         */
        model?: string;
        /**
         * The label that the request named.
         */
        label?: string;
        /**
         * Only executions whose version this release chose.
         */
        release?: string;
        /**
         * The arm of that release.
         */
        arm?: 'stable' | 'candidate';
        /**
         * The error code of the execution.
         */
        error_code?: string;
        /**
         * Created at or after this time.
         */
        since?: string;
        /**
         * Created before this time.
         */
        until?: string;
        /**
         * A version of the prompt, from 1.
         */
        prompt_version?: number;
        /**
         * US dollars. Executions of unknown cost do not match.
         */
        min_cost?: string;
        /**
         * US dollars, inclusive. Executions of unknown cost do not match.
         */
        max_cost?: string;
        /**
         * Milliseconds from creation to the end. Unfinished executions do not match.
         */
        min_latency_ms?: number;
        /**
         * Milliseconds from creation to the end. Unfinished executions do not match. Inclusive.
         */
        max_latency_ms?: number;
        /**
         * Metadata that the execution must include: `NAME=VALUE`. May be repeated.
         */
        metadata?: Array<string>;
        /**
         * Only executions recorded by an application, or (`false`) run by the service.
         */
        recorded?: 'true' | 'false';
        /**
         * Only the executions of this trace.
         */
        trace_id?: string;
        /**
         * Conditions on scores that must all hold: `NAME OPERATOR VALUE` with `<`, `<=`, `>`, `>=`, `=` or `!=`. May be repeated.
         */
        score?: Array<string>;
        /**
         * Sorts the newest 10,000 matches by this field; a minus sorts descending. Missing values count as the lowest. `latency`: from creation to the end.
         */
        sort?: 'cost' | '-cost' | 'latency' | '-latency' | 'tokens' | '-tokens';
    };
    url: '/executions';
};

export type ListExecutionsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListExecutionsError = ListExecutionsErrors[keyof ListExecutionsErrors];

export type ListExecutionsResponses = {
    /**
     * Done.
     */
    200: ExecutionPage;
};

export type ListExecutionsResponse = ListExecutionsResponses[keyof ListExecutionsResponses];

export type CreateExecutionData = {
    body: CreateExecution;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
        /**
         * `wait=N` (0–300 seconds, default 60) or `respond-async`.
         */
        Prefer?: string;
    };
    path?: never;
    query?: never;
    url: '/executions';
};

export type CreateExecutionErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CreateExecutionError = CreateExecutionErrors[keyof CreateExecutionErrors];

export type CreateExecutionResponses = {
    /**
     * Created.
     */
    201: Execution;
};

export type CreateExecutionResponse = CreateExecutionResponses[keyof CreateExecutionResponses];

export type CountExecutionsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Words and quoted phrases that must all occur in the input, output, tool calls or error (case-insensitive). Without an index (`SEARCH_INDEX`), a page searches part of the executions, and may be empty even if there is a next page; with one, words match from their beginning.
         */
        q?: string;
        /**
         * An execution id, or the beginning of one.
         */
        id?: string;
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        prompt_name?: string;
        /**
         * Only prompts whose name starts with this and a "/".
         */
        group?: string;
        status?: 'queued' | 'running' | 'completed' | 'failed' | 'canceled';
        /**
         * `openai/…`, `anthropic/…`, `google/…`, `mistral/…`, `openai-compatible/…`, `sandbox/…`, or a bare name.
         */
        model?: string;
        /**
         * The label that the request named.
         */
        label?: string;
        /**
         * Only executions whose version this release chose.
         */
        release?: string;
        /**
         * The arm of that release.
         */
        arm?: 'stable' | 'candidate';
        /**
         * The error code of the execution.
         */
        error_code?: string;
        /**
         * Created at or after this time.
         */
        since?: string;
        /**
         * Created before this time.
         */
        until?: string;
        /**
         * A version of the prompt, from 1.
         */
        prompt_version?: number;
        /**
         * US dollars. Executions of unknown cost do not match.
         */
        min_cost?: string;
        /**
         * US dollars, inclusive. Executions of unknown cost do not match.
         */
        max_cost?: string;
        /**
         * Milliseconds from creation to the end. Unfinished executions do not match.
         */
        min_latency_ms?: number;
        /**
         * Milliseconds from creation to the end. Unfinished executions do not match. Inclusive.
         */
        max_latency_ms?: number;
        /**
         * Metadata that the execution must include: `NAME=VALUE`. May be repeated.
         */
        metadata?: Array<string>;
        /**
         * Only executions recorded by an application, or (`false`) run by the service.
         */
        recorded?: 'true' | 'false';
        /**
         * Only the executions of this trace.
         */
        trace_id?: string;
        /**
         * Conditions on scores that must all hold: `NAME OPERATOR VALUE` with `<`, `<=`, `>`, `>=`, `=` or `!=`. May be repeated.
         */
        score?: Array<string>;
    };
    url: '/executions/facets';
};

export type CountExecutionsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CountExecutionsError = CountExecutionsErrors[keyof CountExecutionsErrors];

export type CountExecutionsResponses = {
    /**
     * Done.
     */
    200: ExecutionFacets;
};

export type CountExecutionsResponse = CountExecutionsResponses[keyof CountExecutionsResponses];

export type DeleteExecutionData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/executions/{id}';
};

export type DeleteExecutionErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type DeleteExecutionError = DeleteExecutionErrors[keyof DeleteExecutionErrors];

export type DeleteExecutionResponses = {
    /**
     * Done.
     */
    200: Execution;
};

export type DeleteExecutionResponse = DeleteExecutionResponses[keyof DeleteExecutionResponses];

export type GetExecutionData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/executions/{id}';
};

export type GetExecutionErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetExecutionError = GetExecutionErrors[keyof GetExecutionErrors];

export type GetExecutionResponses = {
    /**
     * Done.
     */
    200: Execution;
};

export type GetExecutionResponse = GetExecutionResponses[keyof GetExecutionResponses];

export type ListExecutionDeliveriesData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/executions/{id}/deliveries';
};

export type ListExecutionDeliveriesErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListExecutionDeliveriesError = ListExecutionDeliveriesErrors[keyof ListExecutionDeliveriesErrors];

export type ListExecutionDeliveriesResponses = {
    /**
     * Done.
     */
    200: ExecutionDeliveries;
};

export type ListExecutionDeliveriesResponse = ListExecutionDeliveriesResponses[keyof ListExecutionDeliveriesResponses];

export type CancelExecutionData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/executions/{id}/cancel';
};

export type CancelExecutionErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CancelExecutionError = CancelExecutionErrors[keyof CancelExecutionErrors];

export type CancelExecutionResponses = {
    /**
     * Done.
     */
    200: Execution;
};

export type CancelExecutionResponse = CancelExecutionResponses[keyof CancelExecutionResponses];

export type RecordExecutionsData = {
    body: RecordRuns;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/executions/record';
};

export type RecordExecutionsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type RecordExecutionsError = RecordExecutionsErrors[keyof RecordExecutionsErrors];

export type RecordExecutionsResponses = {
    /**
     * Created.
     */
    201: RecordedRuns;
};

export type RecordExecutionsResponse = RecordExecutionsResponses[keyof RecordExecutionsResponses];

export type CreateChatCompletionData = {
    body: CreateChatCompletion;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
        /**
         * `wait=N`: 0–300 seconds, default 300.
         */
        Prefer?: string;
    };
    path?: never;
    query?: never;
    url: '/chat/completions';
};

export type CreateChatCompletionErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: OpenAiError;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: OpenAiError;
    /**
     * Not found in this workspace.
     */
    404: OpenAiError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: OpenAiError;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: OpenAiError;
};

export type CreateChatCompletionError = CreateChatCompletionErrors[keyof CreateChatCompletionErrors];

export type CreateChatCompletionResponses = {
    /**
     * Done.
     */
    200: ChatCompletion;
};

export type CreateChatCompletionResponse = CreateChatCompletionResponses[keyof CreateChatCompletionResponses];

export type CreateResponseData = {
    body: CreateResponse;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
        /**
         * `wait=N`: 0–300 seconds, default 300.
         */
        Prefer?: string;
    };
    path?: never;
    query?: never;
    url: '/responses';
};

export type CreateResponseErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: OpenAiError;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: OpenAiError;
    /**
     * Not found in this workspace.
     */
    404: OpenAiError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: OpenAiError;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: OpenAiError;
};

export type CreateResponseError = CreateResponseErrors[keyof CreateResponseErrors];

export type CreateResponseResponses = {
    /**
     * Done.
     */
    200: ModelResponse;
};

export type CreateResponseResponse = CreateResponseResponses[keyof CreateResponseResponses];

export type ListModelsData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/models';
};

export type ListModelsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: OpenAiError;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: OpenAiError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: OpenAiError;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: OpenAiError;
};

export type ListModelsError = ListModelsErrors[keyof ListModelsErrors];

export type ListModelsResponses = {
    /**
     * Done.
     */
    200: ModelList;
};

export type ListModelsResponse = ListModelsResponses[keyof ListModelsResponses];

export type GetModelData = {
    body?: never;
    path: {
        /**
         * A prompt: `name` (its latest version), `name@3` or `name@label`.
         */
        name: string;
    };
    query?: never;
    url: '/models/{name}';
};

export type GetModelErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: OpenAiError;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: OpenAiError;
    /**
     * Not found in this workspace.
     */
    404: OpenAiError;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: OpenAiError;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: OpenAiError;
};

export type GetModelError = GetModelErrors[keyof GetModelErrors];

export type GetModelResponses = {
    /**
     * Done.
     */
    200: Model;
};

export type GetModelResponse = GetModelResponses[keyof GetModelResponses];

export type ListProvidersData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/providers';
};

export type ListProvidersErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListProvidersError = ListProvidersErrors[keyof ListProvidersErrors];

export type ListProvidersResponses = {
    /**
     * Done.
     */
    200: ProviderList;
};

export type ListProvidersResponse = ListProvidersResponses[keyof ListProvidersResponses];

export type CheckParametersData = {
    body: CheckParameters;
    path?: never;
    query?: never;
    url: '/parameters/check';
};

export type CheckParametersErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CheckParametersError = CheckParametersErrors[keyof CheckParametersErrors];

export type CheckParametersResponses = {
    /**
     * Done.
     */
    200: ParametersCheck;
};

export type CheckParametersResponse = CheckParametersResponses[keyof CheckParametersResponses];

export type TestProviderData = {
    body?: never;
    path: {
        name: string;
    };
    query?: never;
    url: '/providers/{name}/test';
};

export type TestProviderErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type TestProviderError = TestProviderErrors[keyof TestProviderErrors];

export type TestProviderResponses = {
    /**
     * Done.
     */
    200: ProviderTest;
};

export type TestProviderResponse = TestProviderResponses[keyof TestProviderResponses];

export type StreamExecutionData = {
    body?: never;
    headers?: {
        /**
         * The `id` of the last event that you received. The stream continues after it.
         */
        'Last-Event-ID'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/executions/{id}/stream';
};

export type StreamExecutionErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type StreamExecutionError = StreamExecutionErrors[keyof StreamExecutionErrors];

export type StreamExecutionResponses = {
    /**
     * Done.
     */
    200: string;
};

export type StreamExecutionResponse = StreamExecutionResponses[keyof StreamExecutionResponses];

export type StreamEvaluationData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/evaluations/{id}/stream';
};

export type StreamEvaluationErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type StreamEvaluationError = StreamEvaluationErrors[keyof StreamEvaluationErrors];

export type StreamEvaluationResponses = {
    /**
     * Done.
     */
    200: string;
};

export type StreamEvaluationResponse = StreamEvaluationResponses[keyof StreamEvaluationResponses];

export type ListEvaluationsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        prompt_name?: string;
        target?: 'prompt' | 'code';
        status?: 'scheduled' | 'running' | 'paused' | 'completed' | 'failed' | 'canceled';
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        dataset?: string;
        schedule_id?: string;
        /**
         * The evaluations of an improvement, which other lists leave out.
         */
        improvement_id?: string;
        /**
         * Created at or after this time.
         */
        since?: string;
        /**
         * Created before this time.
         */
        until?: string;
    };
    url: '/evaluations';
};

export type ListEvaluationsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListEvaluationsError = ListEvaluationsErrors[keyof ListEvaluationsErrors];

export type ListEvaluationsResponses = {
    /**
     * Done.
     */
    200: EvaluationPage;
};

export type ListEvaluationsResponse = ListEvaluationsResponses[keyof ListEvaluationsResponses];

export type CreateEvaluationData = {
    body: CreateEvaluation;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/evaluations';
};

export type CreateEvaluationErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CreateEvaluationError = CreateEvaluationErrors[keyof CreateEvaluationErrors];

export type CreateEvaluationResponses = {
    /**
     * Created.
     */
    201: CreatedEvaluation;
};

export type CreateEvaluationResponse = CreateEvaluationResponses[keyof CreateEvaluationResponses];

export type EstimateEvaluationData = {
    body: CreateEvaluation;
    path?: never;
    query?: never;
    url: '/evaluations/estimate';
};

export type EstimateEvaluationErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type EstimateEvaluationError = EstimateEvaluationErrors[keyof EstimateEvaluationErrors];

export type EstimateEvaluationResponses = {
    /**
     * Done.
     */
    200: EvaluationEstimate;
};

export type EstimateEvaluationResponse = EstimateEvaluationResponses[keyof EstimateEvaluationResponses];

export type RescoreEvaluationData = {
    body?: RescoreEvaluation;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/evaluations/{id}/rescore';
};

export type RescoreEvaluationErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type RescoreEvaluationError = RescoreEvaluationErrors[keyof RescoreEvaluationErrors];

export type RescoreEvaluationResponses = {
    /**
     * Created.
     */
    201: CreatedEvaluation;
};

export type RescoreEvaluationResponse = RescoreEvaluationResponses[keyof RescoreEvaluationResponses];

export type DeleteEvaluationData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/evaluations/{id}';
};

export type DeleteEvaluationErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type DeleteEvaluationError = DeleteEvaluationErrors[keyof DeleteEvaluationErrors];

export type DeleteEvaluationResponses = {
    /**
     * Done.
     */
    200: Evaluation;
};

export type DeleteEvaluationResponse = DeleteEvaluationResponses[keyof DeleteEvaluationResponses];

export type GetEvaluationData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/evaluations/{id}';
};

export type GetEvaluationErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetEvaluationError = GetEvaluationErrors[keyof GetEvaluationErrors];

export type GetEvaluationResponses = {
    /**
     * Done.
     */
    200: Evaluation;
};

export type GetEvaluationResponse = GetEvaluationResponses[keyof GetEvaluationResponses];

export type UpdateEvaluationData = {
    body: UpdateEvaluation;
    path: {
        id: string;
    };
    query?: never;
    url: '/evaluations/{id}';
};

export type UpdateEvaluationErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type UpdateEvaluationError = UpdateEvaluationErrors[keyof UpdateEvaluationErrors];

export type UpdateEvaluationResponses = {
    /**
     * Done.
     */
    200: Evaluation;
};

export type UpdateEvaluationResponse = UpdateEvaluationResponses[keyof UpdateEvaluationResponses];

export type ListEvaluationResultsData = {
    body?: never;
    path: {
        id: string;
    };
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
        /**
         * Only examples that got worse.
         */
        regression?: 'true' | 'false';
        /**
         * Only examples that got better.
         */
        improvement?: 'true' | 'false';
        /**
         * Only failed examples: those without a response from the model or a judge.
         */
        failed?: 'true' | 'false';
        /**
         * Only this example. Identical examples without an id share one.
         */
        example_id?: string;
        /**
         * Only examples with at least this score. Failed examples score 0 once the run has ended.
         */
        min_score?: number;
        /**
         * Only examples with at most this score. Failed examples score 0 once the run has ended.
         */
        max_score?: number;
        /**
         * The evaluator whose score `min_score`, `max_score` and sorting by score use; failed examples have none. Default: the score of the example.
         */
        evaluator?: string;
        /**
         * Only examples that contain this text (case-insensitive) in the output, the expected value, the example's id, or a value of its variables.
         */
        q?: string;
        /**
         * With `metadata_value`: only examples whose metadata has this value. Matches nothing after the dataset is deleted.
         */
        metadata_key?: string;
        /**
         * As text: `true`, `3`, or the string itself.
         */
        metadata_value?: string;
        /**
         * Sorts by this field instead of example order, for runs of at most 20,000 examples; a minus sorts descending. Missing values count as the lowest. `change`: the score minus the baseline score.
         */
        sort?: 'score' | '-score' | 'change' | '-change' | 'cost' | '-cost' | 'latency' | '-latency';
        /**
         * `csv`: all results, streamed.
         */
        format?: 'json' | 'csv';
    };
    url: '/evaluations/{id}/results';
};

export type ListEvaluationResultsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListEvaluationResultsError = ListEvaluationResultsErrors[keyof ListEvaluationResultsErrors];

export type ListEvaluationResultsResponses = {
    /**
     * Done.
     */
    200: EvaluationResultPage;
};

export type ListEvaluationResultsResponse = ListEvaluationResultsResponses[keyof ListEvaluationResultsResponses];

export type StoreEvaluationResultsData = {
    body: StoreCodeResults;
    path: {
        id: string;
    };
    query?: never;
    url: '/evaluations/{id}/results';
};

export type StoreEvaluationResultsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type StoreEvaluationResultsError = StoreEvaluationResultsErrors[keyof StoreEvaluationResultsErrors];

export type StoreEvaluationResultsResponses = {
    /**
     * Done.
     */
    200: StoredCodeResults;
};

export type StoreEvaluationResultsResponse = StoreEvaluationResultsResponses[keyof StoreEvaluationResultsResponses];

export type SummarizeEvaluationResultsData = {
    body?: never;
    path: {
        id: string;
    };
    query?: {
        /**
         * Only examples that got worse.
         */
        regression?: 'true' | 'false';
        /**
         * Only examples that got better.
         */
        improvement?: 'true' | 'false';
        /**
         * Only failed examples: those without a response from the model or a judge.
         */
        failed?: 'true' | 'false';
        /**
         * Only this example. Identical examples without an id share one.
         */
        example_id?: string;
        /**
         * Only examples with at least this score. Failed examples score 0 once the run has ended.
         */
        min_score?: number;
        /**
         * Only examples with at most this score. Failed examples score 0 once the run has ended.
         */
        max_score?: number;
        /**
         * The evaluator whose score `min_score`, `max_score` and sorting by score use; failed examples have none. Default: the score of the example.
         */
        evaluator?: string;
        /**
         * Only examples that contain this text (case-insensitive) in the output, the expected value, the example's id, or a value of its variables.
         */
        q?: string;
        /**
         * With `metadata_value`: only examples whose metadata has this value. Matches nothing after the dataset is deleted.
         */
        metadata_key?: string;
        /**
         * As text: `true`, `3`, or the string itself.
         */
        metadata_value?: string;
    };
    url: '/evaluations/{id}/results/summary';
};

export type SummarizeEvaluationResultsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type SummarizeEvaluationResultsError = SummarizeEvaluationResultsErrors[keyof SummarizeEvaluationResultsErrors];

export type SummarizeEvaluationResultsResponses = {
    /**
     * Done.
     */
    200: EvaluationResultsSummary;
};

export type SummarizeEvaluationResultsResponse = SummarizeEvaluationResultsResponses[keyof SummarizeEvaluationResultsResponses];

export type GetEvaluationResultData = {
    body?: never;
    path: {
        id: string;
        /**
         * The `seq` of the result.
         */
        seq: number;
    };
    query?: never;
    url: '/evaluations/{id}/results/{seq}';
};

export type GetEvaluationResultErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetEvaluationResultError = GetEvaluationResultErrors[keyof GetEvaluationResultErrors];

export type GetEvaluationResultResponses = {
    /**
     * Done.
     */
    200: EvaluationResult;
};

export type GetEvaluationResultResponse = GetEvaluationResultResponses[keyof GetEvaluationResultResponses];

export type GetEvaluationInputData = {
    body?: never;
    path: {
        id: string;
        /**
         * The `seq` of the result.
         */
        seq: number;
    };
    query?: never;
    url: '/evaluations/{id}/results/{seq}/input';
};

export type GetEvaluationInputErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetEvaluationInputError = GetEvaluationInputErrors[keyof GetEvaluationInputErrors];

export type GetEvaluationInputResponses = {
    /**
     * Done.
     */
    200: EvaluationInput;
};

export type GetEvaluationInputResponse = GetEvaluationInputResponses[keyof GetEvaluationInputResponses];

export type CompareEvaluationsData = {
    body?: never;
    path: {
        id: string;
        other: string;
    };
    query?: {
        /**
         * The evaluator whose scores are compared; both runs must have it. Default: the scores of the examples.
         */
        evaluator?: string;
        /**
         * With `metadata_value`: only examples whose metadata has this value. Matches nothing after the dataset is deleted.
         */
        metadata_key?: string;
        /**
         * As text: `true`, `3`, or the string itself.
         */
        metadata_value?: string;
        /**
         * A metadata key of the examples: `by_group` compares each of its values separately.
         */
        group_by?: string;
        /**
         * Whether `unchanged_examples` lists the examples with the same score.
         */
        unchanged?: 'true' | 'false';
        /**
         * The maximum number of examples of each kind.
         */
        limit?: number;
    };
    url: '/evaluations/{id}/compare/{other}';
};

export type CompareEvaluationsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CompareEvaluationsError = CompareEvaluationsErrors[keyof CompareEvaluationsErrors];

export type CompareEvaluationsResponses = {
    /**
     * Done.
     */
    200: EvaluationComparison;
};

export type CompareEvaluationsResponse = CompareEvaluationsResponses[keyof CompareEvaluationsResponses];

export type CreateCodeEvaluationData = {
    body: CreateCodeEvaluation;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/evaluations/code';
};

export type CreateCodeEvaluationErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CreateCodeEvaluationError = CreateCodeEvaluationErrors[keyof CreateCodeEvaluationErrors];

export type CreateCodeEvaluationResponses = {
    /**
     * Created.
     */
    201: Evaluation;
};

export type CreateCodeEvaluationResponse = CreateCodeEvaluationResponses[keyof CreateCodeEvaluationResponses];

export type ListOpenExamplesData = {
    body?: never;
    path: {
        id: string;
    };
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
    };
    url: '/evaluations/{id}/open-examples';
};

export type ListOpenExamplesErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListOpenExamplesError = ListOpenExamplesErrors[keyof ListOpenExamplesErrors];

export type ListOpenExamplesResponses = {
    /**
     * Done.
     */
    200: OpenExamplePage;
};

export type ListOpenExamplesResponse = ListOpenExamplesResponses[keyof ListOpenExamplesResponses];

export type FinishEvaluationData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/evaluations/{id}/finish';
};

export type FinishEvaluationErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type FinishEvaluationError = FinishEvaluationErrors[keyof FinishEvaluationErrors];

export type FinishEvaluationResponses = {
    /**
     * Done.
     */
    200: Evaluation;
};

export type FinishEvaluationResponse = FinishEvaluationResponses[keyof FinishEvaluationResponses];

export type PauseEvaluationData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/evaluations/{id}/pause';
};

export type PauseEvaluationErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type PauseEvaluationError = PauseEvaluationErrors[keyof PauseEvaluationErrors];

export type PauseEvaluationResponses = {
    /**
     * Done.
     */
    200: Evaluation;
};

export type PauseEvaluationResponse = PauseEvaluationResponses[keyof PauseEvaluationResponses];

export type ResumeEvaluationData = {
    body?: ResumeEvaluation;
    path: {
        id: string;
    };
    query?: never;
    url: '/evaluations/{id}/resume';
};

export type ResumeEvaluationErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ResumeEvaluationError = ResumeEvaluationErrors[keyof ResumeEvaluationErrors];

export type ResumeEvaluationResponses = {
    /**
     * Done.
     */
    200: Evaluation;
};

export type ResumeEvaluationResponse = ResumeEvaluationResponses[keyof ResumeEvaluationResponses];

export type CancelEvaluationData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/evaluations/{id}/cancel';
};

export type CancelEvaluationErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CancelEvaluationError = CancelEvaluationErrors[keyof CancelEvaluationErrors];

export type CancelEvaluationResponses = {
    /**
     * Done.
     */
    200: Evaluation;
};

export type CancelEvaluationResponse = CancelEvaluationResponses[keyof CancelEvaluationResponses];

export type RetryEvaluationData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/evaluations/{id}/retry';
};

export type RetryEvaluationErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type RetryEvaluationError = RetryEvaluationErrors[keyof RetryEvaluationErrors];

export type RetryEvaluationResponses = {
    /**
     * Done.
     */
    200: Evaluation;
};

export type RetryEvaluationResponse = RetryEvaluationResponses[keyof RetryEvaluationResponses];

export type ResubmitBatchData = {
    body?: never;
    path: {
        id: string;
        /**
         * The number of the batch, from 1.
         */
        number: number;
    };
    query?: never;
    url: '/evaluations/{id}/batches/{number}/resubmit';
};

export type ResubmitBatchErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ResubmitBatchError = ResubmitBatchErrors[keyof ResubmitBatchErrors];

export type ResubmitBatchResponses = {
    /**
     * Done.
     */
    200: Evaluation;
};

export type ResubmitBatchResponse = ResubmitBatchResponses[keyof ResubmitBatchResponses];

export type ListEvaluatorsData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/evaluators';
};

export type ListEvaluatorsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListEvaluatorsError = ListEvaluatorsErrors[keyof ListEvaluatorsErrors];

export type ListEvaluatorsResponses = {
    /**
     * Done.
     */
    200: EvaluatorTypeList;
};

export type ListEvaluatorsResponse = ListEvaluatorsResponses[keyof ListEvaluatorsResponses];

export type TryEvaluatorsData = {
    body: TryEvaluators;
    headers?: {
        /**
         * `wait=N` (0–300 seconds, default 60) or `respond-async`.
         */
        Prefer?: string;
    };
    path?: never;
    query?: never;
    url: '/evaluators/try';
};

export type TryEvaluatorsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type TryEvaluatorsError = TryEvaluatorsErrors[keyof TryEvaluatorsErrors];

export type TryEvaluatorsResponses = {
    /**
     * Done.
     */
    200: TriedScores;
};

export type TryEvaluatorsResponse = TryEvaluatorsResponses[keyof TryEvaluatorsResponses];

export type ListImprovementsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        prompt_name?: string;
        status?: 'running' | 'paused' | 'completed' | 'failed' | 'canceled';
    };
    url: '/improvements';
};

export type ListImprovementsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListImprovementsError = ListImprovementsErrors[keyof ListImprovementsErrors];

export type ListImprovementsResponses = {
    /**
     * Done.
     */
    200: ImprovementPage;
};

export type ListImprovementsResponse = ListImprovementsResponses[keyof ListImprovementsResponses];

export type CreateImprovementData = {
    body: CreateImprovement;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/improvements';
};

export type CreateImprovementErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CreateImprovementError = CreateImprovementErrors[keyof CreateImprovementErrors];

export type CreateImprovementResponses = {
    /**
     * Created.
     */
    201: Improvement;
};

export type CreateImprovementResponse = CreateImprovementResponses[keyof CreateImprovementResponses];

export type EstimateImprovementData = {
    body: CreateImprovement;
    path?: never;
    query?: never;
    url: '/improvements/estimate';
};

export type EstimateImprovementErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type EstimateImprovementError = EstimateImprovementErrors[keyof EstimateImprovementErrors];

export type EstimateImprovementResponses = {
    /**
     * Done.
     */
    200: ImprovementEstimate;
};

export type EstimateImprovementResponse = EstimateImprovementResponses[keyof EstimateImprovementResponses];

export type SuggestPromptData = {
    body: SuggestPrompt;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
        /**
         * `wait=N` (0–300 seconds, default 60) or `respond-async`.
         */
        Prefer?: string;
    };
    path?: never;
    query?: never;
    url: '/improvements/suggest';
};

export type SuggestPromptErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type SuggestPromptError = SuggestPromptErrors[keyof SuggestPromptErrors];

export type SuggestPromptResponses = {
    /**
     * Created.
     */
    201: PromptSuggestion;
};

export type SuggestPromptResponse = SuggestPromptResponses[keyof SuggestPromptResponses];

export type GetReflectionPromptData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/improvements/reflection-prompt';
};

export type GetReflectionPromptErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetReflectionPromptError = GetReflectionPromptErrors[keyof GetReflectionPromptErrors];

export type GetReflectionPromptResponses = {
    /**
     * Done.
     */
    200: ReflectionPrompt;
};

export type GetReflectionPromptResponse = GetReflectionPromptResponses[keyof GetReflectionPromptResponses];

export type DeleteImprovementData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/improvements/{id}';
};

export type DeleteImprovementErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type DeleteImprovementError = DeleteImprovementErrors[keyof DeleteImprovementErrors];

export type DeleteImprovementResponses = {
    /**
     * Done.
     */
    200: Improvement;
};

export type DeleteImprovementResponse = DeleteImprovementResponses[keyof DeleteImprovementResponses];

export type GetImprovementData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/improvements/{id}';
};

export type GetImprovementErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetImprovementError = GetImprovementErrors[keyof GetImprovementErrors];

export type GetImprovementResponses = {
    /**
     * Done.
     */
    200: Improvement;
};

export type GetImprovementResponse = GetImprovementResponses[keyof GetImprovementResponses];

export type ListImprovementCandidatesData = {
    body?: never;
    path: {
        id: string;
    };
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
    };
    url: '/improvements/{id}/candidates';
};

export type ListImprovementCandidatesErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListImprovementCandidatesError = ListImprovementCandidatesErrors[keyof ListImprovementCandidatesErrors];

export type ListImprovementCandidatesResponses = {
    /**
     * Done.
     */
    200: ImprovementCandidatePage;
};

export type ListImprovementCandidatesResponse = ListImprovementCandidatesResponses[keyof ListImprovementCandidatesResponses];

export type GetImprovementCandidateData = {
    body?: never;
    path: {
        id: string;
        /**
         * The number of the candidate.
         */
        number: number;
    };
    query?: never;
    url: '/improvements/{id}/candidates/{number}';
};

export type GetImprovementCandidateErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetImprovementCandidateError = GetImprovementCandidateErrors[keyof GetImprovementCandidateErrors];

export type GetImprovementCandidateResponses = {
    /**
     * Done.
     */
    200: ImprovementCandidate;
};

export type GetImprovementCandidateResponse = GetImprovementCandidateResponses[keyof GetImprovementCandidateResponses];

export type StreamImprovementData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/improvements/{id}/stream';
};

export type StreamImprovementErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type StreamImprovementError = StreamImprovementErrors[keyof StreamImprovementErrors];

export type StreamImprovementResponses = {
    /**
     * Done.
     */
    200: string;
};

export type StreamImprovementResponse = StreamImprovementResponses[keyof StreamImprovementResponses];

export type PauseImprovementData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/improvements/{id}/pause';
};

export type PauseImprovementErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type PauseImprovementError = PauseImprovementErrors[keyof PauseImprovementErrors];

export type PauseImprovementResponses = {
    /**
     * Done.
     */
    200: Improvement;
};

export type PauseImprovementResponse = PauseImprovementResponses[keyof PauseImprovementResponses];

export type ResumeImprovementData = {
    body?: ResumeImprovement;
    path: {
        id: string;
    };
    query?: never;
    url: '/improvements/{id}/resume';
};

export type ResumeImprovementErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ResumeImprovementError = ResumeImprovementErrors[keyof ResumeImprovementErrors];

export type ResumeImprovementResponses = {
    /**
     * Done.
     */
    200: Improvement;
};

export type ResumeImprovementResponse = ResumeImprovementResponses[keyof ResumeImprovementResponses];

export type FinishImprovementData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/improvements/{id}/finish';
};

export type FinishImprovementErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type FinishImprovementError = FinishImprovementErrors[keyof FinishImprovementErrors];

export type FinishImprovementResponses = {
    /**
     * Done.
     */
    200: Improvement;
};

export type FinishImprovementResponse = FinishImprovementResponses[keyof FinishImprovementResponses];

export type CancelImprovementData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/improvements/{id}/cancel';
};

export type CancelImprovementErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CancelImprovementError = CancelImprovementErrors[keyof CancelImprovementErrors];

export type CancelImprovementResponses = {
    /**
     * Done.
     */
    200: Improvement;
};

export type CancelImprovementResponse = CancelImprovementResponses[keyof CancelImprovementResponses];

export type RetryImprovementData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/improvements/{id}/retry';
};

export type RetryImprovementErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type RetryImprovementError = RetryImprovementErrors[keyof RetryImprovementErrors];

export type RetryImprovementResponses = {
    /**
     * Done.
     */
    200: Improvement;
};

export type RetryImprovementResponse = RetryImprovementResponses[keyof RetryImprovementResponses];

export type AcceptImprovementData = {
    body?: AcceptImprovement;
    path: {
        id: string;
    };
    query?: never;
    url: '/improvements/{id}/accept';
};

export type AcceptImprovementErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type AcceptImprovementError = AcceptImprovementErrors[keyof AcceptImprovementErrors];

export type AcceptImprovementResponses = {
    /**
     * Done.
     */
    200: Improvement;
};

export type AcceptImprovementResponse = AcceptImprovementResponses[keyof AcceptImprovementResponses];

export type GenerateDatasetExamplesData = {
    body: GenerateExamples;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
        /**
         * `wait=N` (0–300 seconds, default 60) or `respond-async`.
         */
        Prefer?: string;
    };
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/datasets/{name}/generate';
};

export type GenerateDatasetExamplesErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GenerateDatasetExamplesError = GenerateDatasetExamplesErrors[keyof GenerateDatasetExamplesErrors];

export type GenerateDatasetExamplesResponses = {
    /**
     * Created.
     */
    201: GeneratedExamples;
};

export type GenerateDatasetExamplesResponse = GenerateDatasetExamplesResponses[keyof GenerateDatasetExamplesResponses];

export type ListDatasetsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
    };
    url: '/datasets';
};

export type ListDatasetsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListDatasetsError = ListDatasetsErrors[keyof ListDatasetsErrors];

export type ListDatasetsResponses = {
    /**
     * Done.
     */
    200: DatasetPage;
};

export type ListDatasetsResponse = ListDatasetsResponses[keyof ListDatasetsResponses];

export type ListDatasetVersionsData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
    };
    url: '/datasets/{name}/versions';
};

export type ListDatasetVersionsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListDatasetVersionsError = ListDatasetVersionsErrors[keyof ListDatasetVersionsErrors];

export type ListDatasetVersionsResponses = {
    /**
     * Done.
     */
    200: DatasetPage;
};

export type ListDatasetVersionsResponse = ListDatasetVersionsResponses[keyof ListDatasetVersionsResponses];

export type ListDatasetExamplesData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
        /**
         * A version of the dataset, from 1. Default: the latest.
         */
        version?: number;
        /**
         * Only examples that contain this text (case-insensitive) in their id or in a value of their variables, expected value or metadata.
         */
        q?: string;
    };
    url: '/datasets/{name}/examples';
};

export type ListDatasetExamplesErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListDatasetExamplesError = ListDatasetExamplesErrors[keyof ListDatasetExamplesErrors];

export type ListDatasetExamplesResponses = {
    /**
     * Done.
     */
    200: DatasetExamplePage;
};

export type ListDatasetExamplesResponse = ListDatasetExamplesResponses[keyof ListDatasetExamplesResponses];

export type AddDatasetExamplesData = {
    body: AddExamples;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
    };
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/datasets/{name}/examples';
};

export type AddDatasetExamplesErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type AddDatasetExamplesError = AddDatasetExamplesErrors[keyof AddDatasetExamplesErrors];

export type AddDatasetExamplesResponses = {
    /**
     * Created.
     */
    201: DatasetChange;
};

export type AddDatasetExamplesResponse = AddDatasetExamplesResponses[keyof AddDatasetExamplesResponses];

export type ExportDatasetData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: {
        /**
         * A version of the dataset, from 1. Default: the latest.
         */
        version?: number;
        /**
         * `jsonl` keeps everything. `csv` holds only text; other values become JSON.
         */
        format?: 'jsonl' | 'csv';
    };
    url: '/datasets/{name}/export';
};

export type ExportDatasetErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ExportDatasetError = ExportDatasetErrors[keyof ExportDatasetErrors];

export type ExportDatasetResponses = {
    /**
     * Done.
     */
    200: string;
};

export type ExportDatasetResponse = ExportDatasetResponses[keyof ExportDatasetResponses];

export type CreateDatasetFromExecutionsData = {
    body: DatasetFromExecutions;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
    };
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/datasets/{name}/from-executions';
};

export type CreateDatasetFromExecutionsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CreateDatasetFromExecutionsError = CreateDatasetFromExecutionsErrors[keyof CreateDatasetFromExecutionsErrors];

export type CreateDatasetFromExecutionsResponses = {
    /**
     * Created.
     */
    201: DatasetChange;
};

export type CreateDatasetFromExecutionsResponse = CreateDatasetFromExecutionsResponses[keyof CreateDatasetFromExecutionsResponses];

export type CreateDatasetFromScoresData = {
    body: DatasetFromScores;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
    };
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/datasets/{name}/from-scores';
};

export type CreateDatasetFromScoresErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CreateDatasetFromScoresError = CreateDatasetFromScoresErrors[keyof CreateDatasetFromScoresErrors];

export type CreateDatasetFromScoresResponses = {
    /**
     * Created.
     */
    201: DatasetChange;
};

export type CreateDatasetFromScoresResponse = CreateDatasetFromScoresResponses[keyof CreateDatasetFromScoresResponses];

export type DeleteDatasetData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/datasets/{name}';
};

export type DeleteDatasetErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type DeleteDatasetError = DeleteDatasetErrors[keyof DeleteDatasetErrors];

export type DeleteDatasetResponses = {
    /**
     * Done.
     */
    200: Dataset;
};

export type DeleteDatasetResponse = DeleteDatasetResponses[keyof DeleteDatasetResponses];

export type GetDatasetData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: {
        /**
         * A version of the dataset, from 1. Default: the latest.
         */
        version?: number;
    };
    url: '/datasets/{name}';
};

export type GetDatasetErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetDatasetError = GetDatasetErrors[keyof GetDatasetErrors];

export type GetDatasetResponses = {
    /**
     * Done.
     */
    200: Dataset;
};

export type GetDatasetResponse = GetDatasetResponses[keyof GetDatasetResponses];

export type UploadDatasetData = {
    body: Blob | File;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: {
        /**
         * The purpose of the dataset. If omitted, it is unchanged.
         */
        description?: string;
        /**
         * `replace`: the next version has only the examples of the upload. `add`: they are added to those of the latest version, and one with an existing id replaces that example.
         */
        mode?: 'add' | 'replace';
    };
    url: '/datasets/{name}';
};

export type UploadDatasetErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type UploadDatasetError = UploadDatasetErrors[keyof UploadDatasetErrors];

export type UploadDatasetResponses = {
    /**
     * Done.
     */
    200: DatasetChange;
};

export type UploadDatasetResponse = UploadDatasetResponses[keyof UploadDatasetResponses];

export type ListSavedEvaluatorsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
    };
    url: '/saved-evaluators';
};

export type ListSavedEvaluatorsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListSavedEvaluatorsError = ListSavedEvaluatorsErrors[keyof ListSavedEvaluatorsErrors];

export type ListSavedEvaluatorsResponses = {
    /**
     * Done.
     */
    200: SavedEvaluatorPage;
};

export type ListSavedEvaluatorsResponse = ListSavedEvaluatorsResponses[keyof ListSavedEvaluatorsResponses];

export type DeleteSavedEvaluatorData = {
    body?: never;
    path: {
        name: string;
    };
    query?: never;
    url: '/saved-evaluators/{name}';
};

export type DeleteSavedEvaluatorErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type DeleteSavedEvaluatorError = DeleteSavedEvaluatorErrors[keyof DeleteSavedEvaluatorErrors];

export type DeleteSavedEvaluatorResponses = {
    /**
     * Done.
     */
    200: SavedEvaluator;
};

export type DeleteSavedEvaluatorResponse = DeleteSavedEvaluatorResponses[keyof DeleteSavedEvaluatorResponses];

export type GetSavedEvaluatorData = {
    body?: never;
    path: {
        name: string;
    };
    query?: {
        /**
         * Default: the newest version.
         */
        version?: number;
    };
    url: '/saved-evaluators/{name}';
};

export type GetSavedEvaluatorErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetSavedEvaluatorError = GetSavedEvaluatorErrors[keyof GetSavedEvaluatorErrors];

export type GetSavedEvaluatorResponses = {
    /**
     * Done.
     */
    200: SavedEvaluator;
};

export type GetSavedEvaluatorResponse = GetSavedEvaluatorResponses[keyof GetSavedEvaluatorResponses];

export type SetSavedEvaluatorData = {
    body: SetSavedEvaluator;
    path: {
        name: string;
    };
    query?: never;
    url: '/saved-evaluators/{name}';
};

export type SetSavedEvaluatorErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type SetSavedEvaluatorError = SetSavedEvaluatorErrors[keyof SetSavedEvaluatorErrors];

export type SetSavedEvaluatorResponses = {
    /**
     * Done.
     */
    200: SavedEvaluator;
};

export type SetSavedEvaluatorResponse = SetSavedEvaluatorResponses[keyof SetSavedEvaluatorResponses];

export type ListScoresData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name?: string;
        execution_id?: string;
        evaluation_id?: string;
        example_id?: string;
        /**
         * Only scores of this trace and its steps.
         */
        trace_id?: string;
        /**
         * Only scores of this step of the trace.
         */
        span_id?: string;
        conversation_id?: string;
        /**
         * Only scores of traces and their steps, or of conversations. Without this field, `trace_id` or `conversation_id`, such scores are left out.
         */
        subject?: 'trace' | 'conversation';
        source?: 'api' | 'person' | 'evaluator' | 'feedback';
        rule?: string;
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        prompt_name?: string;
        /**
         * Created at or after this time.
         */
        since?: string;
        /**
         * Created before this time.
         */
        until?: string;
        /**
         * `csv`: all of them, streamed.
         */
        format?: 'json' | 'csv';
    };
    url: '/scores';
};

export type ListScoresErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListScoresError = ListScoresErrors[keyof ListScoresErrors];

export type ListScoresResponses = {
    /**
     * Done.
     */
    200: ScorePage;
};

export type ListScoresResponse = ListScoresResponses[keyof ListScoresResponses];

export type CreateScoresData = {
    body: NewScores | NewScore;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/scores';
};

export type CreateScoresErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CreateScoresError = CreateScoresErrors[keyof CreateScoresErrors];

export type CreateScoresResponses = {
    /**
     * Created.
     */
    201: Score | Scores;
};

export type CreateScoresResponse = CreateScoresResponses[keyof CreateScoresResponses];

export type SummarizeScoresData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name?: string;
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        prompt_name?: string;
        source?: 'api' | 'person' | 'evaluator' | 'feedback';
        rule?: string;
        /**
         * Scores of subjects created at or after this time. Default: 30 days before `until`.
         */
        since?: string;
        /**
         * Scores of subjects created before this time. Default: now.
         */
        until?: string;
        /**
         * Any of prompt, version, label, arm, day (UTC), separated by commas, in addition to the name.
         */
        group_by?: string;
    };
    url: '/scores/summary';
};

export type SummarizeScoresErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type SummarizeScoresError = SummarizeScoresErrors[keyof SummarizeScoresErrors];

export type SummarizeScoresResponses = {
    /**
     * Done.
     */
    200: ScoreSummary;
};

export type SummarizeScoresResponse = SummarizeScoresResponses[keyof SummarizeScoresResponses];

export type DeleteScoreData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/scores/{id}';
};

export type DeleteScoreErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type DeleteScoreError = DeleteScoreErrors[keyof DeleteScoreErrors];

export type DeleteScoreResponses = {
    /**
     * Done.
     */
    200: Score;
};

export type DeleteScoreResponse = DeleteScoreResponses[keyof DeleteScoreResponses];

export type ListScoreDefinitionsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
    };
    url: '/score-definitions';
};

export type ListScoreDefinitionsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListScoreDefinitionsError = ListScoreDefinitionsErrors[keyof ListScoreDefinitionsErrors];

export type ListScoreDefinitionsResponses = {
    /**
     * Done.
     */
    200: ScoreDefinitionPage;
};

export type ListScoreDefinitionsResponse = ListScoreDefinitionsResponses[keyof ListScoreDefinitionsResponses];

export type DeleteScoreDefinitionData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/score-definitions/{name}';
};

export type DeleteScoreDefinitionErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type DeleteScoreDefinitionError = DeleteScoreDefinitionErrors[keyof DeleteScoreDefinitionErrors];

export type DeleteScoreDefinitionResponses = {
    /**
     * Done.
     */
    200: ScoreDefinition;
};

export type DeleteScoreDefinitionResponse = DeleteScoreDefinitionResponses[keyof DeleteScoreDefinitionResponses];

export type GetScoreDefinitionData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/score-definitions/{name}';
};

export type GetScoreDefinitionErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetScoreDefinitionError = GetScoreDefinitionErrors[keyof GetScoreDefinitionErrors];

export type GetScoreDefinitionResponses = {
    /**
     * Done.
     */
    200: ScoreDefinition;
};

export type GetScoreDefinitionResponse = GetScoreDefinitionResponses[keyof GetScoreDefinitionResponses];

export type SetScoreDefinitionData = {
    body: SetScoreDefinition;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/score-definitions/{name}';
};

export type SetScoreDefinitionErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type SetScoreDefinitionError = SetScoreDefinitionErrors[keyof SetScoreDefinitionErrors];

export type SetScoreDefinitionResponses = {
    /**
     * Done.
     */
    200: ScoreDefinition;
};

export type SetScoreDefinitionResponse = SetScoreDefinitionResponses[keyof SetScoreDefinitionResponses];

export type CreateFeedbackTokenData = {
    body: CreateFeedbackToken;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/executions/{id}/feedback-token';
};

export type CreateFeedbackTokenErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CreateFeedbackTokenError = CreateFeedbackTokenErrors[keyof CreateFeedbackTokenErrors];

export type CreateFeedbackTokenResponses = {
    /**
     * Created.
     */
    201: FeedbackToken;
};

export type CreateFeedbackTokenResponse = CreateFeedbackTokenResponses[keyof CreateFeedbackTokenResponses];

export type CreateSubjectFeedbackTokenData = {
    body: CreateSubjectFeedbackToken;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/feedback-tokens';
};

export type CreateSubjectFeedbackTokenErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CreateSubjectFeedbackTokenError = CreateSubjectFeedbackTokenErrors[keyof CreateSubjectFeedbackTokenErrors];

export type CreateSubjectFeedbackTokenResponses = {
    /**
     * Created.
     */
    201: SubjectFeedbackToken;
};

export type CreateSubjectFeedbackTokenResponse = CreateSubjectFeedbackTokenResponses[keyof CreateSubjectFeedbackTokenResponses];

export type CreateFeedbackData = {
    body: CreateFeedback;
    path?: never;
    query?: never;
    url: '/feedback';
};

export type CreateFeedbackErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CreateFeedbackError = CreateFeedbackErrors[keyof CreateFeedbackErrors];

export type CreateFeedbackResponses = {
    /**
     * Created.
     */
    201: Feedback;
};

export type CreateFeedbackResponse = CreateFeedbackResponses[keyof CreateFeedbackResponses];

export type LeaseQueueItemData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/queues/{name}/next';
};

export type LeaseQueueItemErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type LeaseQueueItemError = LeaseQueueItemErrors[keyof LeaseQueueItemErrors];

export type LeaseQueueItemResponses = {
    /**
     * Done.
     */
    200: NextQueueItem;
};

export type LeaseQueueItemResponse = LeaseQueueItemResponses[keyof LeaseQueueItemResponses];

export type CompleteQueueItemData = {
    body: CompleteQueueItem;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
        id: string;
    };
    query?: never;
    url: '/queues/{name}/items/{id}/complete';
};

export type CompleteQueueItemErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CompleteQueueItemError = CompleteQueueItemErrors[keyof CompleteQueueItemErrors];

export type CompleteQueueItemResponses = {
    /**
     * Done.
     */
    200: QueueItem;
};

export type CompleteQueueItemResponse = CompleteQueueItemResponses[keyof CompleteQueueItemResponses];

export type SkipQueueItemData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
        id: string;
    };
    query?: never;
    url: '/queues/{name}/items/{id}/skip';
};

export type SkipQueueItemErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type SkipQueueItemError = SkipQueueItemErrors[keyof SkipQueueItemErrors];

export type SkipQueueItemResponses = {
    /**
     * Done.
     */
    200: QueueItem;
};

export type SkipQueueItemResponse = SkipQueueItemResponses[keyof SkipQueueItemResponses];

export type ReturnQueueItemData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
        id: string;
    };
    query?: never;
    url: '/queues/{name}/items/{id}/back';
};

export type ReturnQueueItemErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ReturnQueueItemError = ReturnQueueItemErrors[keyof ReturnQueueItemErrors];

export type ReturnQueueItemResponses = {
    /**
     * Done.
     */
    200: QueueItem;
};

export type ReturnQueueItemResponse = ReturnQueueItemResponses[keyof ReturnQueueItemResponses];

export type ListQueuesData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
    };
    url: '/queues';
};

export type ListQueuesErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListQueuesError = ListQueuesErrors[keyof ListQueuesErrors];

export type ListQueuesResponses = {
    /**
     * Done.
     */
    200: QueuePage;
};

export type ListQueuesResponse = ListQueuesResponses[keyof ListQueuesResponses];

export type ListQueueItemsData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
        state?: 'pending' | 'leased' | 'completed' | 'skipped';
    };
    url: '/queues/{name}/items';
};

export type ListQueueItemsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListQueueItemsError = ListQueueItemsErrors[keyof ListQueueItemsErrors];

export type ListQueueItemsResponses = {
    /**
     * Done.
     */
    200: QueueItemPage;
};

export type ListQueueItemsResponse = ListQueueItemsResponses[keyof ListQueueItemsResponses];

export type AddQueueItemsData = {
    body: AddQueueItems;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/queues/{name}/items';
};

export type AddQueueItemsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type AddQueueItemsError = AddQueueItemsErrors[keyof AddQueueItemsErrors];

export type AddQueueItemsResponses = {
    /**
     * Done.
     */
    200: AddedQueueItems;
};

export type AddQueueItemsResponse = AddQueueItemsResponses[keyof AddQueueItemsResponses];

export type GetQueueAgreementData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/queues/{name}/agreement';
};

export type GetQueueAgreementErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetQueueAgreementError = GetQueueAgreementErrors[keyof GetQueueAgreementErrors];

export type GetQueueAgreementResponses = {
    /**
     * Done.
     */
    200: QueueAgreement;
};

export type GetQueueAgreementResponse = GetQueueAgreementResponses[keyof GetQueueAgreementResponses];

export type DeleteQueueData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/queues/{name}';
};

export type DeleteQueueErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type DeleteQueueError = DeleteQueueErrors[keyof DeleteQueueErrors];

export type DeleteQueueResponses = {
    /**
     * Done.
     */
    200: Queue;
};

export type DeleteQueueResponse = DeleteQueueResponses[keyof DeleteQueueResponses];

export type GetQueueData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/queues/{name}';
};

export type GetQueueErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetQueueError = GetQueueErrors[keyof GetQueueErrors];

export type GetQueueResponses = {
    /**
     * Done.
     */
    200: Queue;
};

export type GetQueueResponse = GetQueueResponses[keyof GetQueueResponses];

export type SetQueueData = {
    body: PutQueue;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/queues/{name}';
};

export type SetQueueErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type SetQueueError = SetQueueErrors[keyof SetQueueErrors];

export type SetQueueResponses = {
    /**
     * Done.
     */
    200: Queue;
};

export type SetQueueResponse = SetQueueResponses[keyof SetQueueResponses];

export type GetEvaluatorAgreementData = {
    body?: never;
    path?: never;
    query: {
        /**
         * The name of the score that both evaluators and people give.
         */
        score: string;
        /**
         * Only evaluators of this rule.
         */
        rule?: string;
        /**
         * Whether scores submitted with feedback tokens count, too.
         */
        feedback?: 'true' | 'false';
        /**
         * Whether the categories of the definition are ordered. If so, weighted kappas are added.
         */
        ordered?: 'true' | 'false';
        /**
         * Created at or after this time.
         */
        since?: string;
        /**
         * Created before this time.
         */
        until?: string;
        /**
         * The number of disagreements to show for each version.
         */
        disagreements?: number;
    };
    url: '/evaluators/agreement';
};

export type GetEvaluatorAgreementErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetEvaluatorAgreementError = GetEvaluatorAgreementErrors[keyof GetEvaluatorAgreementErrors];

export type GetEvaluatorAgreementResponses = {
    /**
     * Done.
     */
    200: EvaluatorAgreement;
};

export type GetEvaluatorAgreementResponse = GetEvaluatorAgreementResponses[keyof GetEvaluatorAgreementResponses];

export type CreateBackfillData = {
    body: CreateBackfill;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
    };
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/rules/{name}/backfill';
};

export type CreateBackfillErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CreateBackfillError = CreateBackfillErrors[keyof CreateBackfillErrors];

export type CreateBackfillResponses = {
    /**
     * Created.
     */
    201: Backfill;
};

export type CreateBackfillResponse = CreateBackfillResponses[keyof CreateBackfillResponses];

export type ListBackfillsData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
    };
    url: '/rules/{name}/backfills';
};

export type ListBackfillsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListBackfillsError = ListBackfillsErrors[keyof ListBackfillsErrors];

export type ListBackfillsResponses = {
    /**
     * Done.
     */
    200: BackfillPage;
};

export type ListBackfillsResponse = ListBackfillsResponses[keyof ListBackfillsResponses];

export type GetBackfillData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
        id: string;
    };
    query?: never;
    url: '/rules/{name}/backfills/{id}';
};

export type GetBackfillErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetBackfillError = GetBackfillErrors[keyof GetBackfillErrors];

export type GetBackfillResponses = {
    /**
     * Done.
     */
    200: Backfill;
};

export type GetBackfillResponse = GetBackfillResponses[keyof GetBackfillResponses];

export type PauseBackfillData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
        id: string;
    };
    query?: never;
    url: '/rules/{name}/backfills/{id}/pause';
};

export type PauseBackfillErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type PauseBackfillError = PauseBackfillErrors[keyof PauseBackfillErrors];

export type PauseBackfillResponses = {
    /**
     * Done.
     */
    200: Backfill;
};

export type PauseBackfillResponse = PauseBackfillResponses[keyof PauseBackfillResponses];

export type CancelBackfillData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
        id: string;
    };
    query?: never;
    url: '/rules/{name}/backfills/{id}/cancel';
};

export type CancelBackfillErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CancelBackfillError = CancelBackfillErrors[keyof CancelBackfillErrors];

export type CancelBackfillResponses = {
    /**
     * Done.
     */
    200: Backfill;
};

export type CancelBackfillResponse = CancelBackfillResponses[keyof CancelBackfillResponses];

export type ResumeBackfillData = {
    body?: ResumeBackfill;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
        id: string;
    };
    query?: never;
    url: '/rules/{name}/backfills/{id}/resume';
};

export type ResumeBackfillErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ResumeBackfillError = ResumeBackfillErrors[keyof ResumeBackfillErrors];

export type ResumeBackfillResponses = {
    /**
     * Done.
     */
    200: Backfill;
};

export type ResumeBackfillResponse = ResumeBackfillResponses[keyof ResumeBackfillResponses];

export type ListRulesData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
    };
    url: '/rules';
};

export type ListRulesErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListRulesError = ListRulesErrors[keyof ListRulesErrors];

export type ListRulesResponses = {
    /**
     * Done.
     */
    200: RulePage;
};

export type ListRulesResponse = ListRulesResponses[keyof ListRulesResponses];

export type DeleteRuleData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/rules/{name}';
};

export type DeleteRuleErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type DeleteRuleError = DeleteRuleErrors[keyof DeleteRuleErrors];

export type DeleteRuleResponses = {
    /**
     * Done.
     */
    200: Rule;
};

export type DeleteRuleResponse = DeleteRuleResponses[keyof DeleteRuleResponses];

export type GetRuleData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/rules/{name}';
};

export type GetRuleErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetRuleError = GetRuleErrors[keyof GetRuleErrors];

export type GetRuleResponses = {
    /**
     * Done.
     */
    200: Rule;
};

export type GetRuleResponse = GetRuleResponses[keyof GetRuleResponses];

export type SetRuleData = {
    body: PutRule;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/rules/{name}';
};

export type SetRuleErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type SetRuleError = SetRuleErrors[keyof SetRuleErrors];

export type SetRuleResponses = {
    /**
     * Done.
     */
    200: Rule;
};

export type SetRuleResponse = SetRuleResponses[keyof SetRuleResponses];

export type ListSchedulesData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
    };
    url: '/schedules';
};

export type ListSchedulesErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListSchedulesError = ListSchedulesErrors[keyof ListSchedulesErrors];

export type ListSchedulesResponses = {
    /**
     * Done.
     */
    200: SchedulePage;
};

export type ListSchedulesResponse = ListSchedulesResponses[keyof ListSchedulesResponses];

export type CreateScheduleData = {
    body: CreateSchedule;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/schedules';
};

export type CreateScheduleErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CreateScheduleError = CreateScheduleErrors[keyof CreateScheduleErrors];

export type CreateScheduleResponses = {
    /**
     * Created.
     */
    201: Schedule;
};

export type CreateScheduleResponse = CreateScheduleResponses[keyof CreateScheduleResponses];

export type DeleteScheduleData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/schedules/{id}';
};

export type DeleteScheduleErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type DeleteScheduleError = DeleteScheduleErrors[keyof DeleteScheduleErrors];

export type DeleteScheduleResponses = {
    /**
     * Done.
     */
    200: Schedule;
};

export type DeleteScheduleResponse = DeleteScheduleResponses[keyof DeleteScheduleResponses];

export type GetScheduleData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/schedules/{id}';
};

export type GetScheduleErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetScheduleError = GetScheduleErrors[keyof GetScheduleErrors];

export type GetScheduleResponses = {
    /**
     * Done.
     */
    200: Schedule;
};

export type GetScheduleResponse = GetScheduleResponses[keyof GetScheduleResponses];

export type PauseScheduleData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/schedules/{id}/pause';
};

export type PauseScheduleErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type PauseScheduleError = PauseScheduleErrors[keyof PauseScheduleErrors];

export type PauseScheduleResponses = {
    /**
     * Done.
     */
    200: Schedule;
};

export type PauseScheduleResponse = PauseScheduleResponses[keyof PauseScheduleResponses];

export type ResumeScheduleData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/schedules/{id}/resume';
};

export type ResumeScheduleErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ResumeScheduleError = ResumeScheduleErrors[keyof ResumeScheduleErrors];

export type ResumeScheduleResponses = {
    /**
     * Done.
     */
    200: Schedule;
};

export type ResumeScheduleResponse = ResumeScheduleResponses[keyof ResumeScheduleResponses];

export type TriggerScheduleData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/schedules/{id}/trigger';
};

export type TriggerScheduleErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type TriggerScheduleError = TriggerScheduleErrors[keyof TriggerScheduleErrors];

export type TriggerScheduleResponses = {
    /**
     * Done.
     */
    200: Schedule;
};

export type TriggerScheduleResponse = TriggerScheduleResponses[keyof TriggerScheduleResponses];

export type ListMonitorsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
    };
    url: '/monitors';
};

export type ListMonitorsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListMonitorsError = ListMonitorsErrors[keyof ListMonitorsErrors];

export type ListMonitorsResponses = {
    /**
     * Done.
     */
    200: MonitorPage;
};

export type ListMonitorsResponse = ListMonitorsResponses[keyof ListMonitorsResponses];

export type ListMonitorHistoryData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
    };
    url: '/monitors/{name}/history';
};

export type ListMonitorHistoryErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListMonitorHistoryError = ListMonitorHistoryErrors[keyof ListMonitorHistoryErrors];

export type ListMonitorHistoryResponses = {
    /**
     * Done.
     */
    200: MonitorHistory;
};

export type ListMonitorHistoryResponse = ListMonitorHistoryResponses[keyof ListMonitorHistoryResponses];

export type GetMonitorNumbersData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/monitors/{name}/history/numbers';
};

export type GetMonitorNumbersErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetMonitorNumbersError = GetMonitorNumbersErrors[keyof GetMonitorNumbersErrors];

export type GetMonitorNumbersResponses = {
    /**
     * Done.
     */
    200: MonitorNumbers;
};

export type GetMonitorNumbersResponse = GetMonitorNumbersResponses[keyof GetMonitorNumbersResponses];

export type DeleteMonitorData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/monitors/{name}';
};

export type DeleteMonitorErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type DeleteMonitorError = DeleteMonitorErrors[keyof DeleteMonitorErrors];

export type DeleteMonitorResponses = {
    /**
     * Done.
     */
    200: Monitor;
};

export type DeleteMonitorResponse = DeleteMonitorResponses[keyof DeleteMonitorResponses];

export type GetMonitorData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/monitors/{name}';
};

export type GetMonitorErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetMonitorError = GetMonitorErrors[keyof GetMonitorErrors];

export type GetMonitorResponses = {
    /**
     * Done.
     */
    200: Monitor;
};

export type GetMonitorResponse = GetMonitorResponses[keyof GetMonitorResponses];

export type SetMonitorData = {
    body: PutMonitor;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/monitors/{name}';
};

export type SetMonitorErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type SetMonitorError = SetMonitorErrors[keyof SetMonitorErrors];

export type SetMonitorResponses = {
    /**
     * Done.
     */
    200: Monitor;
};

export type SetMonitorResponse = SetMonitorResponses[keyof SetMonitorResponses];

export type ListWebhooksData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
        status?: 'enabled' | 'disabled';
    };
    url: '/webhooks';
};

export type ListWebhooksErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListWebhooksError = ListWebhooksErrors[keyof ListWebhooksErrors];

export type ListWebhooksResponses = {
    /**
     * Done.
     */
    200: WebhookPage;
};

export type ListWebhooksResponse = ListWebhooksResponses[keyof ListWebhooksResponses];

export type CreateWebhookData = {
    body: CreateWebhook;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/webhooks';
};

export type CreateWebhookErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CreateWebhookError = CreateWebhookErrors[keyof CreateWebhookErrors];

export type CreateWebhookResponses = {
    /**
     * Created.
     */
    201: WebhookWithSecret;
};

export type CreateWebhookResponse = CreateWebhookResponses[keyof CreateWebhookResponses];

export type DeleteWebhookData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/webhooks/{id}';
};

export type DeleteWebhookErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type DeleteWebhookError = DeleteWebhookErrors[keyof DeleteWebhookErrors];

export type DeleteWebhookResponses = {
    /**
     * Done.
     */
    200: Webhook;
};

export type DeleteWebhookResponse = DeleteWebhookResponses[keyof DeleteWebhookResponses];

export type GetWebhookData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/webhooks/{id}';
};

export type GetWebhookErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetWebhookError = GetWebhookErrors[keyof GetWebhookErrors];

export type GetWebhookResponses = {
    /**
     * Done.
     */
    200: Webhook;
};

export type GetWebhookResponse = GetWebhookResponses[keyof GetWebhookResponses];

export type UpdateWebhookData = {
    body: UpdateWebhook;
    path: {
        id: string;
    };
    query?: never;
    url: '/webhooks/{id}';
};

export type UpdateWebhookErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type UpdateWebhookError = UpdateWebhookErrors[keyof UpdateWebhookErrors];

export type UpdateWebhookResponses = {
    /**
     * Done.
     */
    200: Webhook;
};

export type UpdateWebhookResponse = UpdateWebhookResponses[keyof UpdateWebhookResponses];

export type DisableWebhookData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/webhooks/{id}/disable';
};

export type DisableWebhookErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type DisableWebhookError = DisableWebhookErrors[keyof DisableWebhookErrors];

export type DisableWebhookResponses = {
    /**
     * Done.
     */
    200: Webhook;
};

export type DisableWebhookResponse = DisableWebhookResponses[keyof DisableWebhookResponses];

export type EnableWebhookData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/webhooks/{id}/enable';
};

export type EnableWebhookErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type EnableWebhookError = EnableWebhookErrors[keyof EnableWebhookErrors];

export type EnableWebhookResponses = {
    /**
     * Done.
     */
    200: Webhook;
};

export type EnableWebhookResponse = EnableWebhookResponses[keyof EnableWebhookResponses];

export type RotateWebhookSecretData = {
    body?: RotateSecret;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/webhooks/{id}/rotate-secret';
};

export type RotateWebhookSecretErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type RotateWebhookSecretError = RotateWebhookSecretErrors[keyof RotateWebhookSecretErrors];

export type RotateWebhookSecretResponses = {
    /**
     * Done.
     */
    200: WebhookWithSecret;
};

export type RotateWebhookSecretResponse = RotateWebhookSecretResponses[keyof RotateWebhookSecretResponses];

export type TestWebhookData = {
    body?: TestWebhook;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
        /**
         * `wait=N` (seconds, at most 15) or `respond-async`.
         */
        Prefer?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/webhooks/{id}/test';
};

export type TestWebhookErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type TestWebhookError = TestWebhookErrors[keyof TestWebhookErrors];

export type TestWebhookResponses = {
    /**
     * Created.
     */
    201: DeliveryWithAttempts;
};

export type TestWebhookResponse = TestWebhookResponses[keyof TestWebhookResponses];

export type ReplayEventsData = {
    body: ReplayEvents;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/webhooks/{id}/replay';
};

export type ReplayEventsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ReplayEventsError = ReplayEventsErrors[keyof ReplayEventsErrors];

export type ReplayEventsResponses = {
    /**
     * Created.
     */
    201: ReplayedEvents;
};

export type ReplayEventsResponse = ReplayEventsResponses[keyof ReplayEventsResponses];

export type ListDeliveriesData = {
    body?: never;
    path: {
        id: string;
    };
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
        status?: 'queued' | 'waiting' | 'delivered' | 'failed' | 'abandoned';
        event?: EventType;
        /**
         * Created at or after this time.
         */
        since?: string;
        /**
         * Created before this time.
         */
        until?: string;
    };
    url: '/webhooks/{id}/deliveries';
};

export type ListDeliveriesErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListDeliveriesError = ListDeliveriesErrors[keyof ListDeliveriesErrors];

export type ListDeliveriesResponses = {
    /**
     * Done.
     */
    200: DeliveryPage;
};

export type ListDeliveriesResponse = ListDeliveriesResponses[keyof ListDeliveriesResponses];

export type GetDeliveryData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/deliveries/{id}';
};

export type GetDeliveryErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetDeliveryError = GetDeliveryErrors[keyof GetDeliveryErrors];

export type GetDeliveryResponses = {
    /**
     * Done.
     */
    200: DeliveryWithAttempts;
};

export type GetDeliveryResponse = GetDeliveryResponses[keyof GetDeliveryResponses];

export type SendDeliveryNowData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/deliveries/{id}/send-now';
};

export type SendDeliveryNowErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type SendDeliveryNowError = SendDeliveryNowErrors[keyof SendDeliveryNowErrors];

export type SendDeliveryNowResponses = {
    /**
     * Done.
     */
    200: Delivery;
};

export type SendDeliveryNowResponse = SendDeliveryNowResponses[keyof SendDeliveryNowResponses];

export type RedeliverData = {
    body?: never;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/deliveries/{id}/redeliver';
};

export type RedeliverErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type RedeliverError = RedeliverErrors[keyof RedeliverErrors];

export type RedeliverResponses = {
    /**
     * Created.
     */
    201: Delivery;
};

export type RedeliverResponse = RedeliverResponses[keyof RedeliverResponses];

export type ListEventsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
        event?: EventType;
        /**
         * Created at or after this time.
         */
        since?: string;
        /**
         * Created before this time.
         */
        until?: string;
    };
    url: '/events';
};

export type ListEventsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListEventsError = ListEventsErrors[keyof ListEventsErrors];

export type ListEventsResponses = {
    /**
     * Done.
     */
    200: EventPage;
};

export type ListEventsResponse = ListEventsResponses[keyof ListEventsResponses];

export type GetEventData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/events/{id}';
};

export type GetEventErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetEventError = GetEventErrors[keyof GetEventErrors];

export type GetEventResponses = {
    /**
     * Done.
     */
    200: Event;
};

export type GetEventResponse = GetEventResponses[keyof GetEventResponses];

export type StreamChangesData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/changes';
};

export type StreamChangesErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type StreamChangesError = StreamChangesErrors[keyof StreamChangesErrors];

export type StreamChangesResponses = {
    /**
     * Done.
     */
    200: string;
};

export type StreamChangesResponse = StreamChangesResponses[keyof StreamChangesResponses];

export type ListNotificationsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
    };
    url: '/notifications';
};

export type ListNotificationsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListNotificationsError = ListNotificationsErrors[keyof ListNotificationsErrors];

export type ListNotificationsResponses = {
    /**
     * Done.
     */
    200: NotificationPage;
};

export type ListNotificationsResponse = ListNotificationsResponses[keyof ListNotificationsResponses];

export type ListViewsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
        /**
         * The console list that the view belongs to.
         */
        page?: 'executions' | 'traces';
    };
    url: '/views';
};

export type ListViewsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListViewsError = ListViewsErrors[keyof ListViewsErrors];

export type ListViewsResponses = {
    /**
     * Done.
     */
    200: ViewList;
};

export type ListViewsResponse = ListViewsResponses[keyof ListViewsResponses];

export type DeleteViewData = {
    body?: never;
    path: {
        name: string;
    };
    query?: {
        /**
         * The `owner` of the view. Default: the caller.
         */
        owner?: string;
    };
    url: '/views/{name}';
};

export type DeleteViewErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type DeleteViewError = DeleteViewErrors[keyof DeleteViewErrors];

export type DeleteViewResponses = {
    /**
     * Done.
     */
    200: View;
};

export type DeleteViewResponse = DeleteViewResponses[keyof DeleteViewResponses];

export type SetViewData = {
    body: PutView;
    path: {
        name: string;
    };
    query?: never;
    url: '/views/{name}';
};

export type SetViewErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type SetViewError = SetViewErrors[keyof SetViewErrors];

export type SetViewResponses = {
    /**
     * Done.
     */
    200: View;
};

export type SetViewResponse = SetViewResponses[keyof SetViewResponses];

export type GetUsageData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Created at or after this; default: 30 days ago. Exact within the last two hours; an earlier time is rounded to the whole hour, as the response shows.
         */
        since?: string;
        /**
         * Created before this; default: now. Exact within the last two hours; an earlier time is rounded to the whole hour, as the response shows.
         */
        until?: string;
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        prompt_name?: string;
        /**
         * `openai/…`, `anthropic/…`, `google/…`, `mistral/…`, `openai-compatible/…`, `sandbox/…`, or a bare name.
         */
        model?: string;
        /**
         * Any of prompt, model and day (UTC), separated by commas; empty for one total.
         */
        group_by?: string;
    };
    url: '/usage';
};

export type GetUsageErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetUsageError = GetUsageErrors[keyof GetUsageErrors];

export type GetUsageResponses = {
    /**
     * Done.
     */
    200: Usage;
};

export type GetUsageResponse = GetUsageResponses[keyof GetUsageResponses];

export type ListPromptStatisticsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
        /**
         * Only prompts whose name starts with this and a "/".
         */
        group?: string;
        /**
         * Created at or after this time. Default: 7 days before `until`; at most 90.
         */
        since?: string;
        /**
         * Created before this time. Default: now.
         */
        until?: string;
    };
    url: '/statistics/prompts';
};

export type ListPromptStatisticsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListPromptStatisticsError = ListPromptStatisticsErrors[keyof ListPromptStatisticsErrors];

export type ListPromptStatisticsResponses = {
    /**
     * Done.
     */
    200: PromptStatisticsPage;
};

export type ListPromptStatisticsResponse = ListPromptStatisticsResponses[keyof ListPromptStatisticsResponses];

export type GetPromptStatisticsData = {
    body?: never;
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: {
        /**
         * Created at or after this time. Default: 7 days before `until`; at most 90.
         */
        since?: string;
        /**
         * Created before this time. Default: now.
         */
        until?: string;
    };
    url: '/statistics/prompts/{name}';
};

export type GetPromptStatisticsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetPromptStatisticsError = GetPromptStatisticsErrors[keyof GetPromptStatisticsErrors];

export type GetPromptStatisticsResponses = {
    /**
     * Done.
     */
    200: PromptSeries;
};

export type GetPromptStatisticsResponse = GetPromptStatisticsResponses[keyof GetPromptStatisticsResponses];

export type ListApiKeysData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
    };
    url: '/api-keys';
};

export type ListApiKeysErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListApiKeysError = ListApiKeysErrors[keyof ListApiKeysErrors];

export type ListApiKeysResponses = {
    /**
     * Done.
     */
    200: ApiKeyPage;
};

export type ListApiKeysResponse = ListApiKeysResponses[keyof ListApiKeysResponses];

export type CreateApiKeyData = {
    body: CreateApiKey;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/api-keys';
};

export type CreateApiKeyErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CreateApiKeyError = CreateApiKeyErrors[keyof CreateApiKeyErrors];

export type CreateApiKeyResponses = {
    /**
     * Created.
     */
    201: CreatedApiKey;
};

export type CreateApiKeyResponse = CreateApiKeyResponses[keyof CreateApiKeyResponses];

export type RevokeCurrentApiKeyData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/api-keys/current';
};

export type RevokeCurrentApiKeyErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type RevokeCurrentApiKeyError = RevokeCurrentApiKeyErrors[keyof RevokeCurrentApiKeyErrors];

export type RevokeCurrentApiKeyResponses = {
    /**
     * Done.
     */
    200: ApiKey;
};

export type RevokeCurrentApiKeyResponse = RevokeCurrentApiKeyResponses[keyof RevokeCurrentApiKeyResponses];

export type GetCurrentApiKeyData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/api-keys/current';
};

export type GetCurrentApiKeyErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetCurrentApiKeyError = GetCurrentApiKeyErrors[keyof GetCurrentApiKeyErrors];

export type GetCurrentApiKeyResponses = {
    /**
     * Done.
     */
    200: CurrentApiKey;
};

export type GetCurrentApiKeyResponse = GetCurrentApiKeyResponses[keyof GetCurrentApiKeyResponses];

export type RevokeApiKeyData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/api-keys/{id}';
};

export type RevokeApiKeyErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type RevokeApiKeyError = RevokeApiKeyErrors[keyof RevokeApiKeyErrors];

export type RevokeApiKeyResponses = {
    /**
     * Done.
     */
    200: ApiKey;
};

export type RevokeApiKeyResponse = RevokeApiKeyResponses[keyof RevokeApiKeyResponses];

export type EndSessionData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/session';
};

export type EndSessionErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type EndSessionError = EndSessionErrors[keyof EndSessionErrors];

export type EndSessionResponses = {
    /**
     * Done.
     */
    200: EndedSession;
};

export type EndSessionResponse = EndSessionResponses[keyof EndSessionResponses];

export type GetSessionData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/session';
};

export type GetSessionErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetSessionError = GetSessionErrors[keyof GetSessionErrors];

export type GetSessionResponses = {
    /**
     * Done.
     */
    200: OwnSession;
};

export type GetSessionResponse = GetSessionResponses[keyof GetSessionResponses];

export type CreateSessionData = {
    body: CreateSession;
    path?: never;
    query?: never;
    url: '/session';
};

export type CreateSessionErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CreateSessionError = CreateSessionErrors[keyof CreateSessionErrors];

export type CreateSessionResponses = {
    /**
     * Created.
     */
    201: OwnSession;
};

export type CreateSessionResponse = CreateSessionResponses[keyof CreateSessionResponses];

export type SwitchWorkspaceData = {
    body: SwitchWorkspace;
    path?: never;
    query?: never;
    url: '/session/workspace';
};

export type SwitchWorkspaceErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type SwitchWorkspaceError = SwitchWorkspaceErrors[keyof SwitchWorkspaceErrors];

export type SwitchWorkspaceResponses = {
    /**
     * Done.
     */
    200: OwnSession;
};

export type SwitchWorkspaceResponse = SwitchWorkspaceResponses[keyof SwitchWorkspaceResponses];

export type ListSessionsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
    };
    url: '/sessions';
};

export type ListSessionsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListSessionsError = ListSessionsErrors[keyof ListSessionsErrors];

export type ListSessionsResponses = {
    /**
     * Done.
     */
    200: SessionPage;
};

export type ListSessionsResponse = ListSessionsResponses[keyof ListSessionsResponses];

export type EndSessionByIdData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/sessions/{id}';
};

export type EndSessionByIdErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type EndSessionByIdError = EndSessionByIdErrors[keyof EndSessionByIdErrors];

export type EndSessionByIdResponses = {
    /**
     * Done.
     */
    200: Session;
};

export type EndSessionByIdResponse = EndSessionByIdResponses[keyof EndSessionByIdResponses];

export type ListMembersData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
        /**
         * Only members whose name or e-mail address contains this text (case-insensitive).
         */
        search?: string;
        status?: 'active' | 'suspended' | 'removed';
    };
    url: '/members';
};

export type ListMembersErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListMembersError = ListMembersErrors[keyof ListMembersErrors];

export type ListMembersResponses = {
    /**
     * Done.
     */
    200: MemberPage;
};

export type ListMembersResponse = ListMembersResponses[keyof ListMembersResponses];

export type RemoveMemberData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/members/{id}';
};

export type RemoveMemberErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type RemoveMemberError = RemoveMemberErrors[keyof RemoveMemberErrors];

export type RemoveMemberResponses = {
    /**
     * Done.
     */
    200: Member;
};

export type RemoveMemberResponse = RemoveMemberResponses[keyof RemoveMemberResponses];

export type GetMemberData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/members/{id}';
};

export type GetMemberErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetMemberError = GetMemberErrors[keyof GetMemberErrors];

export type GetMemberResponses = {
    /**
     * Done.
     */
    200: Member;
};

export type GetMemberResponse = GetMemberResponses[keyof GetMemberResponses];

export type UpdateMemberData = {
    body: UpdateMember;
    path: {
        id: string;
    };
    query?: never;
    url: '/members/{id}';
};

export type UpdateMemberErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type UpdateMemberError = UpdateMemberErrors[keyof UpdateMemberErrors];

export type UpdateMemberResponses = {
    /**
     * Done.
     */
    200: Member;
};

export type UpdateMemberResponse = UpdateMemberResponses[keyof UpdateMemberResponses];

export type GetMeData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/me';
};

export type GetMeErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetMeError = GetMeErrors[keyof GetMeErrors];

export type GetMeResponses = {
    /**
     * Done.
     */
    200: Me;
};

export type GetMeResponse = GetMeResponses[keyof GetMeResponses];

export type ListMyApiKeysData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
    };
    url: '/me/api-keys';
};

export type ListMyApiKeysErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListMyApiKeysError = ListMyApiKeysErrors[keyof ListMyApiKeysErrors];

export type ListMyApiKeysResponses = {
    /**
     * Done.
     */
    200: ApiKeyPage;
};

export type ListMyApiKeysResponse = ListMyApiKeysResponses[keyof ListMyApiKeysResponses];

export type CreateMyApiKeyData = {
    body: CreateApiKey;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/me/api-keys';
};

export type CreateMyApiKeyErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CreateMyApiKeyError = CreateMyApiKeyErrors[keyof CreateMyApiKeyErrors];

export type CreateMyApiKeyResponses = {
    /**
     * Created.
     */
    201: CreatedApiKey;
};

export type CreateMyApiKeyResponse = CreateMyApiKeyResponses[keyof CreateMyApiKeyResponses];

export type RevokeMyApiKeyData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/me/api-keys/{id}';
};

export type RevokeMyApiKeyErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type RevokeMyApiKeyError = RevokeMyApiKeyErrors[keyof RevokeMyApiKeyErrors];

export type RevokeMyApiKeyResponses = {
    /**
     * Done.
     */
    200: ApiKey;
};

export type RevokeMyApiKeyResponse = RevokeMyApiKeyResponses[keyof RevokeMyApiKeyResponses];

export type CreateDeviceAuthorizationData = {
    body: CreateDeviceAuthorization;
    path?: never;
    query?: never;
    url: '/device/authorizations';
};

export type CreateDeviceAuthorizationErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CreateDeviceAuthorizationError = CreateDeviceAuthorizationErrors[keyof CreateDeviceAuthorizationErrors];

export type CreateDeviceAuthorizationResponses = {
    /**
     * Created.
     */
    201: CreatedDeviceAuthorization;
};

export type CreateDeviceAuthorizationResponse = CreateDeviceAuthorizationResponses[keyof CreateDeviceAuthorizationResponses];

export type CreateDeviceKeyData = {
    body: DeviceToken;
    path?: never;
    query?: never;
    url: '/device/token';
};

export type CreateDeviceKeyErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CreateDeviceKeyError = CreateDeviceKeyErrors[keyof CreateDeviceKeyErrors];

export type CreateDeviceKeyResponses = {
    /**
     * Created.
     */
    201: DeviceKey;
};

export type CreateDeviceKeyResponse = CreateDeviceKeyResponses[keyof CreateDeviceKeyResponses];

export type GetDeviceAuthorizationData = {
    body?: never;
    path: {
        /**
         * The code shown to the person: 8 letters, single use.
         */
        user_code: string;
    };
    query?: never;
    url: '/device/authorizations/{user_code}';
};

export type GetDeviceAuthorizationErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetDeviceAuthorizationError = GetDeviceAuthorizationErrors[keyof GetDeviceAuthorizationErrors];

export type GetDeviceAuthorizationResponses = {
    /**
     * Done.
     */
    200: DeviceAuthorization;
};

export type GetDeviceAuthorizationResponse = GetDeviceAuthorizationResponses[keyof GetDeviceAuthorizationResponses];

export type ApproveDeviceAuthorizationData = {
    body?: ApproveDeviceAuthorization;
    path: {
        /**
         * The code shown to the person: 8 letters, single use.
         */
        user_code: string;
    };
    query?: never;
    url: '/device/authorizations/{user_code}/approve';
};

export type ApproveDeviceAuthorizationErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ApproveDeviceAuthorizationError = ApproveDeviceAuthorizationErrors[keyof ApproveDeviceAuthorizationErrors];

export type ApproveDeviceAuthorizationResponses = {
    /**
     * Done.
     */
    200: DeviceAuthorization;
};

export type ApproveDeviceAuthorizationResponse = ApproveDeviceAuthorizationResponses[keyof ApproveDeviceAuthorizationResponses];

export type DenyDeviceAuthorizationData = {
    body?: never;
    path: {
        /**
         * The code shown to the person: 8 letters, single use.
         */
        user_code: string;
    };
    query?: never;
    url: '/device/authorizations/{user_code}/deny';
};

export type DenyDeviceAuthorizationErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type DenyDeviceAuthorizationError = DenyDeviceAuthorizationErrors[keyof DenyDeviceAuthorizationErrors];

export type DenyDeviceAuthorizationResponses = {
    /**
     * Done.
     */
    200: DeviceAuthorization;
};

export type DenyDeviceAuthorizationResponse = DenyDeviceAuthorizationResponses[keyof DenyDeviceAuthorizationResponses];

export type ListAuditLogData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
        /**
         * Only changes made by this key (including its sessions), this session, this member (with any key), the `operator`, or the `provisioning` of the identity provider.
         */
        actor?: string;
        action?: 'api_key.created' | 'api_key.revoked' | 'session.created' | 'session.ended' | 'member.joined' | 'member.role_changed' | 'member.suspended' | 'member.reinstated' | 'member.removed' | 'workspace.created' | 'workspace.owner_changed' | 'webhook.created' | 'webhook.updated' | 'webhook.deleted' | 'webhook.enabled' | 'webhook.disabled' | 'webhook.secret_rotated' | 'webhook.tested' | 'webhook.replayed' | 'webhook.redelivered' | 'saved_evaluator.set' | 'saved_evaluator.deleted' | 'score.deleted' | 'score_definition.set' | 'score_definition.deleted' | 'prompt.created' | 'prompt.updated' | 'prompt.archived' | 'prompt.restored' | 'prompt.version_deleted' | 'label.moved' | 'label.removed' | 'label.protected' | 'label.unprotected' | 'label.policy_set' | 'label.policy_removed' | 'execution.canceled' | 'execution.deleted' | 'dataset.created' | 'dataset.updated' | 'dataset.deleted' | 'evaluation.updated' | 'evaluation.paused' | 'evaluation.resumed' | 'evaluation.canceled' | 'evaluation.retried' | 'evaluation.batch_resubmitted' | 'evaluation.deleted' | 'schedule.created' | 'schedule.paused' | 'schedule.resumed' | 'schedule.triggered' | 'schedule.deleted' | 'trace.deleted' | 'conversation.deleted' | 'trace_user.deleted' | 'trace_policy.updated' | 'rule.created' | 'rule.updated' | 'rule.deleted' | 'rule.backfill_started' | 'rule.backfill_paused' | 'rule.backfill_resumed' | 'rule.backfill_canceled' | 'release.started' | 'release.approved' | 'release.rejected' | 'release.paused' | 'release.resumed' | 'release.promoted' | 'release.rolled_back' | 'release.canceled' | 'release.superseded' | 'improvement.started' | 'improvement.paused' | 'improvement.resumed' | 'improvement.finished' | 'improvement.canceled' | 'improvement.retried' | 'improvement.accepted' | 'improvement.deleted' | 'monitor.created' | 'monitor.updated' | 'monitor.deleted' | 'queue.created' | 'queue.updated' | 'queue.deleted' | 'queue.items_added' | 'queue.item_completed' | 'queue.item_skipped' | 'queue.item_returned' | 'view.deleted';
        /**
         * Only changes to this resource: a type (`webhook`), or a type and an id (`prompt:support/greeting`).
         */
        resource?: string;
        /**
         * Only changes at or after this.
         */
        since?: string;
        /**
         * Only changes before this.
         */
        until?: string;
    };
    url: '/audit-log';
};

export type ListAuditLogErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListAuditLogError = ListAuditLogErrors[keyof ListAuditLogErrors];

export type ListAuditLogResponses = {
    /**
     * Done.
     */
    200: AuditLogPage;
};

export type ListAuditLogResponse = ListAuditLogResponses[keyof ListAuditLogResponses];

export type DeleteTracesOfUserData = {
    body?: never;
    path?: never;
    query: {
        user_id: string;
    };
    url: '/traces';
};

export type DeleteTracesOfUserErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type DeleteTracesOfUserError = DeleteTracesOfUserErrors[keyof DeleteTracesOfUserErrors];

export type DeleteTracesOfUserResponses = {
    /**
     * Done.
     */
    200: DeletedTracesOfUser;
};

export type DeleteTracesOfUserResponse = DeleteTracesOfUserResponses[keyof DeleteTracesOfUserResponses];

export type ListTracesData = {
    body?: never;
    path?: never;
    query?: {
        name?: string;
        status?: 'running' | 'ok' | 'error';
        user_id?: string;
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        prompt_name?: string;
        /**
         * Only prompts whose name starts with this and a "/".
         */
        group?: string;
        /**
         * Only traces with executions whose version this release chose.
         */
        release?: string;
        /**
         * The arm of these executions.
         */
        arm?: 'stable' | 'candidate';
        model?: string;
        tool?: string;
        agent?: string;
        tag?: string;
        service?: string;
        environment?: string;
        conversation_id?: string;
        /**
         * Only this version of the prompt. Requires `prompt_name`.
         */
        prompt_version?: number;
        /**
         * The minimum number of steps.
         */
        min_steps?: number;
        /**
         * The minimum number of failed steps.
         */
        min_errors?: number;
        /**
         * Only settled traces, or (`false`) only traces that expect more steps.
         */
        settled?: 'true' | 'false';
        /**
         * US dollars. Traces of unknown cost do not match.
         */
        min_cost?: string;
        /**
         * US dollars. Traces of unknown cost do not match. Inclusive.
         */
        max_cost?: string;
        /**
         * Milliseconds from the first start to the last end. Running traces do not match.
         */
        min_latency_ms?: number;
        /**
         * Milliseconds from the first start to the last end. Running traces do not match. Inclusive.
         */
        max_latency_ms?: number;
        /**
         * Conditions on scores of the trace or of its steps, such as `helpful=false`. May be repeated; all must hold.
         */
        score?: Array<string>;
        /**
         * Metadata that the trace must include: `NAME=VALUE`. May be repeated.
         */
        metadata?: Array<string>;
        /**
         * Words and quoted phrases that must all occur in the name, or in the beginnings of input and output (case-insensitive). With an index (`SEARCH_INDEX`), in any text of a step, from the beginning of a word.
         */
        q?: string;
        /**
         * Created at or after this time.
         */
        since?: string;
        /**
         * Created before this time.
         */
        until?: string;
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
        /**
         * Sorts the newest 10,000 matches by this field; a minus sorts descending. Missing values count as the lowest.
         */
        sort?: 'cost' | '-cost' | 'latency' | '-latency' | 'tokens' | '-tokens' | 'steps' | '-steps';
    };
    url: '/traces';
};

export type ListTracesErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListTracesError = ListTracesErrors[keyof ListTracesErrors];

export type ListTracesResponses = {
    /**
     * Done.
     */
    200: TracePage;
};

export type ListTracesResponse = ListTracesResponses[keyof ListTracesResponses];

export type IngestTracesData = {
    body: ExportTraceServiceRequest;
    path?: never;
    query?: never;
    url: '/traces';
};

export type IngestTracesErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: RpcStatus;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: RpcStatus;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: RpcStatus;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: RpcStatus;
    /**
     * The service is busy or temporarily unavailable; `Retry-After` says when to try again.
     */
    503: RpcStatus;
};

export type IngestTracesError = IngestTracesErrors[keyof IngestTracesErrors];

export type IngestTracesResponses = {
    /**
     * Done.
     */
    200: ExportTraceServiceResponse;
};

export type IngestTracesResponse = IngestTracesResponses[keyof IngestTracesResponses];

export type CountTracesData = {
    body?: never;
    path?: never;
    query?: {
        name?: string;
        status?: 'running' | 'ok' | 'error';
        user_id?: string;
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        prompt_name?: string;
        /**
         * Only prompts whose name starts with this and a "/".
         */
        group?: string;
        /**
         * Only traces with executions whose version this release chose.
         */
        release?: string;
        /**
         * The arm of these executions.
         */
        arm?: 'stable' | 'candidate';
        model?: string;
        tool?: string;
        agent?: string;
        tag?: string;
        service?: string;
        environment?: string;
        conversation_id?: string;
        /**
         * Only this version of the prompt. Requires `prompt_name`.
         */
        prompt_version?: number;
        /**
         * The minimum number of steps.
         */
        min_steps?: number;
        /**
         * The minimum number of failed steps.
         */
        min_errors?: number;
        /**
         * Only settled traces, or (`false`) only traces that expect more steps.
         */
        settled?: 'true' | 'false';
        /**
         * US dollars. Traces of unknown cost do not match.
         */
        min_cost?: string;
        /**
         * US dollars. Traces of unknown cost do not match. Inclusive.
         */
        max_cost?: string;
        /**
         * Milliseconds from the first start to the last end. Running traces do not match.
         */
        min_latency_ms?: number;
        /**
         * Milliseconds from the first start to the last end. Running traces do not match. Inclusive.
         */
        max_latency_ms?: number;
        /**
         * Conditions on scores of the trace or of its steps, such as `helpful=false`. May be repeated; all must hold.
         */
        score?: Array<string>;
        /**
         * Metadata that the trace must include: `NAME=VALUE`. May be repeated.
         */
        metadata?: Array<string>;
        /**
         * Words and quoted phrases that must all occur in the name, or in the beginnings of input and output (case-insensitive). With an index (`SEARCH_INDEX`), in any text of a step, from the beginning of a word.
         */
        q?: string;
        /**
         * Created at or after this time.
         */
        since?: string;
        /**
         * Created before this time.
         */
        until?: string;
    };
    url: '/traces/facets';
};

export type CountTracesErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CountTracesError = CountTracesErrors[keyof CountTracesErrors];

export type CountTracesResponses = {
    /**
     * Done.
     */
    200: TraceFacets;
};

export type CountTracesResponse = CountTracesResponses[keyof CountTracesResponses];

export type DeleteTraceData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/traces/{id}';
};

export type DeleteTraceErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type DeleteTraceError = DeleteTraceErrors[keyof DeleteTraceErrors];

export type DeleteTraceResponses = {
    /**
     * Done.
     */
    200: Trace;
};

export type DeleteTraceResponse = DeleteTraceResponses[keyof DeleteTraceResponses];

export type GetTraceData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/traces/{id}';
};

export type GetTraceErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetTraceError = GetTraceErrors[keyof GetTraceErrors];

export type GetTraceResponses = {
    /**
     * Done.
     */
    200: Trace;
};

export type GetTraceResponse = GetTraceResponses[keyof GetTraceResponses];

export type ListTraceStepsData = {
    body?: never;
    path: {
        id: string;
    };
    query?: {
        /**
         * The maximum number to return.
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
    };
    url: '/traces/{id}/steps';
};

export type ListTraceStepsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListTraceStepsError = ListTraceStepsErrors[keyof ListTraceStepsErrors];

export type ListTraceStepsResponses = {
    /**
     * Done.
     */
    200: TraceStepPage;
};

export type ListTraceStepsResponse = ListTraceStepsResponses[keyof ListTraceStepsResponses];

export type GetTraceStepData = {
    body?: never;
    path: {
        id: string;
        span_id: string;
    };
    query?: never;
    url: '/traces/{id}/steps/{span_id}';
};

export type GetTraceStepErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetTraceStepError = GetTraceStepErrors[keyof GetTraceStepErrors];

export type GetTraceStepResponses = {
    /**
     * Done.
     */
    200: WholeTraceStep;
};

export type GetTraceStepResponse = GetTraceStepResponses[keyof GetTraceStepResponses];

export type GetTracePolicyData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/trace-policy';
};

export type GetTracePolicyErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetTracePolicyError = GetTracePolicyErrors[keyof GetTracePolicyErrors];

export type GetTracePolicyResponses = {
    /**
     * Done.
     */
    200: TracePolicy;
};

export type GetTracePolicyResponse = GetTracePolicyResponses[keyof GetTracePolicyResponses];

export type SetTracePolicyData = {
    body: SetTracePolicy;
    path?: never;
    query?: never;
    url: '/trace-policy';
};

export type SetTracePolicyErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type SetTracePolicyError = SetTracePolicyErrors[keyof SetTracePolicyErrors];

export type SetTracePolicyResponses = {
    /**
     * Done.
     */
    200: TracePolicy;
};

export type SetTracePolicyResponse = SetTracePolicyResponses[keyof SetTracePolicyResponses];

export type ListConversationsData = {
    body?: never;
    path?: never;
    query?: {
        user_id?: string;
        /**
         * Created at or after this time.
         */
        since?: string;
        /**
         * Created before this time.
         */
        until?: string;
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
    };
    url: '/conversations';
};

export type ListConversationsErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type ListConversationsError = ListConversationsErrors[keyof ListConversationsErrors];

export type ListConversationsResponses = {
    /**
     * Done.
     */
    200: ConversationPage;
};

export type ListConversationsResponse = ListConversationsResponses[keyof ListConversationsResponses];

export type DeleteConversationData = {
    body?: never;
    path: {
        name: string;
    };
    query?: never;
    url: '/conversations/{name}';
};

export type DeleteConversationErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type DeleteConversationError = DeleteConversationErrors[keyof DeleteConversationErrors];

export type DeleteConversationResponses = {
    /**
     * Done.
     */
    200: DeletedConversation;
};

export type DeleteConversationResponse = DeleteConversationResponses[keyof DeleteConversationResponses];

export type GetConversationData = {
    body?: never;
    path: {
        name: string;
    };
    query?: {
        /**
         * The maximum number to return. A page ends earlier if its records are large (about 4 MiB).
         */
        limit?: number;
        /**
         * The `next_cursor` of the previous page. Omit it for the first page.
         */
        cursor?: string;
    };
    url: '/conversations/{name}';
};

export type GetConversationErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type GetConversationError = GetConversationErrors[keyof GetConversationErrors];

export type GetConversationResponses = {
    /**
     * Done.
     */
    200: WholeConversation;
};

export type GetConversationResponse = GetConversationResponses[keyof GetConversationResponses];

export type CreateDatasetFromTracesData = {
    body: DatasetFromTraces;
    headers?: {
        /**
         * A repeated request with the same key returns the first response again, for 24 hours.
         */
        'Idempotency-Key'?: string;
    };
    path: {
        /**
         * 1–200 characters: segments of letters, digits, ".", "_" and "-", joined by "/".
         */
        name: string;
    };
    query?: never;
    url: '/datasets/{name}/from-traces';
};

export type CreateDatasetFromTracesErrors = {
    /**
     * The request is invalid; the message says what to change.
     */
    400: Error;
    /**
     * The key is missing, unknown, revoked or expired, or lacks the scope.
     */
    401: Error;
    /**
     * Not found in this workspace.
     */
    404: Error;
    /**
     * Too many requests; `Retry-After` says when to try again.
     */
    429: Error;
    /**
     * An error in the service. Nothing from this request will run.
     */
    500: Error;
};

export type CreateDatasetFromTracesError = CreateDatasetFromTracesErrors[keyof CreateDatasetFromTracesErrors];

export type CreateDatasetFromTracesResponses = {
    /**
     * Created.
     */
    201: DatasetChange;
};

export type CreateDatasetFromTracesResponse = CreateDatasetFromTracesResponses[keyof CreateDatasetFromTracesResponses];
