// npm run screenshots:console
// Runs the service as `npm start` does, gives it prompts, runs and evaluations, and saves the pages of the web console that docs/console.md
// shows to docs/images. Takes about a minute.
import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { launchBrowser } from '../test/support/browser.ts';
import { killLeftovers } from '../test/support/processes.ts';
import { choosePlace, E2E_KEY, startedService } from '../test/support/processes-service.ts';
import { waitFor } from '../test/support/wait-for.ts';

const IMAGES = fileURLToPath(new URL('../docs/images/', import.meta.url));
const MAX_IMAGE_BYTES = 150_000;

const place = await choosePlace({ RATE_LIMIT_PER_MINUTE: '0' });
const { call, origin } = place;

async function post(at: string, body: object) {
  const answer = await call('POST', at, { body });
  if (answer.status >= 300) throw new Error(`POST ${at} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

async function useService(): Promise<string> {
  const name = 'support/answer';
  const model = 'sandbox/echo';
  await post('/prompts', { name: 'support/footer', template: 'Kind regards, {{ sender }}', model });
  await post('/prompts', {
    name: 'geo/capital',
    template: 'What is the capital of {{ country }}?',
    model: 'sandbox/fixed',
  });
  const texts = [
    'Hello {{ customer }},\n\nthank you for your question: {{ question }}\nWe look into it.\n\n{{> support/footer }}',
    'Hello {{ customer }},\n\nthank you for asking: {{ question }}\nYour order is on its way.\n\n{{> support/footer }}',
  ];
  const inputs = { customer: { type: 'string', description: 'First name' }, sender: { type: 'string', default: 'Us' } };
  for (const [index, template] of texts.entries())
    await post('/prompts', {
      name,
      template,
      model,
      inputs,
      commit_message: index === 0 ? 'First version' : 'Says where it is',
    });
  await call('PUT', `/prompts/${name}/labels/production`, { body: { version: 1 } });
  const variables = { customer: 'Ada', question: 'Where is my order?', sender: 'Us' };
  for (const version of [1, 2]) {
    const { id } = await post('/evaluations', {
      prompt_name: name,
      version,
      examples: [{ variables, expected: 'on its way' }],
      evaluators: [{ type: 'contains' }],
    });
    await waitFor('the evaluation', async () => (await call('GET', `/evaluations/${id}`)).body.status === 'completed');
  }
  const { id } = await post('/executions', { prompt_name: name, variables });
  return id;
}

const chromium = await launchBrowser();
try {
  await startedService(place);
  const execution = await useService();
  await mkdir(IMAGES, { recursive: true });
  for (const { name, at, shows, colorScheme = 'light' } of [
    { name: 'prompts', at: '/prompts', shows: 'support/answer' },
    { name: 'prompt', at: '/prompts/support/answer', shows: 'Save as version 3' },
    { name: 'versions', at: '/prompts/support/answer?tab=versions', shows: 'Says where it is', colorScheme: 'dark' },
    { name: 'playground', at: `/playground?execution=${execution}`, shows: 'Pane 1' },
    { name: 'execution', at: `/executions/${execution}`, shows: 'Calls to models' },
  ] as const) {
    const viewport = { width: 1280, height: name === 'playground' ? 1100 : 800 };
    const context = await chromium.browser.newContext({ locale: 'en-US', timezoneId: 'UTC', viewport, colorScheme });
    const page = await context.newPage();
    await page.goto(`${origin}/console${at}`);
    await page.getByLabel('API key').fill(E2E_KEY);
    await page.keyboard.press('Enter');
    await page.getByText(shows).first().waitFor();
    if (name === 'playground') {
      await page.getByRole('button', { name: 'Add a pane' }).click();
      await page.getByRole('region', { name: 'Pane 2' }).getByLabel('Version').selectOption('1');
      await page.getByRole('button', { name: 'Run all' }).click();
      await page.getByText('completed').nth(1).waitFor();
    }
    await page.waitForLoadState('networkidle');
    const file = path.join(IMAGES, `console-${name}.png`);
    await page.screenshot({ path: file, animations: 'disabled' });
    await context.close();
    const { size } = await stat(file);
    if (size > MAX_IMAGE_BYTES) throw new Error(`${file} has ${size} bytes, more than ${MAX_IMAGE_BYTES}.`);
    console.log(`saved ${path.relative(process.cwd(), file)}`);
  }
} finally {
  await chromium.close();
  await killLeftovers();
  await place.remove();
}
