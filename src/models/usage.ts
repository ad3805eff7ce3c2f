import { z } from 'zod';
import type { TokenUsage } from '../domain/usage.ts';

/** What a call was billed for: its tokens, and how many of the input tokens were written to the provider's cache. */
export interface BilledUsage {
  tokens: TokenUsage;
  cacheWriteTokens: number;
}

/** Usage as the AI SDK hands it on, each count undefined when the provider didn't send it. */
export interface ReportedUsage {
  inputTokens: { total: number | undefined; cacheRead: number | undefined; cacheWrite: number | undefined };
  outputTokens: { total: number | undefined; reasoning: number | undefined };
  raw?: unknown;
}

export const NO_TOKENS: TokenUsage = { input: 0, output: 0, cached_input: 0, reasoning: 0, total: 0 };

const Count = z.int().nonnegative();
const RawTotal = z.object({ total_tokens: Count });

/** Undefined when the provider sent no usage, or one that can't be. */
export function billedUsage(reported: ReportedUsage): BilledUsage | undefined {
  const input = Count.safeParse(reported.inputTokens.total);
  const answered = Count.safeParse(reported.outputTokens.total);
  if (!input.success || !answered.success) return undefined;
  const reasoning = countOr0(reported.outputTokens.reasoning);
  const output = answered.data + reasoningOnTop(reported.raw, input.data, answered.data, reasoning);
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

/** Some compatible servers count reasoning beside `completion_tokens`; their `total_tokens` gives it away. */
function reasoningOnTop(raw: unknown, input: number, output: number, reasoning: number): number {
  const parsed = RawTotal.safeParse(raw);
  return parsed.success && reasoning > 0 && parsed.data.total_tokens === input + output + reasoning ? reasoning : 0;
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

/**
 * Whether the answer was billed at list prices. Faster, slower or regional service, which `provider_options` can ask for,
 * and one-hour cache writes cost something else: then the cost is unknown instead of wrong.
 */
export function isBilledAtListPrice(body: unknown): boolean {
  const parsed = BilledAs.safeParse(body);
  if (!parsed.success) return true;
  const { service_tier, usage, usageMetadata } = parsed.data;
  const tiers = [service_tier, usage?.service_tier, usage?.speed, usage?.inference_geo, usageMetadata?.serviceTier];
  const atListPrice = tiers.every((tier) => tier === undefined || LIST_PRICE_TIERS.has(tier.toLowerCase()));
  return atListPrice && !usage?.cache_creation?.ephemeral_1h_input_tokens;
}
