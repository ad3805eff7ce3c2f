import { describe, expect, test } from '@jest/globals';
import { takeGrader } from '../../../cli/src/importers/openai-graders.ts';
import { EvaluatorConfig } from '../../../src/evaluators/registry.ts';
import { examplesOf, fixture, planFiles, versionsOf } from './support.ts';

describe("OpenAI's evals and stored prompts", () => {
  test('become an evaluation with the graders that have a counterpart', async () => {
    const { imported, report } = await planFiles('openai-evals', fixture('openai-evals'));
    const [evaluation, ...others] = imported.evaluations;
    expect(others).toEqual([]);
    expect(evaluation?.name).toBe('Support-answers/gpt-4.1-mini-items');
    expect(evaluation?.definition).toMatchObject({ prompt_name: 'gpt-4.1-mini', dataset: 'items' });
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
      'grader mixed: left out: its prompt is not instructions and then the output alone',
      'grader code: left out: it runs code',
    ]);
    expect(report).toContain('eval Support answers: taken with a change: 4 of its graders are left out');
  });

  test('become a dataset whose examples expect the field that graders compare with', async () => {
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
    [{ type: 'string_check', operation: 'eq', input: '{{item.a}}', reference: 'x' }, 'something else than the output'],
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
    [{ type: 'endpoint', url: 'https://example.com' }, 'no evaluator is like'],
    [{}, 'no evaluator is like'],
  ])('a grader without a counterpart is left out: %j', (grader, why) => {
    expect(() => takeGrader(grader)).toThrow(why);
  });
});
