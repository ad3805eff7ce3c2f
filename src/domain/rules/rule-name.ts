import { nameProblem } from '../resource-name.ts';

/** Segments that are reserved after the first. */
export const RULE_RESERVED: ReadonlySet<string> = new Set(['backfill', 'backfills']);

/** What is wrong with a rule's name, in words for the caller; undefined if it is valid. */
export function ruleNameProblem(name: string): string | undefined {
  return nameProblem(name, RULE_RESERVED);
}
