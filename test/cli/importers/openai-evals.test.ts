import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { takeGrader } from '../../../cli/src/importers/openai-graders.ts';
import { EvaluatorConfig } from '../../../src/evaluators/registry.ts';
import { examplesOf, fixture, planFiles, versionsOf, withFolder } from './support.ts';

describe("OpenAI's evals and stored prompts", () => {
  test('become an evaluation with the graders that have a counterpart', async () => {
    const { imported, report } = await planFiles('openai-evals', fixture('openai-evals'));
    const [evaluation, ...others] = imported.evaluations;
    expect(others).toEqual([]);
    expect(evaluation?.name).toBe('Support-answers/gpt-4.1-mini-items');
    expect(evaluation?.definition).toMatchObject({
      prompt_name: 'gpt-4.1-mini',
      dataset: { name: 'items', version: 1 },
    });
    expect(evaluation?.definition.evaluators).toEqual([
      { type: 'exact_match', trim: false, name: 'exact' },
      { type: 'contains', case_sensitive: false, value: 'refund', name: 'mentions-refund' },
      { type: 'levenshtein', name: 'close' },
      expect.objectContaining({
        type: 'llm_judge',
        name: 'polite',
        model: 'gpt-4.1-mini',
        scale: { min: 0, max: 1 },
        rubric: 'Is the answer polite or rude?\n\nGrade 1 where the label is polite; grade 0 where it is rude.',
      }),
      expect.objectContaining({
        type: 'llm_judge',
        name: 'quality',
        rubric: 'Grade how clear the answer is.',
        scale: { min: 0, max: 10 },
      }),
    ]);
    for (const evaluator of evaluation?.definition.evaluators ?? [])
      expect(EvaluatorConfig.safeParse(evaluator).error).toBeUndefined();
    expect(report.filter((line) => line.startsWith('grader') && line.includes(': left out: '))).toEqual([
      'grader not empty: left out: no evaluator does the operation "ne"',
      'grader bleu: left out: no evaluator measures "bleu"',
      'grader mixed: left out: its prompt is not instructions and then just the output',
      'grader code: left out: it runs code',
    ]);
    expect(report).toContain('eval Support answers: taken with a change: 4 of its graders are left out');
  });

  test('become a dataset whose examples expect the field used by graders', async () => {
    const planned = await planFiles('openai-evals', fixture('openai-evals'));
    expect(await examplesOf(planned, 'items')).toEqual([
      { variables: { question: 'How do I get a refund?', expected: 'Within 14 days.' }, expected: 'Within 14 days.' },
      { variables: { question: 'How many days?', expected: 14 }, expected: '14' },
    ]);
  });

  test('become prompts: the input messages of a run, the request of a stored prompt', async () => {
    const planned = await planFiles('openai-evals', fixture('openai-evals'));
    expect(versionsOf(planned, 'gpt-4.1-mini')).toEqual([
      expect.objectContaining({
        model: 'gpt-4.1-mini',
        parameters: { temperature: 0, max_tokens: 256, seed: 42, top_p: 1 },
        messages: [
          { role: 'system', content: [{ type: 'text', text: 'You answer customers.' }] },
          { role: 'user', content: [{ type: 'text', text: '{{ question }}' }] },
        ],
      }),
    ]);
    expect(versionsOf(planned, 'pmpt_6842')).toEqual([
      expect.objectContaining({
        model: 'gpt-5-mini',
        parameters: {
          max_tokens: 500,
          reasoning_effort: 'low',
          response_format: {
            type: 'json_schema',
            json_schema: { name: 'help', schema: { type: 'object' }, strict: true },
          },
        },
        tools: [{ name: 'open_ticket', input_schema: { type: 'object', properties: {} }, strict: true }],
      }),
    ]);
    expect(planned.report).toContain('prompt pmpt_9: left out: a tool has the type "web_search"');
  });

  test.each([
    [
      { type: 'string_check', operation: 'eq', input: '{{item.a}}', reference: 'x' },
      'something other than just the output',
    ],
    [{ type: 'string_check', operation: 'eq', input: '{{sample.output_text}}', reference: 'x' }, 'fixed text'],
    [
      { type: 'string_check', operation: 'like', input: '{{sample.output_text}}', reference: 'a {{item.b}}' },
      'template',
    ],
    [
      {
        type: 'score_model',
        model: 'm',
        input: [
          { role: 'system', content: 'Grade.' },
          { role: 'user', content: '{{sample.output_text}}' },
        ],
      },
      'fractions',
    ],
    [{ type: 'label_model', model: 'm', labels: ['a'], passing_labels: ['a'], input: [] }, 'labels'],
    [{ type: 'endpoint', url: 'https://example.com' }, 'no evaluator matches'],
    [{}, 'no evaluator matches'],
  ])('a grader without a counterpart is left out: %j', (grader, why) => {
    expect(() => takeGrader(grader)).toThrow(why);
  });
});

