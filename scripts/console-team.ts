import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openDatabase } from '../src/db/database.ts';
import { urlOfRunningPostgres } from '../src/embedded/postgres/running-postgres.ts';
import { signIn } from '../test/support/members.ts';
import { createTestEnvironment } from '../test/support/processes-service.ts';
import { TEST_KEY } from '../test/support/providers/models.ts';
import { startOpenAiServer } from '../test/support/providers/openai.ts';
import type { RecordedCall } from '../test/support/providers/protocol.ts';
import { answering, startReceiver } from '../test/support/receiver.ts';
import { seedExecutions } from '../test/support/seed-rows.ts';
import { waitFor } from '../test/support/wait-for.ts';
import { answerImprovement, improvementBodies } from './console-improvement.ts';

const MODEL = 'openai/gpt-4o-mini';
export const PROMPT = 'support/answer';
export const DATASET = 'support/tickets';

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
    metadata: { topic: index < 2 ? 'orders' : index < 4 ? 'goods' : 'payment' },
  })),
);

/** A cup, 96 by 96 pixels. */
const CUP =
  'iVBORw0KGgoAAAANSUhEUgAAAGAAAABgCAMAAADVRocKAAAACVBMVEX38ea0UBo8HhRHQx5vAAAAoUlEQVR42u2XQQ6AMAgEhf8/2rvBWOhuNGbm2AMT2gLtcQAAAAAAgJmoyMzrkloQVkERXypIv6BKSyeo448taxu0oehlMDCE27B6i8aGVh1MDL1KHhiavUgmuN34tqHdiwSC9AvCKnjodduCXBHElzPwn4H/FtnrwF/JL/YiUTd1zwP7RHPPZP+rIszvImn4hkD6PxDGR4AAwS8EAAAAAC1OWdkH4+3PgroAAAAASUVORK5CYII=';

const SUMMARY = `## Ada’s cup arrived broken

She asks for **a new one**, and has sent a picture.

| what | when |
|---|---|
| bought | 3 May |
| arrived | 7 May |

- [x] the picture shows the crack
- [ ] send a new cup

\`\`\`json
{ "order": 1042, "refund": false }
\`\`\`
`;

