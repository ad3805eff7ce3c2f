import { type SqlBool, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { isRuled } from '../../db/rule-triggers.ts';
import { now } from '../../db/sql.ts';
import { inStates } from '../../db/state-change.ts';
import { idsOfSpan } from '../../domain/ids.ts';
import { backfillStates } from '../../domain/rules/backfill-states.ts';
import { sampledSql } from '../../domain/rules/sampling.ts';
import { executionConditions } from '../executions/filter.ts';
import type { RuleSpec, RuleWork } from './rule-work.ts';

/** The maximum number of executions that a backfill examines in one statement. */
const SCAN_SIZE = 5_000;

// raw SQL: the condition of the trigger that queues executions as they complete.
const IS_RULED = sql.raw<boolean>(isRuled('s'));

const RUNNING = inStates(backfillStates, ['running']);

/** @param ruleId UUID, from its row */
const isSampled = (ruleId: string, rate: number) =>
  // raw SQL: the same text as in that trigger.
  sql.raw<SqlBool>(sampledSql(`'${ruleId}'`, 'scanned.id', `${rate}::float8`));

/**
 * Queues the next executions of a backfill, in the order of their ids, and moves its position past all examined executions: both
 * or neither. Examines at most {@link SCAN_SIZE}, however few of them are to be scored.
 * @param query bound to the workspace
 * @returns whether there may be more; false if the backfill is not running
 */
export async function findPast(query: Query, { id }: RuleWork, spec: RuleSpec): Promise<boolean> {
  const [backfill] = await query((db) =>
    db
      .selectFrom('rule_backfills')
      .select([
        'rule_id',
        'prompt_name',
        'prompt_group',
        'label',
        'sample_rate',
        'since',
        'until',
        'position',
        'exhausted',
      ])
      .where('id', '=', id)
      .where(RUNNING),
  );
  if (backfill === undefined || backfill.exhausted) return false;
  const { rule_id: ruleId, prompt_name: promptName, prompt_group: group, sample_rate: rate } = backfill;
  const { label, since, until } = backfill;
  const { to } = idsOfSpan(since, until);
  const [moved] = await query((db) =>
    db
      // If two calls run concurrently, the second finds the position moved.
      .with('at', (cte) =>
        cte
          .selectFrom('rule_backfills')
          .select('position')
          .where('id', '=', id)
          .where('position', '=', backfill.position)
          .where(RUNNING)
          .where('exhausted', '=', sql.lit(false))
          .forUpdate(),
      )
      // The next executions of the workspace, of any kind: there is no index of the relevant ones.
      .with('scanned', (cte) =>
        cte
          .selectFrom('executions as s')
          .select(['s.id', IS_RULED.as('is_ruled')])
          .where('s.id', '>', backfill.position)
          .where('s.id', '<=', to)
          .where((eb) => eb.exists(eb.selectFrom('at').select('at.position')))
          .orderBy('s.id')
          .limit(SCAN_SIZE),
      )
      .with('put', (cte) =>
        cte
          .insertInto('rule_items')
          .columns(['work_id', 'execution_id', 'created_at'])
          .expression(
            cte
              .selectFrom('executions')
              .innerJoin('scanned', 'scanned.id', 'executions.id')
              .select([sql<string>`${id}::uuid`.as('work_id'), 'executions.id as execution_id', now.as('created_at')])
              .where('scanned.is_ruled', '=', sql.lit(true))
              .$if(promptName !== null, (all) => all.where('executions.prompt_name', '=', promptName))
              .$if(group !== null, (all) =>
                all.where(sql<SqlBool>`starts_with(${sql.ref('executions.prompt_name')}, ${`${group}/`})`),
              )
              .where('executions.created_at', '>=', since)
              .where('executions.created_at', '<', until)
              .$if(label !== null, (all) => all.where('executions.label', '=', label))
              .where(isSampled(ruleId, rate))
              .where((eb) => eb.and(executionConditions(eb, spec.filter ?? {})))
              .orderBy('executions.id'),
          )
          .returning('id'),
      )
      .updateTable('rule_backfills as b')
      .from('at')
      .set((eb) => ({
        position: sql<string>`coalesce(${eb.selectFrom('scanned').select('scanned.id').orderBy('scanned.id', 'desc').limit(1)}, b.position)`,
        exhausted: sql<boolean>`${eb.selectFrom('scanned').select(sql<number>`count(*)`.as('count'))} < ${SCAN_SIZE}::int`,
        found: sql<number>`b.found + ${eb.selectFrom('put').select(sql<number>`count(*)`.as('count'))}`,
      }))
      .where('b.id', '=', id)
      .returning('b.exhausted'),
  );
  return moved?.exhausted !== true;
}
