// npm run check:alerts
// Checks the alert rules of deploy/prometheus with Prometheus' own promtool: that they are valid, and by their unit tests that each
// fires when it should and stays silent when it should. Go builds promtool from pinned checksums, once for this user.
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { goTool } from './go-tools.ts';

const folder = fileURLToPath(new URL('../deploy/prometheus/', import.meta.url));
const filesOf = (pattern: string) => globSync(path.join(folder, pattern)).sort();

const promtool = await goTool('promtool', (line) => console.error(line));
const commands = [
  ['check', 'config', '--lint=all', '--lint-fatal', ...filesOf('prometheus.yml')],
  ['check', 'rules', '--lint=all', '--lint-fatal', ...filesOf('*.rules.yml')],
  ['test', 'rules', ...filesOf('*.test.yml')],
];
for (const args of commands) {
  const { status, error } = spawnSync(promtool, args, { cwd: folder, stdio: 'inherit' });
  if (error !== undefined) throw error;
  if (status !== 0) process.exitCode = 1;
}
