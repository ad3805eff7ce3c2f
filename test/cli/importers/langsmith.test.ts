import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { examplesOf, fixture, planFiles, versionsOf, withFolder } from './support.ts';

const template = (text: string, more: object = {}) => ({
  lc: 1,
  type: 'constructor',
  id: ['langchain', 'prompts', 'prompt', 'PromptTemplate'],
  kwargs: { template: text, template_format: 'f-string', ...more },
});

describe('prompts and datasets of LangSmith', () => {
  test('become prompts with their bound model and tools', async () => {
    const planned = await planFiles('langsmith', fixture('langsmith'));
    expect(versionsOf(planned, 'helper')).toEqual([
      {
        name: 'helper',
        model: 'openai/gpt-4.1-mini',
        fallback_models: [],
        parameters: { temperature: 0.3 },
        messages: [
          { role: 'system', content: 'Answer in {{ language }} as {"a": 1}; write \\{{ x }} as it is.' },
          { placeholder: 'history', required: false },
          { role: 'assistant', content: 'I know \\{{ nothing }} yet.' },
          { role: 'user', content: '{{ question }}' },
        ],
        tools: [
          {
            name: 'look_up',
            description: 'Looks it up.',
            input_schema: { type: 'object', properties: { q: { type: 'string' } } },
          },
        ],
        config: { langsmith: { max_retries: 2 } },
        commit_message: 'LangSmith commit 8b1f0c2d3e4f',
      },
    ]);
    expect(planned.report.filter((line) => line.startsWith('prompt'))).toEqual([
      'prompt conditional: left out: its template is in the format "jinja2"',
      'prompt few-shot: left out: it is a FewShotPromptTemplate',
      'prompt helper: taken with a change: kept in config.langsmith: max_retries',
    ]);
  });

  test('become datasets, from JSON Lines and CSV', async () => {
    const planned = await planFiles('langsmith', fixture('langsmith'));
    expect(await examplesOf(planned, 'questions')).toEqual([
      { id: '1f0', variables: { question: 'Where?' }, expected: 'Paris', metadata: { split: 'base' } },
      { variables: { question: 'Both?' }, expected: { a: 1, b: 2 } },
    ]);
    expect(await examplesOf(planned, 'table')).toEqual([
      { id: 'r1', variables: { question: 'Where?' }, expected: 'Paris' },
      { id: 'r2', variables: { question: 'Two\nlines?' }, expected: 'Yes' },
    ]);
    expect(planned.report).toContainEqual(expect.stringContaining('left out: an example has no inputs (line 3)'));
  });

  test.each([
    ['semicolons', 'id;input_question;output_answer\nr1;Where?;1,5\nr2;"a;b";2\n'],
    [
      'a delimiter that its first line names, and old line ends',
      'sep=|\rid|input_question|output_answer\rr1|Where?|1,5\rr2|a;b|2\r',
    ],
  ])('become datasets, from CSV with %s', async (_, csv) => {
    await withFolder(async (folder) => {
      await writeFile(path.join(folder, 'table.csv'), csv);
      expect(await examplesOf(await planFiles('langsmith', folder), 'table')).toEqual([
        { id: 'r1', variables: { question: 'Where?' }, expected: '1,5' },
        { id: 'r2', variables: { question: 'a;b' }, expected: '2' },
      ]);
    });
  });

  test('commits become versions in the order of their creation', async () => {
    await withFolder(async (folder) => {
      const commits = [
        { commit_hash: 'bbb', created_at: '2026-02-01', manifest: template('second {x}') },
        { commit_hash: 'ccc', created_at: '2026-03-01', manifest: template('third {x!r}') },
        {
          commit_hash: 'aaa',
          created_at: '2026-01-01',
          manifest: template('first {x}', { partial_variables: { x: 'y' } }),
        },
      ];
      await writeFile(path.join(folder, 'p.json'), JSON.stringify({ repo: 'p', commits }));
      const planned = await planFiles('langsmith', folder, 'sandbox/echo');
      expect(versionsOf(planned, 'p')).toEqual([
        expect.objectContaining({ template: 'first {{ x }}', inputs: { x: { type: 'string', default: 'y' } } }),
        expect.objectContaining({ template: 'second {{ x }}' }),
      ]);
      expect(planned.report).toEqual([
        expect.stringContaining('commit ccc is left out: the template has an expression'),
      ]);
    });
  });

  test.each([
    [
      'a chain',
      {
        lc: 1,
        id: ['RunnableSequence'],
        kwargs: { first: template('x'), middle: [template('y')], last: template('z') },
      },
      'a chain',
    ],
    [
      'an image that is a variable',
      {
        lc: 1,
        id: ['ChatPromptTemplate'],
        kwargs: {
          messages: [
            {
              lc: 1,
              id: ['HumanMessagePromptTemplate'],
              kwargs: { prompt: [{ lc: 1, id: ['ImagePromptTemplate'], kwargs: { template: { url: '{image}' } } }] },
            },
          ],
        },
      },
      'a template as its address',
    ],
    [
      'a class that is not a message',
      { lc: 1, id: ['ChatPromptTemplate'], kwargs: { messages: [{ lc: 1, id: ['toString'], kwargs: {} }] } },
      'toString',
    ],
  ])('%s is left out', async (_, manifest, why) => {
    await withFolder(async (folder) => {
      await writeFile(path.join(folder, 'p.json'), JSON.stringify(manifest));
      expect((await planFiles('langsmith', folder, 'sandbox/echo')).report).toEqual([expect.stringContaining(why)]);
    });
  });
});

test('examples that the API lists as JSON are a dataset', async () => {
  const planned = await planFiles('langsmith', fixture('langsmith'));
  expect(await examplesOf(planned, 'examples')).toEqual([
    { id: '1', variables: { question: 'How?' }, expected: 'So.', metadata: { dataset_split: ['base'] } },
    { id: '2', variables: { question: 'Why?' } },
  ]);
});
