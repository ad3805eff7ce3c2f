// npm run screenshots
// Runs the service like `npm start`, creates work of every kind, and saves the pages of the Temporal UI that docs/operations.md
// shows to docs/images. Takes about two minutes. Stand-ins replace models and receivers of webhooks.
import { setTimeout as delay } from 'node:timers/promises';
import { launchBrowser } from '../test/support/browser.ts';
import { killOrphans } from '../test/support/processes.ts';
import { createTestEnvironment, endedExecution, startedService } from '../test/support/processes-service.ts';
import { TEST_KEY } from '../test/support/providers/models.ts';
import { startOpenAiServer } from '../test/support/providers/openai.ts';
import { answering, startReceiver } from '../test/support/receiver.ts';
import { waitFor } from '../test/support/wait-for.ts';
import { saveScreenshot } from './save-screenshot.ts';

/** Makes a delivery fail finally within seconds. */
const SHORT_RETRY_WAITS = '1s,1s,1s,1s,1s';
/** The provider rejects every call for this customer for half an hour. */
const REFUSED_CUSTOMER = 'Ada';

const openai = await startOpenAiServer({
  latencyMs: 1_500,
  answer: () => ({ text: 'Your order is on its way.', usage: { input: 420, output: 180 } }),
});
openai.behave({
  mode: 'fail',
  status: 429,
  headers: { 'retry-after': '1800' },
  body: { error: { message: 'Rate limit reached for gpt-4o-mini', type: 'tokens', code: 'rate_limit_exceeded' } },
  matching: REFUSED_CUSTOMER,
});
const healthy = await startReceiver();
const broken = await startReceiver(answering(500));
const overloaded = await startReceiver(answering(503));
const place = await createTestEnvironment({
  OPENAI_API_KEY: TEST_KEY,
  OPENAI_BASE_URL: openai.baseUrl,
  RATE_LIMIT_PER_MINUTE: '0',
});
const { call } = place;

async function post(at: string, body: object = {}) {
  const answer = await call('POST', at, { body, headers: { Prefer: 'respond-async' } });
  if (answer.status >= 300) throw new Error(`POST ${at} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

type Body = Awaited<ReturnType<typeof post>>;

function untilRead(what: string, at: string, isSo: (body: Body) => boolean): Promise<Body> {
  return waitFor(what, async () => {
    const { body } = await call('GET', at);
    return isSo(body) ? body : undefined;
  });
}

/** A webhook that is disabled after a delivery with the usual number of retries. */
async function disableWebhook(): Promise<void> {
  const service = await startedService({ ...place, env: { ...place.env, WEBHOOK_RETRY_WAITS: SHORT_RETRY_WAITS } });
  const { id } = await post('/webhooks', { url: broken.url, events: ['prompt.created'] });
  await post('/prompts', { name: 'support/greeting', template: 'Greet {{ customer }}.', model: 'openai/gpt-4o-mini' });
  await untilRead('the webhook to be disabled', `/webhooks/${id}`, ({ status }) => status === 'disabled');
  service.interrupt();
  await service.ended;
}

/** @returns the ids of the workflows to show */
async function useService(): Promise<Record<'execution' | 'evaluation' | 'paused' | 'delivery', string>> {
  await post('/webhooks', { url: healthy.url, events: ['execution.completed'] });
  const { id: webhook } = await post('/webhooks', { url: overloaded.url, events: ['prompt.created'] });
  const prompt_name = 'support/answer';
  const template = 'Answer {{ customer }}, who asks: {{ question }}';
  await post('/prompts', { name: prompt_name, template, model: 'openai/gpt-4o-mini' });
  const question = 'Where is my order?';
  const rows = Array.from({ length: 10_000 }, (_, index) =>
    JSON.stringify({ id: `t${index}`, variables: { customer: `customer ${index}`, question }, expected: 'on its way' }),
  );
  const headers = { 'Content-Type': 'application/jsonl' };
  await call('PUT', '/datasets/tickets', { raw: rows.join('\n'), headers });

  const evaluation = { prompt_name, dataset: 'tickets', evaluators: [{ type: 'contains' }] };
  const underWay = await post('/evaluations', { ...evaluation, concurrency: 20, max_cost: '5' });
  const capped = await post('/evaluations', { ...evaluation, concurrency: 10, max_cost: '0.01' });
  const execute = (customer: string) => post('/executions', { prompt_name, variables: { customer, question } });
  const refused = await execute(REFUSED_CUSTOMER);
  const schedule = await post('/schedules', {
    name: 'nightly',
    cron: '0 3 * * *',
    evaluation: {
      prompt_name,
      evaluators: [{ type: 'contains' }],
      examples: rows.slice(0, 5).map((row) => JSON.parse(row)),
    },
  });
  await post(`/schedules/${schedule.id}/trigger`);
  for (const customer of ['Grace', 'Barbara', 'Frances', 'Katherine', 'Dorothy', 'Jean'])
    await endedExecution(call, (await execute(customer)).id);
  await untilRead('the budget to be used up', `/evaluations/${capped.id}`, ({ status }) => status === 'paused');
  const { data } = await untilRead(
    'a second attempt',
    `/webhooks/${webhook}/deliveries`,
    (body) => body.data[0]?.attempts_made === 2,
  );
  return {
    execution: refused.workflow_id,
    evaluation: underWay.workflow_id,
    paused: capped.workflow_id,
    delivery: data[0].workflow_id,
  };
}

const chromium = await launchBrowser();
try {
  await disableWebhook();
  await startedService(place);
  const workflows = await useService();
  const list = `http://127.0.0.1:${place.env['TEMPORAL_UI_PORT']}/namespaces/default/workflows`;
  const pageOf = (workflowId: string) => `${list}/${encodeURIComponent(workflowId)}`;
  for (const { name, url, tab, shows, height } of [
    { name: 'workflows', url: list, shows: 'execute-prompt/', height: 780 },
    { name: 'evaluation', url: pageOf(workflows.evaluation), shows: 'checks again in', height: 900 },
    {
      name: 'evaluation-details',
      url: pageOf(workflows.evaluation),
      tab: 'User Metadata',
      shows: 'for freshness',
      height: 680,
    },
    { name: 'evaluation-paused', url: pageOf(workflows.paused), shows: 'paused at', height: 900 },
    { name: 'execution-waits', url: pageOf(workflows.execution), shows: 'calls again in', height: 800 },
    { name: 'delivery-waits', url: pageOf(workflows.delivery), shows: 'retry 2 of 5 in', height: 1020 },
  ]) {
    const viewport = { width: 1280, height };
    const page = await chromium.browser.newPage({ locale: 'en-US', timezoneId: 'UTC', viewport });
    await page.goto(url);
    if (tab !== undefined) await page.getByText(tab).first().click();
    await page.getByText(shows).first().waitFor();
    // Waits for animations to end.
    await delay(4_000);
    await saveScreenshot(page, `temporal-${name}`);
    await page.close();
  }
} finally {
  await chromium.close();
  await killOrphans();
  await Promise.all([openai, healthy, broken, overloaded].map((server) => server.close()));
  await place.remove();
}
