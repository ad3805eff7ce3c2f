import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useMemo } from 'react';
import { pathOf } from '../../api.ts';
import type { Evaluation } from '../../api-types.ts';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Fact } from '../../components/fact.tsx';
import { SelectField } from '../../components/fields.tsx';
import { FilterField } from '../../components/filter-field.tsx';
import { focusRow, PeekList } from '../../components/peek-list.tsx';
import { sortHead } from '../../components/sort-head.tsx';
import { EmptyState, Loading, QueryState } from '../../components/states.tsx';
import { formatCost, formatCount, formatMs, formatNumber, formatScore, NONE, plural } from '../../format.ts';
import { useList } from '../../queries.ts';
import { t } from '../../strings.ts';
import { hasEnded, MOST_FAILING, RESULTS_PAGE, summaryQuery } from './queries.ts';
import { difference, nameOf } from './result-text.ts';
import { evaluationRoute, RESULT_FILTERS, RESULT_SORTS } from './routes.ts';
import { ScoreHistogram } from './score-histogram.tsx';
import type { Result, ResultsSummary } from './types.ts';

/** Loaded lazily with its diff editors: only needed when an example is open. */
const ExamplePanel = lazy(async () => ({ default: (await import('./example-panel.tsx')).ExamplePanel }));

/** With more evaluators there are no separate columns: an example shows all. */
const MOST_SCORE_COLUMNS = 12;
/** The API does not sort longer runs. */
const MOST_SORTED = 20_000;
/** The columns beside an open example: there is no room for more. */
const BESIDE: ReadonlySet<string> = new Set(['example', 'score', 'change', 'flags']);
/** Characters of a text in a table row, which shows fewer. */
const EXCERPT_CHARACTERS = 200;
/** Refetch interval of the totals while the run is in progress. */
const SUMMARY_MS = 3_000;
const FAILED = { value: 'failed', label: 'Failed' };
const FILTERS = [
  { value: '', label: 'All' },
  { value: 'regression', label: 'Got worse' },
  { value: 'improvement', label: 'Got better' },
  FAILED,
];
/** Filters of a run without a baseline, so no example is worse or better. */
const FILTERS_ALONE = [{ value: '', label: 'All' }, { value: 'regression', label: 'Below the threshold' }, FAILED];

const excerpt = (value: unknown) =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, EXCERPT_CHARACTERS);

/** Converts a percentage to a score of the API. */
const scoreAt = (percent: string | undefined) =>
  percent === undefined ? undefined : Number((Number(percent) / 100).toFixed(8));

/** The displayed score: of one evaluator, or of the example. */
const scoreOf = (row: Result, evaluator: string | undefined) =>
  evaluator === undefined ? row.score : (row.scores?.[evaluator]?.score ?? null);

/** The mark of an example: against the baseline, or against the threshold if there is none. */
function Mark({ row, hasBaseline }: { row: Result; hasBaseline: boolean }) {
  const { status, regression, improvement } = row;
  if (status === 'failed') return <span className="badge bad">failed</span>;
  // The run is in progress, or the baseline lacks the example.
  if (regression === null) return NONE;
  if (!hasBaseline)
    return regression ? <span className="badge warn">below</span> : <span className="muted">reached</span>;
  if (regression) return <span className="badge warn">worse</span>;
  return improvement ? <span className="badge good">better</span> : <span className="muted">as before</span>;
}

const isByScore = (sort: string | undefined) => sort === 'score' || sort === '-score';

