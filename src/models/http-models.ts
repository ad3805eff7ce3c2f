import { z } from 'zod';
import type { ErrorDetail } from '../domain/errors.ts';
import { MEMORY_SHARES } from '../domain/memory-shares.ts';
import { messagesOf } from '../domain/prompts/messages.ts';
import type { ModelParameters } from '../domain/prompts/parameters.ts';
import { parseKeepingDigits } from '../domain/text/json-digits.ts';
import { storableText } from '../domain/text/storable-text.ts';
import type { Pricing, Spent } from '../domain/usage.ts';
import { createByteBudget } from '../lib/byte-budget.ts';
import type { Release } from '../lib/fair-semaphore.ts';
import { HeldBytes } from '../lib/held-bytes.ts';
import { createRedactor } from '../lib/redact.ts';
import type { Turns } from '../lib/turns.ts';
import { createDownloader, type DownloaderOptions } from '../outbound/download.ts';
import type { BatchedCall } from './batches/batched-models.ts';
import { cosine } from './cosine.ts';
import { createDeltas, type Deltas } from './deltas.ts';
import type {
  FinishReason,
  ModelCall,
  ModelResponse,
  ModelSettings,
  SimilarityCall,
  SimilarityResponse,
} from './model.ts';
import { ModelError } from './model-error.ts';
import type { ResolvedModel } from './names.ts';
import type { PriceBook } from './prices/price-book.ts';
import { costOf } from './prices/pricing.ts';
import { billedUsage, isBilledAtBatchPrice, isBilledAtListPrice, isBilledBesidesTokens } from './prices/usage.ts';
import { isErrorBody, pageError, providerError } from './provider-errors.ts';
import type { Provider } from './providers/provider.ts';
import { requireAcceptedContent } from './requests/accepted-content.ts';
import { isFetchedBy, lengthOf, withFetchedFiles } from './requests/fetched-files.ts';
import { fitCall } from './requests/fitted-call.ts';
import type { RequestBody } from './requests/json-body.ts';
import type { LanguageModel, ProviderCall } from './requests/language-model.ts';
import { LongTexts } from './requests/long-texts.ts';
import { completeBody, type ParameterProblem, parameterProblems } from './requests/request-body.ts';
import { sdkOptions } from './requests/sdk-options.ts';
import { hasJsonTool } from './requests/sent-content.ts';
import { emptyResponse, type Received, readResponse, receivedText } from './responses/read-response.ts';
import { createLongNumbers, type LongNumbers } from './responses/sdk-text.ts';
import { toolCallsOf } from './tool-calls.ts';
import { createTransport, MAX_RESPONSE_BYTES, type MakeRoom, type Transport, tooLong } from './transport.ts';

type ProviderResponse = Omit<ModelResponse, 'modelMs'>;
type SdkResult = Awaited<ReturnType<LanguageModel['doGenerate']>>;
/** A model and the provider that serves it. */
export interface HttpModel {
  provider: Provider;
  resolved: ResolvedModel;
}

/** The models called over HTTP, through each provider's own SDK. */
export interface HttpModels {
  isConfigured(provider: Provider): boolean;
  /** @throws ModelError, or the reason of `signal` once it has aborted. */
  generate(model: HttpModel, call: ModelCall, signal: AbortSignal): Promise<ProviderResponse>;
  /** @throws as `generate` does */
  similarities(
    model: HttpModel,
    call: SimilarityCall,
    signal: AbortSignal,
  ): Promise<Omit<SimilarityResponse, 'modelMs'>>;
  /** The request that `generate` would send. @throws as `generate` does for calls that cannot be sent */
  requestOf(model: HttpModel, call: BatchedCall): Promise<StoredRequest>;
  /** The parameters that the model would not receive as given. Sends nothing. */
  parameterProblems(model: HttpModel, parameters: ModelParameters): Promise<ParameterProblem[]>;
  /**
   * What `generate` would return for this response to a call, at batch prices.
   *
   * @throws ModelError as `generate` does
   */
  responseOf(model: HttpModel, call: BatchedCall, response: StoredResponse): Promise<ProviderResponse>;
  /** The current price of a call in a batch. */
  batchPriceOf(model: ResolvedModel, inputTokens: number): Pricing | null;
  /** The connection for sending and fetching batches. */
  connectionOf(provider: Provider): ProviderConnection;
  close(): Promise<void>;
}

