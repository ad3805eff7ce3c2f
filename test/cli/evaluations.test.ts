import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isAtRest } from '../../cli/src/evaluations/verdict.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type Cli, startCli } from './support.ts';

let service: TestService;
let cli: Cli;
const examples = Array.from({ length: 12 }, (_, index) => ({
  id: `e${index}`,
  variables: { x: `${index}` },
  expected: `${index}`,
}));

beforeAll(async () => {
  service = await startTestService();
  cli = await startCli(service);
  await service.call('PUT', '/datasets/numbers', {
    raw: examples.map((example) => `${JSON.stringify(example)}\n`).join(''),
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  for (const template of ['{{ x }}', 'no {{ x }}'])
    await service.call('POST', '/prompts', { body: { name: 'say', model: 'sandbox/echo', template } });
  const file = { prompt_name: 'say', dataset: 'numbers', evaluators: [{ type: 'exact_match' }] };
  await writeFile(at('eval.json'), JSON.stringify(file));
  await writeFile(at('eval.yaml'), 'prompt_name: say\ndataset: numbers\nevaluators:\n  - type: exact_match\n');
});
afterAll(async () => {
  await cli?.remove();
  await service?.stop();
});

const at = (file: string) => path.join(cli.folder, file);
const read = (file: string) => readFile(at(file), 'utf8');
/** The id of the started run. */
const idIn = (text: string) => /eval_[0-9a-f-]+/.exec(text)?.[0] ?? '';

test('another version over what an earlier one was asked: recent executions, one, or those of a trace', async () => {
  const made: string[] = [];
  for (const x of ['1', '2', '3'])
    made.push(
      (await service.call('POST', '/executions', { body: { prompt_name: 'say', version: 1, variables: { x } } })).body
        .id,
    );
  const args = ['eval', 'run', '--prompt', 'say', '--version', '2', '--evaluator', 'json_valid', '--wait'];
  const recent = await cli.pms([...args, '--last', '2', '--max-regressions', '0']);
  expect([recent.status, recent.stdout]).toEqual([1, expect.stringContaining('2 of 2 examples')]);
  expect(recent.stdout).toContain('score 0.0000, worse 2, better 0');
  const json = await cli.pms([...args, '--execution', made[0] ?? '', '--json']);
  expect(JSON.parse(json.stdout).evaluation.from_executions).toEqual({ matched: 1, left_out: [], recorded: false });
  const none = await cli.pms([...args, '--trace', '0'.repeat(31).concat('1')]);
  expect([none.status, none.stderr]).toEqual([2, expect.stringContaining('no execution with the status')]);
});

test('a run that passes, then a worse one: status, print and reports agree', async () => {
  const reports = ['junit=j.xml', 'markdown=m.md', 'json=r.json'].flatMap((report) => ['--report', report]);
  const good = await cli.pms(['eval', 'run', 'eval.json', '--version', '1', '--wait', ...reports]);
  expect([good.status, good.stdout]).toEqual([0, expect.stringContaining('passed: The score is 1.0000')]);
  expect(await read('j.xml')).toMatch(
    /^<\?xml[^\n]+\n<testsuites name="eval_[^"]+" tests="13" failures="0" errors="0" skipped="0"/,
  );
  expect(await read('m.md')).toContain('### ✅ say version 1: passed');
  expect(JSON.parse(await read('r.json'))).toMatchObject({
    verdict: { status: 0, word: 'passed' },
    results: examples.map(({ id }) => ({ example_id: id })),
  });

  const bad = await cli.pms(['eval', 'run', 'eval.yaml', '--version', '2', '--wait', '--significant', ...reports]);
  expect([bad.status, bad.stdout]).toEqual([1, expect.stringContaining('score 0.0000, worse 12, better 0')]);
  expect(bad.stderr).toContain('failed: The score 0.0000 is below the threshold 0.8.');
  expect(await read('j.xml')).toContain('tests="13" failures="13"');
  expect(await read('m.md')).toContain('❌');
  expect(JSON.parse(await read('r.json'))).toMatchObject({
    verdict: { status: 1, word: 'failed' },
    comparison: { verdict: 'regression' },
  });

  const [before, after] = [idIn(good.stderr), idIn(bad.stderr)];
  expect(await cli.pms(['eval', 'compare', after, before])).toMatchObject({ status: 1 });
  expect(await cli.pms(['eval', 'compare', after])).toMatchObject({ status: 1 });
  expect(await cli.pms(['eval', 'compare', before, after])).toMatchObject({ status: 0 });
  expect(await cli.pms(['eval', 'watch', after])).toMatchObject({ status: 1 });
});

test('regressions have their own gate', async () => {
  await cli.pms(['eval', 'run', 'eval.json', '--version', '1', '--wait']);
  const gate = ['--version', '2', '--threshold', '0', '--wait', '--max-regressions'];
  const few = await cli.pms(['eval', 'run', 'eval.json', ...gate, '11']);
  expect([few.status, few.stderr]).toEqual([
    1,
    expect.stringContaining('12 examples are worse than before; the limit is 11.'),
  ]);
  await cli.pms(['eval', 'run', 'eval.json', '--version', '1', '--wait']);
  expect((await cli.pms(['eval', 'run', 'eval.json', ...gate, '12'])).status).toBe(0);
});

test('a difference within noise is inconclusive', async () => {
  const half = examples.map((example, index) => ({ ...example, expected: index < 3 ? 'other' : example.expected }));
  const run = async (given: object[]) => {
    const body = {
      prompt_name: 'say',
      version: 1,
      examples: given,
      evaluators: [{ type: 'exact_match' }],
      threshold: 0.5,
    };
    await writeFile(at('inline.json'), JSON.stringify(body));
    const { stderr } = await cli.pms(['eval', 'run', 'inline.json', '--wait']);
    return idIn(stderr);
  };
  const [better, worse] = [await run(examples), await run(half)];
  const noise = await cli.pms(['eval', 'compare', worse, better, '--significant']);
  expect([noise.status, noise.stderr]).toEqual([4, expect.stringContaining('inconclusive: ')]);
  expect((await cli.pms(['eval', 'compare', worse, better])).status).toBe(1);
});

test('a withheld verdict is inconclusive, and reports how many calls failed and why', async () => {
  await service.call('POST', '/prompts', { body: { name: 'fails', model: 'sandbox/fail', template: '{{ x }}' } });
  const of = ['eval', 'run', '--prompt', 'fails', '--dataset', 'numbers', '--evaluator', 'exact_match', '--wait'];
  const first = await cli.pms([...of, '--threshold', '0']);
  expect([first.status, first.stdout]).toEqual([0, expect.stringMatching(/12 of 12 examples failed: 12 × \w+: /)]);
  const second = await cli.pms([...of, '--threshold', '0', '--significant', '--json']);
  expect([second.status, second.stderr]).toEqual([
    4,
    expect.stringContaining('inconclusive: No verdict over 12 examples'),
  ]);
  expect(JSON.parse(second.stdout)).toMatchObject({
    verdict: { status: 4, reasons: [expect.any(String), expect.stringMatching(/^12 of 12 examples failed: /)] },
    evaluation: { failures: [{ count: 12 }] },
    comparison: { withheld: 'failures', verdict: 'too_few_differences' },
  });
  const [before, after] = [idIn(first.stdout), JSON.parse(second.stdout).evaluation.id];
  for (const more of [[], ['--significant']])
    expect(await cli.pms(['eval', 'compare', after, before, ...more])).toMatchObject({ status: 4 });
  const other = await cli.pms(['eval', 'run', 'eval.json', '--version', '1', '--wait']);
  const length = ['--evaluator', 'json_valid', '--threshold', '0', '--wait'];
  const apart = await cli.pms(['eval', 'run', '--prompt', 'say', '--dataset', 'numbers', ...length]);
  const incomparable = await cli.pms(['eval', 'compare', idIn(apart.stderr), idIn(other.stderr)]);
  expect([incomparable.status, incomparable.stderr]).toEqual([4, expect.stringContaining('Not comparable')]);
});

test('a run whose judge gave no score has not passed, and the report says so', async () => {
  const evaluators = [{ type: 'llm_judge', model: 'sandbox/fixed', rubric: 'Is it kind?' }];
  await writeFile(
    at('judged.json'),
    JSON.stringify({ prompt_name: 'say', dataset: 'numbers', threshold: 0, evaluators }),
  );
  const run = await cli.pms([
    'eval',
    'run',
    'judged.json',
    '--wait',
    '--report',
    'junit=u.xml',
    '--report',
    'markdown=u.md',
  ]);
  expect([run.status, run.stderr]).toEqual([
    1,
    expect.stringContaining('failed: No example has a score. 12 of 12 examples have no score of llm_judge'),
  ]);
  expect(await read('u.xml')).toContain('tests="13" failures="1" errors="0" skipped="12"');
  expect(await read('u.md')).toContain('12 without a score');
});

test('a paused run is waited for', async () => {
  const { body } = await service.call('GET', '/evaluations?limit=1');
  const paused = { ...body.data[0], status: 'paused', status_reason: 'paused by request' };
  expect(isAtRest(paused)).toBe(false);
});

test('a canceled run is status 3, and so is one that takes too long', async () => {
  await service.call('POST', '/prompts', { body: { name: 'stalls', model: 'sandbox/stall', template: '{{ x }}' } });
  const begun = await cli.pms([
    'eval',
    'run',
    '--prompt',
    'stalls',
    '--dataset',
    'numbers',
    '--evaluator',
    'exact_match',
  ]);
  const id = begun.stdout.trim();
  expect(begun).toMatchObject({ status: 0, stdout: expect.stringMatching(/^eval_\S+\n$/) });
  const late = await cli.pms(['eval', 'watch', id, '--timeout', '0']);
  expect([late.status, late.stderr]).toEqual([
    3,
    expect.stringContaining(`${id} is still running: pms eval watch ${id}`),
  ]);
  expect((await cli.pms(['eval', 'compare', id])).status).toBe(2);
  await service.call('POST', `/evaluations/${id}/cancel`);
  const canceled = await cli.pms(['eval', 'watch', id]);
  expect([canceled.status, canceled.stderr]).toEqual([3, expect.stringContaining('is canceled')]);
});

test('errors are reported before anything runs', async () => {
  const status = async (...args: string[]) => (await cli.pms(['eval', 'run', ...args])).status;
  expect(await status()).toBe(2);
  expect(await status('none.json')).toBe(2);
  expect(await status('eval.json', '--report', 'junit=x.xml')).toBe(2);
  expect(await status('eval.json', '--wait', '--report', 'html=x')).toBe(2);
  expect(await status('eval.json', '--threshold', 'high')).toBe(2);
  expect(await status('eval.json', '--dataset', 'none', '--wait')).toBe(2);
  await writeFile(at('list.yaml'), '- 1\n');
  expect(await status('list.yaml')).toBe(2);
});

test('a prompt file is evaluated without creating a version', async () => {
  await mkdir(at('files'), { recursive: true });
  await writeFile(at('files/say.yaml'), 'name: say\nmodel: sandbox/echo\ntemplate: "{{ x }}"\n');
  await writeFile(at('files/new.yaml'), 'name: not/there\nmodel: sandbox/echo\ntemplate: "{{ x }}!"\n');
  const versions = async () => (await service.call('GET', '/prompts/say/versions')).body.data.length;
  const before = await versions();
  const report = ['--report', 'markdown=d.md', '--report', 'junit=d.xml'];
  const good = await cli.pms(['eval', 'run', 'eval.json', '--draft', 'files/say.yaml', '--wait', ...report]);
  expect([good.status, good.stdout]).toEqual([0, expect.stringContaining('say (draft), 12 of 12 examples')]);
  expect(await read('d.md')).toContain('### ✅ say &#40;draft&#41;: passed');
  expect(await read('d.xml')).toContain('classname="say@draft"');
  // The file of the prompt in a folder; a new one in this pull request.
  expect((await cli.pms(['eval', 'run', 'eval.yaml', '--draft', 'files', '--wait'])).status).toBe(0);
  const fresh = ['--draft', 'files/new.yaml', '--dataset', 'numbers', '--evaluator', 'exact_match', '--wait'];
  const bad = await cli.pms(['eval', 'run', ...fresh]);
  expect([bad.status, bad.stdout]).toEqual([1, expect.stringContaining('not/there (draft)')]);
  expect(await versions()).toBe(before);
  expect((await service.call('GET', '/prompts/not/there')).status).toBe(404);
});

test('a --draft that names no prompt, another one, or also a version is refused before anything runs', async () => {
  await mkdir(at('two'), { recursive: true });
  for (const name of ['one', 'two'])
    await writeFile(at(`two/${name}.yaml`), `name: ${name}\nmodel: sandbox/echo\ntemplate: x\n`);
  await writeFile(at('broken.yaml'), 'name: say\ntemplate: x\n');
  const refusals: [string[], string][] = [
    [['--draft', 'two'], 'two has several prompts: name one of them with --prompt.'],
    [['eval.json', '--draft', 'two'], 'two has no prompt say. It has: one, two.'],
    [['eval.json', '--draft', 'broken.yaml'], 'broken.yaml:1: model is required'],
    [['--draft', 'two/one.yaml', '--version', '1'], '--draft replaces the version'],
    [['eval.json', '--draft', 'none.yaml'], 'There is no file or folder none.yaml.'],
  ];
  for (const [args, message] of refusals)
    expect([args, await cli.pms(['eval', 'run', ...args])]).toEqual([
      args,
      expect.objectContaining({ status: 2, stderr: expect.stringContaining(message) }),
    ]);
});
