import { includesOf } from '../prompt-rules/prompt.ts';
import { parsePrompt } from '../prompts/prompt.ts';
import type { PromptContent } from '../prompts/prompt-content.ts';
import { type Version, versionFaults } from '../prompts/prompt-version.ts';
import { foreignTags } from '../prompts/template-warnings.ts';
import { canonicalJson } from '../text/canonical-json.ts';
import { storableText } from '../text/storable-text.ts';
import type { Reject, RejectCode } from './candidate.ts';
import { type PartName, type PartTexts, withParts, wordingOf } from './parts.ts';

/** A copy of this many characters counts as copied. */
const COPIED_CHARS = 40;
const MAX_HOST_CHARS = 253;
/** The default limit of the wording: this many times the base's, or this many characters more. */
const MAX_GROWTH = 4;
const MAX_ADDED_CHARS = 4_000;

export interface GuardOptions {
  /** The version to improve. */
  base: Version;
  /** The texts that can be rewritten. */
  parts: readonly PartName[];
  /** The parent's texts, where they differ from the base's. */
  parent: PartTexts;
  /** The texts that must stay. */
  keep: readonly string[];
  /** Characters of the whole wording. Default: `maxLengthOf(base)` */
  maxLength?: number | undefined;
  /** Values of examples and feedback that the model saw: variables, outputs, expected outputs. */
  shown: readonly string[];
  /** The {@link contentKey} of all earlier candidates and the base. */
  known: ReadonlySet<string>;
}

/** The maximum length of the wording unless the caller sets one. */
export function maxLengthOf(base: PromptContent): number {
  const { length } = wordingOf(base);
  return Math.max(length * MAX_GROWTH, length + MAX_ADDED_CHARS);
}

/** The same for equal contents. */
export function contentKey({ template, messages, tools }: PromptContent): string {
  return canonicalJson(JSON.parse(JSON.stringify({ template, messages, tools })));
}

/** The texts of `keep` that the base does not have: no candidate could keep them. */
export function missingKept(base: PromptContent, keep: readonly string[]): string[] {
  const wording = wordingOf(base);
  return keep.filter((text) => !wording.includes(text));
}

/** The names of all placeholders that the content itself uses. Includes are not resolved. */
export function variablesOf(content: PromptContent): string[] {
  const includes = includesOf(content).map((ref) => [ref, { name: ref, version: 0, template: '' }] as const);
  return [...parsePrompt({ ...content, inputs: null }, Object.fromEntries(includes)).names];
}

/**
 * Checks texts before any call is made with them. Nothing is repaired.
 *
 * @param texts the rewritten parts
 * @returns the accepted content, or why it is rejected
 */
