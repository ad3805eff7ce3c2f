import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { modelCall, newTraceId, send, span } from '../api/traces/traces-support.ts';
import { problemsOf, violationsInThemes } from './accessible.ts';
import { type Stage, startStage } from './stage.ts';

let stage: Stage;
/** With a text on each page. */
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
  const traceId = newTraceId();
  await send(call, [
    span({ traceId, name: 'invoke_agent travel', attributes: modelCall(52, 9, { 'session.id': 'chat' }) }),
  ]);
  pages = [
    { at: '/sign-in', shows: 'Sign in' },
    { at: '/prompts', shows: 'Prompts' },
    { at: `/prompts/${name}`, shows: name },
    { at: `/prompts/${name}?tab=versions`, shows: 'All versions' },
    { at: `/prompts/${name}?tab=runs`, shows: name },
    { at: `/playground?prompt=${name}`, shows: 'Pane 1' },
    { at: '/executions', shows: 'Executions' },
    { at: `/executions/${body.id}`, shows: 'Output' },
    { at: '/traces', shows: 'Traces' },
    { at: `/traces/${traceId}`, shows: 'invoke_agent travel' },
    { at: '/conversations/chat', shows: 'chat' },
    { at: '/executions/exec_none', shows: 'Execution exec_none' },
    { at: '/nothing', shows: 'There is no such page' },
  ];
});
afterAll(() => stage?.stop());

test('all these pages are accessible, in either theme, and fit a phone', async () => {
  expect(await problemsOf(stage, pages)).toEqual([]);
});

test('a dialog is accessible in either theme', async () => {
  const { context, page } = await stage.signIn();
  await page.goto(stage.at('/prompts'));
  await page.getByRole('button', { name: 'New prompt…' }).click();
  await page.getByRole('dialog').waitFor();
  expect(await violationsInThemes(page)).toEqual([]);
  await context.close();
});

test('on a phone the menu leads to the pages', async () => {
  const { context, page } = await stage.signIn({ viewport: { width: 375, height: 740 } });
  await page.goto(stage.at('/prompts'));
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('link', { name: 'Playground' }).click();
  await page.getByRole('heading', { name: 'Playground' }).waitFor();
  await context.close();
});
