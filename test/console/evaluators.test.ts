import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { EvaluatorConfig } from '../../src/evaluators/registry.ts';
import { type Stage, startStage, type Visitor } from './stage.ts';

let stage: Stage;
let visitor: Visitor;
beforeAll(async () => {
  stage = await startStage();
  await stage.service.call('POST', '/prompts', {
    body: { name: 'greeting', template: 'Hello {{ name }}', model: 'sandbox/echo' },
  });
  visitor = await stage.signIn();
});
afterAll(() => stage?.stop());

const SECRET = 'a-secret-of-more-than-24-characters';
const CALLS = [{ name: 'look_up', input: { city: 'Paris' } }];

type Fill = (form: Locator) => Promise<unknown>;
const text = (form: Locator, name: string) => form.getByRole('textbox', { name, exact: true });
const number = (form: Locator, name: string) => form.getByRole('spinbutton', { name, exact: true });
const check = (form: Locator, name: string) => form.getByRole('checkbox', { name, exact: true });
const choice = (form: Locator, name: string) => form.getByRole('combobox', { name, exact: true });

/** For each type, its title, the user's actions in its form, and the resulting options. */
const FORMS: Record<string, [title: string, fill: Fill, options: object]> = {
  exact_match: [
    'Exact match',
    async (form) => {
      expect(await check(form, 'Ignore white space at both ends').isChecked()).toBe(true);
      await check(form, 'Upper and lower case differ').uncheck();
      await check(form, 'Treat any white space as one space').check();
    },
    { case_sensitive: false, normalize_whitespace: true },
  ],
  contains: [
    'Contains',
    async (form) => {
      await text(form, 'Texts').fill('Hello\nAda');
      await choice(form, 'Required texts').selectOption('Any of them');
      expect(await text(form, 'Text').count()).toBe(0);
    },
    { values: ['Hello', 'Ada'], mode: 'any' },
  ],
  regex: [
    'Regular expression',
    async (form) => {
      await text(form, 'Pattern').fill('hello .*');
      await text(form, 'Flags').fill('i');
      await check(form, 'The whole output must match').check();
    },
    { pattern: 'hello .*', flags: 'i', full_match: true },
  ],
  json_valid: [
    'Valid JSON',
    (form) => check(form, 'Accept JSON in a Markdown code block').check(),
    { strip_code_fence: true },
  ],
  json_schema: [
    'JSON schema',
    async (form) => {
      expect(JSON.parse(await text(form, 'Schema').inputValue())).toEqual({
        type: 'object',
        required: [],
        properties: {},
      });
      await text(form, 'Schema').fill('{"type": "object", "required": ["city"]}');
    },
    { schema: { type: 'object', required: ['city'] } },
  ],
  json_match: [
    'JSON match',
    async (form) => {
      await text(form, 'JSON to find').fill('{"city": "Paris"}');
      await choice(form, 'Keys and items that are not expected').selectOption('Are allowed');
      await check(form, 'Lists may be in any order').check();
      await check(form, 'Score the share that matches').uncheck();
    },
    { value: { city: 'Paris' }, mode: 'subset', ignore_array_order: true, partial_credit: false },
  ],
  numeric: [
    'Number',
    async (form) => {
      await number(form, 'May be off by').fill('0.5');
      await choice(form, 'Number to compare').selectOption('The last');
    },
    { absolute_tolerance: 0.5, extract: 'last' },
  ],
  levenshtein: [
    'Similar text',
    (form) => check(form, 'Upper and lower case differ').uncheck(),
    { case_sensitive: false },
  ],
  length: [
    'Length',
    async (form) => {
      await choice(form, 'Unit').selectOption('Words');
      await number(form, 'At most').fill('20');
    },
    { unit: 'words', at_most: 20 },
  ],
  similar: [
    'Similar meaning',
    async (form) => {
      await choice(form, 'Model for embeddings').fill('sandbox/echo');
      await text(form, 'Texts').fill('Hello Ada\nHi');
      await number(form, 'Passes from').fill('0.8');
      await check(form, 'Invert the result').check();
    },
    { model: 'sandbox/echo', values: ['Hello Ada', 'Hi'], threshold: 0.8, negate: true },
  ],
  tool_calls: [
    'Tool calls',
    async (form) => {
      await text(form, 'Expected calls').fill(JSON.stringify(CALLS));
      await choice(form, 'Inputs of the tools').selectOption('May hold more');
      await check(form, 'In this order').check();
    },
    { value: CALLS, input: 'subset', ordered: true },
  ],
  latency: ['Latency', (form) => number(form, 'At most, in milliseconds').fill('2000'), { at_most_ms: 2000 }],
  cost: ['Cost', (form) => number(form, 'At most, in US dollars').fill('0.01'), { at_most_usd: 0.01 }],
  llm_judge: [
    'Model as a judge',
    async (form) => {
      await choice(form, 'Model of the judge').fill('sandbox/echo');
      await text(form, 'Rubric').fill('Friendly.');
      expect(await number(form, 'Lowest grade').inputValue()).toBe('1');
      await number(form, 'Highest grade').fill('10');
      await text(form, 'Categories instead of grades').fill(
        '[{"value": "yes", "score": 1}, {"value": "no", "score": 0}]',
      );
      await check(form, 'Show it the prompt').uncheck();
      await text(form, 'Parameters of the judge').fill('{"temperature": 0}');
    },
    {
      model: 'sandbox/echo',
      rubric: 'Friendly.',
      scale: { min: 1, max: 10 },
      categories: [
        { value: 'yes', score: 1 },
        { value: 'no', score: 0 },
      ],
      include_input: false,
      parameters: { temperature: 0 },
    },
  ],
  pairwise: [
    'Better of two',
    async (form) => {
      await choice(form, 'Model of the judge').fill('sandbox/echo');
      await text(form, 'Rubric').fill('Friendlier.');
      await check(form, 'Show it the expected value').uncheck();
    },
    { model: 'sandbox/echo', rubric: 'Friendlier.', include_expected: false },
  ],
  http: [
    'Your own scorer',
    async (form) => {
      await text(form, 'URL').fill('http://127.0.0.1:61234/score');
      await text(form, 'Signing secret').fill(SECRET);
      expect(await number(form, 'Time for a request, in milliseconds').getAttribute('placeholder')).toBe('10000');
      await number(form, 'Time for a request, in milliseconds').fill('500');
    },
    { url: 'http://127.0.0.1:61234/score', secret: SECRET, timeout_ms: 500 },
  ],
};