export function guard(
  texts: PartTexts,
  { base, parts, parent, keep, maxLength, shown, known }: GuardOptions,
): { content: PromptContent } | { reject: Reject } {
  const reject = (code: RejectCode, message: string) => ({ reject: { code, message } });
  const foreign = Object.keys(texts).filter((name) => !parts.includes(name));
  if (foreign.length > 0)
    return reject('structure_changed', `only ${parts.join(', ')} can be rewritten, not ${quoted(foreign)}`);
  const parentContent = withParts(contentOf(base), parent);
  const content = withParts(parentContent, texts);
  for (const [name, text] of Object.entries(texts))
    if (text.trim() === '' || storableText(text) !== text)
      return reject('invalid', `the text of ${name} is empty or has characters that cannot be stored`);

  const includes = difference(includesOf(contentOf(base)), includesOf(content), (ref) => `{{> ${ref} }}`);
  if (includes !== undefined) return reject('includes_changed', includes);
  const variables = difference(variablesOf(contentOf(base)), variablesOf(content), (name) => `{{ ${name} }}`);
  if (variables !== undefined) return reject('variables_changed', variables);
  const before = wordingOf(parentContent);
  const after = wordingOf(content);
  const invented = foreignTags(after).filter((tag) => !foreignTags(before).includes(tag));
  if (invented.length > 0) return reject('variables_changed', `these tags are not filled: ${quoted(invented)}`);

  const lost = keep.filter((text) => !after.includes(text));
  if (lost.length > 0) return reject('kept_text_missing', `these texts must stay word for word: ${quoted(lost)}`);
  const limit = maxLength ?? maxLengthOf(base);
  if (after.length > limit)
    return reject('too_long', `the prompt would have ${after.length} characters; at most ${limit} are allowed`);
  const [fault] = versionFaults({ ...base, ...content });
  if (fault !== undefined) return reject('invalid', `${fault.path} ${fault.message}`);
  const copied = copiedText(Object.values(texts).join('\n'), before, shown);
  if (copied !== undefined)
    return reject(
      'copies_example',
      `this text of an example is copied: ${quoted([copied])}. State a general rule instead`,
    );
  const addresses = addressesIn(after).filter((address) => !addressesIn(before).includes(address));
  if (addresses.length > 0) return reject('adds_address', `these addresses are new: ${quoted(addresses)}`);

  if (known.has(contentKey(content))) return reject('duplicate', 'this wording was tried before');
  return { content };
}

const contentOf = ({ template, messages, tools, tool_choice, inputs }: Version): PromptContent => ({
  template,
  messages,
  tools,
  tool_choice,
  inputs,
});

function difference(before: string[], after: string[], shown: (name: string) => string): string | undefined {
  const missing = before.filter((name) => !after.includes(name)).map(shown);
  const added = after.filter((name) => !before.includes(name)).map(shown);
  if (missing.length + added.length === 0) return undefined;
  const facts = [
    ...(missing.length === 0 ? [] : [`${missing.join(', ')} must stay`]),
    ...(added.length === 0 ? [] : [`${added.join(', ')} must not be added`]),
  ];
  return facts.join('; ');
}

const MAX_QUOTED = 5;
const MAX_QUOTED_CHARS = 80;
const quoted = (texts: readonly string[]) =>
  texts
    .slice(0, MAX_QUOTED)
    .map((text) => JSON.stringify(text.slice(0, MAX_QUOTED_CHARS).toWellFormed()))
    .join(', ');

const normal = (text: string) => text.replaceAll(/\s+/g, ' ').toLowerCase();

/** Addresses with a scheme, `www.`, or a host with a path; e-mail addresses. Found word by word: one expression takes quadratic time. */
const addressesIn = (text: string) =>
  text
    .toLowerCase()
    .split(/[\s<>"'`()[\]]+/)
    .map(withoutStops)
    .filter((word) => {
      const [at, slash] = [word.indexOf('@'), word.indexOf('/')];
      if (word.includes('://') || word.includes('www.')) return true;
      return (at > 0 && isHost(word.slice(at + 1))) || (slash > 0 && isHost(word.slice(0, slash)));
    });

const isHost = (text: string) => text.length <= MAX_HOST_CHARS && /^[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}$/.test(text);

function withoutStops(word: string): string {
  let end = word.length;
  while (end > 0 && '.,;:!?'.includes(word.charAt(end - 1))) end -= 1;
  return word.slice(0, end);
}

function* windows(text: string): Generator<string> {
  for (let at = 0; at + COPIED_CHARS <= text.length; at += 1) yield text.slice(at, at + COPIED_CHARS);
}

/** A part of a shown value that the new texts have and the parent's wording lacks. Case and spacing don't matter. */
function copiedText(texts: string, before: string, shown: readonly string[]): string | undefined {
  const old = new Set(windows(normal(before)));
  const fresh = new Set([...windows(normal(texts))].filter((window) => !old.has(window)));
  if (fresh.size === 0) return undefined;
  for (const value of shown) for (const window of windows(normal(value))) if (fresh.has(window)) return window;
  return undefined;
}
