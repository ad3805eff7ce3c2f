import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type EvaluationStage, examplesOf, startStage } from '../api/evaluations/evaluations-support.ts';
import { killOrphans } from '../support/processes.ts';
import { startProxy, type TcpProxy } from '../support/proxy.ts';
import { type Cli, startCli } from './support.ts';

// Runs that end neither passed nor failed, with a model that costs something.

/** 1,000 input and 1,000 output tokens of gpt-4o-mini: 0.00075 USD a call. */
const USAGE = { input: 1_000, output: 1_000 };
const EXAMPLES = 40;

let stage: EvaluationStage;
let cli: Cli;
/** Between the command line and the service. */
let proxy: TcpProxy;
beforeAll(async () => {
  stage = await startStage({
    // Three of the 40 answers of version 2 are wrong.
    answer: ({ prompt }) => {
      const isWrong = prompt.startsWith('Tell') && /[123]$/.test(prompt) && prompt.length === 'Tell number 1'.length;
      return { text: isWrong ? 'Another answer' : `Answer to: ${prompt.replace('Tell', 'Say')}`, usage: USAGE };
    },
  });
  proxy = await startProxy({ host: '127.0.0.1', port: Number(new URL(stage.service.origin).port) });
  cli = await startCli({ ...stage.service, origin: `http://127.0.0.1:${proxy.port}` });
  // Version 1 is `Say {{ text }}`.
  await stage.prompt('say', 'Tell {{ text }}');
  const lines = examplesOf('number', EXAMPLES).map(
    ({ id, variables }) => `${JSON.stringify({ id, variables, expected: `Answer to: Say ${variables.text}` })}\n`,
  );
  await stage.service.call('PUT', '/datasets/numbers', {
    raw: lines.join(''),
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
});
beforeEach(() => {
  stage.openai.behave();
  proxy.restore();
});
afterEach(killOrphans);
afterAll(async () => {
  await cli?.remove();
  await proxy?.close();
  await stage?.stop();
});

const RUN = ['eval', 'run', '--prompt', 'say', '--dataset', 'numbers', '--evaluator', 'exact_match', '--wait'];
const REPORTS = ['junit=j.xml', 'markdown=m.md', 'json=r.json'].flatMap((report) => ['--report', report]);
const read = (file: string) => readFile(path.join(cli.folder, file), 'utf8');
const idIn = (text: string) => /eval_[0-9a-f-]+/.exec(text)?.[0] ?? '';

test('a run that has spent its budget is inconclusive: status, print and reports say the same', async () => {
  const { status, stdout, stderr } = await cli.pms([...RUN, '--version', '1', '--max-cost', '0.01', ...REPORTS]);
  const reason = `${idIn(stderr)} is paused: of max_cost, 0.01 USD, too little is left`;
  expect([status, stderr]).toEqual([4, expect.stringContaining(`inconclusive: ${reason}`)]);
  expect(stdout).toMatch(/say version 1, \d+ of 40 examples/);
  expect(await read('j.xml')).toContain('failures="0"');
  expect(await read('m.md')).toContain('inconclusive');
  expect(JSON.parse(await read('r.json'))).toMatchObject({ verdict: { status: 4, word: 'inconclusive' } });

  // Its budget raised, the same run passes.
  await stage.control(idIn(stderr), 'resume', { max_cost: 1 });
  expect(await cli.pms(['eval', 'watch', idIn(stderr)])).toMatchObject({ status: 0 });
});

test('a run that is worse within noise passes its threshold, and with --significant is inconclusive', async () => {
  const before = await cli.pms([...RUN, '--version', '1', '--baseline', 'none']);
  expect(before).toMatchObject({ status: 0 });
  const options = ['--version', '2', '--baseline', idIn(before.stderr), '--threshold', '0.8'];
  expect(await cli.pms([...RUN, ...options])).toMatchObject({ status: 0 });
  const noise = await cli.pms([...RUN, ...options, '--significant', ...REPORTS]);
  expect(noise.stdout).toContain('score 0.9250, worse 3, better 0');
  expect([noise.status, noise.stderr]).toEqual([4, expect.stringContaining('inconclusive: ')]);
  expect(await read('j.xml')).toContain('failures="0"');
  expect(JSON.parse(await read('r.json'))).toMatchObject({
    verdict: { status: 4, word: 'inconclusive' },
    comparison: { regressions: { total: 3 } },
  });
  expect(await cli.pms(['eval', 'watch', idIn(noise.stderr), '--significant'])).toMatchObject({ status: 4 });
});

test('a service that stays away during a run is status 3, in a line that says how to continue', async () => {
  stage.openai.behave({ mode: 'hold' });
  const waiting = cli.start([...RUN, '--version', '1'], { env: { PMS_RETRY_SECONDS: '1' } });
  const id = idIn((await waiting.says(/eval_\S+ started/))[0]);
  proxy.cut();
  const { code, output } = await waiting.ended;
  expect({ code, output }).toEqual({ code: 3, output: expect.stringContaining(`pms eval watch ${id}`) });
  expect(output.trim().split('\n')).toEqual([
    expect.stringContaining(' started: '),
    expect.stringContaining('Retrying for 1 s.'),
    expect.stringContaining('continues without pms'),
  ]);

  stage.openai.behave();
  proxy.restore();
  expect(await cli.pms(['eval', 'watch', id])).toMatchObject({ status: 0 });
});

test('a time-out is kept while the service is away', async () => {
  stage.openai.behave({ mode: 'hold' });
  const waiting = cli.start([...RUN, '--version', '1', '--timeout', '1']);
  const id = idIn((await waiting.says(/eval_\S+ started/))[0]);
  proxy.cut();
  expect(await waiting.ended).toMatchObject({ code: 3, output: expect.stringContaining('Timed out') });

  stage.openai.behave();
  proxy.restore();
  expect(await cli.pms(['eval', 'watch', id])).toMatchObject({ status: 0 });
});
