import { spawnSync } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { installedTools } from './installed-tools.ts';

// Checks openapi.json with the rules of tools/openapi-lint/redocly.yaml. Redocly is installed once per user and sends nothing
// anywhere.

const root = path.resolve(import.meta.dirname, '..');
const redocly = path.join(await installedTools('openapi-lint'), '@redocly/cli/bin/cli.js');
const config = path.join(root, 'tools/openapi-lint/redocly.yaml');
const { status } = spawnSync(process.execPath, [redocly, 'lint', '--config', config, path.join(root, 'openapi.json')], {
  stdio: 'inherit',
  env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
});
process.exitCode = status ?? 1;