describe('several OpenAI evals', () => {
  test('are separated by their runs', async () => {
    await withFolder(async (folder) => {
      const evalOf = (id: string, field: string) => ({
        id,
        name: `Eval ${id}`,
        data_source_config: {},
        testing_criteria: [
          {
            type: 'string_check',
            name: 'is',
            input: '{{sample.output_text}}',
            reference: `{{item.${field}}}`,
            operation: 'eq',
          },
        ],
      });
      const runOf = (eval_id: string, source: object) => ({
        id: `run_${eval_id}`,
        eval_id,
        name: `Run of ${eval_id}`,
        data_source: {
          model: 'gpt-5',
          input_messages: { type: 'template', template: [{ role: 'user', content: '{{item.q}}' }] },
          source,
        },
      });
      const inline = { type: 'file_content', content: [{ item: { q: '1', right: 'one' } }] };
      const all = [
        evalOf('e1', 'right'),
        evalOf('e2', 'label'),
        evalOf('e3', 'x'),
        runOf('e1', inline),
        runOf('e2', { type: 'file_id', id: 'file-7' }),
      ];
      await writeFile(path.join(folder, 'all.json'), JSON.stringify(all));
      await writeFile(path.join(folder, 'file-7.jsonl'), '{"item": {"q": "2", "label": "two"}}\n');
      const planned = await planFiles('openai-evals', folder);
      expect(planned.imported.evaluations.map(({ definition }) => definition)).toEqual([
        expect.objectContaining({ prompt_name: 'Run-of-e1', dataset: { name: 'Run-of-e1', version: 1 } }),
        expect.objectContaining({ prompt_name: 'Run-of-e2', dataset: { name: 'file-7', version: 1 } }),
      ]);
      expect(await examplesOf(planned, 'Run-of-e1')).toEqual([
        { variables: { q: '1', right: 'one' }, expected: 'one' },
      ]);
      expect(await examplesOf(planned, 'file-7')).toEqual([{ variables: { q: '2', label: 'two' }, expected: 'two' }]);
      expect(planned.report).toContainEqual(
        expect.stringMatching(/^eval Eval e3: left out: its items cannot be identified/),
      );
    });
  });
});

