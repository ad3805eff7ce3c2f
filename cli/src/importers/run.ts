import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import {
  InvalidRequestError,
  InvalidStateError,
  NotFoundError,
  type Pms,
  PromptArchivedError,
  VersionConflictError,
} from 'pms-client';
import { type Context, connect, printJson, printLine, safeText } from '../context.ts';
import { CliError, EXIT } from '../exit.ts';
import { exportToGitHub } from '../export/export-github.ts';
import { exportWorkspace } from '../export/export-workspace.ts';
import { apiWorkspace, type Transport } from './api-workspace.ts';
import { applyPlan, describeStep, type FailedStep } from './apply.ts';
import { readLangfuseApi, readSource } from './import-source.ts';
import { type Import, ImportError } from './model.ts';
import { planImport } from './plan.ts';
import { formatReportLine, Report } from './report.ts';
import { type ImportSettings, importSettings } from './settings.ts';
import { isFromElsewhere, RefusedError } from './workspace.ts';

const UPLOAD_TIMEOUT_MS = 30 * 60_000;
const OF_ONE_THING = [InvalidRequestError, InvalidStateError, NotFoundError, PromptArchivedError, VersionConflictError];

/** Turns a rejection of one item into a RefusedError; any other error ends the command. */
async function refusing<Result>(made: Promise<Result>): Promise<Result> {
  try {
    return await made;
  } catch (error) {
    if (error instanceof Error && OF_ONE_THING.some((known) => error instanceof known))
      throw new RefusedError(error.message, { cause: error });
    throw error;
  }
}

