import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Stage, startStage, violationsOf } from './stage.ts';

let stage: Stage;
/** By what they show. */
let pages: { at: string; shows: string }[];

beforeAll(async () => {
  stage = await startStage();
  const { call } = stage.service;
  const name = 'support/answer';
  await call('POST', '/prompts', {
    body: {
      name,
      messages: [
        { role: 'system', content: 'Answer {{ customer }}.' },
        { placeholder: 'history', required: false },
        { role: 'user', content: '{{ question }}' },
      ],
      model: 'sandbox/echo',
      inputs: { customer: { type: 'string', enum: ['Ada', 'Grace'] }, urgent: { type: 'boolean', required: false } },
      parameters: { temperature: 0.2 },
      description: 'Answers of the support.',
    },
  });
  await call('PUT', `/prompts/${name}`, { body: { model: 'sandbox/json', commit_message: 'JSON' } });
  await call('PUT', `/prompts/${name}/labels/production`, { body: { version: 1 } });
  const { body } = await call('POST', '/executions', {
    body: { prompt_name: name, variables: { customer: 'Ada', question: 'Where is it?' } },
  });
  pages = [
    { at: '/sign-in', shows: 'Sign in' },
    { at: '/prompts', shows: 'Prompts' },
    { at: `/prompts/${name}`, shows: name },
    { at: `/prompts/${name}?tab=versions`, shows: 'All versions' },
    { at: `/prompts/${name}?tab=runs`, shows: name },
    { at: `/playground?prompt=${name}`, shows: 'Pane 1' },
    { at: '/executions', shows: 'Executions' },
    { at: `/executions/${body.id}`, shows: 'Output' },
    { at: '/executions/exec_none', shows: 'Execution exec_none' },
    { at: '/nothing', shows: 'There is no such page' },
  ];
});
afterAll(() => stage?.stop());

// All that the theme changes is colours.
describe.each([
  { colorScheme: 'light', rules: undefined },
  { colorScheme: 'dark', rules: ['color-contrast'] },
] as const)('in the $colorScheme theme', ({ colorScheme, rules }) => {
  test('no page has anything that axe knows to be inaccessible', async () => {
    const { context, page } = await stage.signIn({ colorScheme });
    const violations: string[] = [];
    for (const { at, shows } of pages) {
      await page.goto(stage.at(at));
      await page.getByRole('heading', { name: shows }).first().waitFor();
      await page.waitForLoadState('networkidle');
      violations.push(...(await violationsOf(page, rules && [...rules])));
    }
    await page.goto(stage.at('/prompts'));
    await page.getByRole('button', { name: 'New prompt…' }).click();
    await page.getByRole('dialog').waitFor();
    violations.push(...(await violationsOf(page, rules && [...rules])));
    expect(violations).toEqual([]);
    await context.close();
  });
});

test('on a phone no page is wider than the screen', async () => {
  const { context, page } = await stage.signIn({ viewport: { width: 375, height: 740 } });
  const tooWide: string[] = [];
  for (const { at, shows } of pages) {
    await page.goto(stage.at(at));
    await page.getByRole('heading', { name: shows }).first().waitFor();
    await page.waitForLoadState('networkidle');
    const excess = await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    if (excess > 0) tooWide.push(`${at}: ${excess} px`);
  }
  expect(tooWide).toEqual([]);
  await page.goto(stage.at('/prompts'));
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('link', { name: 'Playground' }).click();
  await page.getByRole('heading', { name: 'Playground' }).waitFor();
  await context.close();
});
