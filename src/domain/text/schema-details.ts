import type { z } from 'zod';
import type { ErrorDetail } from '../errors.ts';
import { setErrorMessages } from './schema-messages.ts';

setErrorMessages();

type Issue = z.core.$ZodIssue;

const MAX_DETAILS = 20;
const MAX_PATH_CHARS = 200;
const MAX_MESSAGE_CHARS = 300;

/** A path in shortened form: callers choose the names in it, so it may be of any length. */
export function clipPath(path: string): string {
  return path.slice(0, MAX_PATH_CHARS).toWellFormed();
}

/** The issues of the alternative of a union that was probably meant. Undefined if none fits, which the union's own message says. */
function meantIssues(alternatives: Issue[][]): Issue[] | undefined {
  let meant: Issue[] | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const issues of alternatives) {
    const foreign = issues.filter(isForeign).length;
    // If two fit equally badly, the last one, which is the more specific one.
    if (foreign > fewest) continue;
    meant = issues;
    fewest = foreign;
  }
  return fewest === 0 || meant?.some(({ path }) => path.length > 0) ? meant : undefined;
}

const FOREIGN: ReadonlySet<string> = new Set(['invalid_type', 'invalid_value', 'invalid_union', 'unrecognized_keys']);

/** Whether an issue means that another alternative was intended: another type, other fields. */
function isForeign({ code, path }: Issue): boolean {
  return path.length <= 1 && FOREIGN.has(code);
}

/** The issues one by one, with the full path of those inside of a union's alternatives. */
function* eachIssue(issues: readonly Issue[], at: readonly PropertyKey[]): Generator<Issue> {
  for (const issue of issues) {
    const path = [...at, ...issue.path];
    const meant = issue.code === 'invalid_union' ? meantIssues(issue.errors) : undefined;
    if (meant !== undefined) yield* eachIssue(meant, path);
    else if (issue.code === 'invalid_key') yield* eachIssue(issue.issues, path);
    else yield { ...issue, path };
  }
}

/**
 * A schema's issues as details, one per field, unknown fields by their name.
 * @param at path of the value. Default: the root
 * @param limit the maximum number named. Default: 20
 */
export function detailsOf(error: z.ZodError, at = '', limit = MAX_DETAILS): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  for (const issue of eachIssue(error.issues, at === '' ? [] : [at])) {
    // There may be as many as the value has parts.
    if (details.length >= limit) break;
    const path = clipPath(issue.path.map(String).join('.'));
    if (issue.code === 'unrecognized_keys')
      for (const key of issue.keys.slice(0, limit - details.length))
        details.push({ path: clipPath(path === '' ? key : `${path}.${key}`), message: 'is not a known field' });
    else details.push({ path, message: issue.message.slice(0, MAX_MESSAGE_CHARS) });
  }
  return details;
}
