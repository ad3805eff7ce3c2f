import { nameProblem } from '../resource-name.ts';

/** Segments that are reserved after the first. */
export const MONITOR_RESERVED: ReadonlySet<string> = new Set(['history']);

/** What is wrong with a monitor's name, in words for the caller; undefined if it is valid. */
export const monitorNameProblem = (name: string) => nameProblem(name, MONITOR_RESERVED);
