import { nameProblem } from './resource-name.ts';

const RESERVED = new Set(['versions', 'examples', 'export', 'from-executions']);

/** What is wrong with a dataset's name, in words for the caller; undefined where nothing is. */
export function datasetNameProblem(name: string): string | undefined {
  return nameProblem(name, RESERVED);
}