function columnsOf(
  id: string,
  evaluator: string | undefined,
  hasBaseline: boolean,
  evaluators: readonly string[],
  head: (header: string, name: string, first?: 'ascending') => Pick<Column<never>, 'header' | 'head' | 'sorted'>,
): Column<Result>[] {
  const change: Column<Result> = {
    key: 'change',
    ...head(t('Change'), 'change', 'ascending'),
    width: '5.5rem',
    alignEnd: true,
    cell: ({ score, baseline_score: was }) => (score === null || was === null ? NONE : difference(score - was) || '0'),
  };
  const byEvaluator =
    evaluators.length < 2
      ? []
      : evaluators.slice(0, MOST_SCORE_COLUMNS).map(
          (name): Column<Result> => ({
            key: `score ${name}`,
            ...head(name, `score ${name}`, 'ascending'),
            width: '4.25rem',
            alignEnd: true,
            cell: (row) => formatScore(row.scores?.[name]?.score),
          }),
        );
  return [
    {
      key: 'example',
      header: 'Example',
      width: 'minmax(6rem, 1fr)',
      cell: (row) => (
        <Link
          to="/evaluations/$id"
          params={{ id }}
          search={(before) => ({ ...before, example: row.seq })}
          resetScroll={false}
          data-row-link
          title={row.example_id}
        >
          {nameOf(row.example_id, row.seq)}
        </Link>
      ),
    },
    {
      key: 'score',
      ...head(t('Score'), 'score', 'ascending'),
      width: '5rem',
      alignEnd: true,
      cell: (row) => formatScore(scoreOf(row, evaluator)),
    },
    ...(hasBaseline ? [change] : []),
    ...byEvaluator,
    {
      key: 'flags',
      header: hasBaseline ? 'Result' : 'Threshold',
      width: '5.5rem',
      onCard: 'beside',
      cell: (row) => <Mark row={row} hasBaseline={hasBaseline} />,
    },
    {
      key: 'input',
      header: 'Input',
      width: 'minmax(5.5rem, 2fr)',
      cell: ({ variables }) => excerpt(Object.values(variables).length === 1 ? Object.values(variables)[0] : variables),
    },
    {
      key: 'output',
      header: 'Output',
      width: 'minmax(6.5rem, 3fr)',
      onCard: 'line',
      cell: ({ output, error, tool_calls }) =>
        error
          ? error.message
          : output === null || (output === '' && tool_calls.length > 0)
            ? excerpt(tool_calls)
            : excerpt(output),
    },
    {
      key: 'expected',
      header: 'Expected',
      width: 'minmax(5.5rem, 2fr)',
      cell: ({ expected }) => (expected === null ? <span className="muted">nothing</span> : excerpt(expected)),
    },
    { key: 'cost', ...head(t('Cost'), 'cost'), width: '5.5rem', alignEnd: true, cell: (row) => formatCost(row.cost) },
    {
      key: 'latency',
      ...head(t('Latency'), 'latency'),
      width: '5.5rem',
      alignEnd: true,
      cell: (row) => formatMs(row.model_ms),
    },
  ];
}

