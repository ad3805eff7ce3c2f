// npm run screenshots:console [-- NAME…]
// Runs the service as `npm start` does, gives it what a team would have, and saves the pages of the web console that docs/console.md shows to
// docs/images, or those that are named. Takes about four minutes. The model and the receiver of webhooks are stood in for.
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { launchBrowser, untilQuiet, watchRequests } from '../test/support/browser.ts';
import { killLeftovers } from '../test/support/processes.ts';
import { choosePlace, E2E_KEY, startedService } from '../test/support/processes-service.ts';
import { TEST_KEY } from '../test/support/providers/models.ts';
import { startOpenAiServer } from '../test/support/providers/openai.ts';
import type { SeenCall } from '../test/support/providers/protocol.ts';
import { answering, startReceiver } from '../test/support/receiver.ts';
import { waitFor } from '../test/support/wait-for.ts';
import { saveScreenshot } from './save-screenshot.ts';

const SCREEN = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
const MODEL = 'openai/gpt-4o-mini';
const PROMPT = 'support/answer';
const DATASET = 'support/tickets';

const CUSTOMERS = ['Ada', 'Barbara', 'Dorothy', 'Frances', 'Grace', 'Jean', 'Katherine', 'Mary'];
const TOPICS = [
  { question: 'Where is my order?', fact: 'on its way' },
  { question: 'Can I send it back?', fact: 'within 30 days' },
  { question: 'Do you ship to Norway?', fact: 'ship to Norway' },
  { question: 'My cup arrived broken.', fact: 'a new one' },
  { question: 'Can I pay by invoice?', fact: 'by invoice' },
];
const examples = CUSTOMERS.flatMap((customer) =>
  TOPICS.map(({ question, fact }, index) => ({
    id: `${customer.toLowerCase()}-${index + 1}`,
    variables: { customer, question },
    expected: fact,
  })),
);

/** The first version answers some questions, the second most of them, and two of them worse than the first. */
function answer({ prompt }: SeenCall) {
  const at = examples.findIndex(
    ({ variables }) => prompt.includes(`to ${variables.customer}`) && prompt.includes(variables.question),
  );
  const isSecond = prompt.includes('one sentence');
  const knows = isSecond ? at % 11 !== 3 : at % 2 === 0;
  const { customer = 'you', fact = 'yes' } = {
    customer: examples[at]?.variables.customer,
    fact: examples[at]?.expected,
  };
  const known = `Hello ${customer}, thank you for writing. The answer is: ${fact}. Kind regards, the team`;
  const text = knows ? known : `Hello ${customer}, thank you for writing. We look into it and come back to you soon.`;
  return { text, usage: { input: 210 + (at % 7), output: isSecond ? 34 : 58 + (at % 5) } };
}

const openai = await startOpenAiServer({ latencyMs: 300, answer });
const receiver = await startReceiver();
const place = await choosePlace({
  OPENAI_API_KEY: TEST_KEY,
  OPENAI_BASE_URL: openai.baseUrl,
  RATE_LIMIT_PER_MINUTE: '0',
});
const { call, origin } = place;

async function send(method: string, at: string, body?: object) {
  const answered = await call(method, at, body === undefined ? {} : { body });
  if (answered.status >= 300) throw new Error(`${method} ${at}: ${answered.status} ${JSON.stringify(answered.body)}`);
  return answered.body;
}

async function evaluate(version: number): Promise<string> {
  const { id } = await send('POST', '/evaluations', {
    prompt_name: PROMPT,
    version,
    dataset: DATASET,
    evaluators: [
      { type: 'contains', name: 'right', weight: 3 },
      { type: 'latency', name: 'fast', at_most_ms: 5_000 },
    ],
    concurrency: 8,
  });
  await waitFor('the evaluation', async () => (await call('GET', `/evaluations/${id}`)).body.status === 'completed');
  return id;
}

async function makePrompts(): Promise<void> {
  await send('POST', '/prompts', {
    name: 'support/footer',
    template: 'End with “Kind regards, {{ sender }}”.',
    model: MODEL,
  });
  await send('POST', '/prompts', {
    name: 'support/summary',
    template: 'Sum up this conversation for a colleague:\n\n{{ conversation }}',
    model: MODEL,
  });
  await send('POST', '/prompts', {
    name: 'geo/capital',
    template: 'What is the capital of {{ country }}?',
    model: MODEL,
  });
  const template = (how: string) =>
    `You answer for a shop that sells cups. Write to {{ customer }}, who asks:\n\n{{ question }}\n\n${how}\n{{> support/footer@1 }}`;
  await send('POST', '/prompts', {
    name: PROMPT,
    template: template('Be friendly, and say what happens next.'),
    model: MODEL,
    parameters: { temperature: 0.2, max_tokens: 300 },
    inputs: {
      customer: { type: 'string', description: 'First name' },
      question: { type: 'string' },
      sender: { type: 'string', default: 'the team' },
    },
    description: 'Answers of the support, by mail and in the chat.',
    commit_message: 'First version',
  });
  await send('PUT', `/prompts/${PROMPT}/labels/production`, { version: 1 });
  await send('PUT', `/prompts/${PROMPT}`, {
    template: template('Say what is so in one sentence, and be friendly.'),
    commit_message: 'Says what is so, in one sentence',
  });
  await send('PUT', `/prompts/${PROMPT}/labels/staging`, { version: 2 });
}

