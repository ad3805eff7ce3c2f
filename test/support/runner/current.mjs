/** The content of `@jest/globals` for the current file. */
export const current = {};
