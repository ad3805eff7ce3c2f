/** One result of a JUnit report. */
export interface JUnitCase {
  name: string;
  suite: string;
  seconds: number;
  /** Why it failed, was inconclusive, or was skipped; none of these if it passed. */
  failure?: string;
  error?: string;
  skipped?: string;
}

// Characters that XML 1.0 cannot represent even when escaped: control characters, lone surrogates, U+FFFE and U+FFFF.
const FORBIDDEN = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;
const escapeXml = (text: string): string =>
  text.replace(FORBIDDEN, '\u{FFFD}').replace(/[&<>"\n\r\t]/g, (character) => `&#${character.charCodeAt(0)};`);

const OUTCOMES = ['failure', 'error', 'skipped'] as const;

function countsOf(cases: readonly JUnitCase[]): string {
  const count = (outcome: (typeof OUTCOMES)[number]) => cases.filter((each) => each[outcome] !== undefined).length;
  const seconds = cases.reduce((sum, each) => sum + each.seconds, 0).toFixed(3);
  return `tests="${cases.length}" failures="${count('failure')}" errors="${count('error')}" skipped="${count('skipped')}" time="${seconds}"`;
}

function* linesOfCase(each: JUnitCase): Generator<string> {
  const head = `    <testcase name="${escapeXml(each.name)}" classname="${escapeXml(each.suite)}" time="${each.seconds.toFixed(3)}"`;
  const outcome = OUTCOMES.find((one) => each[one] !== undefined);
  if (outcome === undefined) yield `${head}/>`;
  else yield `${head}><${outcome} message="${escapeXml(each[outcome] ?? '')}"/></testcase>`;
}

/** Formats results as JUnit XML for CI systems. */
export function junit(name: string, cases: readonly JUnitCase[]): string {
  const lines = ['<?xml version="1.0" encoding="UTF-8"?>', `<testsuites name="${escapeXml(name)}" ${countsOf(cases)}>`];
  for (const [suite, own] of Map.groupBy(cases, (each) => each.suite)) {
    lines.push(`  <testsuite name="${escapeXml(suite)}" ${countsOf(own)}>`);
    for (const each of own) lines.push(...linesOfCase(each));
    lines.push('  </testsuite>');
  }
  return `${[...lines, '</testsuites>'].join('\n')}\n`;
}
