import { randomBytes } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { Worker } from '@temporalio/worker';
import { createDataConverter } from '../../src/temporal/data-converter.ts';
import { workflowBundle } from '../../src/workflows/bundle.ts';
import { historyFromJson, silenceTemporal } from '../support/histories.ts';
import { evaluationRunPaths } from '../support/histories-evaluation-run.ts';
import { executePromptPaths } from '../support/histories-execute-prompt.ts';
import { improvePromptPaths } from '../support/histories-improve-prompt.ts';
import { providerBatchPaths } from '../support/histories-provider-batch.ts';
import { releasePromptPaths } from '../support/histories-release-prompt.ts';
import { scoreExecutionsPaths } from '../support/histories-score-executions.ts';
import { webhookDeliveryPaths } from '../support/histories-webhook-delivery.ts';

const folder = fileURLToPath(new URL('../histories/', import.meta.url));
const files = globSync('*/*.json', { cwd: folder }).sort();

test.each([
  ['', createDataConverter(undefined)],
  [', encrypted', createDataConverter({ encrypts: true, keys: [randomBytes(32)] })],
])('workflows in progress continue under the present code%s', async (_name, dataConverter) => {
  silenceTemporal();
  expect(files.length).toBeGreaterThan(0);
  const histories = files.map((file) => ({
    workflowId: file.replace(/\.json$/, ''),
    history: historyFromJson(readFileSync(path.join(folder, file), 'utf8')),
  }));
  const failures: Record<string, string> = {};
  const bundle = await workflowBundle(undefined, dataConverter);
  const results = Worker.runReplayHistories({ workflowBundle: bundle, dataConverter }, histories);
  for await (const { workflowId, error } of results) if (error) failures[workflowId] = String(error);
  expect(failures).toEqual({});
});

test('every path has its saved history', () => {
  const paths = [
    ...executePromptPaths(),
    ...evaluationRunPaths(),
    ...improvePromptPaths(),
    ...providerBatchPaths(),
    ...releasePromptPaths(),
    ...scoreExecutionsPaths(),
    ...webhookDeliveryPaths(),
  ];
  const missing = paths.map(({ workflow, name }) => `${workflow}/${name}.json`).filter((file) => !files.includes(file));
  expect(missing).toEqual([]);
});
