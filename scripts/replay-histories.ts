// node scripts/replay-histories.ts FOLDER [PROJECT]
// Replays the histories in a folder (`*.json`) with the workflow code of this checkout, or of another one. Prints a line of JSON for each
// history that does not replay.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { Worker } from '@temporalio/worker';
import { historyFromJson, silenceTemporal } from '../test/support/histories.ts';

const [folder = '', project] = process.argv.slice(2);
silenceTemporal();
const bundleFile =
  project === undefined
    ? '../src/workflows/bundle.ts'
    : pathToFileURL(path.join(project, 'src/workflows/bundle.ts')).href;
const { workflowBundle }: typeof import('../src/workflows/bundle.ts') = await import(bundleFile);
const histories = globSync('*.json', { cwd: folder }).map((file) => ({
  workflowId: file,
  history: historyFromJson(readFileSync(path.join(folder, file), 'utf8')),
}));
for await (const { workflowId, error } of Worker.runReplayHistories(
  { workflowBundle: await workflowBundle() },
  histories,
))
  if (error) console.log(JSON.stringify({ workflowId, error: String(error).slice(0, 500) }));
