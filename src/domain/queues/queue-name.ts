import { nameProblem } from '../resource-name.ts';

/** Segments that are reserved after the first. */
export const QUEUE_RESERVED: ReadonlySet<string> = new Set(['items', 'next', 'agreement']);

/** What is wrong with a queue's name, in words for the caller; undefined if it is valid. */
export const queueNameProblem = (name: string): string | undefined => nameProblem(name, QUEUE_RESERVED);