/** The results of a run, optionally filtered. */
export function Results({ evaluation }: { evaluation: Evaluation }) {
  const { id, examples_evaluated, examples_total } = evaluation;
  const hasBaseline = evaluation.baseline_id !== null;
  const search = evaluationRoute.useSearch();
  const navigate = evaluationRoute.useNavigate();
  const { only, evaluator, min, max, example, q, sort_by: sort } = search;
  const change = (part: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true, resetScroll: false });
  const byScore = min !== undefined || max !== undefined;
  const filter = { q, ...(only && { [only]: true }) };
  const range = { min_score: scoreAt(min), max_score: scoreAt(max) };
  const list = useList<Result>(
    `${pathOf('evaluations', id)}/results`,
    {
      limit: RESULTS_PAGE,
      ...filter,
      ...((byScore || isByScore(sort)) && { evaluator }),
      ...(byScore && range),
      sort,
    },
    { keepPrevious: true },
  );
  const refetchInterval = hasEnded(evaluation) ? (false as const) : SUMMARY_MS;
  // The bars show all scores, so that another one can be selected; the totals follow the filters.
  const spread = useQuery({ ...summaryQuery(id, { ...filter, evaluator }), refetchInterval }).data;
  const summary = useQuery({
    ...summaryQuery(id, { ...filter, evaluator, ...(byScore && range) }),
    refetchInterval,
  }).data;
  const { data: shown, hasMore, loadMore } = list;
  useFreshResults(evaluation, shown?.length ?? 0);
  const evaluators = useMemo(() => evaluation.evaluators.map(({ name }) => name), [evaluation.evaluators]);
  const canSort = examples_total <= MOST_SORTED;
  const columns = useMemo(() => {
    const head = (header: string, name: string, first: 'ascending' | 'descending' = 'descending') => {
      if (!canSort) return { header };
      // The API sorts by the scores of the displayed evaluator.
      const shown = isByScore(sort) && evaluator !== undefined ? `${sort} ${evaluator}` : (sort ?? '');
      const onSort = (chosen: string) => {
        const [by, ...of] = chosen.split(' ');
        void navigate({
          search: (before) => ({
            ...before,
            sort_by: RESULT_SORTS.find((each) => each === by),
            ...(name.startsWith('score') && { evaluator: of.length === 0 ? undefined : of.join(' ') }),
          }),
          replace: true,
          resetScroll: false,
        });
      };
      return sortHead(header, name, { sort: shown, first, onSort });
    };
    return columnsOf(id, evaluator, hasBaseline, evaluators, head);
  }, [id, evaluator, hasBaseline, evaluators, canSort, sort, navigate]);
  const isFiltered = only !== undefined || byScore || q !== undefined;
  const rows = shown ?? [];
  const at = rows.findIndex(({ seq }) => seq === example);
  const openAt = (index: number) => {
    const row = at < 0 ? undefined : rows[index];
    return row && (() => change({ example: row.seq }));
  };
  return (
    <section className="stack" aria-labelledby="results">
      <h2 id="results" className="visually-hidden">
        Results
      </h2>
      <PeekList
        top={
          <search className="filters result-filters">
            <SelectField
              label="Examples"
              value={only ?? ''}
              onChange={(value) => change({ only: RESULT_FILTERS.find((each) => each === value) })}
              options={hasBaseline ? FILTERS : FILTERS_ALONE}
            />
            {evaluators.length > 1 && (
              <SelectField
                label="Score of"
                value={evaluator ?? ''}
                onChange={(value) => change({ evaluator: value === '' ? undefined : value })}
                options={[{ value: '', label: 'The example' }, ...evaluators]}
              />
            )}
            <FilterField label="Search" value={q} onChange={(value) => change({ q: value })} />
            <FilterField
              label="Score from, in %"
              value={min}
              onChange={(value) => change({ min: value })}
              type="number"
            />
            <FilterField
              label="Score to, in %"
              value={max}
              onChange={(value) => change({ max: value })}
              type="number"
            />
            <OpenFailing evaluation={evaluation} />
          </search>
        }
        side={null}
        panel={
          example !== undefined && (
            <Suspense fallback={<Loading what="the example" />}>
              <ExamplePanel
                evaluation={evaluation}
                seq={example}
                listed={rows[at]}
                onStep={{ next: openAt(at + 1), before: openAt(at - 1) }}
                onClose={() => {
                  change({ example: undefined });
                  focusRow(at);
                }}
              />
            </Suspense>
          )
        }
      >
        <QueryState query={list} what="results">
          {(found) =>
            found.length === 0 ? (
              <EmptyState title={isFiltered ? 'No examples match these filters' : 'There are no results yet'}>
                {isFiltered && (
                  <Button onClick={() => change({ only: undefined, min: undefined, max: undefined, q: undefined })}>
                    Show all
                  </Button>
                )}
              </EmptyState>
            ) : (
              <DataTable
                label="Results"
                rows={found}
                columns={example === undefined ? columns : columns.filter(({ key }) => BESIDE.has(key))}
                rowKey={(row) => String(row.seq)}
                onEnd={hasMore ? loadMore : undefined}
                openKey={example === undefined ? undefined : String(example)}
                onStep={({ seq }) => change({ example: seq })}
              />
            )
          }
        </QueryState>
      </PeekList>
      <p className="muted" role="status">
        {shown &&
          (isFiltered
            ? summary?.complete
              ? `${formatNumber(summary.results)} of ${formatNumber(examples_total)}`
              : `${formatNumber(shown.length)}${hasMore ? ' so far' : ''} of ${formatNumber(examples_total)}`
            : plural(examples_evaluated, 'result', 'results'))}
      </p>
      {summary && <Totals summary={summary} isFiltered={isFiltered} />}
      <div className="grid-2">
        {spread && <ScoreHistogram counts={spread.histogram} complete={spread.complete} />}
        {summary && evaluators.length > 1 && <EvaluatorBars means={summary.by_evaluator} />}
      </div>
    </section>
  );
}

