import { isSameJson } from '../json.ts';
import type {
  Example,
  Import,
  ImportedDataset,
  ImportedEvaluation,
  ScheduleDefinition,
  WebhookDefinition,
} from './model.ts';
import { type PromptStep, planPrompts } from './plan-prompts.ts';
import { planScoring, type ScoringStep } from './plan-scoring.ts';
import type { WorkspaceReader } from './workspace.ts';

/** One change by an import. */
export type Step =
  | PromptStep
  | ScoringStep
  | { kind: 'protect'; label: string }
  | { kind: 'dataset'; name: string; examples: number; dataset: ImportedDataset }
  | { kind: 'evaluation'; name: string; evaluation: ImportedEvaluation }
  | { kind: 'schedule'; name: string; schedule: ScheduleDefinition }
  | { kind: 'webhook'; name: string; webhook: WebhookDefinition };

const MAX_EXAMPLES = 1_000_000;

/**
 * Reads a dataset once: notes what changes, and returns whether the workspace has the same examples in the same order. Both are
 * streams, so memory use does not depend on their number.
 */
async function compare(dataset: ImportedDataset, known: AsyncIterator<Example> | undefined) {
  let examples = 0;
  let same = known !== undefined;
  const { thing } = dataset;
  const source = dataset.read((outcome, what, at) =>
    thing.change(outcome === 'left out' ? `left out: ${what}` : what, at),
  );
  for await (const example of source) {
    examples += 1;
    if (!same || known === undefined) continue;
    const next = await known.next();
    same = next.done !== true && isSameJson(exampleOf(next.value), exampleOf(example));
  }
  if (same && known !== undefined) same = (await known.next()).done === true;
  await known?.return?.();
  return { examples, same };
}

function exampleOf({ id, variables, expected, metadata }: Example): Example {
  return { id, variables, expected, metadata };
}

async function planDatasets(imported: Import, reader: WorkspaceReader): Promise<Step[]> {
  const there = new Map<string, number>();
  for await (const { name, version } of reader.datasets()) there.set(name, version);
  const steps: Step[] = [];
  for (const dataset of imported.datasets) {
    const { name, thing } = dataset;
    const version = there.get(name);
    const known = version !== undefined ? reader.examples(name)[Symbol.asyncIterator]() : undefined;
    const { examples, same } = await compare(dataset, known);
    if (examples === 0) thing.leaveOut('none of its examples can be imported');
    else if (examples > MAX_EXAMPLES) thing.leaveOut(`it has more than ${MAX_EXAMPLES} examples: split it`);
    dataset.pinned = { name, version: same && version !== undefined ? version : (version ?? 0) + 1 };
    if (!thing.isLeftOut && !same) steps.push({ kind: 'dataset', name, examples, dataset });
  }
  return steps;
}

async function planOthers(imported: Import, reader: WorkspaceReader): Promise<Step[]> {
  const steps: Step[] = [];
  if (imported.protectedLabels.length > 0) {
    const there = new Set<string>();
    for await (const label of reader.protectedLabels()) there.add(label);
    for (const { label } of imported.protectedLabels) if (!there.has(label)) steps.push({ kind: 'protect', label });
  }
  if (imported.schedules.length > 0) {
    const there = new Map<string, ScheduleDefinition>();
    for await (const schedule of reader.schedules()) there.set(schedule.name, schedule);
    for (const { definition, thing } of imported.schedules) {
      const known = there.get(definition.name);
      if (known === undefined) steps.push({ kind: 'schedule', name: definition.name, schedule: definition });
      else if (!isSameJson(known, definition))
        thing.leaveOut('the workspace has another schedule of this name: delete or rename one of them');
    }
  }
  if (imported.webhooks.length > 0) {
    const there: WebhookDefinition[] = [];
    for await (const webhook of reader.webhooks()) there.push(webhook);
    for (const { definition, thing } of imported.webhooks) {
      const { url, events } = definition;
      const same = there.some((known) => known.url === url && isSameJson(known.events.toSorted(), events.toSorted()));
      if (same) continue;
      thing.change('a new secret is generated');
      if (definition.status === 'disabled') thing.change('it is disabled in the export, and is created enabled');
      if (definition.header_names?.length)
        thing.change(`its custom headers are left out: ${definition.header_names.join(', ')}`);
      steps.push({ kind: 'webhook', name: url, webhook: definition });
    }
  }
  return steps;
}

/**
 * Plans the changes of an import to a workspace without writing anything. Each thing's line in the report says what happens to
 * it; things that already exist need no step.
 * @throws ImportError if a file turns out to be unreadable
 */
export async function planImport(imported: Import, reader: WorkspaceReader): Promise<Step[]> {
  const prompts = await planPrompts(imported, reader);
  const datasets = await planDatasets(imported, reader);
  const byName = new Map(imported.datasets.map((dataset) => [dataset.name, dataset]));
  const gone = new Set(imported.prompts.filter(({ thing }) => thing.isLeftOut).map(({ name }) => name));
  const evaluations: Step[] = [];
  for (const evaluation of imported.evaluations) {
    const { definition, name, thing } = evaluation;
    const dataset = typeof definition.dataset === 'string' ? byName.get(definition.dataset) : undefined;
    const missing = dataset?.thing.isLeftOut ? 'dataset' : gone.has(definition.prompt_name) ? 'prompt' : undefined;
    if (missing !== undefined) thing.leaveOut(`its ${missing} is left out`);
    const version = imported.prompts.find(({ name: own }) => own === definition.prompt_name)?.numbers?.at(-1);
    if (version !== undefined) definition.version = version;
    if (dataset?.pinned !== undefined) definition.dataset = dataset.pinned;
    if (thing.isLeftOut || isSameJson(await reader.savedEvaluation(name), definition)) continue;
    evaluations.push({ kind: 'evaluation', name, evaluation });
  }
  const scoring = await planScoring(imported, reader);
  return [...prompts, ...datasets, ...evaluations, ...scoring, ...(await planOthers(imported, reader))];
}
