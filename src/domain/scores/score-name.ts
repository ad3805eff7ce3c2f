import { nameSchema } from '../name-schema.ts';
import { nameProblem } from '../resource-name.ts';

const RESERVED: ReadonlySet<string> = new Set();

/** What is wrong with the name of a score, in words for the caller; undefined if it is valid. */
export const scoreNameProblem = (name: string): string | undefined => nameProblem(name, RESERVED);

/** A score's name, with the rules of prompt names. */
export const ScoreName = nameSchema(scoreNameProblem, 'helpful');
