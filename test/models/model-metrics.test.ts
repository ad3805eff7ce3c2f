import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { parseSettings } from '../../src/config.ts';
import { createModels } from '../../src/models/create-models.ts';
import type { ModelCall } from '../../src/models/model.ts';
import { countModelCalls } from '../../src/models/model-metrics.ts';
import { countExecutions } from '../../src/services/executions/execution-metrics.ts';
import { countSpend } from '../../src/services/operations/spend-metrics.ts';
import { parseExposition } from '../support/exposition.ts';

const callOf = (model: string, signal = new AbortController().signal): ModelCall => ({
  workspace: 'ws_1',
  model,
  input: 'Hello',
  parameters: {},
  signal,
  timeoutMs: 5_000,
});

async function seriesOf(registry: Registry) {
  return parseExposition(await registry.metrics());
}
const nonZero = async (registry: Registry, name: string) =>
  (await seriesOf(registry))
    .filter((series) => series.name === name && series.value > 0)
    .map(({ labels, value }) => ({ ...labels, value }));

test('calls are counted by provider and by how they failed', async () => {
  const registry = new Registry();
  const models = countModelCalls(registry, createModels(parseSettings({}).models));
  await models.generate(callOf('sandbox/echo'));
  await expect(models.generate(callOf('sandbox/fail-429'))).rejects.toThrow();
  await expect(models.generate(callOf('openai/gpt-5'))).rejects.toThrow('no credentials');
  const canceled = new AbortController();
  const call = models.generate(callOf('sandbox/stall', canceled.signal));
  canceled.abort(new Error('canceled'));
  await expect(call).rejects.toThrow('canceled');
  expect(await nonZero(registry, 'pms_model_calls_total')).toEqual([
    { provider: 'openai', error: 'model_authentication', value: 1 },
    { provider: 'sandbox', error: 'none', value: 1 },
    { provider: 'sandbox', error: 'model_rate_limited', value: 1 },
    { provider: 'sandbox', error: 'canceled', value: 1 },
  ]);
  await models.close();
});

test('names given by callers create no series', async () => {
  const registry = new Registry();
  const models = countModelCalls(registry, createModels(parseSettings({}).models));
  const onEnd = countExecutions(registry);
  const onUsed = countSpend(registry);
  const hostile = Array.from({ length: 500 }, (_, at) => `evil${at}`);
  // So that each has been there once.
  const play = async (names: string[]) => {
    for (const name of names) {
      await models.generate(callOf(`${name}/model`)).catch(() => {});
      onEnd({ status: 'failed', provider: name, error_code: name, total_ms: 1 });
      onUsed([{ kind: 'execution', provider: name, cost: 1, unpriced: 1, tokensInput: 1, tokensOutput: 1 }]);
    }
  };
  await play(['one']);
  const before = (await seriesOf(registry)).length;
  await play(hostile);
  expect(await seriesOf(registry)).toHaveLength(before);
  expect(await nonZero(registry, 'pms_spend_usd_total')).toEqual([
    { provider: 'other', kind: 'execution', value: 501 },
  ]);
  await models.close();
});

test('a negative correction leaves counters unchanged', async () => {
  const registry = new Registry();
  const onUsed = countSpend(registry);
  onUsed([{ kind: 'rule', provider: 'openai', cost: 2, unpriced: 0, tokensInput: 5, tokensOutput: 5 }]);
  onUsed([{ kind: 'rule', provider: 'openai', cost: -1, unpriced: 0, tokensInput: -2, tokensOutput: 0 }]);
  expect(await nonZero(registry, 'pms_spend_usd_total')).toEqual([{ provider: 'openai', kind: 'rule', value: 2 }]);
});
