import { textsOf } from '../../../src/domain/prompt-rules/prompt.ts';
import { templateWarnings } from '../../../src/domain/prompts/template-warnings.ts';
import { contentOfVersion, isSameVersion, type PromptVersion, versionOf, versionProblem } from '../prompt-version.ts';
import type { Import, ImportedPrompt, ImportedVersion } from './model.ts';
import { includesOf } from './template-text.ts';
import type { NewVersion, PromptRecord, WorkspaceReader } from './workspace.ts';

/** One change to a prompt by an import. */
export type PromptStep =
  | { kind: 'restore'; name: string }
  | { kind: 'version'; name: string; version: number; body: NewVersion; includes: string[]; createdAt: string }
  | { kind: 'label'; name: string; label: string; version: number; was: number | undefined }
  | { kind: 'archive'; name: string };

/** The existing state of a prompt. */
interface Existing {
  versions: PromptVersion[];
  numbers: number[];
  labels: Map<string, number>;
  archived: boolean;
}

async function readExisting(reader: WorkspaceReader, name: string): Promise<Existing> {
  const records: PromptRecord[] = [];
  for await (const record of reader.versions(name)) records.push(record);
  records.sort((a, b) => a.version - b.version);
  return {
    versions: records.map(versionOf),
    numbers: records.map(({ version }) => version),
    labels: new Map(records.flatMap(({ labels, version }) => labels.map((label) => [label, version]))),
    archived: records.at(-1)?.archived ?? false,
  };
}

const NOTHING: Existing = { versions: [], numbers: [], labels: new Map(), archived: false };

/**
 * Maps the versions of an import to versions of the workspace. Existing versions in the same order are reused; the first missing
 * one, and all after it, become new versions.
 */
function placeVersions(versions: ImportedVersion[], existing: Existing): { numbers: number[]; created: number } {
  const numbers: number[] = [];
  let from = 0;
  for (const version of versions) {
    const at = existing.versions.findIndex((known, index) => index >= from && isSameVersion(known, version));
    if (at === -1) break;
    numbers.push(existing.numbers[at] ?? 0);
    from = at + 1;
  }
  const created = versions.length - numbers.length;
  const latest = existing.numbers.at(-1) ?? 0;
  for (let next = 1; next <= created; next += 1) numbers.push(latest + next);
  return { numbers, created };
}

/** The includes of a version: `name`, `name@3`, `name@label`. */
export function includesOfVersion(version: PromptVersion): string[] {
  return [...new Set([...textsOf(version)].flatMap(({ text }) => includesOf(text)))];
}

function bodyOf({ name, description }: ImportedPrompt, version: ImportedVersion): NewVersion {
  const { commit_message } = version;
  const body: NewVersion = { name, ...contentOfVersion(version) };
  if (description !== undefined) body['description'] = description;
  if (commit_message !== undefined) body['commit_message'] = commit_message;
  return body;
}

function planPrompt(prompt: ImportedPrompt, existing: Existing): PromptStep[] {
  const { name, versions, thing } = prompt;
  const { numbers, created } = placeVersions(versions, existing);
  prompt.numbers = numbers;
  const steps: PromptStep[] = [];
  const labels = Object.entries(prompt.labels).flatMap(([label, place]): PromptStep[] => {
    const version = numbers[place - 1];
    const was = existing.labels.get(label);
    return version === undefined || was === version ? [] : [{ kind: 'label', name, label, version, was }];
  });
  const fresh = versions.slice(versions.length - created);
  for (const version of versions)
    for (const { path, message } of templateWarnings(version)) thing.warn(`${path} ${message}`);
  if (existing.archived && (fresh.length > 0 || labels.length > 0 || !prompt.archived))
    steps.push({ kind: 'restore', name });
  for (const [index, version] of fresh.entries()) {
    const number = numbers[versions.length - created + index] ?? 0;
    steps.push({
      kind: 'version',
      name,
      version: number,
      body: bodyOf(existing.versions.length > 0 ? prompt : { description: prompt.newDescription, ...prompt }, version),
      includes: includesOfVersion(version),
      createdAt: version.created_at ?? '',
    });
  }
  steps.push(...labels);
  if (prompt.archived && (!existing.archived || steps.length > 0)) steps.push({ kind: 'archive', name });
  for (const [index, number] of numbers.entries())
    if (number !== index + 1)
      thing.change(`version ${index + 1} is version ${number} in this workspace, which already has other versions`);
  return steps;
}

