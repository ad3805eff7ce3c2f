import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readSource } from '../../../cli/src/importers/import-source.ts';
import { assertFromText } from '../../../cli/src/importers/promptfoo/assert-cells.ts';
import { compileAssert } from '../../../cli/src/importers/promptfoo/asserts.ts';
import { importSettings } from '../../../cli/src/importers/settings.ts';
import { EvaluatorConfig } from '../../../src/evaluators/registry.ts';
import { examplesOf, fixture, planFiles, versionsOf, withFolder } from './support.ts';

const evaluationsOf = ({ imported }: Awaited<ReturnType<typeof planFiles>>) =>
  new Map(
    imported.evaluations.map(({ definition }) => {
      const { dataset } = definition;
      return [typeof dataset === 'string' ? dataset : dataset.name, definition];
    }),
  );

describe('a configuration of promptfoo', () => {
  test('becomes prompts for the model of its first known provider', async () => {
    const planned = await planFiles('promptfoo', fixture('promptfoo'));
    const config = { promptfoo: { apiBaseUrl: 'https://example.com' } };
    const common = { model: 'openai/gpt-4.1-mini', parameters: { temperature: 0.2, max_tokens: 256 }, config };
    expect(versionsOf(planned, 'Customer-answers/prompt-1')).toEqual([
      expect.objectContaining({ ...common, template: 'Answer politely: {{ question }}' }),
    ]);
    expect(versionsOf(planned, 'Customer-answers/brief')).toEqual([
      expect.objectContaining({ template: 'One sentence only.\n{{ question }} (for {{ customer_name }})' }),
    ]);
    expect(versionsOf(planned, 'Customer-answers/prompts/chat')).toEqual([
      expect.objectContaining({
        messages: [
          { role: 'system', content: 'You answer customers.' },
          { role: 'user', content: '{{ question }}' },
        ],
      }),
    ]);
    expect(versionsOf(planned, 'Customer-answers/prompts/two-2')).toEqual([
      expect.objectContaining({ template: 'Second: {{ question }}' }),
    ]);
  });

  test('becomes prompts for each of its providers on request', async () => {
    await withFolder(async (folder) => {
      const providers = ['openai:gpt-5', 'openai:gpt-5', { id: 'anthropic:claude-haiku-4-5', label: 'short/haiku' }];
      const config = {
        prompts: ['{{x}}'],
        providers: [...providers, 'exec:./model.sh'],
        tests: [{ vars: { x: 'a' }, assert: [{ type: 'equals', value: 'a' }] }],
      };
      await writeFile(path.join(folder, 'promptfooconfig.json'), JSON.stringify(config));
      const settings = importSettings(undefined, { allModels: true });
      const { prompts, evaluations } = await readSource('promptfoo', folder, settings);
      expect(prompts.map(({ name, versions }) => [name, versions[0]?.model])).toEqual([
        [`${path.basename(folder)}/prompt-1`, 'openai/gpt-5'],
        [`${path.basename(folder)}/prompt-1-gpt-5`, 'openai/gpt-5'],
        [`${path.basename(folder)}/prompt-1-short-haiku`, 'anthropic/claude-haiku-4-5'],
      ]);
      expect(evaluations.map(({ definition }) => definition.prompt_name)).toEqual(prompts.map(({ name }) => name));
      expect(settings.report.lines.filter(({ outcome }) => outcome === 'left out')).toMatchObject([
        { name: 'exec:./model.sh' },
      ]);
    });
  });

  test('is named by its folder and its file without a description, and its evaluations name the version', async () => {
    await withFolder(async (folder) => {
      const names: unknown[] = [];
      for (const [file, description] of [
        ['a/promptfooconfig.yaml', undefined],
        ['b/promptfooconfig.yaml', 'My eval'],
        ['b/other.yaml', undefined],
      ] as const) {
        await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
        const tests = [{ vars: { x: 'a' }, assert: [{ type: 'equals', value: file }] }];
        const config = { description, prompts: [`${file} {{x}}`], providers: ['echo'], tests };
        await writeFile(path.join(folder, file), JSON.stringify(config));
        const { imported, report } = await planFiles('promptfoo', path.join(folder, file));
        expect(report[0]).toMatch(/^configuration .*: it has no description: its prompts are in "/);
        const [evaluation] = imported.evaluations;
        names.push([imported.prompts[0]?.versions[0]?.model, evaluation?.name, evaluation?.definition]);
      }
      expect(names).toMatchObject([
        [
          'sandbox/echo',
          'a/prompt-1-tests',
          { prompt_name: 'a/prompt-1', version: 1, dataset: { name: 'a/tests', version: 1 } },
        ],
        [
          'sandbox/echo',
          'b/prompt-1-tests',
          { prompt_name: 'b/prompt-1', version: 1, dataset: { name: 'b/tests', version: 1 } },
        ],
        [
          'sandbox/echo',
          'b-other/prompt-1-tests',
          { prompt_name: 'b-other/prompt-1', dataset: { name: 'b-other/tests' } },
        ],
      ]);
    });
  });

  test('keeps the parameters of a replaced provider, and reports what it does not read', async () => {
    await withFolder(async (folder) => {
      const config = {
        description: 'Replaced',
        prompts: ['{{x}}'],
        providers: [
          { id: 'exec:./a.sh', config: { temperature: 0.1, region: 'eu' } },
          { id: 'exec:./b.sh', config: { temperature: 0.9 } },
        ],
        assert: [{ type: 'equals', value: 'a' }],
        scenarios: [{ config: [{ vars: { x: 'a' } }] }],
        env: { A: 'b' },
        promts: [],
      };
      await writeFile(path.join(folder, 'promptfooconfig.json'), JSON.stringify(config));
      const planned = await planFiles('promptfoo', folder, 'openai/gpt-5');
      expect(versionsOf(planned, 'Replaced/prompt-1')).toMatchObject([
        { model: 'openai/gpt-5', parameters: { temperature: 0.1 }, config: { promptfoo: { region: 'eu' } } },
      ]);
      expect(planned.report).toEqual(
        expect.arrayContaining([
          'provider exec:./b.sh: taken with a change: the prompts use openai/gpt-5 instead; ' +
            'its parameters are left out: the prompts have those of the first provider',
          'setting assert: left out: asserts at the top of a configuration do not belong to a test: write them in defaultTest',
          'setting scenarios: left out: scenarios are not read: write their tests as tests',
          "setting env: left out: it is for promptfoo's own runs",
          'setting promts: left out: it is unknown here',
        ]),
      );
    });
  });

  test.each([
    ['semicolons', 'x;__expected\na;b\nc,d;e\n'],
    ['tabs and old line ends', 'x\t__expected\ra\tb\rc,d\te\r'],
    ['a line that names the separator, after a byte order mark', '\uFEFFsep=|\r\nx|__expected\r\na|b\r\nc,d|e\r\n'],
  ])('reads a table with %s', async (_, text) => {
    await withFolder(async (folder) => {
      const config = { description: 'Table', prompts: ['{{x}}'], providers: ['echo'], tests: 'rows.csv' };
      await writeFile(path.join(folder, 'promptfooconfig.json'), JSON.stringify(config));
      await writeFile(path.join(folder, 'rows.csv'), text);
      const planned = await planFiles('promptfoo', folder);
      expect(await examplesOf(planned, 'Table/tests')).toEqual([
        { variables: { x: 'a' }, expected: 'b' },
        { variables: { x: 'c,d' }, expected: 'e' },
      ]);
    });
  });

  test('reports omissions, and why', async () => {
    const { report } = await planFiles('promptfoo', fixture('promptfoo'));
    const left = report.filter((line) => line.includes(': left out: '));
    expect(left).toEqual([
      'provider anthropic:messages:claude-sonnet-4-5: left out: a prompt has one model: --all-models makes prompts for each',
      'provider exec:./model.sh: left out: no model here matches it',
      'prompt prompts/logic: left out: the template has logic ("{% …")',
      'prompt ../../langfuse/list: left out: there is no such file in the folder of the configuration',
      'prompt prompts/make: left out: it is a program, or a table of prompts',
      'tests file://generate.js: left out: it is a program that makes the tests',
      'assert javascript: left out: it runs code: --scorer-project writes a scorer that does, 3 times (test 3, test 3, rows.csv:3)',
      'assert assert-set: left out: evaluators are not grouped, 2 times (test 3, test 3)',
      'assert regex: left out: its pattern looks around or back, which no evaluator does (test 4)',
      'tests those that are left out: left out: the variable "question" is a template itself (test 5); ' +
        'it has options.transform, which is code: --scorer-project writes a scorer that runs it (test 6)',
      'setting scenarios: left out: scenarios are not read: write their tests as tests',
    ]);
  });

  test('becomes a dataset for each set of asserts, and an evaluation of each prompt over it', async () => {
    const planned = await planFiles('promptfoo', fixture('promptfoo'));
    const evaluations = evaluationsOf(planned);
    expect(await examplesOf(planned, 'Customer-answers/tests-1')).toEqual([
      {
        variables: { tone: 'friendly', question: 'How do I get a refund?' },
        expected: 'refund',
        metadata: { area: 'billing', description: 'refund' },
      },
    ]);
    // The test after it has other asserts: nothing is forbidden.
    expect(await examplesOf(planned, 'Customer-answers/tests-2')).toEqual([
      { variables: { tone: 'friendly', question: 'Where are you?', place: 'Paris' }, expected: 'Paris' },
    ]);
    expect(evaluations.get('Customer-answers/tests-1')?.evaluators).toEqual([
      { type: 'contains', case_sensitive: false, name: 'contains' },
      {
        type: 'llm_judge',
        model: 'openai/gpt-4.1',
        rubric: 'Says how long a refund takes',
        scale: { min: 0, max: 1 },
        include_expected: false,
        include_input: false,
        weight: 2,
        name: 'llm_judge',
      },
      { type: 'contains', value: 'lawyer', negate: true, name: 'contains-2' },
      { type: 'latency', at_most_ms: 5000, name: 'latency' },
    ]);
    expect(evaluations.get('Customer-answers/tests-3')).toMatchObject({
      threshold: 1,
      example_threshold: 0.5,
      evaluators: expect.arrayContaining([
        // With a threshold for each test's score, the similarity counts.
        { type: 'similar', model: 'openai/text-embedding-3-large', name: 'similar' },
      ]),
    });
    expect(
      (await examplesOf(planned, 'Customer-answers/tests-3')).map(({ variables }) => variables['question']),
    ).toEqual(['Give the hours as JSON', 'Give the address as JSON']);
    expect(evaluations.get('Customer-answers/tests-4')?.evaluators[0]).toEqual({
      type: 'exact_match',
      trim: false,
      name: 'exact-match',
    });
    expect(await examplesOf(planned, 'Customer-answers/tests-5')).toEqual([
      {
        variables: { tone: 'friendly', question: 'What, now?' },
        expected: 'Wait',
        metadata: { area: 'general', description: 'a "quoted" row' },
      },
    ]);
    for (const { evaluators } of evaluations.values())
      for (const evaluator of evaluators) expect(EvaluatorConfig.safeParse(evaluator).error).toBeUndefined();
  });

  test.each([
    ['equals', { type: 'equals', value: '{{ x }}' }, { type: 'exact_match', trim: false }],
    ['starts-with', { type: 'starts-with', value: 'a.b(c)' }, { type: 'regex', pattern: '^a\\.b\\(c\\)' }],
    ['is-json', { type: 'is-json' }, { type: 'json_valid' }],
    [
      'contains-all',
      { type: 'icontains-all', value: ['a', 'b'] },
      { type: 'contains', values: ['a', 'b'], mode: 'all', case_sensitive: false },
    ],
    ['not-contains', { type: 'not-contains', value: 'a' }, { type: 'contains', negate: true }],
    [
      'contains-any as a text',
      { type: 'contains-any', value: '"b, c",a' },
      { type: 'contains', values: ['b, c', 'a'], mode: 'any' },
    ],
    ['not-empty', { type: 'not-empty' }, { type: 'length', at_least: 1 }],
    ['max-length', { type: 'max-length', value: 20 }, { type: 'length', at_most: 20 }],
    [
      'word-count',
      { type: 'word-count', value: { min: 2, max: 5 } },
      { type: 'length', unit: 'words', at_least: 2, at_most: 5 },
    ],
    [
      'not-similar',
      { type: 'not-similar', value: '{{ x }}', provider: 'openai:embedding:text-embedding-3-small' },
      { type: 'similar', model: 'openai/text-embedding-3-small', threshold: 0.75, negate: true },
    ],
    [
      'several similar',
      { type: 'similar', value: ['a', 'b'], threshold: 0.9 },
      { type: 'similar', model: 'google/gemini-embedding-001', threshold: 0.9, values: ['a', 'b'] },
    ],
    [
      'a rubric without a model',
      { type: 'llm-rubric', value: 'Good', threshold: 0.7 },
      {
        type: 'llm_judge',
        model: 'openai/gpt-5-mini',
        rubric: 'Good',
        scale: { min: 0, max: 10 },
        include_expected: false,
        include_input: false,
        threshold: 0.7,
      },
    ],
    ['cost', { type: 'cost', threshold: 0.1, weight: 3 }, { type: 'cost', at_most_usd: 0.1, weight: 3 }],
  ])('takes %s', (_, assert, evaluator) => {
    const models = { judge: 'openai/gpt-5-mini', embeddings: 'google/gemini-embedding-001' };
    const taken = compileAssert(assert, { variables: { x: '1' }, gradingProvider: undefined, ...models }).evaluator;
    expect(taken).toEqual(evaluator);
    expect(EvaluatorConfig.safeParse(taken).error).toBeUndefined();
  });

  test.each([
    [{ type: 'javascript', value: 'true' }, 'runs code'],
    [{ type: 'python', value: 'file://a.py' }, 'runs code'],
    [{ type: 'contains', value: 'a', transform: 'output.a' }, 'runs code'],
    [{ type: 'llm-rubric', value: 'a', transform: 'output.a' }, 'transformed output'],
    [{ type: 'equals', value: '{{ x | upper }}' }, 'logic'],
    [{ type: 'equals', value: '{{ missing }}' }, 'no text'],
    [{ type: 'equals', value: 'file://a.txt' }, 'in a file'],
    [{ type: 'contains', value: '' }, 'empty'],
    [{ type: 'contains', value: 'a', weight: 0 }, 'weight'],
    [{ type: 'llm-rubric', value: 'Good' }, 'no grading model'],
    [{ type: 'llm-rubric', value: 'Good', provider: 'ollama:chat:llama3' }, 'no grading model'],
    [{ type: 'latency' }, 'threshold'],
    [{ type: 'levenshtein', value: 'a', threshold: 5 }, 'measures the same'],
    [{ type: 'similar', value: 'a', threshold: 7 }, 'threshold'],
    [{ type: 'regex', value: '(a)\\1' }, 'around or back'],
    [{}, 'measures the same'],
  ])('leaves %j out', (assert, why) => {
    expect(() => compileAssert(assert, { variables: { x: '1' }, gradingProvider: undefined })).toThrow(why);
  });

  test.each([
    ['Paris', { type: 'equals', value: 'Paris' }],
    ['Note: mind the gap', { type: 'equals', value: 'Note: mind the gap' }],
    ['contains: a: b', { type: 'contains', value: 'a: b' }],
    ['not-icontains:x', { type: 'not-icontains', value: 'x' }],
    ['contains-any: a, b', { type: 'contains-any', value: ['a', 'b'] }],
    ['similar(0.8): x', { type: 'similar', threshold: 0.8, value: 'x' }],
    ['latency(200)', { type: 'latency', threshold: 200 }],
    ['is-json', { type: 'is-json' }],
    ['is-json: {"type": "object"}', { type: 'is-json', value: { type: 'object' } }],
    ['fn: output > 1', { type: 'javascript', value: 'output > 1' }],
    ['grade: is kind', { type: 'llm-rubric', value: 'is kind' }],
    ['file://check.js', { type: 'javascript', value: 'file://check.js' }],
    ['contains', { type: 'equals', value: 'contains' }],
  ])('reads the cell "%s"', (cell, assert) => {
    expect(assertFromText(cell)).toEqual(assert);
  });

  test('has too many different asserts for their own datasets', async () => {
    await withFolder(async (folder) => {
      const tests = Array.from({ length: 120 }, (_, index) => ({
        vars: { x: 'a' },
        assert: [{ type: 'contains-any', value: [`${index}`] }],
      }));
      const config = { prompts: ['{{x}}'], providers: ['openai:gpt-5'], tests };
      await writeFile(path.join(folder, 'promptfooconfig.json'), JSON.stringify(config));
      const { imported, report } = await planFiles('promptfoo', folder);
      expect(imported.datasets).toHaveLength(100);
      expect(report).toContainEqual(
        expect.stringContaining(
          'there are more than 100 different sets of asserts, 20 times (test 101, test 102, test 103, …)',
        ),
      );
    });
  });
});