/** The connection of imports and exports to the service. */
function transportOf(pms: Pms): Transport {
  return {
    async request(method, target, body) {
      const response = await refusing(
        pms.request(method, target, {
          ...(body !== undefined && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
          ...(method === 'POST' && { idempotencyKey: randomUUID() }),
        }),
      );
      return response.json();
    },
    async download(target) {
      const { body } = await refusing(pms.request('GET', target));
      return body === null ? Readable.from([]) : Readable.from(body);
    },
    async upload(target, contentType, lines) {
      const body = ReadableStream.from(lines);
      const headers = { 'Content-Type': contentType };
      const sent = pms.request('PUT', target, { body, headers, timeoutMs: UPLOAD_TIMEOUT_MS });
      return (await refusing(sent)).json();
    },
  };
}

export interface ImportOptions {
  dryRun?: boolean;
  model?: string;
  allModels?: boolean;
  judge?: string;
  embeddings?: string;
  scorerProject?: string;
  scorerUrl?: string;
  evaluations: string;
  json?: boolean;
}

/** Reads from Langfuse's API if the location is a web address, otherwise from files. */
function read(source: string, location: string, settings: ImportSettings, { env }: Context): Promise<Import> {
  if (!/^https?:\/\//i.test(location)) return readSource(source, location, settings);
  const [publicKey, secretKey] = [env['LANGFUSE_PUBLIC_KEY']?.trim(), env['LANGFUSE_SECRET_KEY']?.trim()];
  if (source !== 'langfuse')
    throw new CliError(EXIT.usage, `${source} is imported from files: save its export and pass the file or folder.`);
  if (!publicKey || !secretKey)
    throw new CliError(EXIT.usage, 'Set LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY to the keys of the project.');
  return readLangfuseApi({ baseUrl: location, publicKey, secretKey }, settings);
}

/** Whether anything of an import can be imported, or already exists. */
function takesAnything({ project, scoring, ...imported }: Import): boolean {
  const { prompts, datasets, evaluations, schedules, webhooks, protectedLabels } = imported;
  const { definitions = [], queues = [], runs = [], scores = [] } = scoring ?? {};
  const things = [prompts, datasets, evaluations, schedules, webhooks, protectedLabels, definitions, queues].flat();
  return things.some(({ thing }) => !thing.isLeftOut) || runs.length + scores.length > 0 || project !== undefined;
}

/** The files of a project that are missing in its folder, or differ. */
async function changedFiles(
  project: ReadonlyMap<string, string>,
  folder: string,
): Promise<{ file: string; text: string }[]> {
  const changed: { file: string; text: string }[] = [];
  for (const [name, text] of project) {
    const file = path.join(folder, name);
    const there = await readFile(file, 'utf8').catch(() => undefined);
    if (there !== text) changed.push({ file, text });
  }
  return changed;
}

async function importFrom(source: string, location: string, options: ImportOptions, context: Context): Promise<void> {
  const { stdout, stderr } = context;
  const { dryRun = false, model, allModels, judge, embeddings, evaluations, json } = options;
  const { scorerProject, scorerUrl } = options;
  if (scorerUrl !== undefined && scorerProject === undefined)
    throw new CliError(EXIT.usage, '--scorer-url requires --scorer-project.');
  const scorer = scorerProject === undefined ? undefined : { url: scorerUrl };
  const workspace = apiWorkspace(transportOf(await connect(context)), evaluations);
  const settings = importSettings(model, {
    allModels,
    judge,
    embeddings,
    scorer,
    isFromElsewhere: (group, place) => isFromElsewhere(workspace, group, place),
  });
  const imported = await read(source, location, settings, context);
  const steps = await planImport(imported, workspace);
  const files = await changedFiles(imported.project ?? new Map(), scorerProject ?? '');
  const { lines } = settings.report;
  const print = (text: string) => {
    if (!json) printLine(stdout, safeText(text));
  };
  for (const line of lines) print(formatReportLine(line));
  let failed: FailedStep[] = [];
  let done = 0;
  let secrets: { url: string; secret: string }[] = [];
  if (dryRun) for (const step of steps) print(`would make ${describeStep(step)}`);
  else ({ failed, done, secrets } = await applyPlan(steps, workspace, (step) => print(describeStep(step))));
  for (const { file, text } of files) {
    print(`${dryRun ? 'would write' : 'written'}: ${file}`);
    if (dryRun) continue;
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  for (const { url, secret } of secrets) print(`webhook ${url}: its secret is ${secret} (not shown again)`);
  if (json) {
    const steps_failed = failed.map(({ step, message }) => ({ step: describeStep(step), message }));
    printJson(stdout, { things: lines, steps: steps.map(describeStep), done, failed: steps_failed, webhooks: secrets });
  }
  for (const { step, message } of failed) printLine(stderr, safeText(`${describeStep(step)}: ${message}`));
  if (failed.length > 0)
    throw new CliError(EXIT.failed, `failed: ${failed.length} of ${steps.length} steps were rejected`);
  if (!takesAnything(imported)) throw new CliError(EXIT.failed, `failed: nothing of ${location} can be imported`);
  print(dryRun ? `${steps.length} steps to run` : `${done} steps completed`);
}

export interface ExportOptions {
  format: 'pms' | 'github';
  evaluations: string;
}

async function exportTo(folder: string, { format, evaluations }: ExportOptions, context: Context): Promise<void> {
  const { stdout } = context;
  const workspace = apiWorkspace(transportOf(await connect(context)), folder);
  if (format === 'github') {
    const report = new Report();
    const { files, tests } = await exportToGitHub(folder, workspace, evaluations, report);
    for (const line of report.lines) printLine(stdout, safeText(formatReportLine(line)));
    printLine(stdout, `${folder}: ${files} prompts with ${tests} tests`);
    return;
  }
  const { prompts, versions, datasets, examples } = await exportWorkspace(folder, workspace);
  printLine(
    stdout,
    `${folder}: ${prompts} prompts with ${versions} versions, ${datasets} datasets with ${examples} examples`,
  );
}

/** Reports an unreadable file in one line. */
async function sayingImportErrors(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ImportError) throw new CliError(EXIT.usage, error.message, { cause: error });
    throw error;
  }
}

/** Imports, and reports the result. @throws CliError */
export const runImport = (...given: Parameters<typeof importFrom>): Promise<void> =>
  sayingImportErrors(importFrom(...given));

/** Exports the workspace. @throws CliError */
export const runExport = (...given: Parameters<typeof exportTo>): Promise<void> =>
  sayingImportErrors(exportTo(...given));
