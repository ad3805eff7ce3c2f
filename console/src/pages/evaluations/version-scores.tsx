import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { get, type Page, pathOf } from '../../api.ts';
import type { Prompt, PromptSeries } from '../../api-types.ts';
import { Plot } from '../../components/plot.tsx';
import { Section } from '../../components/section.tsx';
import { formatDay, formatScore, formatTime } from '../../format.ts';
import { seriesQuery } from '../../queries.ts';
import { t } from '../../strings.ts';
import type { Release } from '../releases/types.ts';
import './evaluations.css';

/** Number of newest versions and releases that are marked. */
const MARKED = 100;

type Score = PromptSeries['scores'][number] & { interval?: unknown };

/** The outcome of a version, and its mark in a chart. */
interface Mark {
  text: string;
  short: string;
}

/** The API's interval as numbers; null if there is none. */
function boundsOf({ interval }: Score): { low: number; high: number } | null {
  const { low, high } = (interval ?? {}) as { low?: number; high?: number };
  return low === undefined || high === undefined ? null : { low, high };
}

const nameOf = ({ dataset }: Score) => dataset?.name ?? t('Inline examples');

/** The newest releases of a prompt. */
export const releasesOfQuery = (prompt: string) => ({
  queryKey: ['releases', 'of', prompt],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    get<Page<Release>>('/releases', { prompt_name: prompt, limit: MARKED }, signal),
  staleTime: 60_000,
});

/** The outcome of each version: its labels, and the releases that brought it there. */
function useMarks(prompt: string): ReadonlyMap<number, Mark[]> {
  const versions = useQuery({
    queryKey: ['prompts', 'labels-of-versions', prompt],
    queryFn: ({ signal }) => get<Page<Prompt>>(`${pathOf('prompts', prompt)}/versions`, { limit: MARKED }, signal),
    staleTime: 60_000,
  }).data;
  const releases = useQuery(releasesOfQuery(prompt)).data;
  return useMemo(() => {
    const marks = new Map<number, Mark[]>();
    const add = (version: number, mark: Mark) => marks.set(version, [...(marks.get(version) ?? []), mark]);
    for (const { version, labels } of versions?.data ?? [])
      for (const label of labels) add(version, { text: label, short: label });
    for (const { candidate_version: version, label, promoted_at: at } of releases?.data ?? [])
      if (at !== null) add(version, { text: t(`released to ${label}, ${formatDay(at)}`), short: '⇧' });
    return marks;
  }, [versions, releases]);
}

/** The newest score of each version with its 95 % interval, one dataset at a time. */
export function VersionScores({ prompt, dataset }: { prompt: string; dataset?: string | undefined }) {
  const series = useQuery(seriesQuery(prompt)).data;
  const marks = useMarks(prompt);
  const scores = (series?.scores ?? []).filter((score) => dataset === undefined || nameOf(score) === dataset);
  if (scores.length === 0) return null;
  const byDataset = Map.groupBy(scores, nameOf);
  return (
    <Section id="version-scores" title="Score by version">
      <div className="grid-2">
        {[...byDataset].map(([name, all]) => (
          <DatasetScores key={name} name={name} scores={newestOfVersions(all)} marks={marks} />
        ))}
      </div>
    </Section>
  );
}

/** Oldest first, as listed by the API: the last one of a version is its newest. */
function newestOfVersions(scores: readonly Score[]): Score[] {
  const byVersion = new Map(scores.map((score) => [score.prompt_version, score]));
  return [...byVersion.values()].sort((a, b) => a.prompt_version - b.prompt_version);
}

function DatasetScores({
  name,
  scores,
  marks,
}: {
  name: string;
  scores: readonly Score[];
  marks: ReadonlyMap<number, Mark[]>;
}) {
  const marksAt = (index: number) => marks.get(scores[index]?.prompt_version ?? 0) ?? [];
  return (
    <Plot
      title={`Over ${name}`}
      level="h3"
      xs={scores.map((_, index) => index)}
      domain={[-0.5, scores.length - 0.5]}
      xTicks={scores.map(({ prompt_version }, at) => ({ at, label: `v${prompt_version}` }))}
      names={scores.map(({ prompt_version }) => t(`Version ${prompt_version}`))}
      xTitle="Version"
      series={[
        {
          label: 'Score, with its 95 % interval',
          values: scores.map(({ score }) => score),
          intervals: scores.map(boundsOf),
        },
      ]}
      format={formatScore}
      max={1}
      events={scores.flatMap((_, at) => {
        const own = [...new Set(marksAt(at).map(({ short }) => short))];
        return own.length === 0 ? [] : [{ at, label: own.join(' ') }];
      })}
      detail={(index) => {
        const score = scores[index];
        return (
          score && (
            <>
              <Link to="/evaluations/$id" params={{ id: score.evaluation_id }}>
                {formatTime(score.finished_at)}
              </Link>
              {marksAt(index).length > 0 && (
                <div>
                  {marksAt(index)
                    .map(({ text }) => text)
                    .join('; ')}
                </div>
              )}
            </>
          )
        );
      }}
    />
  );
}
