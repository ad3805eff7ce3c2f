import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { z } from 'zod';
import { openDatabase } from '../src/db/database.ts';
import { publicId } from '../src/domain/ids.ts';
import { launchBrowser, untilQuiet, watchRequests } from '../test/support/browser.ts';
import { seedEvaluation, seedPrompts } from '../test/support/seed-rows.ts';
import {
  type Interactions,
  interactionsOfEditor,
  interactionsOfPrompts,
  interactionsOfRun,
  watchInteractions,
} from './console-interactions.ts';
import type { Means } from './means.ts';
import { type Outcome, row } from './report.ts';
import type { Servers } from './servers.ts';
import { type Service, startService } from './service.ts';
import { quantile } from './statistics.ts';

const ROUNDS = 3;
const RESULTS = 10_000;
const PROMPTS = 2_000;
const TEMPLATE_BYTES = 256 * 1024;
const SMALL = 'small';
const LARGE = 'large';
const KEYS = 60;
const TYPING_MS = 120;
/** Time for the console to process input. */
const PAUSE_MS = 500;
/** One step of the wheel, a quarter of the visible rows. */
const WHEEL_PX = 360;
const PATIENCE_MS = 60_000;

/** The web console in Chromium, on the same machine as the service. */
export async function measureConsole(servers: Servers, means: Means): Promise<Outcome> {
  const service = await startService(servers);
  try {
    const chromium = await launchBrowser();
    try {
      return await measureIn(chromium.browser, service, servers, means);
    } finally {
      await chromium.close();
    }
  } finally {
    await service.stop();
  }
}

async function measureIn(
  browser: Browser,
  service: Service,
  servers: Servers,
  { profileFolder, rounds = ROUNDS }: Means,
): Promise<Outcome> {
  await service.call('POST', '/prompts', { name: SMALL, template: 'Greet {{ name }}.', model: 'sandbox/echo' });
  /** Measures in separate windows. */
  const inRounds = async <Result>(measure: (page: Page) => Promise<Result>): Promise<Result[]> => {
    const results: Result[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
      context.setDefaultTimeout(PATIENCE_MS);
      const page = await context.newPage();
      watchRequests(page);
      results.push(await measure(page));
      await context.close();
    }
    return results;
  };
  const loads = await inRounds((page) => measureLoad(page, service));
  const evaluation = await seed(servers, service);
  const scrolls = await inRounds(async (page) => {
    await signIn(page, service, `/evaluations/${evaluation}`);
    await loadResults(page);
    // A profile has everything that Chromium traces by default.
    await browser.startTracing(page, profileFolder === undefined ? { categories: ['toplevel'] } : {});
    const framesMs = await framesOfScroll(page);
    const trace = await browser.stopTracing();
    if (profileFolder !== undefined) await writeFile(path.join(profileFolder, `console-${Date.now()}.json`), trace);
    return { framesMs, cpuMs: cpuOfFrames(trace) };
  });
  const typing = await inRounds(async (page) => {
    await signIn(page, service, `/prompts/${LARGE}`);
    return { keys: await workOfKeys(page, TYPING_MS), pauses: await workOfKeys(page, PAUSE_MS) };
  });
  const interactions = [
    ...(await inRounds(async (page) => {
      await watchInteractions(page);
      await signIn(page, service, '/evaluations');
      return interactionsOfRun(page, evaluation);
    })),
    ...(await inRounds(async (page) => {
      await watchInteractions(page);
      await signIn(page, service, '/prompts');
      return interactionsOfPrompts(page);
    })),
    ...(await inRounds(async (page) => {
      await watchInteractions(page);
      await signIn(page, service, `/prompts/${LARGE}`);
      return interactionsOfEditor(page);
    })),
  ];
  return {
    benchmark: `console (Chromium; ${RESULTS} results, ${PROMPTS} prompts, a template of ${TEMPLATE_BYTES / 1024} KiB)`,
    rows: [
      row(
        'first load, compressed',
        'kB',
        ofEach(loads, ({ bytes }) => bytes / 1000),
        { atMost: 300 },
      ),
      row(
        'sign-in to first page',
        'ms',
        ofEach(loads, ({ signInMs }) => signInMs),
        { below: 1_500 },
      ),
      row(
        'frames of a scroll through the results',
        '',
        ofEach(scrolls, ({ framesMs }) => framesMs.length),
      ),
      row(
        'longer than 50 ms',
        '',
        ofEach(scrolls, ({ framesMs }) => framesMs.filter((ms) => ms > 50).length),
        { atMost: 0 },
      ),
      row(
        'CPU of a frame, longest',
        'ms',
        ofEach(scrolls, ({ cpuMs }) => Math.max(...cpuMs)),
        { below: 16 },
      ),
      row(
        'CPU of a key, p95',
        'ms',
        ofEach(typing, ({ keys }) => quantile(keys, 0.95)),
        { below: 16 },
      ),
      row(
        'CPU of a key and the pause after it, p95',
        'ms',
        ofEach(typing, ({ pauses }) => quantile(pauses, 0.95)),
      ),
      ...rowsOf(interactions),
    ],
  };
}

