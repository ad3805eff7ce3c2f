import { type SqlBool, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { MAX_PAGE_BYTES } from '../evaluations/run/open-examples.ts';
import { readTexts } from '../traces/trace-texts.ts';
import { DURATION_MS, type TraceFilter, traceConditions } from '../traces/traces.ts';
import type { LoadedItems } from './open-item.ts';
import type { RuleWork } from './rule-work.ts';

/** Traces read at a time: each takes a few statements. */
const AT_ONCE = 20;

/**
 * The next traces to score. A trace that receives more steps is not scored: settling it creates another item.
 * @param query bound to the workspace
 */
export async function loadTraceItems(
  query: Query,
  { id }: RuleWork,
  filter: TraceFilter,
  taken: readonly number[],
  limit: number,
): Promise<LoadedItems> {
  const rows = await query((db) =>
    db
      .selectFrom('rule_items as i')
      .leftJoin('traces', (join) =>
        join
          .onRef('traces.id', '=', 'i.trace_id')
          .on((eb) => eb.and(traceConditions(eb, { ...filter, settled: true }))),
      )
      .select(['i.id as seq', 'traces.id', 'traces.first_day', 'traces.last_day', 'traces.metadata'])
      .select(['traces.cost_amount', 'traces.settled_as', DURATION_MS.as('duration_ms')])
      .where('i.work_id', '=', id)
      .where(sql<SqlBool>`i.id <> all(${taken}::bigint[])`)
      .orderBy('i.id')
      .limit(Math.min(limit, AT_ONCE)),
  );
  const loaded: LoadedItems = { items: [], unmeant: [] };
  let bytes = 0;
  for (const { seq, id: traceId, first_day, last_day, metadata, cost_amount, settled_as, duration_ms } of rows) {
    const texts =
      traceId === null || first_day === null || last_day === null
        ? undefined
        : await readTexts(query, { id: traceId, first_day, last_day });
    if (texts === undefined || traceId === null) {
      loaded.unmeant.push(seq);
      continue;
    }
    bytes += texts.bytes;
    if (bytes > MAX_PAGE_BYTES && loaded.items.length > 0) break;
    loaded.items.push({
      seq,
      subject: { traceId, spanId: null },
      revision: settled_as ?? undefined,
      variables: {},
      metadata: metadata ?? {},
      inputMessages: null,
      modelMs: duration_ms === null ? null : Math.round(Number(duration_ms)),
      costUsd: cost_amount,
      ...texts,
    });
  }
  return loaded;
}
