/** Options that a caller can set under a provider's own names, by provider. */
export type ProviderOptions = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** `true`: any value. A list: one of these values. An object: the options inside. */
type Allowed = true | readonly unknown[] | { readonly [option: string]: Allowed };

const any = (names: string) => Object.fromEntries(names.split(/\s+/).map((name): [string, true] => [name, true]));

/** Options of OpenAI's chat completions. `service_tier: priority`, searches and further candidates have costs that tokens do not show. */
const OPENAI = {
  ...any(`frequency_penalty presence_penalty logit_bias logprobs top_logprobs max_tokens max_completion_tokens metadata prediction
    prompt_cache_key prompt_cache_retention reasoning_effort response_format safety_identifier seed stop store temperature top_p user
    verbosity`),
  service_tier: ['auto', 'default', 'flex'],
} satisfies Allowed;

/**
 * The allowed options: those whose effect is visible in the tokens that the provider counts. Everything else is refused: content
 * and models, streaming, tools (nothing here would run them), and everything billed in addition to tokens or at other prices: further
 * candidates, searches, code execution, faster service, audio and images.
 */
const ALLOWED: Record<string, { readonly [option: string]: Allowed }> = {
  openai: OPENAI,
  // Sampling and prompt options of vLLM, SGLang, llama.cpp, Ollama, LM Studio, LiteLLM and the services that run them.
  'openai-compatible': {
    ...OPENAI,
    ...any(`min_p top_k top_a typical_p tfs_z epsilon_cutoff eta_cutoff repetition_penalty repeat_penalty repeat_last_n
      length_penalty no_repeat_ngram_size min_tokens ignore_eos stop_token_ids bad_words include_stop_str_in_output
      skip_special_tokens spaces_between_special_tokens truncate_prompt_tokens guided_json guided_regex guided_choice
      guided_grammar guided_decoding_backend guided_whitespace_pattern structured_outputs grammar json_schema regex ebnf format
      chat_template_kwargs add_generation_prompt add_special_tokens continue_final_message enable_thinking
      thinking thinking_budget think reasoning include_reasoning separate_reasoning mirostat mirostat_tau mirostat_eta
      dynatemp_range dynatemp_exponent dry_multiplier dry_base dry_allowed_length dry_sequence_breakers xtc_probability
      xtc_threshold samplers cache_prompt n_keep n_predict num_ctx num_predict options keep_alive ttl random_seed safe_prompt
      prompt_mode`),
  },
  mistral:
    any(`document_image_limit document_page_limit frequency_penalty max_tokens metadata prediction presence_penalty
    prompt_cache_key prompt_mode random_seed reasoning_effort response_format safe_prompt stop temperature top_p`),
  anthropic: {
    ...any('max_tokens metadata output_config stop_sequences system temperature thinking top_k top_p cache_control'),
    service_tier: ['auto', 'standard_only'],
  },
  google: {
    ...any('labels safetySettings systemInstruction'),
    generationConfig: {
      ...any(`frequencyPenalty logprobs maxOutputTokens mediaResolution presencePenalty responseJsonSchema responseLogprobs
        responseMimeType responseSchema seed stopSequences temperature thinkingConfig topK topP`),
      candidateCount: [1],
    },
  },
};

/** Why an option is refused. */
export interface OptionProblem {
  path: string[];
  message: string;
}

/**
 * What is wrong with `provider_options`; undefined if they are valid.
 * @param only checks only the options of this provider
 */
export function providerOptionsProblem(options: ProviderOptions, only?: string): OptionProblem | undefined {
  for (const [provider, own] of Object.entries(options)) {
    if (!Object.hasOwn(ALLOWED, provider))
      return {
        path: [provider],
        message: `"${provider}" is not a provider; use one of ${Object.keys(ALLOWED).join(', ')}.`,
      };
    if (only !== undefined && provider !== only) continue;
    const problem = problemOf(own, ALLOWED[provider] ?? {}, [provider]);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemOf(value: unknown, allowed: Allowed | undefined, path: string[]): OptionProblem | undefined {
  if (allowed === true) return undefined;
  if (allowed === undefined)
    return { path, message: `"${path.join('.')}" can't be set: its cost is not counted, or the option is unknown.` };
  if (isList(allowed)) {
    if (allowed.includes(value)) return undefined;
    const values = allowed.map((each) => JSON.stringify(each)).join(', ');
    return { path, message: `"${path.join('.')}" can only be ${values}: the cost of others is not counted.` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { path, message: `"${path.join('.')}" must be an object.` };
  for (const [name, inner] of Object.entries(value)) {
    const problem = problemOf(inner, Object.hasOwn(allowed, name) ? allowed[name] : undefined, [...path, name]);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function isList(allowed: Allowed): allowed is readonly unknown[] {
  return Array.isArray(allowed);
}
