import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Chart, type Series, type TimeUnit } from '../../components/chart.tsx';
import { SelectField } from '../../components/fields.tsx';
import { Section } from '../../components/section.tsx';
import { QueryState } from '../../components/states.tsx';
import { formatCount, formatTime, NONE } from '../../format.ts';
import { t } from '../../strings.ts';
import { inPercent, valueInWords } from './in-words.ts';
import { isLive, lastChecked, numbersQuery, stepsOf } from './queries.ts';
import { NUMBER_UNITS, releaseRoute } from './routes.ts';
import type { Check, Moment, Release } from './types.ts';

type Unit = (typeof NUMBER_UNITS)[number];

const UNITS: Record<Unit, string> = { minute: t('minute'), hour: t('hour'), day: t('day') };
const SECONDS: Record<Unit, number> = { minute: 60, hour: 3_600, day: 86_400 };
const HOUR_MS = 3_600_000;

/** At most about a hundred points. */
function unitFor({ created_at, finished_at }: Release): Unit {
  const hours = ((finished_at === null ? Date.now() : Date.parse(finished_at)) - Date.parse(created_at)) / HOUR_MS;
  if (hours <= 3) return 'minute';
  return hours <= 168 ? 'hour' : 'day';
}

const timeUnits: Record<Unit, TimeUnit> = {
  minute: { title: 'Minute', seconds: SECONDS.minute, format: formatTime },
  hour: { title: 'Hour', seconds: SECONDS.hour, format: formatTime },
  day: { title: 'Day', seconds: SECONDS.day, format: formatTime },
};

/** The limits of a check, in the unit of its metric. */
function limitsOf({ stable, against, scale, limit }: Check): { label: string; at: number }[] {
  const reference = against === 'stable' ? (stable?.estimate ?? null) : against;
  if (reference === null) return [];
  const at = (difference: number) => (scale === 'relative' ? reference * (1 + difference) : reference + difference);
  return [
    ...(limit.upper === null ? [] : [{ label: 'upper limit', at: at(limit.upper) }]),
    ...(limit.lower === null ? [] : [{ label: 'lower limit', at: at(limit.lower) }]),
  ];
}

const readers: Record<string, (moment: Moment) => number | null> = {
  error_rate: ({ error_rate }) => error_rate,
  latency_p95: ({ latency_p95_ms }) => latency_p95_ms,
  cost_mean: ({ cost_mean }) => cost_mean,
};
const readerOf = (metric: string) =>
  readers[metric] ?? (({ scores }: Moment) => scores[metric.slice('score:'.length)] ?? null);

const TITLES: Record<string, string> = {
  error_rate: t('Error rate'),
  latency_p95: t('Latency, p95'),
  cost_mean: t('Mean cost'),
};
const titleOf = (metric: string) => TITLES[metric] ?? t(`Score “${metric.slice('score:'.length)}”`);

/** The candidate's share over time, from its steps. */
function sharesOf(release: Release): { times: string[]; values: number[] } {
  const steps = stepsOf(release);
  const changes = [
    { at: release.created_at, percent: 0 },
    ...steps.flatMap((step) =>
      step.type === 'canary' && step.started_at !== null && step.state !== 'skipped'
        ? [{ at: step.started_at, percent: step.percent }]
        : [],
    ),
    ...(release.promoted_at === null ? [] : [{ at: release.promoted_at, percent: 100 }]),
  ];
  const end = isLive(release) ? new Date().toISOString() : (release.finished_at ?? new Date().toISOString());
  const last = changes.at(-1)?.percent ?? 0;
  if (!isLive(release) && release.status !== 'succeeded') changes.push({ at: end, percent: 0 });
  else changes.push({ at: end, percent: last });
  return { times: changes.map(({ at }) => at), values: changes.map(({ percent }) => percent) };
}

const asCount = (value: number | null) => (value === null ? NONE : formatCount(value));
const asPercent = (value: number | null) => (value === null ? NONE : inPercent(value));
const MOMENTS: TimeUnit = { title: 'Since', seconds: SECONDS.minute, format: formatTime };

