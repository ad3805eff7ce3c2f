import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { compileFunction } from 'node:vm';
import { runPython } from './run-python.ts';

// This file is copied to the user's scorer and runs there on its own: it imports only its neighbors and Node.js.

/** A user's code: source text, or a function in a file of the project. */
export type Code = { source: string } | { file: string; function?: string };

/** An assert of promptfoo. */
export interface ScorerAssert {
  type: string;
  negate?: boolean;
  value?: unknown;
  /** For `javascript` and `python`, instead of a value. */
  code?: Code;
  threshold?: number;
  config?: unknown;
  /** Transform the output in order before the assert. */
  transforms?: Code[];
  /** Variables by their names in promptfoo. */
  names?: Record<string, string>;
  /** Whether the score is sent; default: 1 if it passes, otherwise 0. */
  countsScores?: boolean;
}

/** The body that the service sends. */
export interface SentExample {
  input: string;
  output: string;
  variables: Record<string, unknown>;
  tool_calls?: { id: string; name: string; input: unknown }[];
}

export interface Verdict {
  pass: boolean;
  score: number;
  reason: string;
}

/** The settings for running an assert. */
export interface RunSettings {
  /** The folder with the user's files. */
  folder: string;
  /** Whether outputs are JSON that is parsed for asserts, as with a response format. */
  parsesJson: boolean;
}

type Context = Record<string, unknown>;

/** The output in promptfoo's sense: text, parsed JSON, or tool calls in OpenAI's format. */
function outputOf({ output, tool_calls: calls = [] }: SentExample, parsesJson: boolean): unknown {
  if (output === '' && calls.length > 0)
    return calls.map(({ id, name, input }) => ({
      id,
      type: 'function',
      function: { name, arguments: typeof input === 'string' ? input : JSON.stringify(input) },
    }));
  if (!parsesJson) return output;
  try {
    return JSON.parse(output);
  } catch {
    return output;
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Fills `{{ name }}`; the import accepts nothing else. */
function fill(value: unknown, vars: Record<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item) => fill(item, vars));
  if (typeof value !== 'string') return value;
  return value.replace(/\{\{\s*([A-Za-z_]\w*)\s*\}\}/g, (_, name: string) => textOf(vars[name] ?? ''));
}

const withSource = (code: Code, vars: Record<string, unknown>): Code =>
  'source' in code ? { source: String(fill(code.source, vars)) } : code;

async function functionIn(file: string, name: string | undefined): Promise<(...args: unknown[]) => unknown> {
  const loaded = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  const module = loaded['default'] as Record<string, unknown> | undefined;
  const found = [name && loaded[name], name && module?.[name], module?.['default'], module].find(
    (each) => typeof each === 'function',
  );
  if (found === undefined) throw new Error(`${path.basename(file)} has no function ${name ?? 'by default'}`);
  return found as (...args: unknown[]) => unknown;
}

async function runJavaScript(code: Code, folder: string, output: unknown, context: Context): Promise<unknown> {
  if ('file' in code) {
    const run = await functionIn(path.join(folder, code.file), code.function);
    return run(output, context);
  }
  return compileFunction(bodyOf(code.source.trimEnd()), ['output', 'context'])(output, context);
}

/** A single line returns its value, or the value of the expression after its declarations. */
function bodyOf(source: string): string {
  if (source.includes('\n')) return source;
  const line = source.trim().replace(/;+$/, '');
  const at = /^(?:const|let|var)\s/.test(line) ? line.lastIndexOf(';') + 1 : 0;
  return `${line.slice(0, at)} return ${line.slice(at)}`;
}

async function transformed(code: Code, folder: string, output: unknown, context: Context): Promise<unknown> {
  const isPython = 'file' in code && code.file.endsWith('.py');
  const changed = isPython
    ? await runPython(code, folder, 'get_transform', [output, context])
    : await runJavaScript(code, folder, output, context);
  if (changed === null || changed === undefined) throw new Error('the transform returned nothing');
  return changed;
}

interface Grade {
  pass: boolean;
  score: number;
  reason?: unknown;
}

/** A result of promptfoo: `{pass, score, reason}`; `pass_` in Python. */
function gradeOf(result: unknown): Grade | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  const { pass, pass_: other, score, reason } = result as Record<string, unknown>;
  const isPass = pass ?? other;
  return typeof isPass === 'boolean' && typeof score === 'number' ? { pass: isPass, score, reason } : undefined;
}

