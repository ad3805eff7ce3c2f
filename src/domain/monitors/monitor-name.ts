import { nameProblem } from '../resource-name.ts';

/** Segments that it may not have after the first. */
export const MONITOR_RESERVED: ReadonlySet<string> = new Set(['history']);

/** What is wrong with a monitor's name, in words for the caller; undefined where nothing is. */
export const monitorNameProblem = (name: string) => nameProblem(name, MONITOR_RESERVED);
