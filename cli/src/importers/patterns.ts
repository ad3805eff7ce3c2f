/** A text as a pattern of the evaluator `regex` that fits it alone. */
export const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
