/** The position of a message in a list. */
interface Placed {
  role: string;
  content: unknown;
}

/** Replaces a later system message, for a provider that allows them only before all others, by a user message marked as the system's. */
export const asUserText = (text: string): string => `<system>\n${text}\n</system>`;

/** The indexes of system messages after other messages. */
export function laterSystem(messages: readonly Placed[]): Set<number> {
  const first = messages.findIndex(({ role }) => role !== 'system');
  return new Set(
    messages.flatMap(({ role }, index) => (role === 'system' && first !== -1 && index > first ? [index] : [])),
  );
}