/** Shares and both versions' numbers over time, with the limits of the checks. */
export function ReleaseCharts({ release }: { release: Release }) {
  const { per } = releaseRoute.useSearch();
  const navigate = releaseRoute.useNavigate();
  const unit = per ?? unitFor(release);
  const query = useQuery(numbersQuery(release, unit));
  return (
    <Section id="over-time" title="Over time">
      <div className="filters">
        <SelectField
          label="One point each"
          value={unit}
          onChange={(chosen) =>
            void navigate({ search: { per: NUMBER_UNITS.find((each) => each === chosen) }, replace: true })
          }
          options={NUMBER_UNITS.map((value) => ({ value, label: UNITS[value] }))}
        />
      </div>
      <QueryState query={query} what="the numbers">
        {({ data }) => <Charts release={release} moments={data} unit={unit} />}
      </QueryState>
    </Section>
  );
}

function Charts({ release, moments, unit }: { release: Release; moments: readonly Moment[]; unit: Unit }) {
  const { stable_version, candidate_version } = release;
  // Redrawn only on changes.
  const checked = JSON.stringify(lastChecked(release)?.numbers.checks ?? []);
  const changes = JSON.stringify(sharesOf(release));
  const shares = useMemo(() => {
    const { times, values } = JSON.parse(changes) as ReturnType<typeof sharesOf>;
    return {
      times,
      series: [{ label: `Share of version ${candidate_version}`, values, kind: 'steps' }] satisfies Series[],
    };
  }, [changes, candidate_version]);
  const { times, executions, charts } = useMemo(() => {
    const checks = JSON.parse(checked) as Check[];
    const allTimes = [...new Set(moments.map(({ at }) => at))].sort();
    const byArm = new Map(moments.map((moment) => [`${moment.arm} ${moment.at}`, moment]));
    const armsBy = (read: (moment: Moment) => number | null): Series[] =>
      (['stable', 'candidate'] as const).map((arm) => ({
        label: arm === 'stable' ? `Stable: version ${stable_version}` : `Candidate: version ${candidate_version}`,
        values: allTimes.map((time) => {
          const moment = byArm.get(`${arm} ${time}`);
          return moment === undefined ? null : read(moment);
        }),
      }));
    const metrics = new Set([
      'error_rate',
      'latency_p95',
      'cost_mean',
      ...checks.map(({ metric }) => metric).filter((metric) => !metric.startsWith('trace:')),
    ]);
    return {
      times: allTimes,
      executions: armsBy(({ executions: count }) => count),
      charts: [...metrics].map((metric) => ({
        metric,
        format: (value: number | null) => valueInWords(metric, value),
        series: [
          ...armsBy(readerOf(metric)),
          ...checks
            .filter((check) => check.metric === metric)
            .flatMap(limitsOf)
            .filter(({ label }, index, all) => all.findIndex((each) => each.label === label) === index)
            .map(
              ({ label, at }): Series => ({
                label: `Candidate’s ${label}`,
                values: allTimes.map(() => at),
                kind: 'limit',
              }),
            ),
        ],
      })),
    };
  }, [moments, checked, stable_version, candidate_version]);
  const span = {
    since: release.created_at,
    until: release.finished_at ?? new Date().toISOString(),
  };
  return (
    <div className="grid-2">
      <Chart title="Share" days={shares.times} series={shares.series} format={asPercent} unit={MOMENTS} span={span} />
      {times.length === 0 ? (
        <p className="muted">Nothing has run during this release yet.</p>
      ) : (
        <>
          <Chart
            title="Executions"
            days={times}
            series={executions}
            format={asCount}
            unit={timeUnits[unit]}
            span={span}
          />
          {charts.map(({ metric, series, format }) => (
            <Chart
              key={metric}
              title={titleOf(metric)}
              days={times}
              series={series}
              format={format}
              unit={timeUnits[unit]}
              span={span}
            />
          ))}
        </>
      )}
    </div>
  );
}
