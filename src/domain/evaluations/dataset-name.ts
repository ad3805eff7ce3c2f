import { nameProblem } from '../resource-name.ts';

/** Segments that are reserved after the first. */
export const DATASET_RESERVED: ReadonlySet<string> = new Set([
  'versions',
  'examples',
  'export',
  'from-executions',
  'from-traces',
  'from-scores',
  'generate',
]);

/** What is wrong with a dataset's name, in words for the caller; undefined if it is valid. */
export function datasetNameProblem(name: string): string | undefined {
  return nameProblem(name, DATASET_RESERVED);
}
