import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll, expect, test } from '@jest/globals';
import { generateSigningSecret, signatureHeaders } from '../../src/domain/webhooks/webhook-signature.ts';
import { EvaluatorConfig } from '../../src/evaluators/registry.ts';
import { endpointOf, exampleOf } from '../evaluators/evaluate.ts';
import { ownBlocks } from '../support/guides.ts';
import { freePorts, killOrphans, PROJECT, startProcess } from '../support/processes.ts';
import { until } from '../support/wait-for.ts';
import { claimsOf } from './claims.ts';

const own = ownBlocks(claimsOf('test/docs/evaluators.test.ts'));
const page = readFileSync(path.join(PROJECT, 'docs/evaluators.md'), 'utf8');

const folder = mkdtempSync(path.join(tmpdir(), 'pms-docs-'));
symlinkSync(path.join(PROJECT, 'node_modules'), path.join(folder, 'node_modules'));
afterAll(async () => {
  await killOrphans();
  rmSync(folder, { recursive: true, force: true });
});

test('every evaluator has its section', () => {
  const sections = new Set([...page.matchAll(/^## (\w+)$/gm)].map(([, title]) => title));
  for (const { shape } of EvaluatorConfig.options) expect(sections).toContain(shape.type.value);
});

test('the request of the page is what a scorer gets', () => {
  const [{ code } = { code: '' }] = own.take({ page: 'docs/evaluators.md', language: 'json' });
  const { input, output, expected, variables } = JSON.parse(code);
  const endpoint = endpointOf({ type: 'http', url: 'http://127.0.0.1:1/' });
  const example = { ...exampleOf(output, { expected, variables }), input };
  expect(JSON.parse(endpoint.request(example))).toEqual({ input, output, expected, variables });
});

test('the scorer accepts signed requests, refuses others, and responds with scores', async () => {
  const file = path.join(folder, 'scorer.mts');
  writeFileSync(file, own.take({ page: 'docs/evaluators.md', language: 'ts' })[0]?.code ?? '');
  const [port] = await freePorts(1);
  const secret = generateSigningSecret();
  startProcess([process.execPath, file], { env: { PORT: String(port), SCORER_SECRET: secret } });
  const endpoint = endpointOf({ type: 'http', url: `http://127.0.0.1:${port}/` });
  const post = (output: string, signedWith: string) => {
    const body = Buffer.from(endpoint.request(exampleOf(output, { expected: 'Paris' })));
    const headers = signatureHeaders({ body, id: 'eval_x/0/http', sentAt: new Date(), secrets: [signedWith] });
    return fetch(endpoint.url, { method: 'POST', headers, body });
  };
  const right = await until('the scorer to respond', () => post('It is Paris.', secret));
  expect(endpoint.read(await right.text())).toEqual({ score: 1, reason: null, problem: null });
  const wrong = await post('It is Rome.', secret);
  expect(endpoint.read(await wrong.text())).toMatchObject({ score: 0, reason: 'Paris is not in it', problem: null });
  expect((await post('It is Paris.', generateSigningSecret())).status).toBe(401);
});
