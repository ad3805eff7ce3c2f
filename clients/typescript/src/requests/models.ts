/** What an OpenAI model supports in chat completions. */
export interface OpenAITraits {
  /**
   * A reasoning model: `developer` instead of `system`, `max_completion_tokens` instead of `max_tokens`, no sampling parameters
   * while reasoning.
   */
  reasons: boolean;
  /** Sampling parameters are supported if reasoning is off. */
  samplesUnreasoned: boolean;
  /** Tools are rejected with reasoning, which is on by default. */
  toolsUnreasoned: boolean;
  /** Does not support a temperature. */
  searches: boolean;
}

const SAMPLING_GPT_6 = ['gpt-6.1-terra', 'gpt-6-luna', 'gpt-6-sol'];

export function openAITraits(model: string): OpenAITraits {
  const [, major = '0', minor, variant = ''] = /^gpt-(\d+)(?:\.(\d+))?(?:-(.+))?$/.exec(model) ?? [];
  const [gpt, point] = [Number(major), Number(minor ?? 0)];
  return {
    reasons: /^o\d+(-|$)/.test(model) || (gpt >= 5 && !(minor === undefined && variant.startsWith('chat'))),
    samplesUnreasoned: (gpt === 5 && point >= 1) || SAMPLING_GPT_6.includes(model),
    toolsUnreasoned: gpt === 5 && point >= 6,
    searches: /^gpt-4o-(mini-)?search-preview/.test(model),
  };
}

/** What an Anthropic model supports. */
export interface AnthropicTraits {
  /** Default maximum tokens of a response, and the upper limit if the model is known. */
  maxTokens: number;
  isKnown: boolean;
  /** Supports JSON with a schema and strict tools. Otherwise JSON is requested through a tool. */
  hasFormats: boolean;
  /** Chooses its amount of thinking from an effort. Otherwise it needs a token budget. */
  adapts: boolean;
  samples: boolean;
  hasXhigh: boolean;
  /** The setting that turns thinking off. */
  unthinking: 'disabled' | 'between_tools' | 'low_effort';
  takesForcedTools: boolean;
}

const OLD: AnthropicTraits = {
  maxTokens: 4_096,
  isKnown: true,
  hasFormats: false,
  adapts: false,
  samples: true,
  hasXhigh: false,
  unthinking: 'disabled',
  takesForcedTools: true,
};
const CURRENT: AnthropicTraits = { ...OLD, maxTokens: 128_000, hasFormats: true, adapts: true };
const NEW: AnthropicTraits = { ...CURRENT, samples: false, hasXhigh: true };

/** The first match counts. */
const RULES: readonly (readonly [names: RegExp, traits: AnthropicTraits])[] = [
  [/claude-sonnet-5-5/, { ...NEW, unthinking: 'between_tools', takesForcedTools: false }],
  [/claude-(opus-5-5|fable-5-[12])/, { ...NEW, unthinking: 'low_effort', takesForcedTools: false }],
  [/claude-(haiku-5-5|opus-5|opus-4-[78]|sonnet-5)/, NEW],
  [/claude-fable-5/, { ...NEW, unthinking: 'low_effort' }],
  [/claude-(sonnet|opus)-4-6/, CURRENT],
  [/claude-(sonnet|opus|haiku)-4-5/, { ...OLD, maxTokens: 64_000, hasFormats: true }],
  [/claude-opus-4-1/, { ...OLD, maxTokens: 32_000, hasFormats: true }],
  [/claude-sonnet-4[-@]/, { ...OLD, maxTokens: 64_000 }],
  [/claude-opus-4[-@]/, { ...OLD, maxTokens: 32_000 }],
  [/claude-3-haiku/, OLD],
  [/claude-(instant(-|$)|v?2(?=$|[-.:])|3(?=$|[-.]))/, { ...OLD, isKnown: false }],
  [/claude-/, { ...NEW, isKnown: false }],
];

export function anthropicTraits(model: string): AnthropicTraits {
  return RULES.find(([names]) => names.test(model))?.[1] ?? { ...OLD, isKnown: false };
}
