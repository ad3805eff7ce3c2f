import { STEP_TYPES, type StepType } from './step.ts';

// The meaning of attributes in the conventions in use: OpenTelemetry's for generative AI (`gen_ai.`, old and new), OpenInference (`llm.`,
// `openinference.`), the AI SDK (`ai.`), OpenLLMetry (`traceloop.`), Langfuse, MLflow, and ours (`pms.`). The first one present counts.
// `name#member` is a member of a JSON object, and `name.*` a list whose positions are in names, such as `name.0.role`.

/** The names that most instrumentations share for kinds of steps. */
const KINDS: Readonly<Record<string, StepType>> = {
  ...(Object.fromEntries(STEP_TYPES.map((type) => [type, type])) as Record<StepType, StepType>),
  llm: 'model',
  chat_model: 'model',
  generation: 'model',
  retriever: 'retrieval',
  reranker: 'rerank',
  workflow: 'agent',
  task: 'chain',
  prompt: 'chain',
  parser: 'chain',
};

/** The step type that a value of an attribute means. Values are in lower case; unlisted ones mean nothing. */
export const TYPES_BY_VALUE: readonly (readonly [attribute: string, types: Readonly<Record<string, StepType>>])[] = [
  ['pms.step.type', KINDS],
  ['langfuse.observation.type', KINDS],
  ['openinference.span.kind', KINDS],
  [
    'gen_ai.operation.name',
    {
      chat: 'model',
      text_completion: 'model',
      generate_content: 'model',
      embeddings: 'embedding',
      retrieval: 'retrieval',
      rerank: 'rerank',
      execute_tool: 'tool',
      invoke_agent: 'agent',
      create_agent: 'agent',
      invoke_workflow: 'agent',
      plan: 'chain',
      agent_step: 'chain',
    },
  ],
  ['traceloop.span.kind', KINDS],
  [
    'ai.operationId',
    {
      'ai.generatetext': 'agent',
      'ai.streamtext': 'agent',
      'ai.generateobject': 'agent',
      'ai.streamobject': 'agent',
      'ai.generatetext.dogenerate': 'model',
      'ai.streamtext.dostream': 'model',
      'ai.generateobject.dogenerate': 'model',
      'ai.streamobject.dostream': 'model',
      'ai.toolcall': 'tool',
      'ai.embed': 'chain',
      'ai.embedmany': 'chain',
      'ai.embed.doembed': 'embedding',
      'ai.embedmany.doembed': 'embedding',
      'ai.rerank': 'chain',
      'ai.rerank.dorerank': 'rerank',
    },
  ],
  ['mlflow.spanType', KINDS],
  ['langsmith.span.kind', KINDS],
  ['llm.request.type', { chat: 'model', completion: 'model', embedding: 'embedding', rerank: 'rerank' }],
  ['mcp.method.name', { 'tools/call': 'tool' }],
];

/** The step type that the presence of an attribute means, if no value determines it. */
export const TYPES_BY_PRESENCE: readonly (readonly [attribute: string, type: StepType])[] = [
  ['gen_ai.tool.name', 'tool'],
  ['gen_ai.request.model', 'model'],
];

/** Single values, by field. */
export const NAMES = {
  model: [
    'gen_ai.response.model',
    'gen_ai.request.model',
    'llm.model_name',
    'embedding.model_name',
    'reranker.model_name',
    'ai.response.model',
    'ai.model.id',
    'langfuse.observation.model.name',
    'mlflow.llm.model',
  ],
  provider: [
    'gen_ai.provider.name',
    'gen_ai.system',
    'llm.provider',
    'llm.system',
    'ai.model.provider',
    'mlflow.llm.provider',
  ],
  tool: ['gen_ai.tool.name', 'ai.toolCall.name', 'tool.name'],
  agent: [
    'gen_ai.agent.name',
    'agent.name',
    'agent_name',
    'traceloop.workflow.name',
    'gen_ai.workflow.name',
    'ai.telemetry.functionId',
  ],
  conversation: [
    'pms.conversation.id',
    'gen_ai.conversation.id',
    'session.id',
    'langfuse.session.id',
    'ai.telemetry.metadata.sessionId',
    'traceloop.association.properties.session_id',
    'mlflow.trace.session',
  ],
  user: [
    'pms.user.id',
    'user.id',
    'langfuse.user.id',
    'enduser.id',
    'ai.telemetry.metadata.userId',
    'traceloop.association.properties.user_id',
    'mlflow.trace.user',
  ],
  promptName: [
    'pms.prompt.name',
    'gen_ai.prompt.name',
    'langfuse.observation.prompt.name',
    'ai.telemetry.metadata.promptName',
    'traceloop.prompt.key',
  ],
  promptVersion: [
    'pms.prompt.version',
    'gen_ai.prompt.version',
    'langfuse.observation.prompt.version',
    'ai.telemetry.metadata.promptVersion',
    'traceloop.prompt.version',
  ],
  releaseId: ['pms.release.id'],
  releaseArm: ['pms.release.arm'],
  executionId: ['pms.execution.id'],
  responseId: ['gen_ai.response.id', 'ai.response.id', 'llm.response.id'],
  errorType: ['error.type'],
  errorMessage: ['langfuse.observation.status_message', 'error.message', 'exception.message'],
  cost: [
    'pms.cost.usd',
    'gen_ai.usage.cost',
    'langfuse.observation.cost_details#total',
    'llm.cost.total',
    'mlflow.llm.cost#total_cost',
  ],
  fallbackCost: ['operation.cost', 'gen_ai.cost.total_cost'],
  complete: ['pms.trace.complete'],
  environment: ['langfuse.environment', 'deployment.environment.name', 'deployment.environment'],
} as const satisfies Record<string, readonly string[]>;

