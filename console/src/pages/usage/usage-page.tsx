import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { get } from '../../api.ts';
import type { PromptStatistics } from '../../api-types.ts';
import { Chart } from '../../components/chart.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Fact } from '../../components/fact.tsx';
import { SelectField } from '../../components/fields.tsx';
import { FilterField } from '../../components/filter-field.tsx';
import { NameText } from '../../components/name-text.tsx';
import { PageHead } from '../../components/page.tsx';
import { Section } from '../../components/section.tsx';
import { EmptyState, QueryState } from '../../components/states.tsx';
import { formatCost, formatCount, formatMs, formatNumber, NONE, plural } from '../../format.ts';
import { useStatistics } from '../../queries.ts';
import { t } from '../../strings.ts';
import { SPANS, usageRoute } from './routes.ts';
import { daysBetween, meanMs, type Sum, sumBy, total, type Usage } from './sums.ts';

const DAY_MS = 86_400_000;
/** Series per chart: the most expensive. */
const MAX_LINES = 6;
const OTHERS = t('Others');
const DRAFTS = t('Drafts');

const usd = (amount: number | null) => formatCost({ amount: amount === null ? null : String(amount) });
const count = (value: number | null) => (value === null ? NONE : formatCount(value));

export function UsagePage() {
  const search = usageRoute.useSearch();
  const { prompt_name, model, days = '30', by } = search;
  const navigate = usageRoute.useNavigate();
  const change = (part: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true });
  // The start of a day, so that the address stays the same within it.
  const since = new Date((Math.floor(Date.now() / DAY_MS) - Number(days) + 1) * DAY_MS).toISOString();
  const query = useQuery({
    queryKey: ['usage', since, prompt_name, model],
    queryFn: ({ signal }) => get<Usage>('/usage', { since, prompt_name, model }, signal),
  });
  const statistics = useStatistics({ since });
  return (
    <>
      <PageHead title="Usage" />
      <search className="filters">
        <SelectField
          label="Span"
          value={days}
          onChange={(value) => change({ days: SPANS.find((each) => each === value && each !== '30') })}
          options={SPANS.map((value) => ({ value, label: `${value} days` }))}
        />
        <SelectField
          label="By"
          value={by ?? 'prompt'}
          onChange={(value) => change({ by: value === 'model' ? 'model' : undefined })}
          options={[
            { value: 'prompt', label: 'Prompt' },
            { value: 'model', label: 'Model' },
          ]}
        />
        <FilterField label="Prompt" value={prompt_name} onChange={(value) => change({ prompt_name: value })} />
        <FilterField label="Model" value={model} onChange={(value) => change({ model: value })} />
      </search>
      <QueryState query={query} what="the usage">
        {(usage) =>
          usage.data.length + usage.evaluations.length === 0 ? (
            <EmptyState title="No usage in this period">
              <p>Cost, tokens and latency of executions and evaluations by day.</p>
              <Link to="/playground" className="button">
                Try a prompt
              </Link>
            </EmptyState>
          ) : (
            <>
              <Totals sum={total(usage)} />
              <Charts usage={usage} by={by} />
              <Sums usage={usage} by={by} statistics={statistics} />
            </>
          )
        }
      </QueryState>
    </>
  );
}

function Totals({ sum }: { sum: Sum }) {
  return (
    <dl className="facts">
      <Fact label="Cost">
        <strong>{usd(sum.cost)}</strong>
        {sum.unpriced > 0 && (
          <span className="muted"> and {plural(sum.unpriced, 'call', 'calls')} without a known price</span>
        )}
      </Fact>
      <Fact label="Tokens">
        {formatCount(sum.tokensIn)} in, {formatCount(sum.tokensOut)} out
      </Fact>
      <Fact label="Response, mean">{formatMs(meanMs(sum))}</Fact>
      <Fact label="Executions">
        {formatNumber(sum.runs)}
        {sum.failed > 0 && <span className="muted"> ({formatNumber(sum.failed)} failed)</span>}
      </Fact>
      <Fact label="Examples of evaluations">{formatNumber(sum.examples)}</Fact>
    </dl>
  );
}

type By = 'model' | undefined;
const keyBy = (by: By) => (row: { prompt_name?: string | null | undefined; model?: string | undefined }) =>
  (by === 'model' ? row.model : row.prompt_name) ?? DRAFTS;

