import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type RuleStage, startRuleStage } from '../api/rules/rules-support.ts';
import { type Cli, startCli } from './support.ts';

const JUDGE = { type: 'llm_judge', name: 'tone', model: 'openai/gpt-4o-mini', rubric: 'Friendly.' };
/** 1,000 tokens in and 100 out. */
const JUDGE_USD = 0.00021;

let stage: RuleStage;
let cli: Cli;
beforeAll(async () => {
  stage = await startRuleStage({
    answer: ({ prompt }) =>
      prompt.startsWith('You grade')
        ? { text: '{"reason": "Friendly enough.", "score": 4}', usage: { input: 1_000, output: 100 } }
        : { text: `Answer to: ${prompt}`, usage: { input: 10, output: 10 } },
  });
  cli = await startCli(stage.service);
});
afterAll(async () => {
  await cli?.remove();
  await stage?.stop();
});

test('a backfill that stops at its budget is status 4 if its end is awaited', async () => {
  await stage.prompt('cli/capped');
  await stage.run('cli/capped', 10);
  await stage.put('cli/capped', { prompt_name: 'cli/capped', evaluators: [JUDGE], enabled: false });
  const backfill = (...args: string[]) =>
    cli.pms(['rules', 'backfill', 'cli/capped', '--since', '2020-01-01T00:00:00Z', ...args]);
  const { status, stdout, stderr } = await backfill('--max-cost', String(4 * JUDGE_USD), '--wait');
  expect([status, stderr]).toEqual([4, expect.stringMatching(/^bf_\S+ is paused: .*too little is left/)]);
  expect(stdout).toMatch(/^bf_\S+ of cli\/capped: paused .* of \$0\.00084/);

  const { id } = JSON.parse((await backfill('--json')).stdout);
  await stage.untilBackfill('cli/capped', id, 'completed');
});
