import { useIsFetching, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { PromptSeries } from '../../api-types.ts';
import { Chart, type ChartEvents, type Series, type TimeUnit } from '../../components/chart.tsx';
import { SelectField } from '../../components/fields.tsx';
import { EmptyState, Loading, QueryState } from '../../components/states.tsx';
import { formatCost, formatCount, formatMs, formatScore, formatTime, NONE } from '../../format.ts';
import { seriesQuery } from '../../queries.ts';
import { t } from '../../strings.ts';
import { useChanges } from '../home/what-changed.tsx';
import { QualityCharts } from './quality-charts.tsx';
import { ScoreTrends } from './score-trends.tsx';

const SPANS = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
];
const DAY_MS = 86_400_000;
/** Lines per chart: the newest versions. */
const MAX_LINES = 6;

const ENDS: TimeUnit = { title: 'Ended', seconds: 86_400, format: formatTime };

const asCost = (value: number | null) => formatCost({ amount: value === null ? null : String(value) });
const asRuns = (value: number | null) => (value === null ? NONE : formatCount(value));

/** Runs, cost, latency and scores over time, one line per version. */
export function RunsTab({ name }: { name: string }) {
  const [span, setSpan] = useState('30');
  // The start of a day, so that the address stays the same within it.
  const since = new Date(Math.floor(Date.now() / DAY_MS - Number(span) + 1) * DAY_MS).toISOString();
  const query = useQuery(seriesQuery(name, { since }));
  const moves = useLabelMoves(name);
  // All charts at once: what came later would push down what is being read.
  const loading = useIsFetching({ predicate: ({ state }) => state.data === undefined });
  const [isShown, setShown] = useState(false);
  if (!isShown && loading === 0 && !query.isPending) setShown(true);
  return (
    <div className="stack">
      <div className="row">
        <SelectField label="Span" value={span} onChange={setSpan} options={SPANS} />
        <Link to="/executions" search={{ prompt_name: name }} className="button">
          All executions
        </Link>
      </div>
      {!isShown && <Loading what="the numbers" />}
      <div className="stack" style={isShown ? undefined : { visibility: 'hidden' }}>
        <QueryState query={query} what="the numbers">
          {(series) => <Charts name={name} series={series} events={moves} />}
        </QueryState>
        <QualityCharts name={name} />
        <ScoreTrends name={name} since={since} events={moves} />
      </div>
    </div>
  );
}

/** Maximum number of changes among which those of labels are marked, and of marks. */
const MOST_CHANGES = 100;
const MOST_MARKS = 12;

/** Moves of labels, as marks on charts. */
function useLabelMoves(name: string) {
  const { data } = useChanges(name, MOST_CHANGES);
  return useMemo(
    () =>
      (data ?? [])
        .filter(({ action }) => action === 'label.moved')
        .slice(0, MOST_MARKS)
        .map(({ created_at: at, details }) => ({
          at,
          label: `${String(details['label'])} → v${String(details['version'])}`,
        }))
        .reverse(),
    [data],
  );
}

type DayRow = PromptSeries['runs'][number];

function Charts({
  name,
  series: { runs, scores, ...span },
  events,
}: {
  name: string;
  series: PromptSeries;
  events: ChartEvents;
}) {
  const { days, of } = useMemo(() => byVersion(runs), [runs]);
  const lines = useMemo(
    () => ({
      runs: of((row) => row.runs),
      cost: of((row) => (row.cost.amount === null ? null : Number(row.cost.amount))),
      latency: of((row) => row.latency.p50_ms),
    }),
    [of],
  );
  const scored = useMemo(() => scoreLines(scores), [scores]);
  if (runs.length === 0 && scores.length === 0)
    return (
      <EmptyState title="No runs in this period">
        <Link to="/playground" search={{ prompt: name }} className="button">
          Run it in the playground
        </Link>
      </EmptyState>
    );
  return (
    <div className="grid-2">
      {scores.length > 0 && (
        <Chart title="Score of evaluations" {...scored} format={formatScore} max={1} span={span} events={events} />
      )}
      {runs.length > 0 && (
        <>
          <Chart title="Runs per day" days={days} series={lines.runs} format={asRuns} span={span} events={events} />
          <Chart title="Cost per day" days={days} series={lines.cost} format={asCost} span={span} events={events} />
          <Chart
            title="Median latency"
            days={days}
            series={lines.latency}
            format={formatMs}
            span={span}
            events={events}
          />
        </>
      )}
    </div>
  );
}

/** The days with data, and how to read a line for each version from them. */
function byVersion(runs: readonly DayRow[]) {
  const days = [...new Set(runs.map(({ day }) => day))].sort();
  const versions = [...new Set(runs.map(({ prompt_version }) => prompt_version))]
    .sort((a, b) => (b ?? 0) - (a ?? 0))
    .slice(0, MAX_LINES);
  const rows = new Map(runs.map((row) => [`${row.day} ${row.prompt_version}`, row]));
  return {
    days,
    of: (read: (row: DayRow) => number | null): Series[] =>
      versions.map((version) => ({
        label: version === null ? 'Drafts' : `Version ${version}`,
        values: days.map((day) => {
          const row = rows.get(`${day} ${version}`);
          return row === undefined ? null : read(row);
        }),
      })),
  };
}

/** Scores in order of time, one line per dataset. */
function scoreLines(scores: PromptSeries['scores']) {
  const sorted = [...scores].sort((a, b) => a.finished_at.localeCompare(b.finished_at));
  const nameOf = ({ dataset }: (typeof sorted)[number]) => dataset?.name ?? t('Inline examples');
  const datasets = [...new Set(sorted.map(nameOf))].slice(0, MAX_LINES);
  return {
    days: sorted.map(({ finished_at }) => finished_at),
    unit: ENDS,
    series: datasets.map((label) => ({
      label,
      values: sorted.map((each) => (nameOf(each) === label ? each.score : null)),
    })),
  };
}
