import { openDatabase } from '../src/db/database.ts';
import { type Answer, type Call, createCall } from '../test/support/service.ts';
import { callOk } from './attack-calls.ts';
import { type Row, row } from './report.ts';
import type { Service } from './service.ts';

const MIB = 1024 * 1024;
/** The quota of a workspace for each kind. */
const QUOTA_MIB = 64;
export const STORAGE_QUOTAS = {
  QUOTA_EXECUTION_BYTES: `${QUOTA_MIB}MiB`,
  QUOTA_DATASET_BYTES: `${QUOTA_MIB}MiB`,
  QUOTA_PROMPT_BYTES: `${QUOTA_MIB}MiB`,
  QUOTA_EVALUATIONS: '0',
};
const CALLERS = 20;
/** Enough to exceed the quota several times. */
const REQUESTS = 400;
const TEXT = 'x'.repeat(900 * 1024);

/** Random letters, which cannot be compressed. */
function textOf(nth: number): string {
  let state = nth + 1;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state.toString(36);
  };
  let text = '';
  while (text.length < TEXT.length) text += next();
  return text;
}

type Fill = (call: Call, nth: number, text: string) => Promise<Answer>;

const later = { start_at: '2099-01-01T00:00:00Z', prompt_name: 'fill' };
const lines = (call: Call, path: string, text: string) =>
  call('PUT', path, {
    raw: `${JSON.stringify({ variables: { text } })}\n`,
    headers: { 'Content-Type': 'application/x-ndjson' },
  });

/** Each way to store a caller's data. Each starts with a fresh workspace. */
const WAYS: Record<string, Fill> = {
  'inline examples of evaluations': (call, _, text) =>
    call('POST', '/evaluations', {
      body: { ...later, examples: [{ variables: { text } }], evaluators: [{ type: 'exact_match' }] },
    }),
  'drafts of evaluations': (call, _, text) =>
    call('POST', '/evaluations', {
      body: {
        ...later,
        draft: { template: text.slice(0, 190_000), model: 'sandbox/echo' },
        examples: [{ variables: {} }],
        evaluators: [{ type: 'exact_match' }],
      },
    }),
  'responses kept for Idempotency-Key': (call, nth, text) =>
    call('POST', '/executions', {
      body: { prompt_name: 'fill', variables: { text: text.slice(0, 190_000) } },
      headers: { 'Idempotency-Key': `fill-${nth}` },
    }),
  'datasets that are deleted at once': async (call, nth, text) => {
    const stored = await lines(call, `/datasets/deleted-${nth}`, text);
    await call('DELETE', `/datasets/deleted-${nth}`);
    return stored;
  },
  'versions of a prompt': (call, _, text) =>
    call('PUT', '/prompts/fill', { body: { template: `{{ text }} ${text.slice(0, 190_000)}` } }),
};

/** Fills the database in each possible way, and measures its growth. */
export async function attackStorage(
  service: Service,
  databaseUrl: string,
  newWorkspace: (name: string) => Promise<string>,
  report: (line: string) => void,
): Promise<Row[]> {
  const db = await openDatabase(databaseUrl, { poolSize: 2, statementTimeoutMs: 0 });
  const sizeMiB = async () => {
    await db.system.query({ text: 'checkpoint' });
    const [size] = await db.system.query<{ bytes: string }>({
      text: 'select pg_database_size(current_database()) as bytes',
    });
    return Number(size?.bytes) / MIB;
  };
  const rows: Row[] = [];
  try {
    for (const [way, fill] of Object.entries(WAYS)) {
      const call = createCall(service.origin, await newWorkspace(way));
      await callOk(call('POST', '/prompts', { body: { name: 'fill', template: '{{ text }}', model: 'sandbox/echo' } }));
      const before = await sizeMiB();
      const statuses: Record<string, number> = {};
      let next = 0;
      const work = async () => {
        while (next < REQUESTS) {
          const nth = next++;
          const { status, body } = await fill(call, nth, textOf(nth));
          const what = `${status}${body?.error ? ` ${body.error.code}` : ''}`;
          statuses[what] = (statuses[what] ?? 0) + 1;
        }
      };
      await Promise.all(Array.from({ length: CALLERS }, work));
      report(`${way}: ${JSON.stringify(statuses)}`);
      rows.push(row(`10: stored by ${way}`, 'MiB', [(await sizeMiB()) - before], { atMost: 2 * QUOTA_MIB }));
    }
    return rows;
  } finally {
    await db.close();
  }
}
