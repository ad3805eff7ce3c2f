/** An object or an array that a text is, also within a Markdown fence. @returns undefined where it is neither */
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
