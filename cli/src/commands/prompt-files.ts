import { readFile, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { createTwoFilesPatch } from 'diff';
import { type Api, InvalidRequestError, type Pms, VersionConflictError } from 'pms-client';
import { templateWarnings } from '../../../src/domain/prompts/template-warnings.ts';
import { type Context, connect, printLine, safeText } from '../context.ts';
import { CliError, EXIT } from '../exit.ts';
import { formatPromptFile, PromptFileError, parsePromptFile } from '../prompt-file.ts';
import {
  FOLDER,
  fileOf,
  type LocalPrompt,
  readLocalPrompts,
  withVersion,
  writeFileInFolder,
} from '../prompt-files/local-prompts.ts';
import { bodyOf, type PushStep, planPush } from '../prompt-files/plan-push.ts';
import { formatRecord, latestOf, versionOfRecord } from '../prompt-files/remote-prompts.ts';
import { isSameVersion } from '../prompt-version.ts';

/** @throws CliError naming every invalid file */
async function readAll(places: string[]): Promise<LocalPrompt[]> {
  const { prompts, broken } = await readLocalPrompts(places);
  if (broken.length > 0) throw new CliError(EXIT.usage, broken.map(({ message }) => message).join('\n'));
  return prompts;
}

/** The changes that a push would make as a unified diff; empty if none. */
function diffOf(local: LocalPrompt, latest: Api.Prompt | undefined): string {
  const { commit_message: _message, version: _version, ...prompt } = local.prompt;
  const was = latest === undefined ? '' : formatRecord(latest).replace(/^version: \d+\n/m, '');
  const is = formatPromptFile({
    ...prompt,
    ...(prompt.description === undefined && latest?.description != null && { description: latest.description }),
  });
  if (was === is) return '';
  const before = latest === undefined ? '/dev/null' : `${prompt.name}@${latest.version}`;
  const text = createTwoFilesPatch(before, local.file, was, is, '', '', { context: 3 });
  return text.slice(text.indexOf('---'));
}

/** Whether a file is unchanged since it was written from its version. */
async function isUntouched(pms: Pms, file: string): Promise<boolean> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return true;
  const { prompt } = parsePromptFile(text, file);
  if (prompt.version === undefined) return false;
  const query = { version: prompt.version };
  const record = await pms.call('getPrompt', { path: { name: prompt.name }, query });
  return isSameVersion(prompt, versionOfRecord(record));
}

/** Prints warnings about a file, each with its line. */
function printWarnings(
  { stderr }: Context,
  { file, lineOf }: LocalPrompt,
  warnings: Api.Prompt['warnings'] = [],
): void {
  for (const { path, message } of warnings)
    printLine(stderr, safeText(`${file}:${lineOf(path)}: warning: ${path} ${message}`));
}

interface PushOptions {
  dryRun?: boolean;
  message?: string;
  force?: boolean;
}

async function pushOne(
  pms: Pms,
  { kind, local, latest }: PushStep,
  { message, force }: PushOptions,
  context: Context,
): Promise<string> {
  const { name } = local.prompt;
  const base = latest?.version ?? 0;
  let created: Api.Prompt;
  try {
    created = await pms.call('createPrompt', { body: { ...bodyOf(local, message), base_version: base } });
  } catch (error) {
    if (error instanceof VersionConflictError)
      throw new CliError(
        EXIT.failed,
        `failed: ${local.file} was not pushed: someone else created version ${base + 1} of ${name} in the meantime: ` +
          `pull ${name} and apply your change again`,
      );
    const [detail] = error instanceof InvalidRequestError ? error.details : [];
    if (detail === undefined) throw error;
    throw new PromptFileError(local.file, local.lineOf(detail.path), detail.path, detail.message);
  }
  printWarnings(context, local, created.warnings);
  // With --force the files are the source and are not changed.
  if (!force) await writeFile(local.file, withVersion(local, created.version));
  return `${name}: ${kind === 'create' ? 'created, ' : ''}version ${created.version}`;
}

