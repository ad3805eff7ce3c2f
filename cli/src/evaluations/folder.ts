import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { type Api, type Pms, PmsError } from 'pms-client';
import { type Context, printLine, safeText } from '../context.ts';
import { statusOf } from '../exit.ts';
import { CliError, EXIT } from '../exit-status.ts';
import type { FolderRun, ReportedRun } from './reports.ts';
import { errorVerdict, type Verdict } from './verdict.ts';
import { watchEvaluation } from './watch.ts';

/** Whether a path is a folder. If it does not exist, reading it reports the error. */
export const isFolder = (place: string): Promise<boolean> =>
  stat(place).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** The definitions in a folder and its subfolders, by name. @throws CliError if there are none */
export async function definitionsIn(folder: string): Promise<string[]> {
  const inside = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = inside
    .filter((entry) => entry.isFile() && /\.(ya?ml|json)$/i.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name));
  if (files.length === 0) throw new CliError(EXIT.usage, `There is no .yaml or .json file in ${folder}.`);
  return files.toSorted();
}

/** The verdict for an error that affects only one definition. */
function verdictOfError(error: unknown): Verdict {
  if (error instanceof CliError && error.status !== EXIT.interrupted) return errorVerdict(error.status, error.message);
  if (error instanceof PmsError) return errorVerdict(statusOf(error), error.message);
  throw error;
}

/**
 * Starts all evaluations, so that the service runs them concurrently, and waits for each.
 * @param judge returns the verdict on a run at rest
 * @param timeoutSeconds for all of them together
 * @throws CliError on Ctrl-C; the runs continue
 */
export async function runAll(
  pms: Pms,
  definitions: ReadonlyMap<string, Api.CreateEvaluation>,
  judge: (evaluation: Api.Evaluation) => Promise<ReportedRun>,
  context: Context,
  timeoutSeconds = Number.POSITIVE_INFINITY,
): Promise<FolderRun[]> {
  const until = Date.now() + timeoutSeconds * 1000;
  const begun = new Map<string, string | Verdict>();
  for (const [file, body] of definitions)
    try {
      const { id, examples_total: total } = await pms.call('createEvaluation', { body });
      printLine(context.stderr, safeText(`${file}: ${id} started: ${total} examples`));
      begun.set(file, id);
    } catch (error) {
      begun.set(file, verdictOfError(error));
    }
  const runs: FolderRun[] = [];
  for (const [file, id] of begun) {
    if (typeof id !== 'string') {
      runs.push({ file, verdict: id, run: undefined });
      continue;
    }
    try {
      const seconds = Math.max(0, (until - Date.now()) / 1000);
      const run = await judge(await watchEvaluation(pms, id, context, seconds));
      runs.push({ file, verdict: run.verdict, run });
    } catch (error) {
      runs.push({ file, verdict: verdictOfError(error), run: undefined });
    }
  }
  return runs;
}

/** Certain results first: a failed gate, then what could not run, then what is inconclusive. */
const ORDER = [EXIT.failed, EXIT.usage, EXIT.service, EXIT.inconclusive] as const;

/** The combined verdict. */
export function verdictOnAll(runs: readonly FolderRun[]): Verdict {
  const status = ORDER.find((each) => runs.some(({ verdict }) => verdict.status === each));
  const own = runs.filter(({ verdict }) => verdict.status === (status ?? EXIT.passed));
  const [first] = own;
  if (status === undefined || first === undefined)
    return { status: EXIT.passed, word: 'passed', reasons: [`All ${runs.length} evaluations have passed.`] };
  const { word } = first.verdict;
  const files = own.map(({ file }) => file).join(', ');
  return { status, word, reasons: [`${own.length} of ${runs.length} evaluations: ${files}.`] };
}