async function uploadDataset(): Promise<void> {
  const upload = (lines: object[]) =>
    call('PUT', `/datasets/${DATASET}`, {
      raw: lines.map((line) => JSON.stringify(line)).join('\n'),
      headers: { 'Content-Type': 'application/jsonl' },
    });
  await upload(examples.slice(0, 38));
  await upload(examples);
}

/** @returns the id of the webhook */
async function useWebhook(): Promise<string> {
  receiver.respond = answering(503);
  const { id } = await send('POST', '/webhooks', {
    url: receiver.url,
    events: ['prompt.updated', 'evaluation.completed', 'evaluation.regression'],
    description: 'Tells the team’s chat',
  });
  await send('POST', `/webhooks/${id}/test`);
  receiver.respond = answering(200);
  await send('POST', `/webhooks/${id}/test`);
  return id;
}

/** @returns the parts of addresses that are known only now */
async function useService() {
  const webhook = await useWebhook();
  await makePrompts();
  await uploadDataset();
  const before = await evaluate(1);
  const evaluation = await evaluate(2);
  const [shown] = examples;
  const { id: execution } = await send('POST', '/executions', { prompt_name: PROMPT, variables: shown?.variables });
  for (const { variables } of examples.slice(1, 9))
    await send('POST', '/executions', { prompt_name: PROMPT, variables });
  await send('POST', '/schedules', {
    name: 'every night',
    cron: '0 3 * * *',
    evaluation: {
      prompt_name: PROMPT,
      label: 'production',
      dataset: { name: DATASET },
      evaluators: [{ type: 'contains' }],
    },
  });
  const { data: schedules } = await send('GET', '/schedules');
  await send('PUT', '/labels/production', { protected: true });
  await send('POST', '/api-keys', { name: 'chat of the shop', scopes: ['read', 'execute'] });
  const { data: worse } = await send('GET', `/evaluations/${evaluation}/results?regression=true`);
  const { data: deliveries } = await send('GET', `/webhooks/${webhook}/deliveries?status=delivered`);
  return {
    webhook,
    before,
    evaluation,
    execution,
    schedule: schedules[0].id,
    worse: worse[0].seq,
    delivery: deliveries[0].id,
  };
}

/** Starts a release, gives it callers, and waits until it has been checked. @returns its id */
async function runRelease(): Promise<string> {
  const { id } = await send('POST', '/releases', {
    prompt_name: PROMPT,
    label: 'production',
    version: 2,
    reason: 'Says what is so, in one sentence',
    steps: [
      { type: 'evaluate', dataset: { name: DATASET }, evaluators: [{ type: 'contains', name: 'right' }] },
      { type: 'canary', percent: 25 },
      {
        type: 'analyze',
        for: '6h',
        min_executions: 500,
        checks: [
          { metric: 'error_rate', max_increase: 0.02 },
          { metric: 'latency_p95', max_increase: 0.2 },
        ],
      },
      { type: 'promote' },
    ],
  });
  const release = async () => (await call('GET', `/releases/${id}`)).body;
  await waitFor('the canary', async () => (await release()).step === 2);
  let seen: { arms?: { candidate: { executions: number } } } | undefined;
  for (let round = 0; (seen?.arms?.candidate.executions ?? 0) < 20; round++) {
    const runs = examples.map(({ id: example, variables }) =>
      send('POST', '/executions', {
        prompt_name: PROMPT,
        label: 'production',
        variables,
        rollout_key: `${example}-${round}`,
      }),
    );
    await Promise.all(runs);
    seen = (await release()).steps[2].numbers;
    await setTimeout(10_000);
  }
  return id;
}

interface Shot {
  /** The file is `console-NAME.png`. */
  name: string;
  at: string;
  /** A text that is there when the page is. */
  shows: string;
  isDark?: boolean;
  isPhone?: boolean;
  height?: number;
  prepare?: (page: Page) => Promise<unknown>;
}

