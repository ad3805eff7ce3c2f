import { isObject } from '../../domain/text/json.ts';
import { invalidValue, ScimError } from '../../services/provisioning/scim-error.ts';
import { type Path, parsePath } from './paths.ts';

export type Verb = 'add' | 'replace' | 'remove';

/** One step of a change to one attribute. */
export interface Step {
  verb: Verb;
  path: Path;
  value: unknown;
}

export type JsonObject = Record<string, unknown>;

const MAX_OPERATIONS = 10_000;

/** @throws ScimError `invalidSyntax` */
export function requireObject(value: unknown, what = 'The body'): JsonObject {
  if (!isObject(value)) throw new ScimError(400, 'invalidSyntax', `${what} must be a JSON object.`);
  return value;
}

/** Converts a resource to steps that set its attributes: names can be paths, as some identity providers send them. */
export const stepsOf = (resource: JsonObject, verb: Verb): Step[] =>
  Object.entries(resource).map(([name, value]) => ({ verb, path: parsePath(name), value }));

/**
 * The steps of a PATCH (RFC 7644, section 3.5.2). Verbs are case-insensitive.
 * @throws ScimError `invalidSyntax`, `invalidPath`, `noTarget`
 */
export function stepsOfPatch(body: JsonObject): Step[] {
  const operations = Object.entries(body).find(([name]) => name.toLowerCase() === 'operations')?.[1];
  if (!Array.isArray(operations) || operations.length === 0 || operations.length > MAX_OPERATIONS)
    throw new ScimError(400, 'invalidSyntax', `"Operations" must be a list of 1 to ${MAX_OPERATIONS} operations.`);
  return operations.flatMap((each: unknown): Step[] => {
    const { op, path, value } = requireObject(each, 'An operation');
    const verb = (['add', 'replace', 'remove'] as const).find((known) => known === String(op).toLowerCase());
    if (verb === undefined) throw new ScimError(400, 'invalidSyntax', '"op" must be add, replace or remove.');
    if (path !== undefined && path !== null && path !== '') {
      if (typeof path !== 'string') throw new ScimError(400, 'invalidPath', '"path" must be a string.');
      if (verb !== 'remove' && value === undefined) throw invalidValue(`"${verb}" needs a value.`);
      return [{ verb, path: parsePath(path), value }];
    }
    if (verb === 'remove') throw new ScimError(400, 'noTarget', '"remove" needs a path.');
    return stepsOf(requireObject(value, 'The value of an operation without a path'), verb);
  });
}
