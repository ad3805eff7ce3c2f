import { globSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { z } from 'zod';
import { plainEnvironment } from '../bench/child.ts';
import { installPromptfoo } from '../bench/promptfoo.ts';
import { runProgram } from '../bench/run-program.ts';
import { readSource } from '../cli/src/importers/import-source.ts';
import type { Example, ImportedEvaluation } from '../cli/src/importers/model.ts';
import { runAssert, type ScorerAssert } from '../cli/src/importers/promptfoo/scorer/run-assert.ts';
import { importSettings } from '../cli/src/importers/settings.ts';
import { countedScore, passes, weightedMean } from '../src/domain/evaluations/scoring.ts';
import { EvaluatorList, prepareEvaluator } from '../src/evaluators/registry.ts';

// Compares which tests of a configuration pass here and with promptfoo. The model echoes, so that outputs are the same.
//
//   node scripts/promptfoo-agreement.ts                   the cases in this file
//   node scripts/promptfoo-agreement.ts --examples FOLDER  also the asserts of configurations in a folder, such as promptfoo's examples/

const TARGET = 0.99;
/** Tests per run; each set of asserts becomes a dataset, and an import has at most a hundred. */
const MAX_TESTS = 90;
/** Asserts without a model or a file. */
const DETERMINISTIC =
  /^(?:not-)?(?:equals|i?contains(?:-all|-any)?|starts-with|regex|is-json|levenshtein|javascript|python|word-count)$/;

interface Assert {
  type: string;
  value?: unknown;
  [field: string]: unknown;
}

interface Test {
  vars: Record<string, unknown>;
  assert: Assert[];
  threshold?: number;
}

const OUTPUTS = [
  'Paris',
  'paris',
  ' Paris ',
  'The capital of France is Paris, of course.',
  'I am sorry, I can not say that.',
  '{"city": "Paris", "people": 2100000}',
  '{"people": 2100000, "city": "Paris"}',
  '{"city": "Lyon"',
  '[1, 2, 3]',
  '5',
  'true',
  'Two\nlines, and an é',
  '```json\n{"city": "Paris"}\n```',
  'a.b(c) [d]',
];
const SCHEMA = { type: 'object', required: ['city'], properties: { city: { type: 'string' } } };
const ASSERTS: Assert[] = [
  { type: 'equals', value: 'Paris' },
  { type: 'equals', value: '{{ expected }}' },
  { type: 'equals', value: 5 },
  { type: 'equals', value: { city: 'Paris', people: 2_100_000 } },
  { type: 'contains', value: 'Paris' },
  { type: 'contains', value: '{{ expected }}' },
  { type: 'icontains', value: 'PARIS' },
  { type: 'contains-all', value: ['Paris', 'France'] },
  { type: 'contains-any', value: ['Lyon', 'lines'] },
  { type: 'contains-any', value: 'Lyon, "lines, and"' },
  { type: 'icontains-all', value: ['PARIS', 'france'] },
  { type: 'icontains-any', value: 'LYON, sorry' },
  { type: 'starts-with', value: 'Paris' },
  { type: 'starts-with', value: 'a.b(c)' },
  { type: 'regex', value: '^[A-Z][a-z]+$' },
  { type: 'regex', value: '\\d{3,}' },
  { type: 'regex', value: 'city(?=": "Paris")' },
  { type: 'is-json' },
  { type: 'is-json', value: SCHEMA },
  { type: 'levenshtein', value: 'Paris', threshold: 2 },
  { type: 'javascript', value: 'output.length > 5' },
  { type: 'javascript', value: 'output.includes("{{ expected }}") ? 0.7 : 0.2', threshold: 0.5 },
  { type: 'javascript', value: 'const n = output.length;\nreturn { pass: n < 20, score: n / 100, reason: "n" };' },
  { type: 'javascript', value: 'JSON.parse(output).city === context.vars.expected' },
  { type: 'javascript', value: 'const n = output.length; n > 10 && n < 30;' },
  { type: 'equals', value: 'PARIS', transform: 'output.trim().toUpperCase()' },
  { type: 'contains', value: 'Paris', transform: 'JSON.parse(output).city' },
];
const NEGATED = ASSERTS.map((assert) => ({ ...assert, type: `not-${assert.type}` }));
const PYTHON: Assert[] = [
  { type: 'python', value: "'Paris' in output" },
  { type: 'python', value: 'n = len(output)\nif n > 10:\n  return 0.9\nreturn 0.1', threshold: 0.5 },
  { type: 'python', value: 'return {"pass": output == context["vars"]["expected"], "score": 0.4, "reason": "x"}\n' },
];
/** With a threshold, scores and weights decide rather than each assert. */
const WEIGHTED: Assert[] = [
  { type: 'contains', value: 'Paris', weight: 3 },
  { type: 'is-json' },
  { type: 'javascript', value: 'Math.min(1, output.length / 40)' },
];

const vars = (output: string) => ({ output, expected: 'Paris' });
const CASES: Test[] = [
  ...[...ASSERTS, ...NEGATED].flatMap((assert) => OUTPUTS.map((output) => ({ vars: vars(output), assert: [assert] }))),
  ...PYTHON.flatMap((assert) => OUTPUTS.slice(0, 5).map((output) => ({ vars: vars(output), assert: [assert] }))),
  ...[0.3, 0.6, 0.9].flatMap((threshold) =>
    OUTPUTS.map((output) => ({ vars: vars(output), assert: WEIGHTED, threshold })),
  ),
];

const Json = z.record(z.string(), z.unknown());
const Configuration = z.looseObject({
  tests: z.array(z.unknown()).catch([]),
  defaultTest: Json.catch({}),
});
const AssertLike = z.looseObject({ type: z.string().regex(DETERMINISTIC) });

/** Texts that may or may not satisfy an assert. */
function candidates(asserts: Assert[]): string[] {
  const values = asserts.flatMap(({ value }) => (Array.isArray(value) ? value : [value]));
  const texts = values.filter((value) => typeof value === 'string' && !value.includes('\n')).map(String);
  return [...new Set(['No.', '{"answer": [1]}', texts.join(' '), ...texts.slice(0, 2)])].filter((text) => text !== '');
}

/** The deterministic asserts of the configurations in a folder, as tests with candidate outputs. */
async function testsIn(folder: string): Promise<Test[]> {
  const tests: Test[] = [];
  for (const name of globSync('**/promptfooconfig*.{yaml,yml,json}', { cwd: folder }).toSorted()) {
    const parsed = Configuration.safeParse(parse(await readFile(path.join(folder, name), 'utf8'), { merge: true }));
    if (!parsed.success) continue;
    const { defaultTest } = parsed.data;
    for (const given of parsed.data.tests) {
      const test = Json.safeParse(given).data;
      const options = { ...Json.safeParse(defaultTest['options']).data, ...Json.safeParse(test?.['options']).data };
      if (test === undefined || options['transform'] !== undefined) continue;
      const own = { ...Json.safeParse(defaultTest['vars']).data, ...Json.safeParse(test['vars']).data };
      const all = [test['assert'], defaultTest['assert']].flatMap((list) => (Array.isArray(list) ? list : []));
      const asserts: Assert[] = all
        .map((assert) => AssertLike.safeParse(assert).data)
        .filter((assert) => assert !== undefined)
        .filter((assert) => !JSON.stringify(assert).includes('file://'));
      const plain = Object.entries(own).filter(
        ([, value]) => typeof value !== 'object' && !/^"file:|\{\{|\{%/.test(JSON.stringify(value)),
      );
      for (const assert of asserts)
        for (const output of candidates([assert]).slice(0, 3))
          tests.push({ vars: { ...Object.fromEntries(plain), output }, assert: [assert] });
    }
  }
  return tests;
}

const Results = z.object({
  results: z.object({
    results: z.array(
      z.object({ success: z.boolean(), testIdx: z.int(), error: z.string().nullish(), gradingResult: z.unknown() }),
    ),
  }),
});

/** Whether each test passes in promptfoo. */
async function promptfooVerdicts(program: string, folder: string): Promise<boolean[]> {
  const output = path.join(folder, 'output.json');
  const env = plainEnvironment({
    PROMPTFOO_DISABLE_TELEMETRY: '1',
    PROMPTFOO_DISABLE_UPDATE: '1',
    PROMPTFOO_CONFIG_DIR: path.join(folder, 'state'),
    PROMPTFOO_PASS_RATE_THRESHOLD: '0',
  });
  const options = ['--no-cache', '--no-table', '--no-progress-bar', '-j', '2'];
  await runProgram(
    process.execPath,
    [program, 'eval', '-c', path.join(folder, 'promptfooconfig.json'), '-o', output, ...options],
    { cwd: folder, env },
  );
  const { results } = Results.parse(JSON.parse(await readFile(output, 'utf8'))).results;
  return results.toSorted((a, b) => a.testIdx - b.testIdx).map(({ success }) => success);
}

/** The verdict on an example of an evaluation here. A scorer's asserts run in place. */
async function verdictOf(
  { definition }: ImportedEvaluation,
  { variables, expected }: Example,
  asserts: Record<string, ScorerAssert>,
): Promise<boolean> {
  const output = String(variables['output']);
  const scores: { score: number; weight: number }[] = [];
  for (const config of EvaluatorList.parse(definition.evaluators)) {
    const evaluator = prepareEvaluator(config);
    const example = { input: output, output, toolCalls: [], variables: {}, modelMs: 1, costUsd: '0' };
    if (evaluator.kind === 'scoring') {
      const given = { ...example, expected: expected as never };
      scores.push({ score: evaluator.score(given).score, weight: evaluator.weight });
    } else if (evaluator.kind === 'endpoint') {
      const assert = asserts[evaluator.url.split('/').at(-1) ?? ''];
      if (assert === undefined) throw new Error(`No assert for ${evaluator.url}.`);
      const settings = { folder: process.cwd(), parsesJson: false };
      const { pass, score } = await runAssert(assert, { input: output, output, variables }, settings);
      const counted = assert.countsScores === true ? Math.min(1, Math.max(0, score)) : Number(pass);
      scores.push({ score: counted, weight: evaluator.weight });
    } else throw new Error(`${evaluator.type} asks a model.`);
  }
  const score = countedScore(weightedMean(scores), definition.example_threshold ?? null);
  return passes(score, definition.threshold ?? 1);
}

const Project = z.object({ asserts: z.record(z.string(), z.unknown()) });

/** The verdicts here by test number; tests that were left out are missing. */
async function ourVerdicts(folder: string): Promise<Map<number, boolean>> {
  const settings = importSettings('sandbox/echo', { scorer: {} });
  const imported = await readSource('promptfoo', folder, settings);
  const { asserts } = Project.parse(JSON.parse(imported.project?.get('asserts.json') ?? '{"asserts": {}}'));
  const verdicts = new Map<number, boolean>();
  for (const dataset of imported.datasets) {
    const evaluation = imported.evaluations.find(({ definition }) => definition.dataset === dataset.name);
    if (evaluation === undefined) continue;
    for await (const example of dataset.read(() => {})) {
      const number = Number(example.metadata?.['number']);
      verdicts.set(number, await verdictOf(evaluation, example, asserts as Record<string, ScorerAssert>));
    }
  }
  return verdicts;
}

const { values } = parseArgs({ options: { examples: { type: 'string' } } });
const tests = [...CASES, ...(values.examples === undefined ? [] : await testsIn(values.examples))];
const program = await installPromptfoo();
const home = await mkdtemp(path.join(tmpdir(), 'pms-agreement-'));
const counts = { same: 0, other: 0, leftOut: 0 };
try {
  for (let from = 0; from < tests.length; from += MAX_TESTS) {
    const chunk = tests.slice(from, from + MAX_TESTS).map((test, index) => ({ ...test, metadata: { number: index } }));
    const folder = path.join(home, String(from));
    await mkdir(folder);
    await writeFile(
      path.join(folder, 'promptfooconfig.json'),
      JSON.stringify({ prompts: ['{{ output }}'], providers: ['echo'], tests: chunk }),
    );
    const [theirs, ours] = [await promptfooVerdicts(program, folder), await ourVerdicts(folder)];
    if (theirs.length !== chunk.length) throw new Error(`${theirs.length} results for ${chunk.length} tests.`);
    for (const [index, passed] of theirs.entries()) {
      const own = ours.get(index);
      if (own === undefined) counts.leftOut += 1;
      else if (own === passed) counts.same += 1;
      else {
        counts.other += 1;
        console.log(
          `promptfoo ${passed ? 'passes' : 'fails'}, we ${own ? 'pass' : 'fail'}: ${JSON.stringify(chunk[index])}`,
        );
      }
    }
  }
} finally {
  await rm(home, { recursive: true, force: true });
}
const compared = counts.same + counts.other;
const share = counts.same / compared;
console.log(
  `${counts.same} of ${compared} verdicts are the same (${(share * 100).toFixed(2)} %); ${counts.leftOut} tests were left out`,
);
if (!(share >= TARGET)) process.exitCode = 1;