/** Attributes of the resource. */
export const RESOURCE_NAMES = {
  service: ['service.name'],
  environment: ['deployment.environment.name', 'deployment.environment', 'langfuse.environment'],
} as const;

/** Token counts, by kind. */
export const TOKEN_NAMES = {
  input: [
    'gen_ai.usage.input_tokens',
    'gen_ai.usage.prompt_tokens',
    'llm.token_count.prompt',
    'ai.usage.inputTokens',
    'ai.usage.promptTokens',
    'ai.usage.tokens',
    'llm.usage.prompt_tokens',
    'mlflow.chat.tokenUsage#input_tokens',
    'gen_ai.aggregated_usage.input_tokens',
  ],
  output: [
    'gen_ai.usage.output_tokens',
    'gen_ai.usage.completion_tokens',
    'llm.token_count.completion',
    'ai.usage.outputTokens',
    'ai.usage.completionTokens',
    'llm.usage.completion_tokens',
    'mlflow.chat.tokenUsage#output_tokens',
    'gen_ai.aggregated_usage.output_tokens',
  ],
  cached_input: [
    'gen_ai.usage.cache_read.input_tokens',
    'gen_ai.usage.cache_read_input_tokens',
    'gen_ai.usage.input_tokens.cached',
    'gen_ai.usage.cached_tokens',
    'gen_ai.usage.details.cache_read_tokens',
    'gen_ai.usage.details.cached_tokens',
    'llm.token_count.prompt_details.cache_read',
    'ai.usage.cachedInputTokens',
    'ai.usage.inputTokenDetails.cacheReadTokens',
    'mlflow.chat.tokenUsage#cache_read_input_tokens',
    'gen_ai.aggregated_usage.cache_read.input_tokens',
    'gen_ai.aggregated_usage.details.cache_read_tokens',
  ],
  cache_write: [
    'gen_ai.usage.cache_creation.input_tokens',
    'gen_ai.usage.cache_creation_input_tokens',
    'gen_ai.usage.cache_write.input_tokens',
    'gen_ai.usage.details.cache_write_tokens',
    'llm.token_count.prompt_details.cache_write',
    'ai.usage.inputTokenDetails.cacheWriteTokens',
    'mlflow.chat.tokenUsage#cache_creation_input_tokens',
    'gen_ai.aggregated_usage.cache_creation.input_tokens',
    'gen_ai.aggregated_usage.details.cache_write_tokens',
  ],
  reasoning: [
    'gen_ai.usage.reasoning.output_tokens',
    'gen_ai.usage.reasoning_tokens',
    'gen_ai.usage.output_tokens.reasoning',
    'gen_ai.usage.details.reasoning_tokens',
    'llm.usage.reasoning_tokens',
    'llm.token_count.completion_details.reasoning',
    'ai.usage.reasoningTokens',
    'ai.usage.outputTokenDetails.reasoningTokens',
    'gen_ai.aggregated_usage.reasoning.output_tokens',
    'gen_ai.aggregated_usage.details.reasoning_tokens',
  ],
} as const;

/** An object whose kinds of input, and of output, exclude each other. */
export const EXCLUSIVE_TOKENS = 'langfuse.observation.usage_details';

