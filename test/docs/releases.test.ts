import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { releaseStates } from '../../src/domain/releases/release-states.ts';
import { RELEASE_CONTROLS } from '../../src/services/releases/control-release.ts';
import { ownBlocks } from '../support/guides.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { claimsOf } from './claims.ts';

const page = readFileSync(new URL('../../docs/releases.md', import.meta.url), 'utf8');
/** The blocks that call the API. */
const blocks = ownBlocks(claimsOf('test/docs/releases.test.ts'))
  .take({ page: 'docs/releases.md' })
  .map(({ code }) => code);

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

test('the commands work in order', async () => {
  expect(blocks.length).toBe(5);
  const env = { PATH: process.env['PATH'], API: `${service.origin}/v1`, AUTH: `Authorization: Bearer ${service.key}` };
  const script = blocks.join('').replaceAll(/^curl -s/gm, 'curl -sS -w "\\n"');
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { env });
  const responses = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  for (const response of responses) expect(response.error ?? null).toBeNull();
  expect(responses.map(({ status: state }) => state).filter((state) => releaseStates.states.includes(state))).toEqual([
    'in_progress',
    'paused',
    'in_progress',
    'rolled_back',
    'awaiting_approval',
  ]);
});

test('every control exists', () => {
  for (const control of RELEASE_CONTROLS) expect(page).toContain(control);
});
