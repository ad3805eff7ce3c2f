import { RE2JS } from 're2js';

/** Longer patterns are rejected. In characters. */
export const MAX_PATTERN_LENGTH = 1_000;

/** Maximum size of a pattern after expanding repetitions, which bounds the time per character. */
const MAX_PROGRAM_SIZE = 5_000;

/** Letters that have a meaning after a backslash. */
const KNOWN_ESCAPES = 'dDwWsSbBpPnrtfvaAzQExuc';

const SYNTAX =
  "Patterns are in RE2's syntax, which has no back-references and no lookaround, and repeats at most 1,000 times";

/** A regular expression that matches in time linear in the text. */
export interface LinearRegex {
  /** Whether it matches anywhere in the text. */
  test(text: string): boolean;
  /** Whether it matches the whole text. */
  testExact(text: string): boolean;
  /** The matches in the text. */
  matches(text: string): Iterable<{ start: number; length: number }>;
  toString(): string;
}

/** The pattern can't be used; the message tells its author why. */
export class PatternError extends Error {
  readonly code = 'bad_pattern';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PatternError';
  }
}

/**
 * Compiles a pattern in RE2's syntax (https://github.com/google/re2/wiki/Syntax), plus JavaScript's syntax for characters and
 * named groups. A backtracking engine would let a pattern such as `(a+)+$` block the process for years.
 *
 * @param flags any of `i` (ignore case), `m` (`^` and `$` at line ends too), `s` (`.` also matches line ends)
 * @throws PatternError for what RE2 lacks (back-references, lookaround), a syntax error, or a pattern that is too large
 */
export function compileLinearRegex(pattern: string, flags = ''): LinearRegex {
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new PatternError(`the pattern is longer than ${MAX_PATTERN_LENGTH} characters`);
  }
  refuseUnknownEscapes(pattern);
  const compiled = compile(pattern, flags);
  if (compiled.programSize() > MAX_PROGRAM_SIZE) {
    throw new PatternError('the pattern is too large once its repetitions are written out: use smaller counts');
  }
  return {
    test: (text) => compiled.test(text),
    testExact: (text) => compiled.testExact(text),
    *matches(text) {
      const matcher = compiled.matcher(text);
      while (matcher.find()) yield { start: matcher.start(), length: matcher.end() - matcher.start() };
    },
    toString: () => compiled.toString(),
  };
}

/** Otherwise the translation to RE2 would read `\k<name>` as the letter k and the rest, and never match. */
function refuseUnknownEscapes(pattern: string): void {
  for (const [sequence, letter] of pattern.matchAll(/\\(.)/gs)) {
    if (letter !== undefined && /[A-Za-z]/.test(letter) && !KNOWN_ESCAPES.includes(letter)) {
      throw new PatternError(`the escape ${sequence} is unknown. ${SYNTAX}`);
    }
  }
}

function compile(pattern: string, flags: string): RE2JS {
  let bits = 0;
  if (flags.includes('i')) bits |= RE2JS.CASE_INSENSITIVE;
  if (flags.includes('m')) bits |= RE2JS.MULTILINE;
  if (flags.includes('s')) bits |= RE2JS.DOTALL;
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern), bits);
  } catch (error) {
    const cause = error instanceof Error ? error.message : 'it cannot be read';
    throw new PatternError(`${cause}. ${SYNTAX}`, { cause: error });
  }
}
