/** The states of an aggregate and the only changes there are between them. */
export interface StateMachine<State extends string> {
  readonly states: readonly State[];
  /** States that nothing leads out of. */
  readonly final: readonly State[];
  /** Where each state may lead to. */
  readonly transitions: Readonly<Record<State, readonly State[]>>;
  /**
   * A change as SQL: what to set, and the condition on the row before. Every statement that changes a state is made of it.
   * @param change `from`: only from these. Default: every state that leads to `to`
   * @param alias of the table in the statement's condition
   * @throws Error where there is no such transition
   */
  change(change: { to: State; from?: readonly State[] }, alias?: string): { set: string; where: string };
  /** `status in (…)`; `alias` as above. */
  in(states: readonly State[], alias?: string): string;
}

/**
 * @param transitions for each state, the states it may lead to; none for an end
 */
export function defineStates<State extends string>(
  transitions: Readonly<Record<State, readonly NoInfer<State>[]>>,
): StateMachine<State> {
  const states = Object.keys(transitions) as State[];
  const leadsTo = (from: State, to: State) => transitions[from].includes(to);

  function inStates(among: readonly State[], alias?: string): string {
    const column = alias === undefined ? 'status' : `${alias}.status`;
    return `${column} in (${among.map((state) => `'${state}'`).join(', ')})`;
  }

  return {
    states,
    final: states.filter((state) => transitions[state].length === 0),
    transitions,
    change({ to, from = states.filter((state) => leadsTo(state, to)) }, alias) {
      const impossible = from.find((state) => !leadsTo(state, to));
      if (impossible !== undefined || from.length === 0)
        throw new Error(`There is no change from ${impossible ?? 'any state'} to ${to}.`);
      return { set: `status = '${to}'`, where: inStates(from, alias) };
    },
    in: inStates,
  };
}
