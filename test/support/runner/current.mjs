/** What `@jest/globals` has for the file that is being run. */
export const current = {};
