import type { Database } from '../../src/db/database.ts';
import type { ExecutionStatus } from '../../src/domain/execution-states.ts';
import { newId } from '../../src/domain/ids.ts';
import { generateApiKey } from '../../src/services/access/api-keys.ts';
import { ensureFirstKey } from '../../src/services/workspaces/bootstrap.ts';

/** Rows of `executions`, written and read past the API. */
export interface ExecutionRows {
  /** @returns the id of a new row in the workspace `default`; by default a newly queued one */
  queue(row: {
    input?: string;
    promptName?: string;
    model?: string;
    status?: ExecutionStatus;
    answered?: boolean;
    ageSeconds?: number;
    /** Default: accepted by a response to the caller. */
    accepted?: boolean;
    fallbackModels?: string[];
  }): Promise<string>;
  /** The row, with `answered` for whether it has its answer. */
  read(id: string): Promise<Record<string, unknown>>;
  /** Types of the events about it. */
  events(id: string): Promise<string[]>;
  /** As if the reconciliation had checked it a while ago. */
  ageCheck(id: string): Promise<void>;
  remove(id: string): Promise<void>;
}

/** Creates the workspace `default` in a new database, and rows in it. */
export async function executionRows(db: Database): Promise<ExecutionRows> {
  await ensureFirstKey(db, generateApiKey());
  const { query } = db.system;
  return {
    async queue({
      input = 'Say hi',
      promptName = 'greet',
      model = 'openai/gpt-4o-mini',
      status = 'queued',
      answered = false,
      ageSeconds = 0,
      accepted = true,
      fallbackModels = [],
    }) {
      const id = newId();
      await query(
        {
          text: `insert into executions (workspace_id, id, status, prompt_name, prompt_version, model, provider, parameters,
                   variables, input, metadata, created_at, check_at, accepted_at, output, answered_at, fallback_models)
                 select id, $1, $2, $7, 1, $3, 'openai', '{}', '{}', $4, '{}', now() - make_interval(secs => $5), now() + interval '30 seconds' - make_interval(secs => $5),
                   case when $8 then now() end, case when $6 then 'an answer' end, case when $6 then now() end, $9
                 from workspaces where name = 'default'`,
        },
        [id, status, model, input, ageSeconds, answered, promptName, accepted, fallbackModels],
      );
      return id;
    },
    async read(id) {
      const [row] = await query(
        { text: 'select *, answered_at is not null as answered from executions where id = $1' },
        [id],
      );
      if (row === undefined) throw new Error(`There is no execution ${id}.`);
      return row;
    },
    async events(id) {
      const found = await query<{ type: string }>(
        { text: `select type from events where data->>'execution_id' = $1 order by id` },
        [`exec_${id}`],
      );
      return found.map(({ type }) => type);
    },
    async ageCheck(id) {
      await query({ text: `update executions set check_at = now() - interval '1 second' where id = $1` }, [id]);
    },
    async remove(id) {
      await query({ text: 'delete from executions where id = $1' }, [id]);
    },
  };
}
