// node scripts/save-histories.ts
// Takes every path through the workflows on a real Temporal server and saves their histories to test/histories, where the
// tests replay them. Run it when a workflow has changed in a way that `patched` keeps compatible, and keep the old files:
// workflows that were started before the change still follow them.
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { startTemporal } from '../src/embedded/temporal/temporal.ts';
import { ensureTemporal } from '../src/embedded/temporal/temporal-binary.ts';
import { openPaths, silenceTemporal, takePath } from '../test/support/histories.ts';
import { evaluationRunPaths } from '../test/support/histories-evaluation-run.ts';
import { executePromptPaths } from '../test/support/histories-execute-prompt.ts';
import { improvePromptPaths } from '../test/support/histories-improve-prompt.ts';
import { providerBatchPaths } from '../test/support/histories-provider-batch.ts';
import { releasePromptPaths } from '../test/support/histories-release-prompt.ts';
import { scoreExecutionsPaths } from '../test/support/histories-score-executions.ts';
import { webhookDeliveryPaths } from '../test/support/histories-webhook-delivery.ts';

const folder = fileURLToPath(new URL('../test/histories/', import.meta.url));
const overwrite = process.argv.includes('--overwrite');

silenceTemporal();
const binary = await ensureTemporal({ report: (line) => console.error(line) });
const temporal = await startTemporal({ binary, namespace: 'default', log: (line) => console.error(line) });
const connection = await NativeConnection.connect({ address: temporal.address });
const paths = await openPaths(new Client({ connection }), connection);
try {
  for (const each of [
    ...executePromptPaths(),
    ...evaluationRunPaths(),
    ...improvePromptPaths(),
    ...providerBatchPaths(),
    ...releasePromptPaths(),
    ...scoreExecutionsPaths(),
    ...webhookDeliveryPaths(),
  ]) {
    const file = path.join(folder, each.workflow, `${each.name}.json`);
    if (existsSync(file) && !overwrite) {
      console.log(`kept   ${path.relative(folder, file)} (--overwrite takes it anew)`);
      continue;
    }
    const { history } = await takePath(paths, each);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, `${history}\n`);
    console.log(`saved  ${path.relative(folder, file)}`);
  }
} finally {
  await paths.close();
  await connection.close();
  await temporal.stop();
}
