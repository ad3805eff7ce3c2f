/** What a model of OpenAI takes in chat completions. */
export interface OpenAITraits {
  /** It reasons: `developer` in place of `system`, `max_completion_tokens` in place of `max_tokens`, no sampling while it does. */
  reasons: boolean;
  /** Sampling parameters are taken where it is told not to reason. */
  samplesUnreasoned: boolean;
  /** Tools are refused with any reasoning, and by default there is some. */
  toolsUnreasoned: boolean;
  /** It takes no temperature. */
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

/** What a model of Anthropic takes. */
export interface AnthropicTraits {
  /** Tokens of a response where nothing is said, and at most where the model is known. */
  maxTokens: number;
  isKnown: boolean;
  /** JSON by a schema and strict tools. Else the model is given a tool for it. */
  hasFormats: boolean;
  /** It decides itself how much it thinks, by an effort. Else it has a budget of tokens. */
  adapts: boolean;
  samples: boolean;
  hasXhigh: boolean;
  /** What it is told where it is not to think. */
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

/** The first that fits. */
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