/** Rules for fetching files. */
export type FilePolicy = Pick<DownloaderOptions, 'allowPrivate' | 'own'>;

/** A request that is sent as part of a batch. */
export interface StoredRequest {
  headers: Headers;
  body: RequestBody;
}

/** A response that was part of a batch. */
export interface StoredResponse {
  status: number;
  /** JSON. */
  text: string;
}

/** A provider's address and key, for calls without its SDK. */
export interface ProviderConnection {
  apiKey: string | undefined;
  /** Ends with the provider's API version (`…/v1`). */
  baseUrl: string;
  transport: Transport;
  /** Removes our keys and hosts from a provider's text. */
  redact: (text: string) => string;
}

/** A call that its SDK can turn into a request. */
interface PreparedCall {
  call: ProviderCall;
  warnings: ErrorDetail[];
  endTurn: () => void;
  release: Release;
}

/** What is needed to send a request. */
interface Sending {
  workspace: string;
  longTexts: LongTexts;
  deltas: Deltas | undefined;
  makeRoom: MakeRoom;
  signal: AbortSignal;
}

/** A byte of a response is in its text, in what the SDK parses from it (up to twelve times for tiny values) and in the result. */
const RESPONSE_FACTOR = 16;
/** From this size, creating a request takes long: each character is copied several times. */
const LARGE_CHARS = 256 * 1024;
/** The group of model calls among a workspace's turns. */
const GROUP = 'calls';
/** For the whole download of a file. */
const DOWNLOAD_TIMEOUT_MS = 30_000;

const UnsupportedError = z.object({ functionality: z.string() });
const SdkBody = z.record(z.string(), z.unknown());

/**
 * @param policy rules for fetching files
 * @param turns of the process, by public workspace id
 */
