import { nameProblem } from '../resource-name.ts';

export { MAX_NAME_LENGTH } from '../resource-name.ts';

/** Segments that are reserved after the first. */
export const PROMPT_RESERVED: ReadonlySet<string> = new Set(['versions', 'labels', 'restore', 'diff']);

/** What is wrong with a prompt's name, in words for the caller; undefined if it is valid. */
export function promptNameProblem(name: string): string | undefined {
  return nameProblem(name, PROMPT_RESERVED);
}