async function push(places: string[], options: PushOptions, context: Context): Promise<void> {
  const { dryRun, force = false } = options;
  const { stdout, stderr } = context;
  const locals = await readAll(places);
  const pms = await connect(context);
  const latest = await latestOf(
    pms,
    locals.map(({ prompt }) => prompt.name),
  );
  const steps = planPush(locals, latest, force);
  const conflicts = steps.filter((step) => step.kind === 'conflict');
  for (const { local, why } of conflicts)
    printLine(stderr, `${local.file}: ${why}: pull ${local.prompt.name} and apply your change again`);
  if (dryRun) for (const { local, latest: before } of steps) stdout.write(safeText(diffOf(local, before)));
  if (conflicts.length > 0)
    throw new CliError(
      EXIT.failed,
      `failed: nothing was pushed, ${conflicts.length} of ${steps.length} files conflict`,
    );
  const changes = steps.filter((step) => step.kind === 'create' || step.kind === 'change');
  for (const step of changes)
    printLine(
      stdout,
      dryRun
        ? `${step.local.prompt.name}: would be ${step.kind === 'create' ? 'created' : 'changed'}`
        : await pushOne(pms, step, options, context),
    );
  printLine(stdout, `${changes.length} ${dryRun ? 'to push' : 'pushed'}, ${steps.length - changes.length} unchanged`);
}

/** `pms prompts pull|push|diff|validate`. */
export function addPromptFileCommands(prompts: Command, context: Context): void {
  const { stdout } = context;

  prompts
    .command('pull')
    .description('write prompts to files that record their version')
    .argument('[names...]', 'prompts to pull (default: all that are not archived)')
    .option('--dir <folder>', 'folder for prompt files', FOLDER)
    .option('--label <label>', 'pull the versions with this label')
    .option('--force', 'overwrite files with local changes')
    .action(async (names: string[], { dir, label, force }: { dir: string; label?: string; force?: boolean }) => {
      const pms = await connect(context);
      const selector = label === undefined ? {} : { label };
      const records =
        names.length === 0
          ? await Array.fromAsync(pms.list('listPrompts', { query: { limit: 1000, ...selector } }))
          : await Promise.all(names.map((name) => pms.call('getPrompt', { path: { name }, query: selector })));
      const kept: string[] = [];
      let written = 0;
      for (const record of records) {
        const file = fileOf(dir, record.name);
        if (!force && !(await isUntouched(pms, file))) kept.push(file);
        else {
          await writeFileInFolder(file, formatRecord(record));
          written += 1;
        }
      }
      printLine(stdout, `${written} written to ${dir}`);
      if (kept.length > 0)
        throw new CliError(
          EXIT.failed,
          `failed: kept files with local changes (--force overwrites them):\n${kept.join('\n')}`,
        );
    });

  prompts
    .command('push')
    .description('create versions from files that differ from the latest version')
    .argument('[places...]', `files and folders; default: ${FOLDER}`)
    .option('--dry-run', 'only show what would change')
    .option('-m, --message <text>', 'commit message for the new versions')
    .option('--force', 'treat the files as the source: compare contents, not versions, and do not change the files')
    .action((places: string[], options: PushOptions) => push(places, options, context));

  prompts
    .command('diff')
    .description('show how files differ from the latest versions')
    .argument('[places...]', `files and folders; default: ${FOLDER}`)
    .action(async (places: string[]) => {
      const locals = await readAll(places);
      const pms = await connect(context);
      const latest = await latestOf(
        pms,
        locals.map(({ prompt }) => prompt.name),
      );
      const diffs = locals.map((local) => diffOf(local, latest.get(local.prompt.name))).filter((text) => text !== '');
      for (const text of diffs) stdout.write(safeText(text));
      if (diffs.length > 0) throw new CliError(EXIT.failed, `${diffs.length} of ${locals.length} files differ`);
      printLine(stdout, `${locals.length} files, no difference`);
    });

  prompts
    .command('validate')
    .description('validate prompt files offline')
    .argument('[places...]', `files and folders; default: ${FOLDER}`)
    .action(async (places: string[]) => {
      const { prompts: valid, broken } = await readLocalPrompts(places);
      for (const { message } of broken) printLine(context.stderr, safeText(message));
      for (const local of valid) printWarnings(context, local, templateWarnings(local.prompt));
      if (broken.length > 0)
        throw new CliError(
          EXIT.failed,
          `failed: ${broken.length} of ${valid.length + broken.length} files are invalid`,
        );
      printLine(stdout, `passed: ${valid.length} files are valid`);
    });
}
