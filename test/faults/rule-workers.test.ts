import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase } from '../support/database.ts';
import { AT_FULL_SIZE, tell } from '../support/fault-runs.ts';
import { behave, setStage } from '../support/fault-stage.ts';
import { PATIENCE_MS, until } from '../support/wait-for.ts';

const EXECUTIONS = AT_FULL_SIZE ? 5_000 : 200;
const KILLS = AT_FULL_SIZE ? 20 : 2;
/** After each kill it takes ten seconds until Temporal misses the worker's heartbeats. */
const TIMEOUT_MS = AT_FULL_SIZE ? 30 * 60_000 : 600_000;
/** Executions that the budget is enough for; the rest follows with a higher one. */
const AFFORDED = EXECUTIONS / 2;

/** A judge's, of the same cost each time. */
const JUDGEMENT = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-4o-mini',
  choices: [
    { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: '{"reason": "Fine.", "score": 5}' } },
  ],
  usage: { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 },
};

const cleanUps: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

test(
  'a backfill survives the kills of its workers: each execution is scored once, and its budget is kept',
  async () => {
    const database = await createTestDatabase();
    cleanUps.push(() => database.drop());
    const temporalAddress = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
    const stage = await setStage({ databaseUrl: database.url, temporalAddress, latencyMs: 100 });
    cleanUps.push(() => stage.end());
    const sql = new pg.Client({ connectionString: database.url });
    await sql.connect();
    cleanUps.push(() => sql.end());
    let worker = (await Promise.all([stage.startWorker(), stage.startApi()]))[0];
    const { call } = stage;

    const prompt = { name: 'past', template: 'Say {{ text }}', model: 'openai/gpt-4o-mini' };
    expect((await call('POST', '/prompts', { body: prompt })).status).toBe(201);
    const run = async (text: number) => {
      const { body } = await call('POST', '/executions', {
        body: { prompt_name: 'past', variables: { text: `${text}` } },
      });
      expect(body.status).toBe('completed');
    };
    for (let from = 0; from < EXECUTIONS; from += 40)
      await Promise.all(Array.from({ length: 40 }, (_, index) => run(from + index)));

    await behave(stage.model, { mode: 'fail', status: 200, body: JUDGEMENT, matching: 'You grade' });
    const judge = { type: 'llm_judge', name: 'tone', model: 'openai/gpt-4o-mini', rubric: 'Friendly.' };
    const evaluators = [judge, { type: 'contains', value: 'Answer' }];
    await call('PUT', '/rules/tone', { body: { prompt_name: 'past', evaluators, enabled: false } });
    const since = new Date(Date.now() - 3_600_000).toISOString();
    const read = async (id: string) => (await call('GET', `/rules/tone/backfills/${id}`)).body;

    // The cost of one, from a backfill that is canceled right away.
    const probe = (await call('POST', '/rules/tone/backfill', { body: { since, max_cost: 0.000_001 } })).body;
    const probed = await until('the first is paid', async () => {
      const row = await read(probe.id);
      return row.status === 'paused' && row;
    });
    await call('POST', `/rules/tone/backfills/${probe.id}/cancel`);
    expect(probed.scored).toBe(1);
    const oneUsd = Number(probed.spent);
    expect(oneUsd).toBeGreaterThan(0);

    const maxCost = AFFORDED * oneUsd;
    const { id } = (await call('POST', '/rules/tone/backfill', { body: { since, max_cost: maxCost } })).body;
    let killed = 0;
    let resumed = false;
    const startedAt = Date.now();
    const ended = await until(
      'the end of the backfill',
      async () => {
        const row = await read(id);
        if (row.status === 'paused') {
          // The probe's judgement was paid for already.
          expect(Math.abs(Number(row.spent) - maxCost)).toBeLessThanOrEqual(oneUsd + 1e-9);
          await call('POST', `/rules/tone/backfills/${id}/resume`, { body: { max_cost: null } });
          resumed = true;
        }
        if (['completed', 'failed', 'canceled'].includes(row.status)) return row;
        if (killed < KILLS && row.scored > (killed * EXECUTIONS) / (KILLS + 1)) {
          await worker.killTree();
          killed += 1;
          worker = await stage.startWorker();
        }
        await delay(20);
        return undefined;
      },
      AT_FULL_SIZE ? 10 * PATIENCE_MS : 2 * PATIENCE_MS,
    );
    tell(`a backfill of ${EXECUTIONS}: ${killed} kills, ${((Date.now() - startedAt) / 1_000).toFixed(1)} s`);
    expect(killed).toBe(KILLS);
    expect(resumed).toBe(true);
    expect(ended).toMatchObject({ status: 'completed', found: EXECUTIONS, scored: EXECUTIONS, failed: 0 });
    const { rows: scores } = await sql.query<{ executions: number; scores: number }>(
      `select count(distinct execution_id)::int as executions, count(*)::int as scores from scores where rule = 'tone'`,
    );
    expect(scores).toEqual([{ executions: EXECUTIONS, scores: 2 * EXECUTIONS }]);
    expect((await sql.query('select 1 from rule_items')).rows).toEqual([]);
    // Everything was paid for and stored once.
    expect(Number(ended.spent)).toBeCloseTo((EXECUTIONS - 1) * oneUsd, 9);
  },
  TIMEOUT_MS,
);
