/** Tokens of one or more model calls. `cached_input` is part of `input`, `reasoning` is part of `output`. */
export interface TokenUsage {
  input: number;
  output: number;
  cached_input: number;
  reasoning: number;
  /** `input + output`. */
  total: number;
}

/** What calls have cost. `amount` is a decimal string in `currency`; null when the model has no known price. */
export interface Cost {
  amount: string | null;
  currency: 'USD';
  /** The price used, kept with the record so that it can be checked later; null when there is none. */
  pricing: Pricing | null;
}

/** US dollars per million tokens, as decimal strings, as used for one call. */
export interface Pricing {
  /** Where the price comes from: `genai-prices@<version>`, `operator` or `sandbox`. */
  source: string;
  model: string;
  input_per_million: string;
  cached_input_per_million: string;
  cache_write_per_million?: string;
  output_per_million: string;
  /** For prices that depend on the length of the input: the tier used starts above this many input tokens. */
  tier_above_input_tokens?: number;
  per_request?: string;
}