/** A row for each kind of interaction: the median of each round, and the longest task. */
function rowsOf(rounds: readonly Interactions[]) {
  const names = [...new Set(rounds.flatMap((round) => Object.keys(round)))].sort();
  return names.map((name) => {
    const isTask = name.endsWith(': tasks');
    const ofRounds = rounds.flatMap((round) =>
      round[name] === undefined ? [] : [quantile(round[name], isTask ? 1 : 0.5)],
    );
    return isTask
      ? row(`${name.replace(/: tasks$/, '')}: longest task`, 'ms', ofRounds)
      : row(`${name}: to the next paint`, 'ms', ofRounds, { atMost: 100 });
  });
}

const ofEach = <Item>(items: readonly Item[], value: (item: Item) => number) => items.map((item) => value(item));

/** @returns the evaluation's id */
async function seed(servers: Servers, service: Service): Promise<string> {
  const line = 'Answer {{ customer }} in the words of {{ tone }}: be brief, and say what happens next.\n';
  const template = line.repeat(Math.floor(TEMPLATE_BYTES / line.length));
  await service.call('POST', '/prompts', { name: LARGE, template, model: 'sandbox/echo' });
  const db = await openDatabase(servers.databaseUrl, { poolSize: 1, statementTimeoutMs: 0 });
  try {
    const [workspace] = await db.system.query<{ id: string }>({ text: 'select id from workspaces' });
    const seeded = { workspaceId: workspace?.id ?? '', count: RESULTS, days: 1 };
    await seedPrompts(db.system.query, { ...seeded, count: PROMPTS });
    return publicId('evaluation', await seedEvaluation(db.system.query, seeded));
  } finally {
    await db.close();
  }
}

interface Load {
  /** Everything that the browser loaded until the first page was usable. */
  bytes: number;
  /** From Enter on the sign-in page until the list of prompts is visible. */
  signInMs: number;
}

async function measureLoad(page: Page, service: Service): Promise<Load> {
  const network = await page.context().newCDPSession(page);
  let bytes = 0;
  network.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await network.send('Network.enable');
  await signIn(page, service, '/prompts');
  const began = performance.now();
  await page.getByRole('cell', { name: SMALL }).waitFor();
  const signInMs = performance.now() - began;
  await untilQuiet(page);
  return { bytes, signInMs };
}

/** Opens a page, and signs in when asked. */
async function signIn(page: Page, { origin, key }: Service, at: string): Promise<void> {
  await page.goto(`${origin}/console${at}`);
  await page.getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
}

async function loadResults(page: Page): Promise<void> {
  const table = page.getByRole('table', { name: 'Results' });
  while ((await table.getAttribute('aria-rowcount')) !== String(RESULTS + 1))
    await table.evaluate((element) => element.scrollTo(0, element.scrollHeight));
  await table.evaluate((element) => element.scrollTo(0, 0));
  await untilQuiet(page);
}

/** Scrolls to the end of the results. @returns the duration of each frame, in ms */
async function framesOfScroll(page: Page): Promise<number[]> {
  const table = page.getByRole('table', { name: 'Results' });
  await table.scrollIntoViewIfNeeded();
  await table.hover();
  await page.evaluate(`(() => {
    window.frames_ = [];
    let before = performance.now();
    const frame = (now) => {
      window.frames_.push(now - before);
      before = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  })()`);
  const isAtEnd = () =>
    table.evaluate(({ scrollTop, clientHeight, scrollHeight }) => scrollTop + clientHeight >= scrollHeight - 1);
  do for (let turn = 0; turn < 20; turn += 1) await page.mouse.wheel(0, WHEEL_PX);
  while (!(await isAtEnd()));
  // The first one has no frame before it.
  return page.evaluate<number[]>('window.frames_.slice(1)');
}

const Trace = z.object({
  traceEvents: z.array(
    z.object({ tdur: z.number().optional(), args: z.object({ src_func: z.string().optional() }).optional() }),
  ),
});

/** The CPU time of each frame, in ms, from a Chromium trace, which other load on the machine hardly affects. */
function cpuOfFrames(trace: Buffer): number[] {
  const { traceEvents } = Trace.parse(JSON.parse(trace.toString()));
  return traceEvents.flatMap(({ tdur, args }) =>
    args?.src_func === 'ScheduledActionSendBeginMainFrame' && tdur !== undefined ? [tdur / 1000] : [],
  );
}

/** Types in the middle of the template. @returns the CPU time of the page's main thread for each key, in ms */
async function workOfKeys(page: Page, waitMs: number): Promise<number[]> {
  const text = page.getByRole('textbox', { name: 'Text', exact: true });
  await text.waitFor();
  await untilQuiet(page);
  await text.click();
  const session = await page.context().newCDPSession(page);
  // CPU time, which other load on the machine hardly affects.
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const times: number[] = [];
  for (let at = 0; at < KEYS; at += 1) {
    const before = await cpuMs(session);
    await session.send('Input.dispatchKeyEvent', { type: 'keyDown', key: 'a', text: 'a', code: 'KeyA' });
    await session.send('Input.dispatchKeyEvent', { type: 'keyUp', key: 'a', code: 'KeyA' });
    await page.waitForTimeout(waitMs);
    times.push((await cpuMs(session)) - before);
  }
  return times;
}

async function cpuMs(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000;
}
