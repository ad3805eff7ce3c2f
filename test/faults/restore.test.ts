import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findPostgres } from '../../src/embedded/postgres/postgres-program.ts';
import { type Moments, prepareMoments, restore } from '../support/restore-drill.ts';

// Before all tests: jest refuses imports between concurrent tests of a file.
await findPostgres();

let moments: Moments;
beforeAll(async () => {
  moments = await prepareMoments();
});
afterAll(() => moments?.remove());

const NOTHING = { calls: 0, attempts: 0, submitted: 0 };
const AT_REST = { repeated: NOTHING, incomplete: 0, strayWorkflows: [], strayedSchedules: [], troubles: [] };

test('with an older Temporal, unfinished work continues from the database, and nothing is paid, sent or submitted twice', async () => {
  expect(await restore(moments, { database: 'late', temporal: 'early' })).toMatchObject({
    ...AT_REST,
    executions: { completed: 24 },
    evaluations: { completed: 4 },
    batches: { completed: 2 },
    deliveries: { delivered: 24 },
    releases: { awaiting_approval: 1, succeeded: 1 },
    submitted: 0,
    orphanedBatches: 0,
    earlyKeyWorks: false,
  });
});

test('with an older database, work that has ended since is not restarted, and an evaluation continues on request', async () => {
  const retryFailed = async (call: Parameters<NonNullable<Parameters<typeof restore>[2]>>[0]) => {
    const { body } = await call('GET', '/evaluations?status=failed');
    expect(body.data).toHaveLength(2);
    for (const { id, error } of body.data) {
      expect(error.message).toContain('restored');
      expect((await call('POST', `/evaluations/${id}/retry`, { body: {} })).status).toBe(200);
    }
  };
  expect(await restore(moments, { database: 'early', temporal: 'late' }, retryFailed)).toMatchObject({
    ...AT_REST,
    executions: { completed: 6, failed: 6 },
    evaluations: { completed: 2 },
    deliveries: { abandoned: 6 },
    releases: { failed: 1 },
    attempts: 0,
    orphanedBatches: 1,
    earlyKeyWorks: true,
  });
});
