import type { Database } from '../../src/db/database.ts';
import { UUID_V7 } from '../../src/db/uuid-v7.ts';
import { newId } from '../../src/domain/ids.ts';
import { generateApiKey } from '../../src/services/access/api-keys.ts';
import { ensureFirstKey } from '../../src/services/workspaces/bootstrap.ts';

/** Rows of rules and related tables, written without the API. */
export interface RuleRows {
  workspaceId: string;
  /** @returns its id */
  rule(row?: { enabled?: boolean }): Promise<string>;
  /** Inserts a backfill of the prompt `past` over yesterday and today. @returns its ID */
  backfill(row?: { status?: string }): Promise<string>;
  /** A number of completed executions. */
  executions(promptName: string, count: number): Promise<void>;
  /** A number of items due for a rule or a backfill. */
  items(workId: string, count: number): Promise<void>;
  countItems(workId: string): Promise<number>;
}

/** Creates the workspace `default` in a new database, and rows in it. */
export async function ruleRows(db: Database): Promise<RuleRows> {
  await ensureFirstKey(db, generateApiKey());
  const { query } = db.system;
  const [row] = await query<{ id: string }>({ text: `select id from workspaces where name = 'default'` });
  const workspaceId = row?.id ?? '';
  const rows: RuleRows = {
    workspaceId,
    async rule({ enabled = true } = {}) {
      const id = newId();
      await query(
        {
          text: `insert into rules (workspace_id, id, name, prompt_name, sample_rate, evaluators, enabled, created_at, updated_at)
                 values ($1, $2, $2::uuid::text, 'nothing', 1, '[]', $3, now(), now())`,
        },
        [workspaceId, id, enabled],
      );
      return id;
    },
    async backfill({ status = 'running' } = {}) {
      const [ruleId, id] = [await rows.rule({ enabled: false }), newId()];
      await query(
        {
          text: `insert into rule_backfills (workspace_id, id, rule_id, name, prompt_name, sample_rate, evaluators, since, until, status, position, created_at)
                 values ($1, $2, $3, 'past', 'past', 1, '[]', now() - interval '1 day', now() + interval '1 day', $4,
                   '00000000-0000-7000-8000-000000000000', now())`,
        },
        [workspaceId, id, ruleId, status],
      );
      return id;
    },
    async executions(promptName, count) {
      await query(
        {
          text: `insert into executions (workspace_id, id, status, prompt_name, prompt_version, model, provider, parameters,
                   variables, input, metadata, created_at, check_at, accepted_at, output, answered_at, finished_at, fallback_models)
                 select $1, ${UUID_V7}, 'completed', $2, 1, 'openai/gpt-4o-mini', 'openai', '{}', '{}', 'Say hi', '{}', now(), now(), now(),
                   'Hi', now(), now(), '{}' from generate_series(1, $3)`,
        },
        [workspaceId, promptName, count],
      );
    },
    async items(workId, count) {
      await query(
        {
          text: `insert into rule_items (workspace_id, work_id, execution_id, created_at)
                 select $1, $2, gen_random_uuid(), now() from generate_series(1, $3)`,
        },
        [workspaceId, workId, count],
      );
    },
    async countItems(workId) {
      const [found] = await query<{ count: number }>(
        { text: 'select count(*) as count from rule_items where work_id = $1' },
        [workId],
      );
      return found?.count ?? 0;
    },
  };
  return rows;
}
