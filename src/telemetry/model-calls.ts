import { type Attributes, metrics, type Span, SpanKind } from '@opentelemetry/api';
import type { TokenUsage } from '../domain/usage.ts';
import type { ClosableModels } from '../models/model.ts';
import type { ModelCall, ModelResponse } from '../models/model-call.ts';
import { traceBatches } from './batches.ts';
import { inputMessages, outputMessages } from './content.ts';
import { namesOf } from './model-names.ts';
import { attributesOf, inSpan, OUR, spentBy, tracer, typeOf } from './spans.ts';

// The semantic conventions for generative AI: https://opentelemetry.io/docs/specs/semconv/gen-ai/

type Operation = 'chat' | 'embeddings';
/** Bucket bounds from the conventions, in seconds and tokens. */
const DURATION_BUCKETS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKEN_BUCKETS = Array.from({ length: 14 }, (_, power) => 4 ** power);

function createInstruments() {
  const meter = metrics.getMeter('prompt-management-service');
  return {
    duration: meter.createHistogram('gen_ai.client.operation.duration', {
      description: 'Duration of calls to models',
      unit: 's',
      advice: { explicitBucketBoundaries: DURATION_BUCKETS },
    }),
    tokens: meter.createHistogram('gen_ai.client.token.usage', {
      description: 'Tokens that calls to models used',
      unit: '{token}',
      advice: { explicitBucketBoundaries: TOKEN_BUCKETS },
    }),
  };
}

const namesOfCall = (operation: Operation, model: string) => ({
  'gen_ai.operation.name': operation,
  ...namesOf(model),
});

/** Attributes known before the call. */
function requestAttributes(
  { workspace, parameters, origin, onDelta }: Pick<ModelCall, 'workspace' | 'parameters' | 'origin' | 'onDelta'>,
  named: Attributes,
): Attributes {
  const { prompt, execution, evaluation } = origin ?? {};
  return attributesOf({
    ...named,
    'gen_ai.request.temperature': parameters.temperature,
    'gen_ai.request.max_tokens': parameters.max_tokens,
    'gen_ai.request.top_p': parameters.top_p,
    'gen_ai.request.stream': onDelta === undefined ? undefined : true,
    'gen_ai.prompt.name': prompt?.name ?? undefined,
    'gen_ai.prompt.version': prompt?.version?.toString(),
    [OUR.workspace]: workspace,
    [OUR.execution]: execution,
    [OUR.evaluation]: evaluation,
  });
}

function usageAttributes({ input, output, cached_input: cached, reasoning }: TokenUsage): Attributes {
  return {
    'gen_ai.usage.input_tokens': input,
    'gen_ai.usage.output_tokens': output,
    ...(cached > 0 && { 'gen_ai.usage.cache_read.input_tokens': cached }),
    ...(reasoning > 0 && { 'gen_ai.usage.reasoning.output_tokens': reasoning }),
  };
}

type Answer = Pick<ModelResponse, 'providerModel' | 'tokens' | 'cost'> & Partial<Pick<ModelResponse, 'finishReason'>>;

function describeResponse(span: Span, { finishReason, providerModel, tokens, cost }: Answer): void {
  span.setAttributes(
    attributesOf({
      'gen_ai.response.finish_reasons': finishReason && [finishReason],
      'gen_ai.response.model': providerModel ?? undefined,
      ...(tokens !== null && usageAttributes(tokens)),
      'pms.cost.usd': cost.amount === null ? undefined : Number(cost.amount),
    }),
  );
}

/**
 * Wraps models with a span for each call and with metrics. Requests to providers are unchanged: they do not carry the trace.
 * @param captureContent whether spans contain requests and responses
 */
export function traceModels(models: ClosableModels, captureContent: boolean): ClosableModels {
  const { duration, tokens: usage } = createInstruments();

  function count(tokens: TokenUsage | null | undefined, attributes: Attributes): void {
    // Without usage from the provider, the number is unknown.
    if (!tokens || tokens.total === 0) return;
    usage.record(tokens.input, { ...attributes, 'gen_ai.token.type': 'input' });
    usage.record(tokens.output, { ...attributes, 'gen_ai.token.type': 'output' });
  }

  const startSpan = (named: ReturnType<typeof namesOfCall>, attributes: Attributes) =>
    tracer.startSpan(`${named['gen_ai.operation.name']} ${named['gen_ai.request.model']}`, {
      kind: SpanKind.CLIENT,
      attributes,
    });

  async function generate(call: ModelCall, named: Attributes, span: Span): Promise<ModelResponse> {
    const isCaptured = captureContent && span.isRecording();
    if (isCaptured) span.setAttribute('gen_ai.input.messages', inputMessages(call.input));
    const response = await measured(() => models.generate(call), named, span);
    if (isCaptured) span.setAttribute('gen_ai.output.messages', outputMessages(response));
    return response;
  }

  async function measured<Response extends Answer>(
    ask: () => Promise<Response>,
    named: Attributes,
    span: Span,
  ): Promise<Response> {
    const startedAt = performance.now();
    const seconds = () => (performance.now() - startedAt) / 1_000;
    let response: Response;
    try {
      response = await ask();
    } catch (error) {
      const spent = spentBy(error);
      if (spent !== undefined) span.setAttributes(usageAttributes(spent));
      count(spent, named);
      duration.record(seconds(), { ...named, 'error.type': typeOf(error) });
      throw error;
    }
    const attributes = respondedBy(named, response.providerModel);
    duration.record(seconds(), attributes);
    count(response.tokens, attributes);
    describeResponse(span, response);
    return response;
  }

  return {
    resolve: (name) => models.resolve(name),
    test: (provider) => models.test(provider),
    priceOf: (model, atInputTokens) => models.priceOf(model, atInputTokens),
    batches: traceBatches(models.batches, (model, { tokens, providerModel }) =>
      count(tokens, respondedBy(namesOfCall('chat', model), providerModel)),
    ),
    providers: () => models.providers(),
    parameterProblems: (name, parameters) => models.parameterProblems(name, parameters),
    close: () => models.close(),
    resolveEmbedding: (name) => models.resolveEmbedding(name),
    generate(call) {
      const named = namesOfCall('chat', call.model);
      const span = startSpan(named, requestAttributes(call, named));
      return inSpan(span, () => generate(call, named, span));
    },
    similarities(call) {
      const named = namesOfCall('embeddings', call.model);
      const span = startSpan(named, requestAttributes({ ...call, parameters: {} }, named));
      return inSpan(span, () => measured(() => models.similarities(call), named, span));
    },
  };
}

const respondedBy = (named: Attributes, providerModel: string | null): Attributes =>
  providerModel === null ? named : { ...named, 'gen_ai.response.model': providerModel };
