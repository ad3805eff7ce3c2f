import { nameProblem } from './resource-name.ts';

export { MAX_NAME_LENGTH } from './resource-name.ts';

const RESERVED = new Set(['versions', 'labels', 'restore', 'diff']);

/** What is wrong with a prompt's name, in words for the caller; undefined where nothing is. */
export function promptNameProblem(name: string): string | undefined {
  return nameProblem(name, RESERVED);
}
