import { z } from 'zod';
import { MAX_TOKENS, type TokenUsage } from '../../domain/usage.ts';

/** The billed usage of a call: its tokens, and how many input tokens were written to the provider's cache. */
export interface BilledUsage {
  tokens: TokenUsage;
  cacheWriteTokens: number;
}

/** Usage as reported by the AI SDK; each count is undefined if the provider did not send it. */
export interface ReportedUsage {
  inputTokens: { total: number | undefined; cacheRead: number | undefined; cacheWrite: number | undefined };
  outputTokens: { total: number | undefined; reasoning: number | undefined };
  raw?: unknown;
}

const Count = z.int().nonnegative().max(MAX_TOKENS);
const RawTotal = z.object({ total_tokens: Count });

/** Undefined if the provider sent no usage or an impossible one: every call uses some tokens. */
export function billedUsage(reported: ReportedUsage): BilledUsage | undefined {
  const input = Count.safeParse(reported.inputTokens.total);
  const written = Count.safeParse(reported.outputTokens.total);
  if (!input.success || !written.success || input.data + written.data === 0) return undefined;
  const reasoning = countOr0(reported.outputTokens.reasoning);
  const output = written.data + reasoningOnTop(reported.raw, input.data, written.data, reasoning);
  const cached = Math.min(countOr0(reported.inputTokens.cacheRead), input.data);
  return {
    tokens: {
      input: input.data,
      output,
      cached_input: cached,
      reasoning: Math.min(reasoning, output),
      total: input.data + output,
    },
    cacheWriteTokens: Math.min(countOr0(reported.inputTokens.cacheWrite), input.data - cached),
  };
}

function countOr0(count: number | undefined): number {
  const parsed = Count.safeParse(count);
  return parsed.success ? parsed.data : 0;
}

/** Some compatible servers count reasoning outside `completion_tokens`, as their `total_tokens` reveals. */
function reasoningOnTop(raw: unknown, input: number, output: number, reasoning: number): number {
  const parsed = RawTotal.safeParse(raw);
  return parsed.success && reasoning > 0 && parsed.data.total_tokens === input + output + reasoning ? reasoning : 0;
}

/** Part of a response of unknown shape: a mismatch counts as absent. */
const maybe = <T extends z.ZodType>(schema: T) => schema.optional().catch(undefined);
const Amount = maybe(z.number());
const Anything = maybe(z.array(z.unknown()));
const BilledBesides = z.object({
  choices: maybe(z.array(z.object({ message: maybe(z.object({ annotations: Anything })) }))),
  candidates: maybe(z.array(z.object({ groundingMetadata: maybe(z.object({ webSearchQueries: Anything })) }))),
  usage: maybe(
    z.object({
      num_search_queries: Amount,
      server_tool_use: maybe(z.record(z.string(), z.unknown())),
      prompt_tokens_details: maybe(z.object({ audio_tokens: Amount })),
      completion_tokens_details: maybe(z.object({ audio_tokens: Amount })),
    }),
  ),
  usageMetadata: maybe(z.object({ toolUsePromptTokenCount: Amount })),
});

/**
 * Whether a response was billed for more than its text: further candidates, searches and other tools, audio. `provider_options`
 * cannot request these, but a server can be set up to do them for every call.
 */
export function isBilledBesidesTokens(body: unknown): boolean {
  const parsed = BilledBesides.safeParse(body);
  if (!parsed.success) return false;
  const { choices = [], candidates = [], usage, usageMetadata } = parsed.data;
  if (choices.length > 1 || candidates.length > 1) return true;
  const lists = [
    ...choices.map(({ message }) => message?.annotations),
    ...candidates.map(({ groundingMetadata }) => groundingMetadata?.webSearchQueries),
  ];
  const counts = [
    usage?.num_search_queries,
    ...Object.values(usage?.server_tool_use ?? {}),
    usage?.prompt_tokens_details?.audio_tokens,
    usage?.completion_tokens_details?.audio_tokens,
    usageMetadata?.toolUsePromptTokenCount,
  ];
  return (
    lists.some((list) => (list?.length ?? 0) > 0) || counts.some((count) => typeof count === 'number' && count > 0)
  );
}

const Tier = z.string().optional().catch(undefined);
const BilledAs = z.object({
  service_tier: Tier,
  usage: z
    .object({
      service_tier: Tier,
      speed: Tier,
      inference_geo: Tier,
      cache_creation: z.object({ ephemeral_1h_input_tokens: z.number() }).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
  usageMetadata: z.object({ serviceTier: Tier }).optional().catch(undefined),
});

const LIST_PRICE_TIERS = new Set([
  'default',
  'auto',
  'standard',
  'global',
  'not_available',
  'service_tier_unspecified',
]);
const BATCH_PRICE_TIERS = new Set([...LIST_PRICE_TIERS, 'batch']);

/**
 * Whether the response was billed at list prices. Faster, slower or regional service, which `provider_options` can request, and
 * one-hour cache writes have other prices: the cost is then unknown rather than wrong.
 */
export function isBilledAtListPrice(body: unknown): boolean {
  return isBilledAt(LIST_PRICE_TIERS, body);
}

/** The same for a response to a call in a batch, for which Anthropic reports another tier. */
export function isBilledAtBatchPrice(body: unknown): boolean {
  return isBilledAt(BATCH_PRICE_TIERS, body);
}

function isBilledAt(usual: ReadonlySet<string>, body: unknown): boolean {
  const parsed = BilledAs.safeParse(body);
  if (!parsed.success) return true;
  const { service_tier, usage, usageMetadata } = parsed.data;
  const tiers = [service_tier, usage?.service_tier, usage?.speed, usage?.inference_geo, usageMetadata?.serviceTier];
  const atListPrice = tiers.every((tier) => tier === undefined || usual.has(tier.toLowerCase()));
  return atListPrice && !usage?.cache_creation?.ephemeral_1h_input_tokens;
}
