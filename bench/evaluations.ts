import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { z } from 'zod';
import { behave } from '../test/support/fault-stage.ts';
import { startListening } from './child.ts';
import { prepareCli } from './cli.ts';
import type { Means } from './means.ts';
import { memoryAtWork } from './memory-at-work.ts';
import { preparePromptfoo, type Question } from './promptfoo.ts';
import { type Outcome, ratioRow, row } from './report.ts';
import type { Servers } from './servers.ts';
import { type Service, startService } from './service.ts';
import { median } from './statistics.ts';

const MODEL_MS = 200;
const CONCURRENCY = 50;
/** Like real models, some calls are slow: one in `every`. */
const SLOW = { every: 20, ms: 1_500 };
const [SMALL, LARGE] = [1_000, 10_000];
const ROUNDS = 3;
export const MODEL = 'gpt-4o-mini';
export const TEMPLATE = 'What follows the number {{ number }}?';

const Evaluation = z.object({
  id: z.string(),
  status: z.string(),
  score: z.number().nullable(),
  examples_evaluated: z.int(),
});

/** The stand-in's response is known, so every example can pass. */
export function questionsOf(count: number): Question[] {
  return Array.from({ length: count }, (_, number) => ({
    id: `example-${number}`,
    number,
    expected: `Answer to: ${TEMPLATE.replace('{{ number }}', String(number))}`,
  }));
}

export async function upload(service: Service, name: string, questions: Question[]): Promise<void> {
  const response = await fetch(`${service.origin}/v1/datasets/${name}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/x-ndjson' },
    body: questions
      .map(({ id, number, expected }) => `${JSON.stringify({ id, variables: { number }, expected })}\n`)
      .join(''),
  });
  if (!response.ok) throw new Error(`The upload was answered with ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}

/** @returns seconds from the request to the completed record */
export async function evaluate(service: Service, dataset: string, count: number): Promise<number> {
  const started = performance.now();
  const body = { prompt_name: 'bench', dataset, concurrency: CONCURRENCY, baseline: null };
  const { id } = Evaluation.parse(await service.call('POST', '/evaluations', body));
  for (;;) {
    const run = Evaluation.parse(await service.call('GET', `/evaluations/${id}`));
    if (run.status === 'completed') {
      if (run.score !== 1 || run.examples_evaluated !== count)
        throw new Error(`A wrong result: ${JSON.stringify(run)}`);
      return (performance.now() - started) / 1000;
    }
    if (run.status === 'failed') throw new Error(`The evaluation failed: ${JSON.stringify(run)}`);
    await delay(25);
  }
}

/** Number of events in the longest history of an evaluation workflow. */
async function longestHistory({ temporalAddress }: Servers): Promise<number> {
  const connection = await Connection.connect({ address: temporalAddress });
  try {
    let longest = 0;
    const client = new Client({ connection });
    for await (const { historyLength } of client.workflow.list({ query: 'WorkflowType = "evaluationRun"' }))
      longest = Math.max(longest, historyLength);
    return longest;
  } finally {
    await connection.close();
  }
}

/** The part of the samples from `from` to `to`, each 0..1. */
const partOf = (samples: number[], from: number, to: number) =>
  samples.slice(Math.floor(samples.length * from), Math.ceil(samples.length * to));

/**
 * Evaluations of 1,000 and of 10,000 examples, the former also with pms and with promptfoo, on the same model in the same run.
 */
export async function measureEvaluations(
  servers: Servers,
  { profileFolder, rounds = ROUNDS }: Means,
): Promise<Outcome> {
  const model = await startListening('../test/support/providers/openai-main.ts', ['--latency', String(MODEL_MS)]);
  const modelUrl = `http://127.0.0.1:${model.port}/v1`;
  const service = await startService(servers, { OPENAI_API_KEY: 'x', OPENAI_BASE_URL: modelUrl }, profileFolder);
  try {
    const questions = questionsOf(SMALL);
    const promptfoo = await preparePromptfoo(path.join(servers.folder, 'promptfoo'), {
      modelUrl,
      template: TEMPLATE,
      model: MODEL,
      questions,
    });
    await service.call('POST', '/prompts', { name: 'bench', template: TEMPLATE, model: `openai/${MODEL}` });
    await upload(service, 'small', questions);
    await upload(service, 'large', questionsOf(LARGE));

    const cli = await prepareCli(servers.folder, service, { prompt: 'bench', dataset: 'small', examples: SMALL });
    const [ours, byCli, theirs] = [[] as number[], [] as number[], [] as number[]];
    for (let round = 0; round < rounds; round += 1) {
      ours.push(await evaluate(service, 'small', SMALL));
      byCli.push(await cli(CONCURRENCY));
      theirs.push(await promptfoo(CONCURRENCY));
    }
    const { result: large, samplesMib } = await memoryAtWork(service, evaluate(service, 'large', LARGE));
    const [second, last] = [partOf(samplesMib, 0.2, 0.4), partOf(samplesMib, 0.8, 1)];
    const ideal = (SMALL / CONCURRENCY) * (MODEL_MS / 1000);
    const uneven: number[] = [];
    await behave({ baseUrl: modelUrl }, { slowEvery: SLOW.every, slowMs: SLOW.ms });
    for (let round = 0; round < rounds; round += 1) uneven.push(await evaluate(service, 'small', SMALL));
    const unevenMs = MODEL_MS + (SLOW.ms - MODEL_MS) / SLOW.every;
    const unevenIdeal = (SMALL / CONCURRENCY) * (unevenMs / 1000);
    return {
      benchmark: `evaluations (a model of ${MODEL_MS} ms, ${CONCURRENCY} at a time)`,
      rows: [
        row(`service, ${SMALL} examples`, 's', ours),
        row('pms eval run --wait, the same', 's', byCli),
        row(`promptfoo eval -j ${CONCURRENCY}, the same`, 's', theirs),
        ratioRow(
          'service to the ideal',
          ours,
          ours.map(() => ideal),
          { atMost: 1.15 },
        ),
        ratioRow('speed of the service to that of promptfoo', theirs, ours, { atLeast: 2.2 }),
        ratioRow('speed of pms eval run to that of promptfoo eval', theirs, byCli),
        ratioRow(
          `one call in ${SLOW.every} takes ${SLOW.ms} ms: service to the ideal`,
          uneven,
          uneven.map(() => unevenIdeal),
          { atMost: 1.3 },
        ),
        row(`service, ${LARGE} examples`, 's', [large]),
        ratioRow(`an example of ${LARGE} to one of ${SMALL}`, [large / LARGE], [median(ours) / SMALL], {
          atMost: 1.1,
        }),
        row('longest workflow history', 'events', [await longestHistory(servers)], { below: 10_000 }),
        row(`memory in the second fifth of ${LARGE}`, 'MiB', second),
        row('memory in the last fifth', 'MiB', last),
        ratioRow('memory in the last fifth to the second', [median(last)], [median(second)], { atMost: 1.15 }),
      ],
    };
  } finally {
    await service.stop();
    await model.stop();
  }
}
