import type { Prompt, ResolvedPrompt } from '../generated/types.gen.ts';
import type { JsonValue } from './json.ts';

/** What is known of one variable. */
export type Input = Omit<NonNullable<Prompt['inputs']>[string], 'default'> & { default?: JsonValue };

/** What a call's text is made from: exactly one of `template` and `messages` is not null. */
export type PromptContent = Pick<Prompt, 'template' | 'messages'> & { inputs: Record<string, Input> | null };

/** An include as it stands in a text: `name`, `name@3` or `name@label`. */
export type IncludeRef = string;

/** All that a content includes, at any depth: each reference, resolved once. */
export type IncludeSet = NonNullable<ResolvedPrompt['includes']>;
