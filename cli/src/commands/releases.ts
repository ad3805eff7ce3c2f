import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Api, Pms } from 'pms-client';
import { type Context, connect, printJson, printLine, safeText } from '../context.ts';
import { CliError, EXIT } from '../exit.ts';
import type { ExitStatus } from '../exit-status.ts';
import { readYaml } from '../object-file.ts';
import { wholeNumber } from '../options.ts';
import { OVERRIDE, overrideOf } from '../override.ts';

interface WaitOptions {
  wait?: boolean;
  timeout?: number;
  json?: boolean;
}

interface StartOptions extends WaitOptions {
  label: string;
  version?: number;
  policy?: string;
  reason?: string;
  deadline?: string;
  supersede?: boolean;
}

interface ControlOptions extends WaitOptions {
  comment?: string;
  override?: string;
}

/** The exit status for each end of a release; other states are still in progress. */
const ENDS: Partial<Record<Api.Release['status'], ExitStatus>> = {
  succeeded: EXIT.passed,
  rolled_back: EXIT.failed,
  rejected: EXIT.failed,
  failed: EXIT.usage,
  superseded: EXIT.usage,
  canceled: EXIT.usage,
};

const POLL_MS = 1_000;

const CONTROLS = {
  approve: ['approveRelease', 'approve a release that waits for approval'],
  reject: ['rejectRelease', 'reject a release that awaits an approval'],
  pause: ['pauseRelease', 'pause a release until it is resumed'],
  resume: ['resumeRelease', 'resume a paused release'],
  promote: ['promoteRelease', 'move the label now and skip the remaining steps'],
  rollback: ['rollbackRelease', 'roll back: return all callers to the stable version immediately'],
  cancel: ['cancelRelease', 'cancel a release; all callers get the stable version'],
} as const;

const addWaitOptions = (command: Command): Command =>
  command
    .option(
      '--wait',
      'wait for the release to end; exit with 0 if succeeded, 1 if rolled back or rejected, 2 otherwise',
    )
    .option('--timeout <seconds>', 'maximum wait; the release continues after it', wholeNumber)
    .option('--json', 'print JSON');

/** Steps from a file: a list, or an object with `steps`, as in a label's policy. */
async function stepsOf(file: string): Promise<NonNullable<Api.CreateRelease['steps']>> {
  const content = await readYaml(file);
  const steps: unknown =
    typeof content === 'object' && content !== null && 'steps' in content ? content.steps : content;
  if (!Array.isArray(steps))
    throw new CliError(EXIT.usage, `${file}: must be a list of steps, or an object with "steps".`);
  // The service validates them and reports any problem.
  return steps;
}

const numberText = (value: number | null, digits = 3) => (value === null ? '–' : String(Number(value.toFixed(digits))));

function armText(name: string, version: number, arm: Api.ReleaseArm): string {
  const { executions, error_rate: errors, latency_p95_ms: p95, cost_mean: cost } = arm;
  return `${name} (version ${version}): ${executions} executions, error rate ${numberText(errors)}, p95 ${numberText(p95, 0)} ms, mean cost ${cost === null ? '–' : `$${numberText(cost, 6)}`}`;
}

function print({ stdout }: Context, release: Api.Release, json: boolean | undefined): void {
  if (json) {
    printJson(stdout, release);
    return;
  }
  const { id, prompt_name: name, label, stable_version: stable, candidate_version: candidate } = release;
  const { status, status_reason: reason, steps, step, percent, arms } = release;
  printLine(stdout, `${id}: ${name} @${label}, version ${stable} → ${candidate}, ${percent} % get ${candidate}`);
  for (const [index, each] of steps.entries())
    printLine(stdout, `${index === step ? '>' : ' '} ${index + 1}. ${safeText(String(each.type))}: ${each.state}`);
  printLine(stdout, armText('stable', stable, arms.stable));
  printLine(stdout, armText('candidate', candidate, arms.candidate));
  for (const { code, message, count } of release.failures ?? [])
    printLine(stdout, safeText(`  failed: ${count} × ${code}: ${message}`));
  printLine(stdout, safeText(`${status}${reason === null ? '' : `: ${reason}`}`));
}

