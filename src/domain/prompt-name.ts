const SEGMENT = /^[A-Za-z0-9._-]+$/;
/** Words that end a path of the API after a prompt's name. */
const RESERVED = new Set(['versions', 'labels', 'restore']);
export const MAX_NAME_LENGTH = 200;

/** What is wrong with a prompt's name, in words for the caller; undefined where nothing is. */
export function promptNameProblem(name: string): string | undefined {
  if (name.length === 0) return 'must not be empty';
  if (name.length > MAX_NAME_LENGTH) return `must be at most ${MAX_NAME_LENGTH} characters`;
  for (const [index, segment] of name.split('/').entries()) {
    if (segment === '') return 'must not start or end with "/" nor hold "//"';
    if (segment === '.' || segment === '..') return 'must not have "." or ".." as a segment';
    if (!SEGMENT.test(segment)) return 'may hold letters, digits, ".", "_", "-", and "/" between segments';
    if (index > 0 && RESERVED.has(segment)) return `must not have "${segment}" as a segment after the first`;
  }
  return undefined;
}