export function createHttpModels(
  settings: ModelSettings,
  prices: PriceBook,
  policy: FilePolicy,
  turns: Turns,
): HttpModels {
  const transport = createTransport();
  const downloader = createDownloader({ ...policy, timeoutMs: DOWNLOAD_TIMEOUT_MS });
  const files = { downloader, memory: createByteBudget(MEMORY_SHARES.files), turns };
  const responses = createByteBudget(MEMORY_SHARES.responses);
  const longNumbers = createLongNumbers();
  const all = Object.values(settings.providers);
  const redact = createRedactor(
    all.map(({ apiKey }) => apiKey),
    all.flatMap(({ baseUrl }) => baseUrl ?? []),
  );

  /** Replaces the `fetch` of a call's SDK: completes the request, sends it, and throws on an error response. */
  async function send(
    { provider, resolved }: HttpModel,
    { call, endTurn }: PreparedCall,
    { workspace, longTexts, deltas, makeRoom, signal }: Sending,
    ...[url, init]: Parameters<typeof globalThis.fetch>
  ): Promise<Received> {
    const whole = {
      url: url instanceof Request ? url.url : url.toString(),
      body: wholeBody({ provider, resolved }, call, init),
    };
    const request = deltas === undefined ? whole : provider.asStreamed(whole.url, whole.body);
    const json = JSON.stringify(request.body);
    endTurn();
    const body = await longTexts.write(json, () => turns.step(workspace, { signal: () => signal, group: GROUP }));
    const response = await transport.send({
      url: request.url,
      headers: {
        ...Object.fromEntries(new Headers(init?.headers)),
        ...(typeof body !== 'string' && { 'content-length': String(body.bytes) }),
      },
      body: typeof body === 'string' ? body : body.stream,
      signal,
    });
    // Text next to the tool that receives a JSON response is not part of the response.
    const isText = deltas !== undefined && !hasJsonTool(provider, whole.body, call.tools);
    const onText = (piece: string) => {
      if (isText) deltas.text(piece);
    };
    return readResponse({ provider, onText, makeRoom, redact }, response);
  }

  /** @throws ModelError if the response is an error */
  function successOf(response: { status: number; headers: Headers; text: string }): string {
    const { status, text } = response;
    if (status < 200 || status > 299 || isErrorBody(text)) throw providerError(response, redact);
    const page = pageError(response.headers, text);
    if (page !== undefined) throw page;
    return text;
  }

  /** Creates the SDK's model for one call; it sends its request through `fetch`. */
  function createLanguageModel(
    { provider, resolved }: HttpModel,
    fetch: typeof globalThis.fetch,
  ): Promise<LanguageModel> {
    const { apiKey, baseUrl } = connectionOf(provider);
    return provider.languageModel(resolved.providerModelId, { apiKey, baseUrl, fetch });
  }

  /** An empty setting counts as not set. */
  function connectionOf({ name, baseUrl: ownUrl }: Provider): ProviderConnection {
    const { apiKey, baseUrl } = settings.providers[name] ?? {};
    return { apiKey: apiKey || undefined, baseUrl: baseUrl || (ownUrl ?? ''), transport, redact };
  }

  /**
   * Prepares a call; large ones take a turn until their request is created.
   * @param longTexts texts that bypass the SDK. Default: none
   * @throws ModelError if the provider does not support the call, or a file cannot be fetched
   */
  async function prepare(
    { provider, resolved }: HttpModel,
    { workspace, input, tools, toolChoice, parameters }: BatchedCall,
    languageModel: LanguageModel,
    signal: AbortSignal,
    longTexts?: LongTexts,
  ): Promise<PreparedCall> {
    const fitted = fitCall(provider, { messages: messagesOf(input), tools: tools ?? [], parameters });
    const { messages: given, warnings } = fitted;
    requireAcceptedContent(provider, resolved.model, given);
    const supportedUrls = await languageModel.supportedUrls;
    const isFetchedByProvider = (mediaType: string, url: string) => isFetchedBy(supportedUrls, mediaType, url);
    const { messages: filled, release } = await withFetchedFiles(given, isFetchedByProvider, files, workspace, signal);
    const messages = longTexts?.shorten(filled) ?? filled;
    const call = { messages, tools: fitted.tools, toolChoice: toolChoice ?? undefined, parameters };
    const prepared = { call, warnings };
    if (lengthOf(messages) < LARGE_CHARS) return { ...prepared, endTurn: () => {}, release };
    try {
      const endTurn = await turns.take(workspace, { signal: () => signal, group: GROUP });
      return {
        ...prepared,
        endTurn,
        release() {
          endTurn();
          release();
        },
      };
    } catch (error) {
      release();
      throw error;
    }
  }

  return {
    isConfigured: ({ name, settings: { needed } }) => !!settings.providers[name]?.[needed],

    async generate(model, call, signal) {
      const deltas = call.onDelta && createDeltas(call.onDelta);
      const held = new HeldBytes(responses, call.workspace, RESPONSE_FACTOR);
      const makeRoom: MakeRoom = (bytes) => held.growTo(bytes, signal);
      const longTexts = new LongTexts();
      const sending = { workspace: call.workspace, longTexts, deltas, makeRoom, signal };
      let isSent = false;
      const received: Received[] = [];
      const languageModel = await createLanguageModel(model, async (url, init) => {
        isSent = true;
        const response = await send(model, prepared, sending, url, init);
        received.push(response);
        return sdkResponse(response, longNumbers);
      });
      const prepared = await prepare(model, call, languageModel, signal, longTexts);
      let result: SdkResult;
      try {
        result = await languageModel.doGenerate(sdkOptions(model.provider, prepared.call));
      } catch (error) {
        if (signal.aborted || error instanceof ModelError) throw error;
        throw isSent ? unreadable() : unsendable(error);
      } finally {
        prepared.release();
        held.release();
      }
      const response = toResponse(result, received.at(-1), {
        priceOf: (inputTokens) => prices.priceOf(model.resolved, inputTokens),
        isAtListPrice: isBilledAtListPrice,
        redact,
        longNumbers,
      });
      deltas?.end(response);
      return prepared.warnings.length === 0 ? response : { ...response, warnings: prepared.warnings };
    },

    async similarities({ provider, resolved }, { workspace, text, others }, signal) {
      const held = new HeldBytes(responses, workspace, RESPONSE_FACTOR);
      let isSent = false;
      const embeddingModel = await provider.embeddingModel?.(resolved.providerModelId, {
        ...connectionOf(provider),
        async fetch(url, init) {
          isSent = true;
          const response = await transport.send({
            url: url instanceof Request ? url.url : url.toString(),
            headers: Object.fromEntries(new Headers(init?.headers)),
            body: typeof init?.body === 'string' ? init.body : '',
            signal,
          });
          const { status, headers } = response;
          const text = await response.text((bytes) => held.growTo(bytes, signal));
          return jsonResponse(successOf({ status, headers, text }));
        },
      });
      if (embeddingModel === undefined)
        throw new ModelError('model_invalid_request', `${provider.name} does not support embeddings.`);
      try {
        const { embeddings, usage, response } = await embeddingModel.doEmbed({ values: [text, ...others] });
        const [own, ...rest] = embeddings;
        if (own === undefined || rest.length !== others.length) throw unreadable();
        return {
          similarities: rest.map((other) => cosine(own, other)),
          ...billOf(usage?.tokens, (inputTokens) => prices.priceOf(resolved, inputTokens)),
          providerModel: servedBy({ response }),
        };
      } catch (error) {
        if (signal.aborted || error instanceof ModelError) throw error;
        throw isSent ? unreadable() : unsendable(error);
      } finally {
        held.release();
      }
    },

    async requestOf(model, call) {
      let request: StoredRequest | undefined;
      let refusal: unknown;
      const languageModel = await createLanguageModel(model, async (_url, init) => {
        try {
          request = { headers: new Headers(init?.headers), body: wholeBody(model, prepared.call, init) };
        } catch (error) {
          refusal = error;
        }
        throw new Error('The request is kept, not sent.');
      });
      const prepared = await prepare(model, call, languageModel, call.signal);
      try {
        await languageModel.doGenerate(sdkOptions(model.provider, prepared.call));
      } catch (error) {
        refusal ??= error;
      } finally {
        prepared.release();
      }
      if (request !== undefined) return request;
      throw refusal instanceof ModelError ? refusal : unsendable(refusal);
    },

    async parameterProblems(model, parameters) {
      const { provider, resolved } = model;
      const call: ProviderCall = { messages: messagesOf('-'), tools: [], toolChoice: undefined, parameters };
      let problems: ParameterProblem[] = [];
      const languageModel = await createLanguageModel(model, async (_url, init) => {
        const body = sdkBodyOf(init);
        problems = parameterProblems(provider, resolved.model, provider.complete?.(body, call) ?? body, call);
        throw new Error('The request is not sent.');
      });
      // Always fails: with the error above, or because the SDK cannot create a request for the call.
      await Promise.resolve(languageModel.doGenerate(sdkOptions(provider, call))).catch(() => {});
      return problems;
    },

    async responseOf(model, { tools, toolChoice, parameters }, { status, text }) {
      const received = receivedText(model.provider, successOf({ status, headers: new Headers(), text }));
      const languageModel = await createLanguageModel(model, async () => sdkResponse(received, longNumbers));
      // Reading a response depends on its tools and format, not on the messages: their files need not be fetched again.
      const messages = messagesOf('-');
      const call = { messages, tools: tools ?? [], toolChoice: toolChoice ?? undefined, parameters };
      let result: SdkResult;
      try {
        result = await languageModel.doGenerate(sdkOptions(model.provider, call));
      } catch {
        throw unreadable();
      }
      return toResponse(result, received, {
        priceOf: (inputTokens) => prices.batchPriceOf(model.resolved, inputTokens),
        isAtListPrice: isBilledAtBatchPrice,
        redact,
        longNumbers,
      });
    },

    batchPriceOf: (model, inputTokens) => prices.batchPriceOf(model, inputTokens),
    connectionOf,

    async close() {
      await Promise.all([transport.close(), downloader.close()]);
    },
  };
}