describe("OpenAI's stored prompts", () => {
  test('of one id are versions in order; parts without an equivalent are named', async () => {
    await withFolder(async (folder) => {
      const version = (number: string, more: object) =>
        writeFile(
          path.join(folder, `v${number}.json`),
          JSON.stringify({ prompt: { id: 'pmpt_1', version: number }, model: 'gpt-5', ...more }),
        );
      await version('10', {
        instructions: [{ type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Ten {{a}}' }] }],
        text: { verbosity: 'low' },
        reasoning: { effort: 'high', summary: 'auto' },
        tools: [{ type: 'function', name: 'look', parameters: { type: 'object' } }],
        tool_choice: { type: 'function', name: 'look' },
        store: true,
      });
      await version('9', { instructions: 'Nine' });
      await version('11', {
        instructions: 'Filled',
        object: 'response',
        prompt: { id: 'pmpt_1', version: '11', variables: { a: 'b' } },
      });
      const planned = await planFiles('openai-evals', folder);
      expect(versionsOf(planned, 'pmpt_1')).toEqual([
        expect.objectContaining({
          messages: [{ role: 'system', content: 'Nine' }],
          commit_message: 'OpenAI version 9',
        }),
        expect.objectContaining({
          messages: [{ role: 'system', content: [{ type: 'text', text: 'Ten {{ a }}' }] }],
          tool_choice: { name: 'look' },
          parameters: { reasoning_effort: 'high' },
        }),
      ]);
      const [line] = planned.report;
      for (const what of [
        'version 11 is left out: it is a response',
        'text.verbosity',
        'reasoning.summary',
        'store is left out',
      ])
        expect(line).toContain(what);
    });
  });
});

describe("OpenAI's open registry", () => {
  test('becomes prompts that pass messages on, datasets and evaluations', async () => {
    const planned = await planFiles('openai-evals', fixture('openai-registry'), 'sandbox/echo');
    expect(versionsOf(planned, 'cities')).toEqual([
      expect.objectContaining({
        model: 'sandbox/echo',
        description: 'Capitals by country',
        messages: [{ placeholder: 'input' }],
      }),
    ]);
    expect(await examplesOf(planned, 'cities/samples')).toEqual([
      {
        variables: {
          input: [
            { role: 'system', content: 'Name the capital.' },
            { role: 'system', content: 'Peru' },
            { role: 'user', content: 'Bolivia {{now}}' },
          ],
        },
        expected: ['Sucre', 'La Paz'],
      },
      {
        variables: { input: [{ role: 'user', content: 'The capital of France?' }] },
        expected: 'Paris',
        metadata: { area: 'Europe' },
      },
    ]);
    const evaluators = Object.fromEntries(
      planned.imported.evaluations.map(({ name, definition }) => [name, definition.evaluators]),
    );
    expect(evaluators).toEqual({
      cities: [{ type: 'contains', mode: 'any', case_sensitive: false, name: 'Includes' }],
      'cities-begin': [{ type: 'contains', mode: 'any', name: 'Match' }],
      'cities-graded': [
        expect.objectContaining({
          type: 'llm_judge',
          rubric:
            'Does the answer meet the criterion?\n[Criterion]: It names one city.\n\n' +
            'Grade 1 where the answer is "Y".\nGrade 0 where the answer is "N".',
          scale: { min: 0, max: 1 },
          include_expected: false,
          include_input: true,
        }),
      ],
      'json.v0': [{ type: 'json_match', partial_credit: false, name: 'JsonMatch' }],
    });
    for (const evaluator of Object.values(evaluators).flat())
      expect(EvaluatorConfig.safeParse(evaluator).error).toBeUndefined();
    const leftOut = planned.report.filter((line) => /^(?:eval|grader) .*: left out: /.test(line));
    expect(leftOut).toEqual([
      'eval bluff.v0: left out: it is code of its own (evals.elsuite.bluff.eval:BluffEval)',
      'eval far.v0: left out: its samples are still with Git LFS: run git lfs pull for data/far/samples.jsonl',
      'eval gone.v0: left out: its samples are not in the folder: gone/samples.jsonl',
      'grader cities-shots.dev.v0: Match: left out: it puts examples in front of each sample (num_few_shot): write them into the prompt',
      'grader json-cities.v0: JsonMatch: left out: a sample has several right answers: json_match compares with one',
    ]);
  });

  test('leaves out files that Git LFS has not fetched, and reads the others', async () => {
    const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 10\n';
    await withFolder(async (folder) => {
      await writeFile(path.join(folder, 'fetched.jsonl'), '{"question": "2+2?", "ideal": "4"}\n');
      await writeFile(path.join(folder, 'pointer.jsonl'), pointer);
      await writeFile(path.join(folder, 'run.json'), pointer);
      const planned = await planFiles('openai-evals', folder);
      expect(await examplesOf(planned, 'fetched')).toHaveLength(1);
      const why = 'left out: it is still with Git LFS: run git lfs pull';
      expect(planned.report).toEqual(expect.arrayContaining([`file pointer.jsonl: ${why}`, `file run.json: ${why}`]));
      expect((await planFiles('langfuse', path.join(folder, 'run.json'))).report).toEqual([`file run.json: ${why}`]);
    });
  });

  test('has samples with an expected "ideal", even without its YAML', async () => {
    const planned = await planFiles('openai-evals', fixture('openai-samples'));
    expect(await examplesOf(planned, 'samples')).toEqual([
      { variables: { input: [{ role: 'user', content: '1+1?' }] }, expected: '2' },
      { variables: { question: '2+2?' }, expected: '4' },
    ]);
    expect(planned.report).toEqual([
      'dataset samples: taken with a change: the expected value is the field "ideal", 2 times (samples.jsonl:1, samples.jsonl:2)',
    ]);
  });

  test.each([
    ['a.yaml', 'x:\n  class: [', 'a.yaml:2: is not valid YAML'],
    ['a.jsonl', '{}\n{"a"\n', 'a.jsonl:2: is not valid JSON'],
  ])('an unreadable item is named with its line: %s', async (file, content, message) => {
    await withFolder(async (folder) => {
      await writeFile(path.join(folder, file), content);
      await expect(planFiles('openai-evals', folder)).rejects.toThrow(message);
    });
  });
});