test('every type is tried', () => {
  expect(Object.keys(FORMS).toSorted()).toEqual(
    EvaluatorConfig.options.map(({ shape }) => shape.type.value).toSorted(),
  );
});

test.each(Object.entries(FORMS))('the form of %s is drawn from its schema', async (type, [title, fill, options]) => {
  const { page, complaints } = visitor;
  await page.goto(stage.at('/evaluations/new?prompt=greeting'));
  await page.getByLabel('From', { exact: true }).selectOption('inline');
  await page.getByRole('textbox', { name: 'Examples' }).fill('{"variables": {"name": "Ada"}, "expected": "Hello Ada"}');
  const form = page.getByRole('group', { name: 'Evaluator 1' });
  await form.getByLabel('Scores by').selectOption(title);
  await form.getByText('More options').click();
  await fill(form);
  const isCreation = (request: { method(): string; url(): string }) =>
    request.method() === 'POST' && request.url().endsWith('/v1/evaluations');
  const sent = page.waitForRequest(isCreation);
  const answered = page.waitForResponse((response) => isCreation(response.request()));
  await page.getByRole('button', { name: 'Start the evaluation' }).click();
  expect((await sent).postDataJSON().evaluators).toEqual([{ type, ...options }]);
  const response = await answered;
  expect([response.status(), await response.json()]).toMatchObject([201, { prompt_name: 'greeting' }]);
  expect(complaints).toEqual([]);
});

test('an added evaluator is of an unused type, and required fields hold the form back', async () => {
  const { page } = visitor;
  await page.goto(stage.at('/evaluations/new?prompt=greeting'));
  await page.getByRole('button', { name: 'Add an evaluator' }).click();
  const second = page.getByRole('group', { name: 'Evaluator 2' });
  expect(await second.getByLabel('Scores by').inputValue()).toBe('contains');
  await second.getByLabel('Scores by').selectOption('Latency');
  expect(await second.locator('input:invalid').count()).toBe(1);
});
