import { createHash } from 'node:crypto';
import { DATASET_RESERVED, datasetNameProblem } from '../../src/domain/evaluations/dataset-name.ts';
import { MAX_LABEL_LENGTH, MovableLabel } from '../../src/domain/prompts/label.ts';
import { VariableName } from '../../src/domain/prompts/messages.ts';
import { MAX_NAME_LENGTH, PROMPT_RESERVED, promptNameProblem } from '../../src/domain/prompts/prompt-name.ts';
import { QUEUE_RESERVED, queueNameProblem } from '../../src/domain/queues/queue-name.ts';
import { scoreNameProblem } from '../../src/domain/scores/score-name.ts';

/** The kind of thing that a name is for. */
export type NameKind = 'prompt' | 'dataset' | 'score' | 'queue';

/** The name pattern of each kind, and the reserved words for segments after the first. */
const RULES = {
  prompt: { problemOf: promptNameProblem, reserved: PROMPT_RESERVED },
  dataset: { problemOf: datasetNameProblem, reserved: DATASET_RESERVED },
  score: { problemOf: scoreNameProblem, reserved: new Set<string>() },
  queue: { problemOf: queueNameProblem, reserved: QUEUE_RESERVED },
};

/** Whether a text can be a label that is set explicitly: `latest` moves automatically. */
export function isLabel(text: string): boolean {
  return MovableLabel.safeParse(text).success;
}

function isVariableName(text: string): boolean {
  return VariableName.safeParse(text).success;
}

/** A hash that is the same for equal texts, in any order. */
function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

/**
 * Assigns every text a unique name. Valid names are kept. The others are rewritten; if two would get the same name, or one would
 * get an existing name, a hash of the text is appended. So the result does not depend on the order.
 */
function mapAll(
  texts: Iterable<string>,
  isName: (text: string) => boolean,
  rewrite: (text: string) => string,
  withHash: (name: string, hash: string) => string,
): Map<string, string> {
  const all = [...new Set(texts)];
  const users = new Map<string, number>();
  const wanted = new Map(all.map((text) => [text, isName(text) ? text : rewrite(text)]));
  for (const name of wanted.values()) users.set(name, (users.get(name) ?? 0) + 1);
  const names = new Map<string, string>();
  for (const [text, name] of wanted) {
    let own = name;
    // A name may look like a rewritten one with its hash, by accident or on purpose.
    for (let salt = 0; own !== text && (users.get(own) ?? 0) > (own === name ? 1 : 0); salt += 1)
      own = withHash(name, fingerprint(salt === 0 ? text : `${salt} ${text}`));
    if (own !== name) users.set(own, 1);
    names.set(text, own);
  }
  return names;
}

/**
 * Maps texts of other products to names: every invalid character becomes "-", an empty segment, "." and ".." become "_", and "_"
 * is appended to a reserved segment. Two texts never get the same name.
 */
export function mapNames(kind: NameKind, texts: Iterable<string>): Map<string, string> {
  const { problemOf, reserved } = RULES[kind];
  const rewriteSegment = (segment: string, index: number) => {
    const plain = segment.replace(/[^A-Za-z0-9._-]+/g, '-');
    if (plain === '' || plain === '.' || plain === '..') return '_';
    return index > 0 && reserved.has(plain) ? `${plain}_` : plain;
  };
  const cut = (name: string, to: number) => name.slice(0, to).replace(/\/+$/, '');
  const withHash = (name: string, hash: string) => `${cut(name, MAX_NAME_LENGTH - 9)}-${hash}`;
  const rewrite = (text: string) => {
    const name = text.split('/').map(rewriteSegment).join('/');
    return name.length <= MAX_NAME_LENGTH ? name : withHash(name, fingerprint(text));
  };
  return mapAll(texts, (text) => problemOf(text) === undefined, rewrite, withHash);
}

/** The same for labels. */
export function mapLabels(texts: Iterable<string>): Map<string, string> {
  const withHash = (name: string, hash: string) => `${name.slice(0, MAX_LABEL_LENGTH - 9)}-${hash}`;
  const rewrite = (text: string) => {
    const plain = text.replace(/[^A-Za-z0-9._-]+/g, '-') || '_';
    const label = plain === 'latest' ? 'latest_' : plain;
    return label.length <= MAX_LABEL_LENGTH ? label : withHash(label, fingerprint(text));
  };
  return mapAll(texts, isLabel, rewrite, withHash);
}

/** Two variables of another product would get the same name here. */
export class NameClashError extends Error {
  constructor(text: string, other: string) {
    super(`the variables "${text}" and "${other}" would get the same name: rename one of them`);
    this.name = 'NameClashError';
  }
}

/** Variable names: invalid characters become "_", and "_" is put before a leading digit. Shared by all of an import. */
export class VariableNames {
  readonly #names = new Map<string, string>();
  readonly #users = new Map<string, string>();

  /**
   * The name of a variable that another product calls `text`.
   * @throws NameClashError if another variable already got that name
   */
  of(text: string): string {
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    const plain = (text.replace(/[^A-Za-z0-9_]+/g, '_').slice(0, 180) || '_').replace(/^(?=\d)/, '_');
    const user = this.#users.get(isVariableName(text) ? text : plain);
    if (user !== undefined && isVariableName(text)) throw new NameClashError(text, user);
    const own = isVariableName(text) ? text : user === undefined ? plain : `${plain}_${fingerprint(text)}`;
    this.#names.set(text, own);
    this.#users.set(own, text);
    return own;
  }
}