/** @throws CliError after the timeout */
async function untilEnd(
  pms: Pms,
  started: Api.Release,
  timeoutSeconds = Number.POSITIVE_INFINITY,
): Promise<Api.Release> {
  const until = Date.now() + timeoutSeconds * 1000;
  for (let release = started; ; release = await pms.call('getRelease', { path: { id: started.id } })) {
    if (ENDS[release.status] !== undefined) return release;
    if (Date.now() >= until)
      throw new CliError(
        EXIT.service,
        `Timed out; ${started.id} is still running: pms release status ${started.id} --wait`,
      );
    await delay(Math.min(POLL_MS, Math.max(0, until - Date.now())));
  }
}

/** Prints a release, after waiting for its end if requested, and exits with its status. */
async function conclude(
  context: Context,
  pms: Pms,
  started: Api.Release,
  { wait, timeout, json }: WaitOptions,
): Promise<void> {
  const release = wait ? await untilEnd(pms, started, timeout) : started;
  print(context, release, json);
  const status = ENDS[release.status] ?? EXIT.passed;
  if (wait && status !== EXIT.passed)
    throw new CliError(
      status,
      safeText(`${release.id} has ended as ${release.status}: ${release.status_reason ?? ''}`),
    );
}

/** `pms release start|status|list|approve|reject|pause|resume|promote|rollback|cancel`. */
export function addReleaseCommands(releases: Command, context: Context): void {
  addWaitOptions(
    releases
      .command('start')
      .description('start a release')
      .argument('<prompt>', 'its name')
      .requiredOption('--label <label>', 'label to move')
      .option('--version <number>', 'version to move it to (default: the latest)', wholeNumber)
      .option('--policy <file>', 'YAML or JSON file with the steps (default: those of the label)')
      .option('--reason <text>', 'why')
      .option('--deadline <time>', 'roll back if the label has not moved by this time (ISO 8601)')
      .option('--supersede', 'replace a release running on the label'),
  ).action(async (prompt: string, options: StartOptions) => {
    const { label, policy, reason, deadline, supersede } = options;
    const steps = policy === undefined ? undefined : await stepsOf(policy);
    const pms = await connect(context);
    const version = options.version ?? (await pms.call('getPrompt', { path: { name: prompt }, query: {} })).version;
    const given = { steps, reason, deadline, supersede };
    const body = {
      prompt_name: prompt,
      label,
      version,
      ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    };
    await conclude(context, pms, await pms.call('createRelease', { body }), options);
  });

  addWaitOptions(releases.command('status').description('show a release').argument('<id>', 'rel_…')).action(
    async (id: string, options: WaitOptions) => {
      const pms = await connect(context);
      await conclude(context, pms, await pms.call('getRelease', { path: { id } }), options);
    },
  );

  releases
    .command('list')
    .description('list releases, newest first')
    .option('--prompt <name>', 'only releases of this prompt')
    .option('--label <label>', 'only on this label')
    .option('--json', 'print JSON')
    .action(async ({ prompt, label, json }: { prompt?: string; label?: string; json?: boolean }) => {
      const pms = await connect(context);
      const query = { ...(prompt !== undefined && { prompt_name: prompt }), ...(label !== undefined && { label }) };
      const { data } = await pms.call('listReleases', { query });
      if (json) {
        printJson(context.stdout, data);
        return;
      }
      for (const { id, status, prompt_name, label: on, stable_version, candidate_version } of data)
        printLine(context.stdout, `${id}  ${status}  ${prompt_name} @${on}  ${stable_version} → ${candidate_version}`);
    });

  for (const [name, [operation, description]] of Object.entries(CONTROLS)) {
    const command = releases
      .command(name)
      .description(description)
      .argument('<id>', 'rel_…')
      .option('--comment <text>', 'why');
    if (name === 'promote') command.option(...OVERRIDE);
    addWaitOptions(command).action(async (id: string, options: ControlOptions) => {
      const pms = await connect(context);
      const { comment, override } = options;
      const body = { ...(comment !== undefined && { comment }), ...overrideOf(override) };
      const release = await pms.call(operation, { path: { id }, body });
      // The request succeeded, whatever the release's outcome.
      if (options.wait) await conclude(context, pms, release, options);
      else print(context, release, options.json);
    });
  }
}