/** Opens the examples that do not reach the threshold in the playground, if what ran is a version of a prompt. */
function OpenFailing({ evaluation }: { evaluation: Evaluation }) {
  const { id, target, prompt_version: version } = evaluation;
  const isOffered = hasEnded(evaluation) && target.type === 'prompt' && version > 0;
  const { scored = 0, passed = 0 } = useQuery({ ...summaryQuery(id, {}), enabled: isOffered }).data ?? {};
  if (!isOffered || scored === passed) return null;
  return (
    <Link to="/playground" search={{ evaluation: id, failing: true }} className="button">
      {scored - passed === 1
        ? 'Open the failing example'
        : `Open ${Math.min(MOST_FAILING, scored - passed)} failing examples`}
    </Link>
  );
}

/** The totals of the displayed results. */
function Totals({ summary, isFiltered }: { summary: ResultsSummary; isFiltered: boolean }) {
  const { results, scored, passed, score, cost, latency, failed, tokens, complete } = summary;
  if (results === 0) return null;
  return (
    <dl
      className="facts totals"
      aria-label={isFiltered ? 'Based on the results that match the filters' : 'All results'}
    >
      <Fact label="Pass">
        <strong>{scored === 0 ? NONE : formatScore(passed / scored)}</strong>{' '}
        <span className="muted">
          {formatNumber(passed)} of {formatNumber(scored)}
        </span>
      </Fact>
      <Fact label="Score, mean">{formatScore(score)}</Fact>
      <Fact label="Failed">{formatNumber(failed)}</Fact>
      <Fact label="Cost">{formatCost(cost)}</Fact>
      <Fact label="Tokens">{formatCount(tokens)}</Fact>
      <Fact label="Latency">
        {latency.p50_ms === null ? NONE : `${formatMs(latency.p50_ms)}, 95 % ${formatMs(latency.p95_ms)}`}
      </Fact>
      {!complete && (
        <p className="field-hint">Based on the first results: there are too many to summarize all of them.</p>
      )}
    </dl>
  );
}

/** The mean score of each evaluator, as bars. */
function EvaluatorBars({ means }: { means: ResultsSummary['by_evaluator'] }) {
  return (
    <figure className="evaluator-bars">
      <figcaption className="field-label">Mean score by evaluator</figcaption>
      <ul>
        {Object.entries(means).map(([name, mean]) => (
          <li key={name}>
            <span>{name}</span>
            <span className="evaluator-bar" aria-hidden="true">
              <span style={{ width: `${(mean ?? 0) * 100}%` }} />
            </span>
            <span className="end">{formatScore(mean)}</span>
          </li>
        ))}
      </ul>
    </figure>
  );
}

/** Refetches the results as the run progresses: the first page while it runs, everything loaded when it has ended. */
function useFreshResults(evaluation: Evaluation, loaded: number) {
  const client = useQueryClient();
  const { id, examples_evaluated } = evaluation;
  const ended = hasEnded(evaluation);
  // biome-ignore lint/correctness/useExhaustiveDependencies: progress makes results stale
  useEffect(() => {
    if (!ended && loaded >= RESULTS_PAGE) return;
    void client.invalidateQueries({ queryKey: ['evaluations', 'list', `${pathOf('evaluations', id)}/results`] });
    if (ended) void client.invalidateQueries({ queryKey: ['evaluations', 'summary', id] });
  }, [client, id, examples_evaluated, ended]);
}
