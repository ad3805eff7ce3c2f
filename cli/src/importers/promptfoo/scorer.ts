import { createHash } from 'node:crypto';
import type { Json } from '../../json.ts';
import { NameClashError, type VariableNames } from '../../names.ts';
import { TemplateError } from '../template-text.ts';
import type { AssertContext, CompiledAssert } from './asserts.ts';
import type { Code, ScorerAssert } from './scorer/run-assert.ts';

const CODE = new Set(['javascript', 'python']);
/** Asserts that a scorer runs in addition to code. */
const CHECKS = new Set(
  `equals contains icontains contains-all contains-any icontains-all icontains-any starts-with regex levenshtein is-json`.split(
    ' ',
  ),
);
const CODE_FILE = /^file:\/\/([^:]+\.(?:[cm]?[jt]s|py))(?::(\w+))?$/;
/** The placeholder address of a scorer. */
const PLACEHOLDER_URL = 'https://scorer.invalid';
const TIMEOUT_MS = 60_000;
const ID_LENGTH = 16;
const NOTE = 'the scorer runs it';

/** Whether an assert is code. */
export const isCode = (type: string): boolean => CODE.has(type);
/** Whether a scorer runs asserts of this type. */
export const isRun = (type: string): boolean => CODE.has(type) || CHECKS.has(type);

/** The file and function that a value names; undefined if it is code itself. */
export function codeFileOf(value: unknown): { file: string; function?: string } | undefined {
  const [, file, name] = (typeof value === 'string' && CODE_FILE.exec(value)) || [];
  return file === undefined ? undefined : { file, ...(name !== undefined && { function: name }) };
}

/** Only placeholders are filled in when it runs. @throws TemplateError */
function requireFillable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(requireFillable);
  if (typeof value === 'string' && /\{\{|\{%|\{#/.test(value.replace(/\{\{\s*[A-Za-z_]\w*\s*\}\}/g, '')))
    throw new TemplateError('it is a template with logic');
  return value;
}

/** Collects the asserts for the user's scorer to run. */
export class Scorer {
  readonly #url: string;
  readonly #names: VariableNames;
  readonly #asserts = new Map<string, ScorerAssert>();
  readonly #files = new Set<string>();
  /** Whether outputs are JSON that is parsed for asserts. */
  parsesJson = false;

  /** @param url of the scorer; default: a placeholder to be replaced */
  constructor(names: VariableNames, url = PLACEHOLDER_URL) {
    this.#names = names;
    this.#url = url.replace(/\/+$/, '');
  }

  /** Asserts by id, in the order of ids. */
  get asserts(): Record<string, ScorerAssert> {
    return Object.fromEntries([...this.#asserts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Files with code, relative to the configuration. */
  get files(): string[] {
    return [...this.#files].toSorted();
  }

  /** Converts an assert; the same one always gets the same address. @throws TemplateError if a scorer can't run it */
  compile(type: string, isNegated: boolean, assert: Json, context: AssertContext): CompiledAssert {
    const { value, threshold, config } = assert;
    const transforms = [
      ...(context.transforms ?? []),
      ...(assert['transform'] === undefined ? [] : [assert['transform']]),
    ];
    if (isCode(type) && typeof value !== 'string') throw new TemplateError('its value is not code');
    if (type === 'is-json' && value !== undefined) throw new TemplateError('a scorer does not check schemas');
    const names = this.#renamed(context.variables);
    const run: ScorerAssert = {
      type,
      ...(isNegated && { negate: true }),
      ...(isCode(type) ? { code: this.#code(value, false) } : value !== undefined && { value: requireFillable(value) }),
      ...(typeof threshold === 'number' && { threshold }),
      ...(config !== undefined && { config }),
      ...(transforms.length > 0 && { transforms: transforms.map((transform) => this.#code(transform, true)) }),
      ...(Object.keys(names).length > 0 && { names }),
      ...(context.countsScores === true && { countsScores: true }),
    };
    const id = createHash('sha256').update(JSON.stringify(run)).digest('hex').slice(0, ID_LENGTH);
    this.#asserts.set(id, run);
    return { evaluator: { type: 'http', url: `${this.#url}/${id}`, timeout_ms: TIMEOUT_MS }, notes: [NOTE] };
  }

  #code(value: unknown, isTransform: boolean): Code {
    if (typeof value !== 'string') throw new TemplateError('its transform is not code');
    const file = codeFileOf(value);
    if (file !== undefined) {
      this.#files.add(file.file);
      return file;
    }
    if (/^(?:file:\/\/|package:)/.test(value)) throw new TemplateError('its code is in a file that no scorer runs');
    if (!isTransform) requireFillable(value);
    return { source: value };
  }

  /** Variables with another name here, by that name. */
  #renamed(variables: Json): Record<string, string> {
    const renamed: Record<string, string> = {};
    for (const original of Object.keys(variables)) {
      try {
        const name = this.#names.of(original);
        if (name !== original) renamed[name] = original;
      } catch (error) {
        // In this case the example is left out.
        if (!(error instanceof NameClashError)) throw error;
      }
    }
    return renamed;
  }
}
