import { z } from 'zod';
import { MAX_NAME_LENGTH, nameProblem } from '../resource-name.ts';

const RESERVED: ReadonlySet<string> = new Set();

/** What is wrong with the name of a score, in words for the caller; undefined where nothing is. */
export const scoreNameProblem = (name: string): string | undefined => nameProblem(name, RESERVED);

/** A score's name: like a prompt's. */
export const ScoreName = z
  .string('must be a string')
  .check((context) => {
    const message = scoreNameProblem(context.value);
    if (message !== undefined) context.issues.push({ code: 'custom', message, input: context.value });
  })
  .meta({
    description: `1–${MAX_NAME_LENGTH} characters: segments of letters, digits, ".", "_" and "-", joined by "/".`,
    example: 'helpful',
  });
