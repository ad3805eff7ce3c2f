import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { callOf, modelErrorOf, modelsAt } from '../support/providers/models.ts';
import { promptKey } from '../support/providers/stand-in.ts';

let child: ChildProcessByStdio<null, Readable, null>;
let base: string;

beforeAll(async () => {
  child = spawn(process.execPath, ['test/support/providers/openai-main.ts', '--port', '0', '--answer', 'Hello'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  base = `http://127.0.0.1:${String(line).trim()}`;
});

afterAll(async () => {
  child.kill('SIGTERM');
  await once(child, 'exit');
});

test('a stand-in in its own process counts calls by prompt and can be told to misbehave', async () => {
  const models = modelsAt({ 'openai-compatible': `${base}/v1` });
  const call = (input: string) => models.generate(callOf('openai-compatible/m', { input }));
  expect(await call('one')).toMatchObject({ output: 'Hello' });
  await call('one');
  await call('two');
  const seen = await (await fetch(`${base}/__calls`)).json();
  expect(seen).toEqual({ count: 3, by_prompt: { [promptKey('one')]: 2, [promptKey('two')]: 1 } });

  await fetch(`${base}/__behave`, { method: 'POST', body: JSON.stringify({ rateLimitEvery: 2, retryAfter: '7' }) });
  expect(await modelErrorOf(call('three'))).toMatchObject({ code: 'model_rate_limited', retryAfterMs: 7000 });
  await call('three');
  await models.close();
});
