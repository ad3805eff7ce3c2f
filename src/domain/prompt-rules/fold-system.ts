/** A message as far as its place is concerned. */
interface Placed {
  role: string;
  content: unknown;
}

/** A later system message for a provider that has them only before all others: a user's message in its place, marked as the system's. */
export const asUserText = (text: string): string => `<system>\n${text}\n</system>`;

/** Which messages are system messages behind others. */
export function laterSystem(messages: readonly Placed[]): Set<number> {
  const first = messages.findIndex(({ role }) => role !== 'system');
  return new Set(
    messages.flatMap(({ role }, index) => (role === 'system' && first !== -1 && index > first ? [index] : [])),
  );
}
