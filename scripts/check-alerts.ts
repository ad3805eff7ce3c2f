// npm run check:alerts
// Checks what is shipped for Prometheus and Grafana with Prometheus' own promtool: that the alert rules are valid, by their unit tests
// that each fires when it should and stays silent when it should, and that the queries of the dashboard can be parsed. Go builds
// promtool from pinned checksums, once for this user.
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { goTool } from './go-tools.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const filesOf = (pattern: string) => globSync(path.join(root, 'deploy', pattern)).sort();

const Dashboard = z.object({
  panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })).default([]) })),
});

/** The queries of dashboards as recording rules, so that promtool reports unparsable ones. The rules are JSON, which is valid YAML. */
function rulesOfDashboards(): string {
  const queries = filesOf('grafana/*.json').flatMap((file) =>
    Dashboard.parse(JSON.parse(readFileSync(file, 'utf8'))).panels.flatMap(({ title, targets }) =>
      targets.map(({ expr }) => ({ title, expr: expr.replaceAll('$__rate_interval', '1m').replaceAll('$job', '.*') })),
    ),
  );
  if (queries.length === 0) throw new Error('There is no query of a dashboard.');
  const rules = queries.map(({ title, expr }, at) => ({ record: `dashboard:query:${at}`, expr, labels: { title } }));
  return JSON.stringify({ groups: [{ name: 'dashboards', rules }] });
}

const promtool = await goTool('promtool', (line) => console.error(line));
const scratch = mkdtempSync(path.join(tmpdir(), 'pms-alerts-'));
try {
  const dashboards = path.join(scratch, 'dashboards.rules.yml');
  writeFileSync(dashboards, rulesOfDashboards());
  const commands = [
    ['check', 'config', '--lint=all', '--lint-fatal', ...filesOf('prometheus/prometheus.yml')],
    ['check', 'rules', '--lint=all', '--lint-fatal', ...filesOf('prometheus/*.rules.yml')],
    ['check', 'rules', dashboards],
    ['test', 'rules', ...filesOf('prometheus/*.test.yml')],
  ];
  for (const args of commands) {
    const { status, error } = spawnSync(promtool, args, { cwd: root, stdio: 'inherit' });
    if (error !== undefined) throw error;
    if (status !== 0) process.exitCode = 1;
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
