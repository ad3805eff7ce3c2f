import { Document, isMap, isNode, isScalar, LineCounter, type ParsedNode, parseDocument } from 'yaml';
import { z } from 'zod';
import { promptNameProblem } from '../../src/domain/prompts/prompt-name.ts';
import { CliError, EXIT } from './exit-status.ts';
import { isSameJson } from './json.ts';
import { LongNumberError } from './long-numbers.ts';
import { checkTogether, type PromptVersion, parseWith, versionFields } from './prompt-version.ts';
import { requireExactNumbers } from './yaml-numbers.ts';

/** A larger file is not a prompt: a version has at most 256 KiB. */
const MAX_FILE_CHARS = 2 * 1024 * 1024;

const FileFields = z.strictObject(
  {
    name: z.string('must be a string').check((context) => {
      const message = promptNameProblem(context.value);
      if (message !== undefined) context.issues.push({ code: 'custom', message, input: context.value });
    }),
    version: z.int('must be a whole number from 1').min(1, 'must be a whole number from 1').optional(),
    description: z.string('must be a string').max(2000, 'must be at most 2,000 characters').optional(),
    commit_message: z.string('must be a string').max(1000, 'must be at most 1,000 characters').optional(),
    ...versionFields,
  },
  'must be a mapping of fields such as name, model and template',
);
const FileSchema = FileFields.superRefine(checkTogether);

/** The content of a prompt file. */
export interface PromptFile extends PromptVersion {
  name: string;
  /** The version of the service that the file was written from. */
  version?: number | undefined;
  description?: string | undefined;
  commit_message?: string | undefined;
}

/** The order of the fields in a file: the most important for readers first. */
const ORDER = Object.keys(FileFields.shape) as (keyof PromptFile)[];

/** A problem in a prompt file, and its location. */
export class PromptFileError extends CliError {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** In dot notation; empty for the file as a whole. */
  readonly field: string;

  constructor(file: string, line: number, field: string, problem: string) {
    super(EXIT.usage, `${file}:${line}: ${field === '' ? '' : `${field} `}${problem}`);
    this.name = 'PromptFileError';
    this.file = file;
    this.line = line;
    this.field = field;
  }
}

/** A parsed file and the locations of its fields. */
export interface ParsedPromptFile {
  prompt: PromptFile;
  /**
   * The line of a field, or of the nearest one around it, so that errors of the service can be shown at their location.
   * @param path in dot notation, as in the details of an error
   */
  lineOf: (path: string) => number;
}

/** The line of a path, or of the nearest node around it. */
function lineAt(root: ParsedNode | null, lines: LineCounter, path: readonly string[]): number {
  let node: unknown = root;
  let offset = root?.range[0] ?? 0;
  for (const key of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && item.key.source === key);
      if (pair === undefined) break;
      if (isNode(pair.key)) offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else {
      const item: unknown =
        isNode(node) && 'items' in node && Array.isArray(node.items) ? node.items[Number(key)] : undefined;
      if (!isNode(item)) break;
      offset = item.range?.[0] ?? offset;
      node = item;
    }
  }
  return lines.linePos(offset).line;
}

/**
 * Reads a prompt file.
 * @param file its name, for messages
 * @throws PromptFileError naming the invalid line and field
 */
export function parsePromptFile(text: string, file: string): ParsedPromptFile {
  if (text.length > MAX_FILE_CHARS) throw new PromptFileError(file, 1, '', 'is too long to be a prompt');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, keepSourceTokens: false });
  const [syntax] = [...document.errors, ...document.warnings];
  if (syntax !== undefined)
    throw new PromptFileError(file, lines.linePos(syntax.pos[0]).line, '', `is not valid YAML: ${syntax.message}`);
  const lineOf = (path: string) => lineAt(document.contents, lines, path === '' ? [] : path.split('.'));

  try {
    requireExactNumbers(document);
  } catch (error) {
    if (!(error instanceof LongNumberError)) throw error;
    throw new PromptFileError(file, lineOf(error.path), error.path, error.rule);
  }
  let value: unknown;
  try {
    // No aliases: prompts do not need them, and a few lines of them can expand to gigabytes.
    value = document.toJS({ maxAliasCount: 0 });
  } catch {
    throw new PromptFileError(file, 1, '', 'has a YAML alias ("*name"): write out the value');
  }
  const parsed = parseWith(FileSchema, value);
  if ('problem' in parsed)
    throw new PromptFileError(file, lineOf(parsed.problem.path), parsed.problem.path, parsed.problem.message);
  return { prompt: parsed.data, lineOf };
}

/**
 * Writes a prompt file, with multi-line texts as block scalars. {@link parsePromptFile} returns an equal prompt.
 * @throws PromptFileError if the prompt could not be read again
 */
export function formatPromptFile(prompt: PromptFile): string {
  const isEmpty = (value: unknown) => value === undefined || isSameJson(value, []) || isSameJson(value, {});
  // Tools, inputs and config can be present but empty; empty values of other fields are equivalent to omitting them.
  const keepsEmpty = new Set<keyof PromptFile>(['tools', 'inputs', 'config']);
  const fields = ORDER.flatMap((field) => {
    const value = prompt[field];
    return value === undefined || (!keepsEmpty.has(field) && isEmpty(value)) ? [] : [[field, value] as const];
  });
  const document = new Document(Object.fromEntries(fields), { aliasDuplicateObjects: false });
  const text = document.toString({ lineWidth: 0, blockQuote: 'literal', flowCollectionPadding: false });
  const { prompt: read } = parsePromptFile(text, prompt.name);
  if (!isSameJson(read, prompt))
    throw new PromptFileError(prompt.name, 1, '', 'holds a value that YAML cannot represent');
  return text;
}
