import { nameProblem } from '../resource-name.ts';

/** Segments that it may not have after the first. */
export const RULE_RESERVED: ReadonlySet<string> = new Set(['backfill', 'backfills']);

/** What is wrong with a rule's name, in words for the caller; undefined where nothing is. */
export function ruleNameProblem(name: string): string | undefined {
  return nameProblem(name, RULE_RESERVED);
}