/** The first version answers some questions, the second most of them, and two of them worse than the first. */
function answer(call: RecordedCall) {
  const improved = answerImprovement(call);
  if (improved !== undefined) return improved;
  const { prompt } = call;
  if (prompt.startsWith('Sum up')) return { text: SUMMARY, usage: { input: 96, output: 71 } };
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

export type Team = Awaited<ReturnType<typeof startTeam>>;
export type Ids = Awaited<ReturnType<Team['useService']>>;
export type MoreIds = Awaited<ReturnType<Team['useEverything']>>;

/** Starts stand-ins for the model and the receiver of webhooks, and reserves the service's address; then simulates a team. */
export async function startTeam() {
  const openai = await startOpenAiServer({ latencyMs: 300, answer });
  const receiver = await startReceiver();
  const place = await createTestEnvironment({
    OPENAI_API_KEY: TEST_KEY,
    OPENAI_BASE_URL: openai.baseUrl,
    RATE_LIMIT_PER_MINUTE: '0',
  });
  const { call } = place;

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

  /** Starts a release, generates traffic, and waits until it has been checked. @returns its id */
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

  /** Improves a prompt. @returns its id */
  async function runImprovement(): Promise<string> {
    const { name, prompt, examples: messages, improvement } = improvementBodies(MODEL);
    await send('POST', '/prompts', prompt);
    await send('PUT', `/prompts/${name}/labels/production`, { version: 1 });
    await call('PUT', `/datasets/${name}`, {
      raw: messages.map((each) => JSON.stringify(each)).join('\n'),
      headers: { 'Content-Type': 'application/x-ndjson' },
    });
    const { id } = await send('POST', '/improvements', improvement);
    await until('the improvement', `/improvements/${id}`, ({ status }) => status === 'completed');
    return id;
  }

  /** Polls until a response satisfies the condition. */
  const until = (what: string, at: string, isSo: (body: Awaited<ReturnType<typeof send>>) => boolean) =>
    waitFor(what, async () => isSo((await call('GET', at)).body));

  async function inDatabase<Result>(use: (database: Awaited<ReturnType<typeof openDatabase>>) => Promise<Result>) {
    const url = await urlOfRunningPostgres(path.join(place.dataDir, 'postgres'), 'pms');
    if (url === undefined) throw new Error('The database does not run.');
    const database = await openDatabase(url, { poolSize: 1, statementTimeoutMs: 0 });
    try {
      return await use(database);
    } finally {
      await database.close();
    }
  }

  /** Adds people of the workspace, and runs of the last weeks. @returns keys of two people */
  const seedRows = () =>
    inDatabase(async (db) => {
      const [workspace] = await db.system.query<{ id: string }>({ text: 'select id from workspaces' });
      await seedExecutions(db.system.query, { workspaceId: workspace?.id ?? '', count: 4_000, days: 29 });
      const people = [
        { role: 'admin', name: 'Ada Lovelace', email: 'ada@example.com' },
        { role: 'editor', name: 'Grace Hopper', email: 'grace@example.com' },
        { role: 'viewer', name: 'Wolfeschlegelsteinhausenbergerdorff', email: null },
      ] as const;
      const keys: string[] = [];
      for (const { role, ...person } of people)
        keys.push((await signIn({ dependencies: { db } } as never, [{ workspace: 'default', role }], person)).key);
      return keys.slice(0, 2);
    });

  /** Executions of all kinds. @returns their ids */
  async function useModels() {
    await send('POST', '/prompts', {
      name: 'support/photo',
      messages: [
        { role: 'system', content: 'You see what customers have bought, and say in Markdown what is wrong with it.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Sum up what {{ customer }} says, and what the picture shows.' },
            { type: 'file', media_type: 'image/png', filename: 'cup.png', variable: 'photo' },
          ],
        },
      ],
      model: MODEL,
    });
    await send('POST', '/prompts', { name: 'checkout/refund', template: 'Refund {{ order }}', model: 'sandbox/fail' });
    await send('POST', '/prompts', {
      name: 'a/rather/deep/folder/with-a-prompt-whose-name-is-quite-long-indeed',
      template: '{"echo": "{{ text }}"}',
      model: 'sandbox/json',
    });
    const photo = await send('POST', '/executions', {
      prompt_name: 'support/photo',
      variables: { customer: 'Ada', photo: { media_type: 'image/png', filename: 'cup.png', data: CUP } },
    });
    const summary = await send('POST', '/executions', {
      prompt_name: 'support/summary',
      variables: { conversation: 'Ada: My cup arrived broken.' },
      metadata: { customer: 'acme', channel: 'chat' },
    });
    const json = await send('POST', '/executions', {
      prompt_name: 'a/rather/deep/folder/with-a-prompt-whose-name-is-quite-long-indeed',
      variables: { text: 'a text' },
    });
    const tools = await send('POST', '/executions', {
      draft: {
        model: 'sandbox/tools',
        template: 'The weather in Paris?',
        tools: [
          {
            name: 'get_weather',
            description: 'The weather of a city',
            input_schema: { type: 'object', properties: { city: { type: 'string' } } },
          },
        ],
      },
    });
    let failed = { id: '' };
    for (let order = 1; order <= 5; order++)
      failed = await send('POST', '/executions', { prompt_name: 'checkout/refund', variables: { order } });
    return { photo: photo.id, summary: summary.id, json: json.id, tools: tools.id, failed: failed.id };
  }

  /** Scores of people and evaluators, and pending reviews. */
  async function useReviews(keys: readonly string[]) {
    await send('PUT', '/score-definitions/helpful', { data_type: 'boolean', description: 'Does it help?' });
    await send('PUT', '/score-definitions/tone', {
      data_type: 'categorical',
      categories: [
        { value: 'kind', label: 'Kind' },
        { value: 'cold', label: 'Cold' },
      ],
    });
    await send('PUT', '/score-definitions/quality', { data_type: 'numeric', min: 1, max: 5 });
    const { data } = await send('GET', `/executions?prompt_name=${PROMPT}&limit=40`);
    const executions: { id: string }[] = data;
    await send('PUT', '/queues/support/kindness', {
      description: 'Is the answer correct and kind?',
      score_names: ['helpful', 'tone', 'quality'],
      filter: { prompt_name: PROMPT, score: ['helpful=false'] },
      sample_rate: 0.2,
      reviewers_per_item: 2,
    });
    await send('PUT', '/queues/support/photos', { score_names: ['helpful'] });
    await send('POST', '/queues/support/kindness/items', {
      execution_ids: executions.slice(0, 30).map(({ id }) => id),
    });
    const { data: photos } = await send('GET', '/executions?prompt_name=support/photo');
    await send('POST', '/queues/support/photos/items', { execution_ids: [photos[0].id] });
    for (const [reviewer, key] of keys.entries())
      for (let at = 0; at < 5 + reviewer; at++) {
        const { body } = await call('POST', '/queues/support/kindness/next', { key });
        const { item } = body;
        if (item === null) break;
        const scores = [
          {
            name: 'helpful',
            value: (at + reviewer) % 9 > 1,
            ...(at % 7 === 0 && { comment: 'It does not say when.' }),
          },
          { name: 'tone', value: at % 4 === 0 ? 'cold' : 'kind' },
          { name: 'quality', value: 1 + ((at * 3 + reviewer) % 5) },
        ];
        const done = await call('POST', `/queues/support/kindness/items/${item.id}/complete`, {
          key,
          body: { scores },
        });
        if (done.status >= 300) throw new Error(`complete: ${JSON.stringify(done.body)}`);
      }
    await send('POST', '/scores', {
      scores: executions.slice(0, 30).flatMap(({ id }, index) => [
        {
          name: 'helpful',
          value: index % 9 > 1,
          subject: { execution_id: id },
          comment: 'The answer says what happens next.',
          evaluator: { rule: 'support/helpfulness', version: '5f2a9c01', model: MODEL },
        },
      ]),
    });
    await send('PUT', '/rules/support/short', {
      prompt_name: PROMPT,
      sample_rate: 1,
      max_cost_per_day: '5',
      evaluators: [{ type: 'contains', name: 'greets', values: ['Hello'] }],
    });
    await send('PUT', '/rules/checkout/json', {
      evaluators: [{ type: 'json_valid', name: 'parses' }],
      sample_rate: 0.05,
    });
    await send('POST', '/rules/support/short/backfill', { since: '2020-01-01T00:00:00Z', max_cost: 10 });
  }

  /** Everything else, so that every page shows something. @returns further parts of addresses */
  async function useEverything({
    before,
    evaluation,
    execution,
  }: Record<'before' | 'evaluation' | 'execution', string>) {
    const keys = await seedRows();
    const models = await useModels();
    await useReviews(keys);
    const third = await evaluate(1);
    await send('PUT', '/monitors/checkout/errors', {
      prompt_name: 'checkout/refund',
      window: '1h',
      checks: [
        { metric: 'error_rate', above: 0.1, min_executions: 1 },
        { metric: 'cost_total', above: 5 },
      ],
    });
    await send('PUT', '/monitors/support/speed', {
      prompt_name: PROMPT,
      window: '1d',
      checks: [{ metric: 'latency_p95', above: 4_000, for: '10m' }],
    });
    await send('PUT', '/views/slow', { page: 'executions', query: { min_latency_ms: '1000' }, shared: true });
    await send('PUT', '/prompts/geo/capital/labels/production', { version: 1 });
    await send('PUT', '/prompts/geo/capital', { template: 'What is the capital of {{ country }}? One word.' });
    const done = await send('POST', '/releases', {
      prompt_name: 'geo/capital',
      label: 'production',
      version: 2,
      reason: 'One word is enough',
      steps: [{ type: 'promote' }],
    });
    await until('the end of a release', `/releases/${done.id}`, ({ status }) => status === 'succeeded');
    const waiting = await send('POST', '/releases', {
      prompt_name: PROMPT,
      label: 'staging',
      version: 1,
      reason: 'Back to the friendly one',
      steps: [
        {
          type: 'evaluate',
          dataset: { name: DATASET },
          evaluators: [{ type: 'contains', name: 'right' }],
          require: 'threshold',
          threshold: 0,
        },
        { type: 'approve' },
        { type: 'promote' },
      ],
    });
    await until('a release that waits', `/releases/${waiting.id}`, ({ status }) => status === 'awaiting_approval');
    const device = await call('POST', '/device/authorizations', { key: null, body: { client: 'pms on workstation' } });
    const failing = await send('POST', '/webhooks', {
      url: 'https://hooks.example.com/services/T000/a/rather/long/address',
      events: ['monitor.alerted'],
    });
    await send('PATCH', `/webhooks/${failing.id}`, { status: 'disabled' }).catch(() => undefined);
    await until('an alert', '/monitors/checkout/errors', ({ state }) => state === 'alerting');
    const { data: passed } = await send('GET', `/evaluations/${evaluation}/results`);
    return {
      ...models,
      third,
      runs: [before, evaluation, third].join(','),
      done: done.id,
      waiting: waiting.id,
      code: device.body.user_code,
      passed: passed[1].seq,
      execution,
    };
  }

  return {
    place,
    receiver,
    useService,
    runRelease,
    runImprovement,
    useEverything,
    async stop() {
      await Promise.all([openai, receiver].map((server) => server.close()));
      await place.remove();
    },
  };
}
