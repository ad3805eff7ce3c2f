import { type Prompt as FillablePrompt, parsePrompt as parse } from '../prompt-rules/prompt.ts';
import type { ChatMessage } from './messages.ts';
import type { IncludeSet, PromptContent } from './prompt-content.ts';
import { VALUE_CHECKS } from './variable-types.ts';

export { cacheMark, lastMark, textsUpToMarks, withCacheMarks, withMarksUpTo } from '../prompt-rules/cache-marks.ts';
export { asUserText, laterSystem } from '../prompt-rules/fold-system.ts';
export { MAX_FILLED_MESSAGES } from '../prompt-rules/limits.ts';
export { charsOf, includedVersions, includesOf, TemplateVariablesError } from '../prompt-rules/prompt.ts';
export type { Variables } from '../prompt-rules/prompt-values.ts';

/** A parsed prompt, for any number of runs. */
export type Prompt = FillablePrompt<ChatMessage>;

/**
 * Parses a prompt's content; values are checked by the schemas.
 * @param includes everything that it includes, at any depth. Default: nothing
 */
export function parsePrompt(content: PromptContent, includes: IncludeSet = {}): Prompt {
  return parse(content, includes, VALUE_CHECKS);
}
