const SEGMENT = /^[A-Za-z0-9._-]+$/;
export const MAX_NAME_LENGTH = 200;

/**
 * What is wrong with the name of a prompt or a dataset, in words for the caller; undefined if it is valid.
 * @param reserved words that end a path of the API after such a name
 */
export function nameProblem(name: string, reserved: ReadonlySet<string>): string | undefined {
  if (name.length === 0) return 'must not be empty';
  if (name.length > MAX_NAME_LENGTH) return `must be at most ${MAX_NAME_LENGTH} characters`;
  for (const [index, segment] of name.split('/').entries()) {
    if (segment === '') return 'must not start or end with "/" nor hold "//"';
    if (segment === '.' || segment === '..') return 'must not have "." or ".." as a segment';
    if (!SEGMENT.test(segment)) return 'may hold letters, digits, ".", "_", "-", and "/" between segments';
    if (index > 0 && reserved.has(segment)) return `must not have "${segment}" as a segment after the first`;
  }
  return undefined;
}
