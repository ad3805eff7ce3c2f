import { diffArrays, FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff';
import type { Version } from '../../domain/prompts/prompt-version.ts';
import { canonicalJson } from '../../domain/text/canonical-json.ts';
import { isObject, type JsonValue } from '../../domain/text/json.ts';
import { afterOthers } from '../../lib/event-loop.ts';

/** A difference at one path. `before` is missing for added values, `after` for removed ones. */
export interface VersionChangeAt {
  /** In dot notation. A list item has its index in the later version; a removed item, in the earlier one. */
  path: string;
  before?: JsonValue;
  after?: JsonValue;
  /** A unified diff instead of both, if both are texts. */
  diff?: string;
}

/** The fields, and how many levels of their values are compared separately. */
const FIELDS = {
  template: 0,
  messages: 4,
  tools: 2,
  tool_choice: 0,
  inputs: 2,
  model: 0,
  fallback_models: 0,
  parameters: 1,
  config: 0,
} as const satisfies Record<keyof Version, number>;

const TEXTS = /(?:^|\.)(?:template|content|text|description)$/;

/** The number of lines around a change. */
const CONTEXT_LINES = 3;
/**
 * The maximum number of changed lines of a text, or changed items of a list: the work grows quadratically, so larger changes are
 * shown as a full replacement.
 */
const MAX_EDITS = 400;
/** The limit for all texts together. */
const MAX_WORK = 2 * MAX_EDITS ** 2;
/** Texts with more lines are also shown as fully replaced. */
const MAX_LINES = 10_000;

/** The differences between two versions of a prompt, field by field, in the order of the record. */
export async function diffVersions(
  before: Version & { version: number },
  after: Version & { version: number },
): Promise<VersionChangeAt[]> {
  const changes: VersionChangeAt[] = [];
  let workLeft = MAX_WORK;

  function diffTexts(path: string, texts: [string, string]): string {
    const names = [`${path}@${before.version}`, `${path}@${after.version}`] as const;
    const edits = Math.min(MAX_EDITS, Math.floor(Math.sqrt(workLeft)));
    const isLong = texts.some((text) => countLines(text) > MAX_LINES);
    const options = { context: CONTEXT_LINES, maxEditLength: edits };
    const patch =
      isLong || edits === 0 ? undefined : structuredPatch(...names, ...texts, undefined, undefined, options);
    if (!isLong) workLeft -= patch === undefined ? edits ** 2 : changedLines(patch.hunks) ** 2;
    workLeft = Math.max(0, workLeft);
    // Nothing in common within the search limit.
    return formatPatch(patch ?? replaced(names, texts), FILE_HEADERS_ONLY);
  }

  async function compare(
    path: string,
    old: JsonValue | undefined,
    young: JsonValue | undefined,
    levels: number,
  ): Promise<void> {
    if (old === undefined || young === undefined) {
      if (old !== young)
        changes.push({ path, ...(old !== undefined && { before: old }), ...(young !== undefined && { after: young }) });
      return;
    }
    if (canonicalJson(old) === canonicalJson(young)) return;
    if (typeof old === 'string' && typeof young === 'string' && TEXTS.test(path)) {
      changes.push({ path, diff: diffTexts(path, [old, young]) });
      await afterOthers(old.length + young.length);
    } else if (levels > 0 && Array.isArray(old) && Array.isArray(young)) {
      for (const [at, ...items] of pairItems(old, young)) await compare(`${path}.${at}`, ...items, levels - 1);
    } else if (levels > 0 && isObject(old) && isObject(young)) {
      for (const name of new Set([...Object.keys(old), ...Object.keys(young)]))
        await compare(`${path}.${name}`, old[name], young[name], levels - 1);
    } else changes.push({ path, before: old, after: young });
  }

  for (const [field, levels] of Object.entries(FIELDS) as [keyof Version, number][])
    await compare(field, asJson(before[field]), asJson(after[field]), levels);
  return changes;
}

/** A field as JSON; undefined properties are omitted. */
function asJson(value: Version[keyof Version]): JsonValue | undefined {
  return value === null ? undefined : JSON.parse(JSON.stringify(value));
}

type Pair = [at: number, before: JsonValue | undefined, after: JsonValue | undefined];

/** The items of two lists that differ; a replaced item is compared with its replacement. */
function* pairItems(old: JsonValue[], young: JsonValue[]): Generator<Pair> {
  const parts = diffArrays(old.map(canonicalJson), young.map(canonicalJson), { maxEditLength: MAX_EDITS }) ?? [
    { removed: true, added: false, count: old.length },
    { removed: false, added: true, count: young.length },
  ];
  let [from, to, removed, added] = [0, 0, 0, 0];
  function* changed(): Generator<Pair> {
    for (let n = 0; n < Math.max(removed, added); n += 1) {
      const before = n < removed ? old[from + n] : undefined;
      const after = n < added ? young[to + n] : undefined;
      yield [n < added ? to + n : from + n, before, after];
    }
    from += removed;
    to += added;
    [removed, added] = [0, 0];
  }
  for (const part of parts) {
    if (part.removed) removed += part.count;
    else if (part.added) added += part.count;
    else {
      yield* changed();
      from += part.count;
      to += part.count;
    }
  }
  yield* changed();
}

function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

function changedLines(hunks: readonly { lines: string[] }[]): number {
  return hunks.flatMap(({ lines }) => lines.filter((line) => !line.startsWith(' '))).length;
}

/** A patch that removes one text and adds the other. */
function replaced([oldFileName, newFileName]: readonly [string, string], [old, young]: [string, string]) {
  const lines = (text: string, sign: string) => {
    if (text === '') return [];
    const all = text.split('\n');
    const isOpen = all.at(-1) !== '';
    const whole = isOpen ? all : all.slice(0, -1);
    return [...whole.map((line) => `${sign}${line}`), ...(isOpen ? ['\\ No newline at end of file'] : [])];
  };
  const [removed, added] = [lines(old, '-'), lines(young, '+')];
  const count = (of: string[], sign: string) => of.filter((line) => line.startsWith(sign)).length;
  return {
    oldFileName,
    newFileName,
    oldHeader: undefined,
    newHeader: undefined,
    hunks: [
      {
        oldStart: 1,
        oldLines: count(removed, '-'),
        newStart: 1,
        newLines: count(added, '+'),
        lines: [...removed, ...added],
      },
    ],
  };
}
