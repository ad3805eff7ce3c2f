import { type Json, listOf, textOf } from '../json.ts';
import type { LangfuseScoring } from './langfuse-scores.ts';
import type { Report } from './report.ts';

/** Experiments as Langfuse's API gives them, and their items. */
export interface LangfuseExperiments {
  experiments: Json[];
  items: Json[];
}

export const noExperiments = (): LangfuseExperiments => ({ experiments: [], items: [] });

/** What a saved answer is; undefined where it is neither. */
export function experimentKindOf(value: Json): keyof LangfuseExperiments | undefined {
  if ('experimentId' in value && 'experimentItemId' in value) return 'items';
  return 'itemCount' in value && 'startTime' in value ? 'experiments' : undefined;
}

const nameOfItem = (item: Json) => textOf(item['experimentName']) ?? String(item['experimentId']);

/** Scores with those that stand in experiments and items, each once; items stand for themselves where nothing else was saved. */
export function withExperiments(
  scoring: LangfuseScoring,
  { experiments, items }: LangfuseExperiments,
): LangfuseScoring {
  const inside = [...experiments, ...items].flatMap((one) => listOf(one['scores'])) as Json[];
  const scores = [...new Map([...scoring.scores, ...inside].map((score) => [String(score['id']), score])).values()];
  return { ...scoring, scores, observations: [...scoring.observations, ...items] };
}

/** The items of an experiment that has no dataset in Langfuse. */
export interface ExperimentDataset {
  name: string;
  items: () => Json[];
}

/**
 * Says of each experiment what becomes of it.
 * @returns datasets of those that have none in Langfuse: their items stand nowhere else
 */
export function datasetsOfExperiments(
  { experiments, items }: LangfuseExperiments,
  report: Report,
): ExperimentDataset[] {
  const byExperiment = Map.groupBy(items, (item) => String(item['experimentId']));
  for (const one of experiments) if (!byExperiment.has(String(one['id']))) byExperiment.set(String(one['id']), []);
  return [...byExperiment].flatMap(([id, own]) => {
    const experiment = experiments.find((one) => one['id'] === id);
    const [first] = own;
    const name = textOf(experiment?.['name']) ?? (first === undefined ? id : nameOfItem(first));
    const thing = report.add('experiment', name);
    const isOfDataset = (textOf(experiment?.['datasetId']) ?? textOf(first?.['experimentDatasetId'])) !== undefined;
    const withValues = own.filter((item) => 'input' in item);
    if (own.length === 0) thing.leaveOut('its items are missing: save /experiment-items too');
    else if (isOfDataset)
      thing.change('its items are those of its dataset; scores of them are taken with what they are about');
    else if (withValues.length === 0)
      thing.leaveOut('its items have no values: save them with fields=core,dataset,io,scores');
    else {
      thing.change('its items become a dataset; scores of them are taken with what they are about');
      return [{ name, items: () => withValues.map(asDatasetItem) }];
    }
    return [];
  });
}

function asDatasetItem(item: Json): Json {
  const { experimentItemId: id, input, expectedOutput, experimentItemMetadata: metadata } = item;
  return { id, input, expectedOutput, metadata };
}
