import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { takeGitHubEvaluator, writeGitHubEvaluator } from '../../../cli/src/importers/github-evaluators.ts';
import { EvaluatorConfig } from '../../../src/evaluators/registry.ts';
import { examplesOf, fixture, planFiles, versionsOf, withFolder } from './support.ts';

const NAME = 'support/Refund-answer';

describe("GitHub's .prompt.yml", () => {
  test('become prompts; braces without a variable stay text', async () => {
    const planned = await planFiles('github', fixture('github'));
    expect(versionsOf(planned, NAME)).toEqual([
      {
        name: NAME,
        description: 'Answers questions about refunds',
        model: 'openai/gpt-4o-mini',
        fallback_models: [],
        parameters: { temperature: 0.2, top_p: 0.9, max_tokens: 300 },
        messages: [
          {
            role: 'system',
            content: 'You answer customers of {{ shop }}.\nKeep {#braces} and {{#sections}} as they are.\n',
          },
          { role: 'user', content: '{{ input }}' },
        ],
        config: { github: { name: 'Refund answer', modelParameters: { logitBias: {} } } },
      },
    ]);
    const schema = { type: 'object', properties: { name: { type: 'string' } } };
    expect(versionsOf(planned, 'city')).toEqual([
      expect.objectContaining({
        messages: [{ role: 'user', content: 'Where is {{ user_question }}?' }],
        parameters: {
          response_format: { type: 'json_schema', json_schema: { name: 'city', strict: true, schema } },
        },
      }),
    ]);
    expect(planned.report).toContainEqual(
      expect.stringMatching(/messages\.0\.content has tags of another template language: "\{\{#sections\}\}"/),
    );
    expect(planned.report).toContain(
      'prompt no-model: left out: it names no model: set one for such prompts with --model',
    );
  });

  test('bring their test data as datasets', async () => {
    const planned = await planFiles('github', fixture('github'));
    const shop = 'Blumen Meyer';
    expect(await examplesOf(planned, NAME)).toEqual([
      { variables: { shop, input: 'How long can I return it?' }, expected: '14 days' },
      { variables: { shop, input: 'How many days is that?' }, expected: '14' },
    ]);
    expect(await examplesOf(planned, 'city')).toEqual([{ variables: { user_question: 'the tower' } }]);
    expect(planned.report).toContainEqual(
      expect.stringMatching(
        /^dataset support\/Refund answer: .*left out: a test is not a mapping of variables \(test 3\)/,
      ),
    );
  });

  test('bring the evaluators with a counterpart, which the service accepts', async () => {
    const { imported, report } = await planFiles('github', fixture('github'));
    const [city, refund] = imported.evaluations;
    expect(city?.definition).toEqual({
      prompt_name: 'city',
      version: 1,
      dataset: { name: 'city', version: 1 },
      evaluators: [{ type: 'contains', value: 'name', case_sensitive: false, name: 'has-a-name' }],
      threshold: 1,
    });
    expect(refund?.definition).toMatchObject({ prompt_name: NAME, dataset: { name: NAME, version: 1 } });
    const judge = { type: 'llm_judge', model: 'openai/gpt-4o' };
    expect(refund?.definition.evaluators).toEqual([
      { type: 'contains', case_sensitive: false, name: 'says-it' },
      { type: 'exact_match', trim: false, name: 'is-it' },
      { type: 'regex', pattern: '^Refunds \\(all\\):', flags: 'i', name: 'no-greeting' },
      { type: 'regex', pattern: 'days\\.$', flags: 'i', name: 'ends-well' },
      { type: 'regex', pattern: 'OK', full_match: true, name: 'is-OK' },
      expect.objectContaining({ ...judge, name: 'like-it', scale: { min: 1, max: 5 }, include_expected: true }),
      {
        ...judge,
        name: 'polite',
        rubric:
          'You grade answers to customers.\n\nIs the answer polite?\n\nGrade 2 where the answer is "polite".\n' +
          'Grade 1 where the answer is "neutral".\nGrade 0 where the answer is "rude".',
        scale: { min: 0, max: 2 },
        include_expected: false,
        include_input: true,
      },
      {
        ...judge,
        name: 'complete',
        rubric: 'How complete is it, from 1 to 3?',
        scale: { min: 1, max: 3 },
        include_expected: false,
        include_input: false,
      },
    ]);
    for (const evaluator of refund?.definition.evaluators ?? [])
      expect(EvaluatorConfig.safeParse(evaluator).error).toBeUndefined();
    const of = 'grader support/Refund answer:';
    expect(report.filter((line) => line.startsWith('grader') && line.includes('left out: '))).toEqual([
      `${of} mentions the shop: left out: it compares with "shop", and another grader with "expected": an example expects one value`,
      `${of} starts as expected: left out: no evaluator looks for the expected text only at the start or the end`,
      `${of} elsewhere: left out: no evaluator corresponds to acme/toxicity`,
      `${of} in a sentence: left out: its instructions have "completion" within a sentence: a judge is shown it apart from its rubric`,
    ]);
  });

  test.each([
    ['a: [b', ':1: is not valid YAML'],
    ['model: x\nmessages:\n  - role: "user\n', ':4: is not valid YAML'],
    ['- a', ':1: is not a mapping'],
  ])('an unreadable one is named with its line: %j', async (content, message) => {
    await withFolder(async (folder) => {
      await writeFile(path.join(folder, 'bad.prompt.yml'), content);
      await expect(planFiles('github', folder)).rejects.toThrow(`bad.prompt.yml${message}`);
    });
  });

  test.each([
    { string: { equals: '{{expected}}' } },
    { string: { contains: '{{expected}}' } },
    { string: { contains: 'a (b)' } },
    { string: { equals: 'a.b' } },
    { string: { startsWith: '$5 / day' } },
    { string: { endsWith: 'x|y\\' } },
    ...['similarity', 'coherence', 'fluency', 'relevance', 'groundedness'].map((name) => ({ uses: `github/${name}` })),
  ])('an evaluator is written as it was read: %j', (evaluator) => {
    const taken = takeGitHubEvaluator({ name: 'x', ...evaluator }).evaluator;
    expect(EvaluatorConfig.safeParse(taken).error).toBeUndefined();
    expect(writeGitHubEvaluator({ name: 'x', ...taken }, () => {})).toEqual({ name: 'x', ...evaluator });
  });

  test.each([0, 1])('a written judge is read unchanged: from %d', (min) => {
    const judge = {
      type: 'llm_judge',
      model: 'openai/gpt-5',
      rubric: 'How kind is it?\n\nVery.',
      scale: { min, max: 12 },
      include_expected: true,
      include_input: true,
    };
    expect(takeGitHubEvaluator(writeGitHubEvaluator(judge, () => {})).evaluator).toEqual(judge);
  });

  test.each([
    [{ type: 'json_valid' }, 'no evaluator like'],
    [{ type: 'regex', pattern: 'a+' }, 'no regular expressions'],
    [{ type: 'contains', values: ['a', 'b'] }, 'only one text'],
    [{ type: 'contains', value: 'a {{b}}' }, 'read its text as a variable'],
    [{ type: 'exact_match', case_sensitive: false }, 'includes case'],
    [{ type: 'llm_judge', rubric: 'x', scale: { min: 0, max: 100 } }, 'more than 21'],
  ])('an evaluator unknown to GitHub is refused: %j', (evaluator, why) => {
    expect(() => writeGitHubEvaluator(evaluator, () => {})).toThrow(why);
  });
});
