import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { get, type Page } from '../../api.ts';
import type { Evaluation } from '../../api-types.ts';
import { versionOf } from '../../components/badges.tsx';
import { Scatter, type ScatterPoint } from '../../components/scatter.tsx';
import { Section } from '../../components/section.tsx';
import { formatCost, formatMs, formatScore } from '../../format.ts';
import { t } from '../../strings.ts';
import { VersionScores } from '../evaluations/version-scores.tsx';

/** Enough of the newest evaluations to find the newest of each version and model. */
const EVALUATIONS = 200;

const datasetOf = ({ dataset }: Evaluation) => dataset?.name ?? t('inline examples');
const usd = (amount: number) => formatCost({ amount: String(amount) });

/** The quality of versions and models against cost and latency. */
export function QualityCharts({ name }: { name: string }) {
  const runs = useQuery({
    queryKey: ['evaluations', 'quality', name],
    queryFn: ({ signal }) =>
      get<Page<Evaluation>>('/evaluations', { prompt_name: name, status: 'completed', limit: EVALUATIONS }, signal),
  }).data;
  const { dataset, cost, latency } = useMemo(() => pointsOf(runs?.data ?? []), [runs]);
  return (
    <>
      <VersionScores prompt={name} />
      {cost.length + latency.length > 0 && (
        <Section id="quality" title="Quality against cost and time">
          <p className="muted">The newest evaluation of each version and model over {dataset}.</p>
          <div className="grid-2">
            {cost.length > 0 && (
              <Scatter
                title="Score and cost"
                level="h3"
                points={cost}
                xTitle="Cost of 1,000 examples"
                yTitle="Score"
                formatX={usd}
                formatY={formatScore}
              />
            )}
            {latency.length > 0 && (
              <Scatter
                title="Score and latency"
                level="h3"
                points={latency}
                xTitle="Latency, median"
                yTitle="Score"
                formatX={formatMs}
                formatY={formatScore}
              />
            )}
          </div>
        </Section>
      )}
    </>
  );
}

/** Only versions, not drafts. Scores on different examples are not comparable, so only the dataset evaluated last counts. */
function pointsOf(runs: readonly Evaluation[]): { dataset: string; cost: ScatterPoint[]; latency: ScatterPoint[] } {
  const scored = runs.filter(
    ({ target, prompt_version, score, examples_total }) =>
      target.type === 'prompt' && prompt_version > 0 && score !== null && examples_total > 0,
  );
  const dataset = scored[0] === undefined ? '' : datasetOf(scored[0]);
  const newest = new Map<string, Evaluation>();
  for (const run of scored) {
    const key = `${run.prompt_version} ${run.model}`;
    if (datasetOf(run) === dataset && !newest.has(key)) newest.set(key, run);
  }
  const pointsBy = (read: (run: Evaluation) => number | null): ScatterPoint[] =>
    [...newest].flatMap(([key, run]) => {
      const x = read(run);
      if (x === null || run.score === null) return [];
      const label = versionOf(run);
      const link = (
        <Link key={key} to="/evaluations/$id" params={{ id: run.id }}>
          {label}
        </Link>
      );
      return [{ key, series: run.model, label, name: link, x, y: run.score }];
    });
  return {
    dataset,
    cost: pointsBy(({ cost, judge, examples_total }) =>
      cost.amount === null ? null : ((Number(cost.amount) - Number(judge.cost.amount ?? 0)) / examples_total) * 1_000,
    ),
    latency: pointsBy(({ latency }) => latency.p50_ms),
  };
}
