/** How a state is stored in the database. */
export interface StoredStates<State extends string, Column extends string = string> {
  column: Column;
  /** SQL literals, by state. */
  literals: Readonly<Record<State, string>>;
}

/** The states of an aggregate and the allowed changes between them. */
export interface StateMachine<State extends string, Column extends string = string> {
  readonly states: readonly State[];
  /** The state of an inserted row: the first one. */
  readonly initial: State;
  /** States without a transition. */
  readonly final: readonly State[];
  /** The states that each state can change to. */
  readonly transitions: Readonly<Record<State, readonly State[]>>;
  readonly stored: StoredStates<State, Column>;
  /**
   * A change as SQL: what to set, and the condition on the row before. Every statement that changes a state is built from it.
   * @param change `from`: only from these. Default: every state that can change to `to`
   * @param alias of the table in the statement's condition
   * @throws Error if there is no such transition
   */
  change(change: { to: State; from?: readonly State[] }, alias?: string): { set: string; where: string };
  /** `status in (…)`; `alias` as above. */
  in(states: readonly State[], alias?: string): string;
}

/**
 * @param transitions for each state, the states it can change to; none for a final state
 * @param stored default: the state's name in the column `status`
 */
export function defineStates<State extends string>(
  transitions: Readonly<Record<State, readonly NoInfer<State>[]>>,
): StateMachine<State, 'status'>;
export function defineStates<State extends string, Column extends string>(
  transitions: Readonly<Record<State, readonly NoInfer<State>[]>>,
  stored: StoredStates<NoInfer<State>, Column>,
): StateMachine<State, Column>;
export function defineStates<State extends string>(
  transitions: Readonly<Record<State, readonly State[]>>,
  stored?: StoredStates<State>,
): StateMachine<State> {
  const states = Object.keys(transitions) as State[];
  const [initial] = states;
  if (initial === undefined) throw new Error('There is no state.');
  const columnName = stored?.column ?? 'status';
  const literalOf = (state: State) => stored?.literals[state] ?? `'${state}'`;
  const leadsTo = (from: State, to: State) => transitions[from].includes(to);

  function inStates(among: readonly State[], alias?: string): string {
    const column = alias === undefined ? columnName : `${alias}.${columnName}`;
    return `${column} in (${among.map(literalOf).join(', ')})`;
  }

  return {
    states,
    initial,
    final: states.filter((state) => transitions[state].length === 0),
    transitions,
    stored: {
      column: columnName,
      literals: Object.fromEntries(states.map((state) => [state, literalOf(state)])) as Record<State, string>,
    },
    change({ to, from = states.filter((state) => leadsTo(state, to)) }, alias) {
      const impossible = from.find((state) => !leadsTo(state, to));
      if (impossible !== undefined || from.length === 0)
        throw new Error(`There is no change from ${impossible ?? 'any state'} to ${to}.`);
      return { set: `${columnName} = ${literalOf(to)}`, where: inStates(from, alias) };
    },
    in: inStates,
  };
}
