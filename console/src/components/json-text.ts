/** Parses a text that is an object or an array, also inside a Markdown fence. @returns undefined if it is neither */
export function parsedJson(text: string): object | undefined {
  const inner = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/.exec(text)?.[1] ?? text;
  if (!/^\s*[[{]/.test(inner)) return undefined;
  try {
    const value: unknown = JSON.parse(inner);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
