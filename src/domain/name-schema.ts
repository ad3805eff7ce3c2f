import { z } from 'zod';
import { MAX_NAME_LENGTH } from './resource-name.ts';

/**
 * The schema of a name whose segments are separated by `/`, such as a prompt's.
 * @param problemOf what is wrong with a name, in words for the caller; undefined if it is valid
 */
export const nameSchema = (problemOf: (name: string) => string | undefined, example: string) =>
  z
    .string('must be a string')
    .check((context) => {
      const message = problemOf(context.value);
      if (message !== undefined) context.issues.push({ code: 'custom', message, input: context.value });
    })
    .meta({
      description: `1–${MAX_NAME_LENGTH} characters: segments of letters, digits, ".", "_" and "-", joined by "/".`,
      example,
    });
