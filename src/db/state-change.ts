import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { StateMachine } from '../domain/state-machine.ts';

/** A change of a state: what to set, and the condition on the row before. */
export interface StateChange<Column extends string> {
  set: Record<Column, RawBuilder<never>>;
  where: RawBuilder<SqlBool>;
}

/**
 * A change of a state for the builder. Every statement that changes a state is built from it: `db.updateTable('executions').set({
 * ...change.set, attempts: 1 }).where(change.where)`.
 * @param change `from`: only from these states. Default: every state that can change to `to`
 * @param alias of the table in the statement's condition, if there are several tables
 * @throws Error if the machine has no such change
 */
export function changeState<State extends string, Column extends string>(
  machine: StateMachine<State, Column>,
  change: { to: NoInfer<State>; from?: readonly NoInfer<State>[] },
  alias?: string,
): StateChange<Column>;
export function changeState<State extends string>(
  machine: StateMachine<State, string>,
  change: { to: State; from?: readonly State[] },
  alias?: string,
): StateChange<string> {
  const { column, literals } = machine.stored;
  return { set: { [column]: sql.raw(literals[change.to]) }, where: sql.raw(machine.change(change, alias).where) };
}

/** A condition: the row is in one of these states. `alias` as above. */
export function inStates<State extends string>(
  machine: StateMachine<State, string>,
  states: readonly NoInfer<State>[],
  alias?: string,
): RawBuilder<SqlBool> {
  return sql.raw(machine.in(states, alias));
}
