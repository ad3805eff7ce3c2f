import path from 'node:path';
import { datasetNameProblem } from '../../src/domain/evaluations/dataset-name.ts';
import { promptNameProblem } from '../../src/domain/prompts/prompt-name.ts';
import { CliError, EXIT } from './exit-status.ts';

const PROBLEMS = { prompt: promptNameProblem, dataset: datasetNameProblem };

/**
 * Validates a name from the service before it becomes a file name: an untrusted service may send `../../x`.
 * @returns the name
 * @throws CliError if it is not a valid prompt or dataset name
 */
export function requireName(kind: keyof typeof PROBLEMS, name: unknown): string {
  const problem = typeof name === 'string' ? PROBLEMS[kind](name) : 'must be a string';
  if (typeof name === 'string' && problem === undefined) return name;
  throw new CliError(
    EXIT.service,
    `The service returned ${JSON.stringify(name)} as the name of a ${kind}, which ${problem}: stopped writing files.`,
  );
}

/**
 * The path of a file in a folder, partly from external input.
 * @throws CliError if it would be outside the folder
 */
export function pathInside(folder: string, file: string): string {
  const inside = path.relative(folder, path.resolve(folder, file));
  if (inside === '' || inside === '..' || inside.startsWith(`..${path.sep}`) || path.isAbsolute(inside))
    throw new CliError(EXIT.service, `${JSON.stringify(file)} is not inside ${folder}: stopped writing files.`);
  return path.join(folder, inside);
}
