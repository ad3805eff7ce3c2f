import type { ErrorDetail } from '../errors.ts';
import { type Texts, textsOf } from '../prompt-rules/prompt.ts';
import { TAG } from '../prompt-rules/template.ts';

/** Tags that other template languages replace or compute: `{{ user.name }}`, `{{{ name }}}`, `{{#if x}}`, `{% for … %}`, `{# … #}`. */
const FOREIGN_TAG = /\{\{\{?\s*[^{}\s][^{}]*\}\}\}?|\{%[^%]*%\}|\{#[^#]*#\}/;
const ANY_TAG = new RegExp(`(?<own>${TAG.source})|${FOREIGN_TAG.source}`, 'g');

const MAX_NAMED = 3;
const MAX_TAG_CHARS = 60;

/** Tags that the service does not recognize, each once. */
export function foreignTags(text: string): string[] {
  if (!text.includes('{')) return [];
  return [...new Set([...text.matchAll(ANY_TAG)].flatMap(({ 0: tag, groups }) => (groups?.['own'] ? [] : [tag])))];
}

function messageOf(tags: readonly string[]): string {
  const named = tags
    .slice(0, MAX_NAMED)
    .map((tag) => (tag.length > MAX_TAG_CHARS ? `"${tag.slice(0, MAX_TAG_CHARS)}…"` : `"${tag}"`))
    .join(', ');
  const more = tags.length > MAX_NAMED ? ` and ${tags.length - MAX_NAMED} more` : '';
  return `has tags of another template language: ${named}${more}. Only {{ name }} and {{> prompt }} are replaced; everything else in braces is text.`;
}

/** Parts of a version's texts that are allowed, but probably a mistake: one warning for each text. */
export function templateWarnings(content: Texts): ErrorDetail[] {
  return [...textsOf(content)].flatMap(({ path, text }) => {
    const tags = foreignTags(text);
    return tags.length === 0 ? [] : [{ path, message: messageOf(tags) }];
  });
}