/** The completed body that an SDK would send. */
function wholeBody({ provider, resolved }: HttpModel, call: ProviderCall, init: RequestInit | undefined): RequestBody {
  return completeBody(provider, resolved.model, sdkBodyOf(init), call);
}

const sdkBodyOf = (init: RequestInit | undefined): RequestBody =>
  SdkBody.parse(typeof init?.body === 'string' ? parseKeepingDigits(init.body) : undefined);

/** The response arrived completely: repeating the call would cost again and likely return the same format. */
function unreadable(
  what = 'its format is unknown',
  kept: { spent?: Spent | undefined; response?: string } = {},
): ModelError {
  const message = `The provider's response was not understood, and is not requested again: ${what}.`;
  return new ModelError('model_unavailable', message, { retryable: false, ...kept });
}

function unsendable(error: unknown): ModelError {
  return new ModelError(
    'model_invalid_request',
    `The call is not a valid request for this provider${detailOf(error)}.`,
  );
}

/** What an SDK reports as unsupported by its provider. */
function detailOf(error: unknown): string {
  const refused = UnsupportedError.safeParse(error);
  return refused.success ? `: it does not support ${refused.data.functionality}` : '';
}

/** The parsed part of a response in the form of its SDK. @throws ModelError if it is too long */
function sdkResponse({ understood }: Received, numbers: LongNumbers): Response {
  const text = numbers.written(understood.body);
  if (Buffer.byteLength(text) > MAX_RESPONSE_BYTES) throw tooLong(MAX_RESPONSE_BYTES);
  return jsonResponse(text);
}