function Charts({ usage, by }: { usage: Usage; by: By }) {
  const { days, cost, tokens, latency } = useMemo(() => {
    const keyOf = keyBy(by);
    const all = sumBy(usage, keyOf).map(({ key }) => key);
    // The rest of a stack is one of its parts.
    const own = all.length <= MAX_LINES ? all : all.slice(0, MAX_LINES - 1);
    const allDays = daysBetween(usage.since, usage.until);
    const stacks = new Set(own);
    const lineOf = (row: Parameters<typeof keyOf>[0]) => (stacks.has(keyOf(row)) ? keyOf(row) : OTHERS);
    const ofDay = new Map(sumBy(usage, (row) => `${row.day} ${lineOf(row)}`).map((sum) => [sum.key, sum]));
    const seriesOf = (read: (sum: Sum) => number | null, without: number | null = 0) =>
      [...own, ...(own.length < all.length ? [OTHERS] : [])].map((key) => ({
        label: key,
        values: allDays.map((day) => {
          const sum = ofDay.get(`${day} ${key}`);
          return sum === undefined ? without : read(sum);
        }),
      }));
    return {
      days: allDays,
      cost: seriesOf((sum) => sum.cost),
      tokens: seriesOf((sum) => sum.tokensIn + sum.tokensOut),
      latency: seriesOf(meanMs, null),
    };
  }, [usage, by]);
  return (
    <Section id="by-day" title="By day">
      <div className="grid-3">
        <Chart title="Cost per day" days={days} series={cost} format={usd} stacked />
        <Chart title="Tokens per day" days={days} series={tokens} format={count} stacked />
        <Chart title="Mean latency per day" days={days} series={latency} format={formatMs} />
      </div>
    </Section>
  );
}

function Sums({ usage, by, statistics }: { usage: Usage; by: By; statistics: ReadonlyMap<string, PromptStatistics> }) {
  const rows = useMemo(() => sumBy(usage, keyBy(by)), [usage, by]);
  const columns = useMemo((): Column<Sum>[] => {
    const latencyOf = ({ key }: Sum) => statistics.get(key)?.latency;
    return [
      {
        key: 'key',
        header: by === 'model' ? 'Model' : 'Prompt',
        width: 'minmax(12rem, 2fr)',
        cell: ({ key }) =>
          by === 'model' || key === DRAFTS ? (
            key
          ) : (
            <Link to="/prompts/$" params={{ _splat: key }} search={{ tab: 'runs' }}>
              <NameText name={key} />
            </Link>
          ),
      },
      { key: 'cost', header: 'Cost', width: '5.5rem', alignEnd: true, cell: (row) => usd(row.cost) },
      { key: 'in', header: 'Tokens in', width: '5rem', alignEnd: true, cell: (row) => formatCount(row.tokensIn) },
      { key: 'out', header: 'Tokens out', width: '5.5rem', alignEnd: true, cell: (row) => formatCount(row.tokensOut) },
      { key: 'runs', header: 'Executions', width: '6rem', alignEnd: true, cell: (row) => formatNumber(row.runs) },
      { key: 'failed', header: 'Failed', width: '4rem', alignEnd: true, cell: (row) => formatNumber(row.failed) },
      {
        key: 'examples',
        header: 'Examples',
        width: '5.5rem',
        alignEnd: true,
        cell: (row) => formatNumber(row.examples),
      },
      {
        key: 'mean',
        header: 'Mean latency',
        width: '6.5rem',
        alignEnd: true,
        cell: (row) => formatMs(meanMs(row)),
      },
      ...(by === 'model'
        ? []
        : ([
            {
              key: 'p50',
              header: 'Median',
              width: '5rem',
              alignEnd: true,
              cell: (row) => formatMs(latencyOf(row)?.p50_ms),
            },
            {
              key: 'p95',
              header: '95 % within',
              width: '6rem',
              alignEnd: true,
              cell: (row) => formatMs(latencyOf(row)?.p95_ms),
            },
          ] satisfies Column<Sum>[])),
    ];
  }, [by, statistics]);
  return (
    <section className="stack" aria-labelledby="sums">
      <h2 id="sums">{by === 'model' ? 'By model' : 'By prompt'}</h2>
      <DataTable label="Usage" rows={rows} columns={columns} rowKey={({ key }) => key} />
    </section>
  );
}