/** The verdict in the result of an assert's code. @throws Error if there is none */
function verdictOf(result: unknown, { type, negate = false, threshold }: ScorerAssert): Verdict {
  const isPython = type === 'python';
  let said = result;
  if (isPython && typeof said === 'string') {
    if (said.startsWith('{')) said = JSON.parse(said);
    else if (/^(true|false)$/i.test(said)) said = said.toLowerCase() === 'true';
    else said = Number.parseFloat(said);
  }
  if (typeof said === 'boolean') {
    const pass = said !== negate;
    return { pass, score: Number(pass), reason: `the code returned ${said}` };
  }
  if (typeof said === 'number' && !Number.isNaN(said)) {
    const reaches = threshold === undefined ? said > 0 : said >= threshold;
    return { pass: reaches !== negate, score: said, reason: `the code returned ${said}` };
  }
  const grade = gradeOf(said);
  if (grade === undefined) throw new Error('the code returned no boolean, number or {pass, score, reason}');
  const isBelow = isPython && threshold !== undefined && grade.score < threshold;
  const reason = typeof grade.reason === 'string' ? grade.reason : `the code graded it ${grade.score}`;
  return { pass: (grade.pass && !isBelow) !== negate, score: grade.score, reason };
}

function listOf(value: unknown, hasQuotes: boolean): string[] {
  if (typeof value !== 'string') return Array.isArray(value) ? value.map(String) : [];
  const parts = hasQuotes ? (value.match(/(".*?"|[^,]+)(?=\s*,|\s*$)/g) ?? []) : value.split(',');
  return parts.map((part) => (hasQuotes ? part.trim().replace(/^"|"$/g, '') : part.trim()));
}

/** The Levenshtein distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, character] of a.split('').entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j += 1)
      next.push(Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + (character === b[j] ? 0 : 1)));
    row = next;
  }
  return row[b.length] ?? 0;
}

function isEqual(output: string, value: unknown): boolean {
  if (typeof value !== 'object') return textOf(value) === output;
  const sorted = (given: unknown): unknown =>
    Array.isArray(given)
      ? given.map(sorted)
      : typeof given === 'object' && given !== null
        ? Object.entries(given)
            .toSorted(([a], [b]) => (a < b ? -1 : 1))
            .map(([key, each]) => [key, sorted(each)])
        : given;
  return JSON.stringify(sorted(JSON.parse(output))) === JSON.stringify(sorted(value));
}

/** Comparing asserts. */
const CHECKS: Record<string, (output: string, value: unknown, assert: ScorerAssert) => boolean> = {
  equals: isEqual,
  contains: (output, value) => output.includes(String(value)),
  icontains: (output, value) => output.toLowerCase().includes(String(value).toLowerCase()),
  'contains-any': (output, value) => listOf(value, true).some((each) => output.includes(each)),
  'contains-all': (output, value) => listOf(value, false).every((each) => output.includes(each)),
  'icontains-any': (output, value) =>
    listOf(value, false).some((each) => output.toLowerCase().includes(each.toLowerCase())),
  'icontains-all': (output, value) =>
    listOf(value, false).every((each) => output.toLowerCase().includes(each.toLowerCase())),
  'starts-with': (output, value) => output.startsWith(String(value)),
  regex: (output, value) => new RegExp(String(value)).test(output),
  levenshtein: (output, value, { threshold = 5 }) => distance(output, String(value)) <= threshold,
  'is-json': (output) => {
    JSON.parse(output);
    return true;
  },
};

function check(output: string, value: unknown, assert: ScorerAssert): Verdict {
  const run = CHECKS[assert.type];
  if (run === undefined) throw new Error(`there is no assert ${assert.type}`);
  let holds = false;
  try {
    holds = run(output, value, assert);
  } catch (error) {
    // Invalid JSON equals nothing.
    if (!(error instanceof SyntaxError) || assert.type === 'regex') throw error;
  }
  const pass = holds !== (assert.negate ?? false);
  return { pass, score: Number(pass), reason: `${assert.type} ${holds ? 'holds' : 'does not hold'}` };
}

/** Runs an assert on an example. Code that fails counts as not passed. */
export async function runAssert(
  assert: ScorerAssert,
  example: SentExample,
  { folder, parsesJson }: RunSettings,
): Promise<Verdict> {
  const { names = {}, config, transforms = [], code, type } = assert;
  const vars = Object.fromEntries(
    Object.entries(example.variables).map(([name, value]) => [names[name] ?? name, value]),
  );
  try {
    let output = outputOf(example, parsesJson);
    for (const transform of transforms)
      output = await transformed(transform, folder, output, { vars, prompt: { label: example.input } });
    const value = fill(assert.value, vars);
    if (code === undefined) return check(textOf(output), value, assert);
    const context = {
      prompt: example.input,
      vars,
      test: { vars },
      providerResponse: { output },
      ...(config !== undefined && { config }),
    };
    const filled = withSource(code, vars);
    const isPython = type === 'python' || ('file' in filled && filled.file.endsWith('.py'));
    const result = isPython
      ? await runPython(filled, folder, 'get_assert', [output, context])
      : await runJavaScript(filled, folder, output, context);
    return verdictOf(await result, assert);
  } catch (error) {
    return { pass: false, score: 0, reason: error instanceof Error ? error.message : String(error) };
  }
}
