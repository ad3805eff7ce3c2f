import { type Json, listOf, textOf } from '../json.ts';
import type { LangfuseScoring } from './langfuse-scores.ts';
import type { Report } from './report.ts';

/** Experiments and their items from Langfuse's API. */
export interface LangfuseExperiments {
  experiments: Json[];
  items: Json[];
}

export const noExperiments = (): LangfuseExperiments => ({ experiments: [], items: [] });

/** The kind of a saved response; undefined if it is neither. */
export function experimentKindOf(value: Json): keyof LangfuseExperiments | undefined {
  if ('experimentId' in value && 'experimentItemId' in value) return 'items';
  return 'itemCount' in value && 'startTime' in value ? 'experiments' : undefined;
}

const nameOfItem = (item: Json) => textOf(item['experimentName']) ?? String(item['experimentId']);

/** Adds scores found in experiments and items, without duplicates; items stand in for traces that were not saved. */
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
 * Reports what happens to each experiment.
 * @returns datasets for those without one in Langfuse, whose items are stored nowhere else
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
      thing.change('its items come from its dataset; their scores are imported with their subjects');
    else if (withValues.length === 0)
      thing.leaveOut('its items have no values: save them with fields=core,dataset,io,scores');
    else {
      thing.change('its items become a dataset; their scores are imported with their subjects');
      return [{ name, items: () => withValues.map(asDatasetItem) }];
    }
    return [];
  });
}

function asDatasetItem(item: Json): Json {
  const { experimentItemId: id, input, expectedOutput, experimentItemMetadata: metadata } = item;
  return { id, input, expectedOutput, metadata };
}