/** Where to read the input or output of a step. */
export interface ContentSource {
  /** One attribute, or several as members of an object. */
  from: string | Readonly<Record<string, string>>;
  /** `always`: messages for any step. `text`: never messages. Default: messages for a model or an agent. */
  messages?: 'always' | 'text';
  /** Only the messages before the first one of the assistant. */
  isHistory?: true;
}

export const INPUT_SOURCES: readonly ContentSource[] = [
  { from: { messages: 'gen_ai.input.messages', system: 'gen_ai.system_instructions' }, messages: 'always' },
  { from: 'ai.prompt.messages', messages: 'always' },
  { from: 'ai.prompt', messages: 'always' },
  { from: 'llm.input_messages.*', messages: 'always' },
  { from: 'gen_ai.prompt.*', messages: 'always' },
  { from: 'langfuse.observation.input' },
  { from: 'gen_ai.tool.call.arguments', messages: 'text' },
  { from: 'ai.toolCall.args', messages: 'text' },
  { from: 'traceloop.entity.input' },
  { from: 'mlflow.spanInputs' },
  { from: 'ai.value', messages: 'text' },
  { from: 'ai.values', messages: 'text' },
  { from: 'input.value' },
  { from: 'gen_ai.retrieval.query.text', messages: 'text' },
  { from: 'embedding.embeddings.*', messages: 'text' },
  { from: 'reranker.query', messages: 'text' },
  {
    from: { messages: 'pydantic_ai.all_messages', system: 'gen_ai.system_instructions' },
    messages: 'always',
    isHistory: true,
  },
];

export const OUTPUT_SOURCES: readonly ContentSource[] = [
  { from: 'gen_ai.output.messages', messages: 'always' },
  {
    from: { content: 'ai.response.text', tool_calls: 'ai.response.toolCalls', reasoning: 'ai.response.reasoning' },
    messages: 'always',
  },
  { from: 'ai.response.object', messages: 'text' },
  { from: 'llm.output_messages.*', messages: 'always' },
  { from: 'gen_ai.completion.*', messages: 'always' },
  { from: 'langfuse.observation.output' },
  { from: 'gen_ai.tool.call.result', messages: 'text' },
  { from: 'ai.toolCall.result', messages: 'text' },
  { from: 'traceloop.entity.output' },
  { from: 'mlflow.spanOutputs' },
  { from: 'output.value' },
  { from: 'final_result', messages: 'text' },
  { from: 'gen_ai.retrieval.documents', messages: 'text' },
  { from: 'retrieval.documents.*', messages: 'text' },
  { from: 'reranker.output_documents.*', messages: 'text' },
];

/** The role of the message in each event. `CHOICE_EVENT` has the model's answer. */
export const MESSAGE_EVENTS: Readonly<Record<string, string>> = {
  'gen_ai.system.message': 'system',
  'gen_ai.user.message': 'user',
  'gen_ai.assistant.message': 'assistant',
  'gen_ai.tool.message': 'tool',
};
export const CHOICE_EVENT = 'gen_ai.choice';
/** An event with input and output, in attributes named as in spans. */
export const DETAILS_EVENT = 'gen_ai.client.inference.operation.details';
export const EVALUATION_EVENT = 'gen_ai.evaluation.result';

/** Attributes that carry no information, or repeat the messages of steps below. */
export const REPEATING: readonly string[] = [
  'all_messages_events',
  'input.mime_type',
  'output.mime_type',
  'logfire.json_schema',
  'logfire.msg',
  'events',
];

/** Prefixes of call settings; names are stored without them. */
export const PARAMETER_PREFIXES: readonly string[] = ['gen_ai.request.', 'ai.settings.', 'llm.request.'];
/** Objects of call settings. */
export const PARAMETER_OBJECTS: readonly string[] = [
  'llm.invocation_parameters',
  'langfuse.observation.model.parameters',
];

export const TAG_NAMES: readonly string[] = [
  'tag.tags',
  'langfuse.trace.tags',
  'ai.telemetry.metadata.tags',
  'pms.tags',
];
/** Objects and prefixes of metadata; names are stored without the prefix. */
export const METADATA_OBJECTS: readonly string[] = [
  'metadata',
  'langfuse.trace.metadata',
  'langfuse.observation.metadata',
];
export const METADATA_PREFIXES: readonly string[] = [
  'pms.metadata.',
  'metadata.',
  'langfuse.trace.metadata.',
  'langfuse.observation.metadata.',
  'ai.telemetry.metadata.',
  'traceloop.association.properties.',
];

/** Marks a span that a library sends when a step starts, in addition to the one with its end. */
export const PENDING = { attribute: 'logfire.span_type', value: 'pending_span' } as const;