function jsonResponse(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'application/json' } });
}

const FINISH_REASONS: Record<SdkResult['finishReason']['unified'], FinishReason> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'content_filter',
  'tool-calls': 'tool_calls',
  interrupted: 'other',
  error: 'other',
  other: 'other',
};

/** How a response is billed. */
interface Billing {
  priceOf(inputTokens: number): Pricing | null;
  /** Whether its body was billed at that price. */
  isAtListPrice(body: unknown): boolean;
  /** Removes our keys and hosts from a stored response. */
  redact(text: string): string;
  longNumbers: LongNumbers;
}

function toResponse(result: SdkResult, received: Received | undefined, billing: Billing): ProviderResponse {
  if (received === undefined) throw new Error("An SDK has a result without its provider's response.");
  const { understood, body, skipped, text } = received;
  const texts = result.content.map((part) => (part.type === 'text' ? billing.longNumbers.restored(part.text) : ''));
  const output = storableText(texts.join(''));
  const toolCalls = toolCallsOf(
    result.content.map((part) =>
      part.type === 'tool-call' ? { ...part, input: billing.longNumbers.restored(part.input) } : part,
    ),
  );
  const unified = FINISH_REASONS[result.finishReason.unified];
  // Some servers end a response with tool calls this way, and so does OpenAI when a tool was named.
  const finishReason = unified === 'stop' && toolCalls.length > 0 ? 'tool_calls' : unified;
  const usage = understood.hasUsage ? billedUsage(result.usage) : undefined;
  const pricing = billing.priceOf(usage?.tokens.input ?? 0);
  const isCounted = billing.isAtListPrice(body) && !isBilledBesidesTokens(body);
  const spent = { tokens: usage?.tokens ?? null, cost: costOf(pricing, isCounted ? usage : undefined) };
  if (understood.fault !== undefined) throw unreadable(understood.fault, { spent, response: billing.redact(text) });
  if (result.content.length === 0 && result.finishReason.raw === undefined) throw emptyResponse(usage && spent);
  if (finishReason === 'content_filter')
    throw new ModelError('content_filtered', output || "The provider's content filter withheld the response.", {
      spent,
    });
  const kinds = skipped.list();
  return {
    output,
    toolCalls,
    finishReason,
    ...spent,
    providerModel: servedBy(result),
    ...(kinds.length > 0 && { skipped: kinds }),
  };
}

/** The cost of embeddings, which have no output. */
function billOf(inputTokens: number | undefined, priceOf: Billing['priceOf']): Pick<ModelResponse, 'tokens' | 'cost'> {
  const usage = billedUsage({
    inputTokens: { total: inputTokens, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 0, reasoning: 0 },
  });
  return { tokens: usage?.tokens ?? null, cost: costOf(priceOf(inputTokens ?? 0), usage) };
}

const NamedBody = z.union([
  z.object({ modelVersion: z.string() }).transform(({ modelVersion }) => modelVersion),
  z.object({ model: z.string() }).transform(({ model }) => model),
]);

/** Google's SDK omits the model from its result, and every SDK omits it for embeddings. */
function servedBy({
  response,
}: {
  response?: { modelId?: string | undefined; body?: unknown } | undefined;
}): string | null {
  const body = NamedBody.safeParse(response?.body);
  const name = response?.modelId ?? body.data;
  return name === undefined ? null : storableText(name);
}
