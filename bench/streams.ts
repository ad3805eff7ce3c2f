import { startHelper, startListening } from './child.ts';
import type { Means } from './means.ts';
import { type Outcome, type Row, row } from './report.ts';
import type { Servers } from './servers.ts';
import { startApi, startWorker } from './service.ts';
import { quantile } from './statistics.ts';
import { StreamResult } from './stream-questions.ts';

const WORDS_A_SECOND = 50;
const WORDS = 150;
const ROUNDS = 3;
/** Streams run one after the other. */
const ALONE = 20;
const MANY = 100;
/** The time over which many streams start. */
const BEGIN_WITHIN_MS = 1_000;
/** Numbers of concurrent streams to try, until the delay has doubled since the first number. */
const STEPS = [MANY, 150, 200, 300, 400, 600, 800];

/**
 * Streams from a model that sends 50 words per second, through a worker and an API in separate processes. Each word contains the
 * time at which it was sent, and so measures its time from the provider to the caller.
 */
export async function measureStreams(servers: Servers, { rounds = ROUNDS, report }: Means): Promise<Outcome> {
  const model = await startListening('word-model.ts', ['--words', String(WORDS), '--rate', String(WORDS_A_SECOND)]);
  const settings = {
    OPENAI_API_KEY: 'x',
    OPENAI_BASE_URL: `http://127.0.0.1:${model.port}/v1`,
    WORKSPACE_CONCURRENCY: '2000',
    QUOTA_STREAMS: '0',
    MAX_CONNECTIONS_PER_ADDRESS: '0',
  };
  const api = await startApi(servers, settings);
  const worker = await startWorker(servers, settings);
  const callers = await startHelper('stream-load.ts');
  try {
    await api.call('POST', '/prompts', {
      name: 'bench',
      template: 'Greet {{ name }} in one sentence.',
      model: 'openai/gpt-4o-mini',
    });

    async function run(streams: number): Promise<StreamResult> {
      const load = { origin: api.origin, key: api.key, streams, withinMs: streams === 1 ? 0 : BEGIN_WITHIN_MS };
      const result = await callers.ask(load, StreamResult);
      if (result.words !== streams * WORDS) throw new Error(`${result.words} words of ${streams * WORDS} arrived.`);
      return result;
    }

    await run(20);
    const alone: StreamResult[] = [];
    const many: StreamResult[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const results: StreamResult[] = [];
      for (let index = 0; index < ALONE; index += 1) results.push(await run(1));
      alone.push(merged(results));
      many.push(await run(MANY));
    }
    const limit = 2 * p95(many.flatMap(({ firstMs }) => firstMs));
    let atOnce = MANY;
    for (const streams of STEPS.slice(1)) {
      const first = p95((await run(streams)).firstMs);
      report(`${streams} streams: first word after ${Math.round(first)} ms (p95)`);
      if (first > limit) break;
      atOnce = streams;
    }
    return {
      benchmark: `streams (${WORDS} words each, ${WORDS_A_SECOND} a second; API and worker apart)`,
      rows: [
        ...delays('1 stream', alone, 50),
        ...delays(`${MANY} streams`, many, 150),
        row(`streams at once, p95 of the first word at most twice that of ${MANY}`, '', [atOnce]),
      ],
    };
  } finally {
    await callers.stop();
    await worker.stop();
    await api.stop();
    await model.stop();
  }
}

const p50 = (values: readonly number[]) => quantile(values, 0.5);
const p95 = (values: readonly number[]) => quantile(values, 0.95);

const merged = (results: readonly StreamResult[]): StreamResult => ({
  firstMs: results.flatMap(({ firstMs }) => firstMs),
  pieceMs: results.flatMap(({ pieceMs }) => pieceMs),
  words: results.reduce((sum, { words }) => sum + words, 0),
});

function delays(name: string, results: readonly StreamResult[], atMost: number): Row[] {
  const first = results.map(({ firstMs }) => firstMs);
  const pieces = results.map(({ pieceMs }) => pieceMs);
  return [
    row(`${name}: first word, p50`, 'ms', first.map(p50), { atMost }),
    row(`${name}: first word, p95`, 'ms', first.map(p95), { atMost }),
    row(`${name}: every piece, p50`, 'ms', pieces.map(p50)),
    row(`${name}: every piece, p95`, 'ms', pieces.map(p95)),
  ];
}
