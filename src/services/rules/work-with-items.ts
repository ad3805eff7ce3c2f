import { type SqlBool, sql } from 'kysely';
import type { Builder } from '../../db/statement.ts';

/**
 * Begins a statement with `work (workspace_id, id)`: what has items. It goes from one to the next by the index, so that its cost grows with
 * their number, not with that of the items.
 */
export const workWithItems = (db: Builder) =>
  db.withRecursive('work(workspace_id, id)', (cte) =>
    cte
      .selectFrom((eb) =>
        eb
          .selectFrom('rule_items')
          .select(['workspace_id', 'work_id'])
          .orderBy('workspace_id')
          .orderBy('work_id')
          .limit(sql.lit(1))
          .as('first'),
      )
      .select(['first.workspace_id', 'first.work_id as id'])
      .unionAll((eb) =>
        eb
          .selectFrom('work')
          .innerJoinLateral(
            (each) =>
              each
                .selectFrom('rule_items as i')
                .select(['i.workspace_id', 'i.work_id'])
                .where(
                  sql<SqlBool>`(${sql.ref('i.workspace_id')}, ${sql.ref('i.work_id')}) > (${sql.ref('work.workspace_id')}, ${sql.ref('work.id')})`,
                )
                .orderBy('i.workspace_id')
                .orderBy('i.work_id')
                .limit(sql.lit(1))
                .as('next'),
            (join) => join.onTrue(),
          )
          .select(['next.workspace_id', 'next.work_id as id']),
      ),
  );
