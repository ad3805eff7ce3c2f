/** The columns that entries and sums of usage have in common and that are added up. */
export const USAGE_MEASURES = [
  'calls',
  'completed',
  'failed',
  'tokens_input',
  'tokens_output',
  'tokens_cached_input',
  'tokens_reasoning',
  'cost_amount',
  'priced',
  'unpriced',
  'timed',
  'model_ms',
] as const;

type Measure = (typeof USAGE_MEASURES)[number];
type RowName = 'old' | 'new';

/** How a table's rows are counted, as SQL. */
interface CountedTable {
  table: string;
  /** Whether a row counts at all. */
  counts: (row: RowName) => string;
  /** Whether it is an execution that has ended in this state. */
  endedAs?: (row: RowName, status: 'completed' | 'failed') => string;
  /** Whether a model has responded. */
  answered: (row: RowName) => string;
  /** The response time of its model, in milliseconds; null if none was called or has responded. Undefined: not stored. */
  modelMs?: (row: RowName) => string;
  /** The user and purpose of the usage: the rest of a `select` of workspace_id, kind, prompt_name and model. */
  owner: string;
}

/** An execution counts once it has ended, so a withdrawn one never counts; `GET /usage` reads unfinished ones directly. */
const EXECUTIONS: CountedTable = {
  table: 'executions',
  counts: (row) => `${row}.status in ('completed', 'failed', 'canceled')`,
  endedAs: (row, status) => `${row}.status = '${status}'`,
  answered: (row) => `${row}.answered_at is not null`,
  // An execution that reuses a response has 0 here.
  modelMs: (row) => `case when ${row}.reused_from is null then ${row}.model_ms end`,
  // A draft may have no prompt, and a name is never empty.
  owner: `new.workspace_id, 'execution', coalesce(new.prompt_name, ''), new.model`,
};

const RESULTS: CountedTable = {
  table: 'evaluation_results',
  counts: (row) => `${row}.attempts > 0`,
  answered: (row) => `${row}.finish_reason is not null`,
  modelMs: (row) => `${row}.model_ms`,
  owner: `e.workspace_id, 'example', e.prompt_name, coalesce(new.model, e.model) from evaluations e where e.id = new.evaluation_id`,
};

const JUDGEMENTS: CountedTable = {
  table: 'evaluation_judgements',
  counts: () => 'true',
  answered: () => 'true',
  owner: `e.workspace_id, 'judgement', e.prompt_name, config->>'model' from evaluations e
          join lateral jsonb_array_elements(e.evaluators) as config on config->>'name' = new.evaluator
          where e.id = new.evaluation_id`,
};

/** The prompt column contains the name of the rule. */
const judgementsOfRules = (table: string): CountedTable => ({
  table,
  counts: () => 'true',
  answered: () => 'true',
  owner: `new.workspace_id, 'rule', new.rule, new.model`,
});

const PAID_COLUMNS = [
  'tokens_input',
  'tokens_output',
  'tokens_cached_input',
  'tokens_reasoning',
  'cost_amount',
] as const;

function measures({ counts, endedAs, answered, modelMs }: CountedTable, row: RowName): Record<Measure, string> {
  const count = (...conditions: string[]) => `(${[counts(row), ...conditions].join(' and ')})::int`;
  const counted = (value: string) => `case when ${counts(row)} then coalesce(${value}, 0) else 0 end`;
  const amount = (column: (typeof PAID_COLUMNS)[number]) => counted(`${row}.${column}`);
  return {
    calls: count(),
    completed: endedAs === undefined ? '0' : count(endedAs(row, 'completed')),
    failed: endedAs === undefined ? '0' : count(endedAs(row, 'failed')),
    tokens_input: amount('tokens_input'),
    tokens_output: amount('tokens_output'),
    tokens_cached_input: amount('tokens_cached_input'),
    tokens_reasoning: amount('tokens_reasoning'),
    cost_amount: amount('cost_amount'),
    priced: count(`${row}.cost_amount is not null`),
    unpriced: count(`${row}.cost_amount is null`, answered(row)),
    timed: modelMs === undefined ? '0' : count(`(${modelMs(row)}) is not null`),
    model_ms: modelMs === undefined ? '0' : counted(modelMs(row)),
  };
}

/** The columns that an entry depends on: most updates change others, and must not cost a call of the trigger. */
function counted({ counts, endedAs, answered, modelMs }: CountedTable, row: RowName): string {
  const ends = endedAs === undefined ? [] : [endedAs(row, 'completed'), endedAs(row, 'failed')];
  const times = modelMs === undefined ? [] : [modelMs(row)];
  return [...PAID_COLUMNS.map((column) => `${row}.${column}`), counts(row), ...ends, answered(row), ...times].join(
    ', ',
  );
}

/** Writes an entry with the usage of a new row, or with the difference made by an update. */
function trigger(event: 'insert' | 'update', table: CountedTable) {
  const now = measures(table, 'new');
  const before = measures(table, 'old');
  const changes = USAGE_MEASURES.map((measure) =>
    event === 'insert' ? now[measure] : `(${now[measure]}) - (${before[measure]})`,
  );
  const isNews =
    event === 'insert' ? '' : ` and (${counted(table, 'old')}) is distinct from (${counted(table, 'new')})`;
  const name = `usage_of_${event}`;
  // MikroORM drops a trigger together with the function of this name.
  const functionName = `${table.table}_${name}_fn`;
  return {
    name,
    timing: 'after' as const,
    events: [event],
    // As one expression: PostgreSQL returns conditions in another form, and a comparison of the schemas would find a difference.
    expression: `create or replace function "${functionName}"() returns trigger language plpgsql as $$ begin
      insert into usage_entries (workspace_id, kind, prompt_name, model, created_at, ${USAGE_MEASURES.join(', ')})
      select owner.*, new.created_at, ${changes.join(', ')} from (select ${table.owner}) as owner; return null; end $$;
create trigger "${name}" after ${event} on "${table.table}" for each row when (${table.counts('new')}${isNews})
      execute function "${functionName}"()`,
  };
}

const triggersOf = (table: CountedTable) => [trigger('insert', table), trigger('update', table)];

export const executionUsageTriggers = triggersOf(EXECUTIONS);
export const resultUsageTriggers = triggersOf(RESULTS);
export const judgementUsageTriggers = triggersOf(JUDGEMENTS);
export const ruleJudgementUsageTriggers = triggersOf(judgementsOfRules('rule_judgements'));
export const traceJudgementUsageTriggers = triggersOf(judgementsOfRules('trace_judgements'));
