import { type Expression, type RawBuilder, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { anyOf, arraysOf, unnestOf } from '../../db/sql.ts';
import { USAGE_MEASURES } from '../../db/usage-triggers.ts';
import type { Pricing, TokenUsage } from '../../domain/usage.ts';
import { STEP_ROW_BYTES } from './step-rows.ts';

/** New tokens and cost of an execution. */
export interface Correction {
  id: string;
  tokens: TokenUsage;
  cost: string | null;
  pricing: Pricing | null;
}

const is = (condition: Expression<unknown>) => sql<number>`-(${condition})::int`;
const less = (column: string) => sql<number>`-coalesce(${sql.ref(column)}, 0)`;

/** The negated amounts that a finished execution added to usage (`db/usage-triggers.ts`). */
const TAKEN: Record<(typeof USAGE_MEASURES)[number], RawBuilder<number>> = {
  calls: sql`-1`,
  completed: is(sql`${sql.ref('status')} = 'completed'`),
  failed: is(sql`${sql.ref('status')} = 'failed'`),
  tokens_input: less('tokens_input'),
  tokens_output: less('tokens_output'),
  tokens_cached_input: less('tokens_cached_input'),
  tokens_reasoning: less('tokens_reasoning'),
  cost_amount: less('cost_amount'),
  priced: is(sql`${sql.ref('cost_amount')} is not null`),
  unpriced: is(sql`${sql.ref('cost_amount')} is null and ${sql.ref('answered_at')} is not null`),
  timed: is(sql`${sql.ref('model_ms')} is not null`),
  model_ms: less('model_ms'),
};

/**
 * Deletes the executions of steps that turned out to be around model calls, not calls themselves, and subtracts what they added to usage. Their
 * texts move to their steps. Records that refer to them are deleted too, as in any deletion. Daily statistics that were already summed up, and the
 * measurements of monitors, stay unchanged.
 */
export async function takeBack(query: Query, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await query((db) =>
    db
      .insertInto('usage_entries')
      .columns(['kind', 'prompt_name', 'model', 'created_at', ...USAGE_MEASURES])
      .expression((eb) =>
        eb
          .selectFrom('executions')
          .select([
            sql<string>`'execution'`.as('kind'),
            sql<string>`coalesce(${sql.ref('prompt_name')}, '')`.as('prompt_name'),
            'model',
            'created_at',
            ...USAGE_MEASURES.map((measure) => TAKEN[measure].as(measure)),
          ])
          .where('id', '=', anyOf(ids)),
      ),
  );
  const content = sql`${sql.ref('s.content')} || jsonb_strip_nulls(jsonb_build_object(
    'input', coalesce(to_jsonb(${sql.ref('e.input')}), ${sql.ref('e.input_messages')}), 'output', ${sql.ref('e.output')}, 'toolCalls', ${sql.ref('e.tool_calls')}))`;
  await query((db) =>
    db
      .updateTable('trace_steps as s')
      .from('executions as e')
      .whereRef('s.execution_id', '=', 'e.id')
      .whereRef('s.trace_id', '=', sql`${sql.ref('e.trace_id')}`)
      .where('e.id', '=', anyOf(ids))
      .set({
        execution_id: null,
        content: sql<never>`${content}`,
        bytes: sql<number>`octet_length((${content})::text) + ${sql.lit(STEP_ROW_BYTES)}`,
      }),
  );
  await query((db) => db.deleteFrom('executions').where('id', '=', anyOf(ids)));
}

/** Updates the tokens and cost of executions. */
export async function correct(query: Query, corrections: readonly Correction[]): Promise<void> {
  if (corrections.length === 0) return;
  const given = arraysOf(
    corrections.map(({ id, tokens, cost, pricing }) => ({
      id,
      cost,
      pricing: pricing && JSON.stringify(pricing),
      tokens: JSON.stringify(tokens),
      input: tokens.input,
      output: tokens.output,
      cached: tokens.cached_input,
      reasoning: tokens.reasoning,
    })),
  );
  await query((db) =>
    db
      .updateTable('executions as e')
      .from(
        unnestOf('n', {
          id: ['uuid', given.id],
          cost: ['numeric', given.cost],
          pricing: ['jsonb', given.pricing],
          tokens: ['jsonb', given.tokens],
          input: ['bigint', given.input],
          output: ['bigint', given.output],
          cached: ['bigint', given.cached],
          reasoning: ['bigint', given.reasoning],
        }),
      )
      .whereRef('e.id', '=', 'n.id')
      .set((eb) => ({
        tokens_input: eb.ref('n.input'),
        tokens_output: eb.ref('n.output'),
        tokens_cached_input: eb.ref('n.cached'),
        tokens_reasoning: eb.ref('n.reasoning'),
        cost_amount: eb.ref('n.cost'),
        pricing: sql<never>`${sql.ref('n.pricing')}`,
        calls: sql<never>`jsonb_set(jsonb_set(${sql.ref('e.calls')}, '{0,tokens}', ${sql.ref('n.tokens')}), '{0,cost}', coalesce(to_jsonb(${sql.ref('n.cost')}::text), 'null'))`,
      })),
  );
}
