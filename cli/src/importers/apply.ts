import type { ImportedDataset } from './model.ts';
import type { Step } from './plan.ts';
import { describeScoringStep, isScoringStep, ScoringWriter } from './plan-scoring.ts';
import { RefusedError, type WorkspaceWriter } from './workspace.ts';

/** A step that failed, and why. */
export interface FailedStep {
  step: Step;
  message: string;
}

/** The result of an import. */
export interface Applied {
  done: number;
  failed: FailedStep[];
  /** Secrets of new webhooks, by URL. They are not shown again. */
  secrets: { url: string; secret: string }[];
}

async function* linesOf(dataset: ImportedDataset): AsyncGenerator<Uint8Array, void, undefined> {
  // Planning has already noted what cannot be imported.
  for await (const example of dataset.read(() => {})) yield Buffer.from(`${JSON.stringify(example)}\n`);
}

async function make(
  step: Step,
  writer: WorkspaceWriter,
  scoring: ScoringWriter,
  secrets: Applied['secrets'],
): Promise<void> {
  if (isScoringStep(step)) return scoring.make(step);
  switch (step.kind) {
    case 'restore':
      return writer.restore(step.name);
    case 'version':
      // Later steps rely on the number: labels, includes.
      return writer.createVersion({ ...step.body, base_version: step.version - 1 });
    case 'label':
      return writer.setLabel(step.name, step.label, step.version);
    case 'archive':
      return writer.archive(step.name);
    case 'dataset': {
      const { dataset } = step;
      const version = await writer.uploadDataset(step.name, dataset.description, linesOf(dataset));
      // Another person may have created a version in the meantime.
      if (dataset.pinned !== undefined) dataset.pinned.version = version;
      return;
    }
    case 'evaluation':
      return writer.saveEvaluation(step.evaluation);
    case 'schedule':
      return writer.createSchedule(step.schedule);
    case 'webhook':
      secrets.push({ url: step.webhook.url, ...(await writer.createWebhook(step.webhook)) });
      return;
    case 'protect':
      return writer.protectLabel(step.label);
  }
}

/** The prompt of a step: if one of its steps fails, the others no longer apply. */
function promptOf(step: Step): string | undefined {
  const isPrompts =
    step.kind === 'version' || step.kind === 'label' || step.kind === 'archive' || step.kind === 'restore';
  return isPrompts ? step.name : undefined;
}

/**
 * Applies the steps of a plan in order. Items that the service rejects are skipped; planning again finds the remaining steps.
 * @param onStep called before each step
 * @throws whatever the writer throws except {@link RefusedError}
 */
export async function applyPlan(
  steps: Step[],
  writer: WorkspaceWriter,
  onStep: (step: Step) => void = () => {},
): Promise<Applied> {
  const applied: Applied = { done: 0, failed: [], secrets: [] };
  const broken = new Set<string>();
  const scoring = new ScoringWriter(writer);
  for (const step of steps) {
    const prompt = promptOf(step);
    if (prompt !== undefined && broken.has(prompt)) {
      applied.failed.push({ step, message: 'a step before it has failed' });
      continue;
    }
    onStep(step);
    try {
      await make(step, writer, scoring, applied.secrets);
      applied.done += 1;
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      applied.failed.push({ step, message: error.message });
      if (prompt !== undefined) broken.add(prompt);
    }
  }
  return applied;
}

/** A step in words: `prompt support/greeting: version 3`. */
export function describeStep(step: Step): string {
  if (isScoringStep(step)) return describeScoringStep(step);
  switch (step.kind) {
    case 'restore':
      return `prompt ${step.name}: restored`;
    case 'version':
      return `prompt ${step.name}: version ${step.version}`;
    case 'label': {
      const from = step.was === undefined ? '' : `, moved from version ${step.was}`;
      return `prompt ${step.name}: label ${step.label} at version ${step.version}${from}`;
    }
    case 'archive':
      return `prompt ${step.name}: archived`;
    case 'dataset':
      return `dataset ${step.name}: ${step.examples} examples`;
    case 'evaluation':
      return `evaluation ${step.name}: written to a file`;
    case 'schedule':
      return `schedule ${step.name}: created`;
    case 'webhook':
      return `webhook ${step.name}: created`;
    case 'protect':
      return `label ${step.label}: protected`;
  }
}
