// Checks whether a shipped package has a published vulnerability: npm run check:audit [-- --required]
// Asks the registry with npm audit about the service and the clients, without development dependencies, and about all packages of
// the console, since they build it or become part of it. A vulnerability explained in audit-allowed.json passes until the date
// given there. If the registry can't answer, the check says so and passes; with `--required` it fails.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { z } from 'zod';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Folders with a lock file of shipped packages, and npm's options for it. */
const SHIPPED = new Map([
  ['.', ['--omit=dev']],
  ['console', []],
]);
const { values: options } = parseArgs({
  options: {
    required: { type: 'boolean', default: false },
    allowed: { type: 'string', default: 'audit-allowed.json' },
  },
});

const Allowed = z.array(
  z.strictObject({
    /** `GHSA-…`, as in the address of the advisory. */
    advisory: z.string(),
    /** Why it is harmless here. */
    reason: z.string().min(20),
    /** The last day on which it is accepted. */
    until: z.iso.date(),
  }),
);

const Report = z.object({
  vulnerabilities: z.record(
    z.string(),
    z.object({
      via: z.array(
        z.union([
          z.string(),
          z.object({ name: z.string(), title: z.string(), url: z.string(), severity: z.string(), range: z.string() }),
        ]),
      ),
    }),
  ),
});

type Advisory = { id: string; text: string };

/** @returns the advisories by id, or why the registry did not respond */
function audit(folder: string, args: readonly string[]): Advisory[] | { unanswered: string } {
  const cwd = path.join(root, folder);
  const { stdout, stderr, error } = spawnSync('npm', ['audit', '--json', ...args], {
    cwd,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (error !== undefined) throw error;
  const answer: unknown = JSON.parse(stdout || '{}');
  const report = Report.safeParse(answer);
  if (!report.success) {
    const told = z.object({ message: z.string() }).safeParse(answer);
    return { unanswered: told.success ? told.data.message : stderr.trim().slice(0, 400) };
  }
  return Object.values(report.data.vulnerabilities).flatMap(({ via }) =>
    via
      .filter((each) => typeof each !== 'string')
      .map(({ name, title, url, severity, range }) => ({
        id: url.split('/').at(-1) ?? url,
        text: `${severity}: ${name} ${range}: ${title} (${url})`,
      })),
  );
}

const allowed = Allowed.parse(JSON.parse(readFileSync(path.resolve(root, options.allowed), 'utf8')));
const today = new Date().toISOString().slice(0, 10);
const found = new Set<string>();
const problems: string[] = [];
let answered = 0;
for (const [folder, args] of SHIPPED) {
  const advisories = audit(folder, args);
  if ('unanswered' in advisories) {
    console.error(`${folder}: NOT CHECKED: the registry did not answer npm audit. ${advisories.unanswered}`);
    continue;
  }
  answered += 1;
  for (const { id, text } of advisories) {
    found.add(id);
    const entry = allowed.find(({ advisory }) => advisory === id);
    if (entry === undefined) problems.push(`${folder}: ${text}`);
    else if (entry.until < today) problems.push(`${folder}: ${text}: was allowed until ${entry.until}`);
    else console.log(`${folder}: ${text}: allowed until ${entry.until}: ${entry.reason}`);
  }
}
if (answered === SHIPPED.size)
  for (const { advisory } of allowed)
    if (!found.has(advisory)) problems.push(`audit-allowed.json allows ${advisory}, which no package has anymore`);
if (options.required && answered < SHIPPED.size) problems.push('the registry must answer npm audit, and did not');

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else if (answered === SHIPPED.size) console.log('No package that is shipped has a vulnerability that is not allowed.');
