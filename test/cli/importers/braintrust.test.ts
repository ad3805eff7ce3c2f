import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { EvaluatorConfig } from '../../../src/evaluators/registry.ts';
import { examplesOf, fixture, planFiles, versionsOf, withFolder } from './support.ts';

const scorer = (more: object) => ({
  id: 's1',
  slug: 'kind',
  function_type: 'scorer',
  prompt_data: {
    prompt: {
      type: 'chat',
      messages: [{ role: 'user', content: 'How kind is the answer?\n\nQuestion: {{input}}\nAnswer: {{output}}' }],
    },
    options: { model: 'gpt-4o' },
    parser: { type: 'llm_classifier', use_cot: true, choice_scores: { A: 1, B: 0.5, C: 0 } },
    ...more,
  },
});

describe('Braintrust', () => {
  test('prompts have their versions in the order of the transactions', async () => {
    const planned = await planFiles('braintrust', fixture('braintrust'));
    expect(versionsOf(planned, 'answer')).toEqual([
      {
        name: 'answer',
        description: 'Answers well',
        model: 'gpt-4o',
        fallback_models: [],
        parameters: { temperature: 0.5, max_tokens: 50 },
        messages: [
          { role: 'system', content: 'Be {{ style }}.' },
          { role: 'user', content: '{{ question }}' },
        ],
        tools: [{ name: 'look_up', input_schema: { type: 'object' } }],
        tool_choice: 'required',
        config: { braintrust: { params: { use_cache: true }, tags: ['live'] } },
        commit_message: 'Braintrust version 1000196022104685826',
      },
    ]);
    expect(versionsOf(planned, 'plain')).toEqual([expect.objectContaining({ template: 'As it is: \\{{x}}' })]);
    const line = planned.report.find((one) => one.startsWith('prompt answer:'));
    expect(line).toContain('version 1000196022104685825 is left out: the template has an unescaped variable');
    expect(line).toContain('tools that are Braintrust functions are left out');
    expect(planned.report).toContain('tool add: left out: it is code, or runs in Braintrust');
  });

  test('datasets come from CSV and from API answers', async () => {
    const planned = await planFiles('braintrust', fixture('braintrust'));
    expect(await examplesOf(planned, 'cases')).toEqual([
      { id: 'r1', variables: { question: 'Why?' }, expected: 'Because.', metadata: { area: 'a', tags: ['hard'] } },
      { id: 'r2', variables: { input: 'Just text' }, expected: { a: 1 } },
    ]);
    expect(await examplesOf(planned, 'events')).toEqual([{ id: 'e1', variables: { question: 'Who?' } }]);
    const line = planned.report.find((one) => one.startsWith('dataset events:'));
    expect(line).toContain('results of an experiment (output, scores) are left out');
    expect(line).toContain('left out: a row that is part of another');
  });

  test('scorers with choices become an evaluation if there is one prompt and one dataset', async () => {
    await withFolder(async (folder) => {
      const answer = {
        slug: 'answer',
        prompt_data: {
          prompt: { type: 'chat', messages: [{ role: 'user', content: '{{input}}' }] },
          options: { model: 'gpt-4o' },
        },
      };
      const all = [answer, scorer({}), { ...scorer({ parser: null }), slug: 'other' }];
      await writeFile(path.join(folder, 'all.json'), JSON.stringify(all));
      await copyFile(path.join(fixture('braintrust'), 'cases.csv'), path.join(folder, 'cases.csv'));
      const { imported, report } = await planFiles('braintrust', folder);
      const [evaluation] = imported.evaluations;
      expect(evaluation?.definition).toMatchObject({ prompt_name: 'answer', dataset: { name: 'cases', version: 1 } });
      expect(evaluation?.definition.evaluators).toEqual([
        expect.objectContaining({
          name: 'kind',
          model: 'gpt-4o',
          scale: { min: 0, max: 2 },
          include_input: true,
          include_expected: false,
        }),
      ]);
      for (const evaluator of evaluation?.definition.evaluators ?? [])
        expect(EvaluatorConfig.safeParse(evaluator).error).toBeUndefined();
      expect(report).toContain('grader other: left out: it is code, or has no choices');
      await mkdir(path.join(folder, 'more'));
      await copyFile(path.join(fixture('braintrust'), 'cases.csv'), path.join(folder, 'more/cases.csv'));
      const several = await planFiles('braintrust', folder);
      expect(several.imported.evaluations).toEqual([]);
      expect(several.report).toContainEqual(expect.stringContaining('it is unclear what is scored'));
    });
  });

  test.each([
    ['a.json', '{"x": 1}', 'a.json: is neither a prompt'],
    ['a.jsonl', '{"input": 1}\n{"', 'a.jsonl:2: is not valid JSON'],
    ['a.csv', 'id,input\n1,"x\n', 'a.csv:2: is not valid CSV'],
  ])('an unreadable item is named with its line: %s', async (name, content, message) => {
    await withFolder(async (folder) => {
      await writeFile(path.join(folder, name), content);
      await expect(planFiles('braintrust', folder)).rejects.toThrow(message);
    });
  });
});