const shotsOf = (ids: Awaited<ReturnType<typeof useService>>): Shot[] => [
  { name: 'sign-in', at: '/sign-in', shows: 'API key', height: 420 },
  { name: 'home', at: '/', shows: 'Home', height: 700 },
  { name: 'prompts', at: '/prompts', shows: PROMPT },
  { name: 'prompts-phone', at: '/prompts', shows: PROMPT, isPhone: true },
  { name: 'prompt', at: `/prompts/${PROMPT}`, shows: 'Save as version 3' },
  { name: 'versions', at: `/prompts/${PROMPT}?tab=versions`, shows: 'First version', isDark: true },
  { name: 'runs', at: `/prompts/${PROMPT}?tab=runs`, shows: 'Median latency', height: 1_000 },
  {
    name: 'playground',
    at: `/playground?prompt=${PROMPT}&panes=1,2&dataset=${DATASET}&examples=0-2`,
    shows: 'Pane 2',
    height: 1_200,
    async prepare(page) {
      await page.getByRole('button', { name: 'Run all' }).click();
      await page.getByText('completed').nth(5).waitFor();
      await page.getByRole('button', { name: 'Compare with pane 1' }).click();
    },
  },
  { name: 'executions', at: '/executions', shows: PROMPT },
  { name: 'executions-panel', at: `/executions?open=${ids.execution}`, shows: 'Timeline', isDark: true },
  { name: 'execution', at: `/executions/${ids.execution}`, shows: 'Timeline' },
  { name: 'evaluations', at: `/evaluations?prompt_name=${PROMPT}`, shows: 'Score by version' },
  {
    name: 'new-evaluation',
    at: `/evaluations/new?from=${ids.evaluation}`,
    shows: '40 calls of the model',
    height: 1_000,
  },
  { name: 'evaluation', at: `/evaluations/${ids.evaluation}`, shows: 'Better by', height: 1_000 },
  { name: 'evaluation-dark', at: `/evaluations/${ids.evaluation}?only=regression`, shows: 'Better by', isDark: true },
  { name: 'evaluation-phone', at: `/evaluations/${ids.evaluation}`, shows: 'Better by', isPhone: true },
  {
    name: 'example',
    at: `/evaluations/${ids.evaluation}?only=regression&example=${ids.worse}`,
    shows: 'Output of the baseline',
    height: 1_100,
  },
  {
    name: 'comparison',
    at: `/evaluations/${ids.evaluation}/compare/${ids.before}`,
    shows: 'By evaluator',
    height: 1_000,
  },
  { name: 'schedule', at: `/schedules/${ids.schedule}`, shows: 'The evaluation that it starts' },
  { name: 'schedules', at: '/schedules', shows: 'every night', height: 420 },
  { name: 'datasets', at: '/datasets', shows: DATASET, height: 560 },
  { name: 'dataset', at: `/datasets/${DATASET}`, shows: 'ada-1' },
  { name: 'dataset-versions', at: `/datasets/${DATASET}?tab=versions`, shows: '2 added', height: 900 },
  { name: 'usage', at: '/usage', shows: 'By prompt', height: 1_000 },
  { name: 'webhooks', at: '/webhooks', shows: receiver.url, height: 420 },
  { name: 'webhook', at: `/webhooks/${ids.webhook}`, shows: 'evaluation.completed' },
  { name: 'delivery', at: `/webhooks/${ids.webhook}?delivery=${ids.delivery}`, shows: 'Attempt 1' },
  { name: 'keys', at: '/settings', shows: 'chat of the shop', height: 420 },
  { name: 'labels', at: '/settings?tab=labels', shows: 'staging', height: 560 },
  { name: 'sessions', at: '/settings?tab=sessions', shows: 'bootstrap', height: 420 },
  { name: 'audit', at: '/settings?tab=audit', shows: '127.0.0.1', isDark: true },
  {
    name: 'release',
    at: '/releases',
    shows: 'There are no releases yet',
    height: 1_020,
    // The last, since it adds executions to what the others show.
    async prepare(page) {
      await page.goto(`${origin}/console/releases/${await runRelease()}`);
      await page.getByRole('figure', { name: 'Error rate' }).waitFor();
    },
  },
];

const only = process.argv.slice(2);
const chromium = await launchBrowser();
try {
  await startedService(place);
  const shots = shotsOf(await useService()).filter(({ name }) => only.length === 0 || only.includes(name));
  for (const { name, at, shows, isDark = false, isPhone = false, height, prepare } of shots) {
    const context = await chromium.browser.newContext({
      locale: 'en-US',
      timezoneId: 'UTC',
      viewport: isPhone ? PHONE : { ...SCREEN, ...(height !== undefined && { height }) },
      colorScheme: isDark ? 'dark' : 'light',
    });
    const page = await context.newPage();
    watchRequests(page);
    await page.goto(`${origin}/console${at}`);
    const key = page.getByLabel('API key');
    await key.waitFor();
    if (at !== '/sign-in') {
      await key.fill(E2E_KEY);
      await page.keyboard.press('Enter');
    }
    await page.getByText(shows).first().waitFor();
    await prepare?.(page);
    await untilQuiet(page);
    await saveScreenshot(page, `console-${name}`);
    await context.close();
  }
} finally {
  await chromium.close();
  await killLeftovers();
  await Promise.all([openai, receiver].map((server) => server.close()));
  await place.remove();
}