/** Whether a completed step makes an include possible. */
function provides(step: PromptStep, selector: string | undefined): boolean {
  if (selector === undefined) return step.kind === 'version';
  if (/^\d+$/.test(selector)) return step.kind === 'version' && step.version === Number(selector);
  return step.kind === 'label' && step.label === selector;
}

/**
 * Orders the steps of all prompts: versions by creation time if known, but after whatever they include. The steps of one prompt
 * keep their order. Archiving comes last because archived prompts cannot be included.
 */
export function orderSteps(plans: PromptStep[][]): PromptStep[] {
  const ordered: PromptStep[] = [];
  const byName = new Map(plans.map((steps) => [steps[0]?.name ?? '', steps]));
  const done = new Map<string, number>();
  const underWay = new Set<string>();

  /** Adds the steps of a prompt up to `to`, each after its dependencies. */
  function advance(name: string, to: number): void {
    // A cycle: the service reports it if it still exists when written.
    if (underWay.has(name)) return;
    underWay.add(name);
    const steps = byName.get(name) ?? [];
    for (let at = done.get(name) ?? 0; at <= to; at += 1) {
      const step = steps[at];
      if (step === undefined) break;
      for (const include of step.kind === 'version' ? step.includes : []) {
        const [other = '', selector] = include.split('@');
        const needed = (byName.get(other) ?? []).findIndex((one) => provides(one, selector));
        if (needed >= (done.get(other) ?? 0)) advance(other, needed);
      }
      ordered.push(step);
      done.set(name, at + 1);
    }
    underWay.delete(name);
  }

  const versions = plans.flatMap((steps) =>
    steps.flatMap((step, at) => (step.kind === 'version' ? [{ step, at }] : [])),
  );
  const byTime = versions.toSorted((a, b) =>
    a.step.createdAt < b.step.createdAt ? -1 : a.step.createdAt > b.step.createdAt ? 1 : 0,
  );
  for (const { step, at } of byTime) advance(step.name, at);
  for (const [name, steps] of byName) advance(name, steps.length - 1);
  return [...ordered.filter(({ kind }) => kind !== 'archive'), ...ordered.filter(({ kind }) => kind === 'archive')];
}

/**
 * Plans the changes of an import to the prompts of a workspace without writing anything. Prompts that can't be imported are
 * marked in the report and left out.
 */
export async function planPrompts(imported: Import, reader: WorkspaceReader): Promise<PromptStep[]> {
  const there = new Set<string>();
  for await (const { name } of reader.prompts()) there.add(name);
  let prompts = imported.prompts.filter(({ thing, versions }) => {
    const problem = versions.map(versionProblem).find((found) => found !== undefined);
    if (problem !== undefined) thing.leaveOut(problem);
    return !thing.isLeftOut;
  });
  for (let before = -1; before !== prompts.length; ) {
    before = prompts.length;
    const known = new Set([...there, ...prompts.map(({ name }) => name)]);
    prompts = prompts.filter(({ versions, thing }) => {
      const missing = versions.flatMap(includesOfVersion).find((include) => !known.has(include.split('@')[0] ?? ''));
      if (missing !== undefined)
        thing.leaveOut(`it includes "${missing}", which is neither imported nor in the workspace`);
      return missing === undefined;
    });
  }
  const plans: PromptStep[][] = [];
  for (const prompt of prompts) {
    const existing = there.has(prompt.name) ? await readExisting(reader, prompt.name) : NOTHING;
    const steps = planPrompt(prompt, existing);
    if (steps.length > 0) plans.push(steps);
  }
  return orderSteps(plans);
}
