import { afterAll, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { createOutbound } from '../../../src/outbound/outbound.ts';
import { countScorerRequests } from '../../../src/services/evaluations/run/scorer-metrics.ts';
import { answering, startReceiver } from '../../support/receiver.ts';

const registry = new Registry();
const scorers = countScorerRequests(registry, createOutbound({ allowPrivate: 'loopback', timeoutMs: 60_000 }));
afterAll(() => scorers.close());

const sampleOf = async (sample: string) =>
  Number(
    (await registry.metrics())
      .split('\n')
      .find((line) => line.startsWith(`${sample} `))
      ?.split(' ')[1],
  );

test('requests to scorers are counted by outcome, from 0 on, and abandoned ones are not', async () => {
  const counts = () =>
    Promise.all(['succeeded', 'failed'].map((outcome) => sampleOf(`pms_scorer_requests_total{outcome="${outcome}"}`)));
  expect(await counts()).toEqual([0, 0]);
  const receiver = await startReceiver();
  const request = { url: receiver.url, headers: {}, body: Buffer.from('{}') };
  expect(await scorers.post(request)).toMatchObject({ status: 200, error: null });
  receiver.respond = answering(503);
  expect(await scorers.post(request)).toMatchObject({ error: 'HTTP 503' });
  await expect(scorers.post({ ...request, signal: AbortSignal.abort(new Error('canceled')) })).rejects.toThrow();
  expect(await counts()).toEqual([1, 1]);
  expect(await sampleOf('pms_scorer_request_seconds_count')).toBe(2);
  await receiver.close();
});
