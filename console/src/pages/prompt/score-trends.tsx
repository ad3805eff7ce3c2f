import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { get } from '../../api.ts';
import { Chart, type ChartEvents } from '../../components/chart.tsx';
import { ErrorState } from '../../components/states.tsx';
import { formatScore, NONE } from '../../format.ts';
import type { ScoreSummary } from '../scores/types.ts';

/** Lines per chart: the newest versions. */
const MAX_LINES = 6;
const MAX_CHARTS = 12;

type Row = ScoreSummary['data'][number];

const asMean = (value: number | null) => (value === null ? NONE : String(Number(value.toPrecision(4))));

/** Scores of a prompt's runs by people, programs and evaluators: a chart per score, a line per version. */
export function ScoreTrends({ name, since, events }: { name: string; since: string; events: ChartEvents }) {
  const query = useQuery({
    queryKey: ['scores', 'summary', name, since],
    queryFn: ({ signal }) =>
      get<ScoreSummary>('/scores/summary', { prompt_name: name, since, group_by: 'version,day' }, signal),
  });
  const until = new Date().toISOString();
  const charts = useMemo(() => chartsOf(query.data?.data ?? []), [query.data]);
  if (query.error) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  if (charts.length === 0) return null;
  return (
    <div className="grid-2">
      {charts.map(({ title, days, series, format }) => (
        <Chart
          key={title}
          title={title}
          days={days}
          series={series}
          format={format}
          span={{ since, until }}
          events={events}
        />
      ))}
    </div>
  );
}

const numberOf = ({ mean, share_true }: Row) => share_true ?? mean;

function chartsOf(rows: readonly Row[]) {
  const numbers = rows.filter(({ data_type }) => data_type === 'numeric' || data_type === 'boolean');
  const names = [...new Set(numbers.map(({ name }) => name))].sort().slice(0, MAX_CHARTS);
  return names.map((name) => {
    const own = numbers.filter((row) => row.name === name);
    const isShare = own[0]?.data_type === 'boolean';
    const days = [...new Set(own.map(({ day = '' }) => day))].sort();
    const versions = [...new Set(own.map(({ prompt_version = null }) => prompt_version))]
      .sort((a, b) => (b ?? 0) - (a ?? 0))
      .slice(0, MAX_LINES);
    const values = new Map(own.map((row) => [`${row.day} ${row.prompt_version ?? null}`, numberOf(row)]));
    return {
      title: isShare ? `Score ${name}: share of yes` : `Score ${name}: mean`,
      days,
      series: versions.map((version) => ({
        label: version === null ? 'No version' : `Version ${version}`,
        values: days.map((day) => values.get(`${day} ${version}`) ?? null),
      })),
      format: isShare ? formatScore : asMean,
    };
  });
}
