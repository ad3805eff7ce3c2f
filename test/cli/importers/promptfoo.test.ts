import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { assertFromText, compileAssert } from '../../../cli/src/importers/promptfoo/asserts.ts';
import { EvaluatorConfig } from '../../../src/evaluators/registry.ts';
import { examplesOf, fixture, planFiles, versionsOf, withFolder } from './support.ts';

const evaluationsOf = ({ imported }: Awaited<ReturnType<typeof planFiles>>) =>
  new Map(imported.evaluations.map(({ definition }) => [definition.dataset, definition]));

describe('a configuration of promptfoo', () => {
  test('becomes prompts for the model of its first provider that is known', async () => {
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

  test('says what it leaves out, and why', async () => {
    const { report } = await planFiles('promptfoo', fixture('promptfoo'));
    const left = report.filter((line) => line.includes(': left out: '));
    expect(left).toEqual([
      'provider anthropic:messages:claude-sonnet-4-5: left out: a prompt has one model: run it with another by the execution\'s "model"',
      'provider exec:./model.sh: left out: no model here is known for it',
      'prompt prompts/logic: left out: the template has logic ("{% …")',
      'prompt ../../langfuse/list: left out: there is no such file in the folder of the configuration',
      'prompt prompts/make: left out: it is a program, or a table of prompts',
      'tests file://generate.js: left out: it is a program that makes the tests',
      'assert not-contains: left out: no evaluator says the opposite of another (test 1)',
      'assert javascript: left out: it runs code or asks a service of its own, 3 times (test 3, test 3, rows.csv:3)',
      'assert similar: left out: no evaluator measures the same, 2 times (test 3, test 3)',
      'assert assert-set: left out: evaluators are not grouped, 2 times (test 3, test 3)',
      'assert regex: left out: its pattern looks around or back, which no evaluator does (test 4)',
      'tests those that are left out: left out: the variable "question" is a template itself (test 5); ' +
        'it has options.transform, which changes what is scored or sent (test 6)',
      "setting outputPath: left out: it is for promptfoo's own runs",
      "setting scenarios: left out: it is for promptfoo's own runs",
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
      { type: 'latency', at_most_ms: 5000, name: 'latency' },
    ]);
    expect(
      (await examplesOf(planned, 'Customer-answers/tests-2')).map(({ variables }) => variables['question']),
    ).toEqual(['Give the hours as JSON', 'Give the address as JSON']);
    expect(evaluations.get('Customer-answers/tests-3')?.evaluators[0]).toEqual({
      type: 'exact_match',
      trim: false,
      name: 'exact-match',
    });
    expect(await examplesOf(planned, 'Customer-answers/tests-4')).toEqual([
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
    ['cost', { type: 'cost', threshold: 0.1, weight: 3 }, { type: 'cost', at_most_usd: 0.1, weight: 3 }],
  ])('takes %s', (_, assert, evaluator) => {
    expect(compileAssert(assert, { variables: { x: '1' }, gradingProvider: undefined }).evaluator).toEqual(evaluator);
  });

  test.each([
    [{ type: 'javascript', value: 'true' }, 'runs code'],
    [{ type: 'python', value: 'file://a.py' }, 'runs code'],
    [{ type: 'contains', value: 'a', transform: 'output.a' }, 'is code'],
    [{ type: 'equals', value: '{{ x | upper }}' }, 'logic'],
    [{ type: 'equals', value: '{{ missing }}' }, 'no text'],
    [{ type: 'equals', value: 'file://a.txt' }, 'in a file'],
    [{ type: 'contains', value: '' }, 'empty'],
    [{ type: 'contains', value: 'a', weight: 0 }, 'weight'],
    [{ type: 'llm-rubric', value: 'Good' }, 'no grading model'],
    [{ type: 'llm-rubric', value: 'Good', provider: 'ollama:chat:llama3' }, 'no grading model'],
    [{ type: 'latency' }, 'threshold'],
    [{ type: 'levenshtein', value: 'a', threshold: 5 }, 'measures the same'],
    [{ type: 'not-equals', value: 'a' }, 'opposite'],
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

  test('has too many different asserts for datasets of their own', async () => {
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
