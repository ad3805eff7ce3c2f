import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useMemo } from 'react';
import { pathOf } from '../../api.ts';
import type { Evaluation } from '../../api-types.ts';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { SelectField } from '../../components/fields.tsx';
import { FilterField } from '../../components/filter-field.tsx';
import { EmptyState, Loading, QueryState } from '../../components/states.tsx';
import { formatCost, formatMs, formatNumber, formatScore, NONE } from '../../format.ts';
import { useList } from '../../queries.ts';
import { hasEnded, RESULTS_PAGE } from './queries.ts';
import { nameOf } from './result-text.ts';
import { evaluationRoute, RESULT_FILTERS } from './routes.ts';
import { ScoreHistogram } from './score-histogram.tsx';
import type { Result } from './types.ts';

/** With it come the editors that show differences: only who opens an example needs them. */
const ExampleDialog = lazy(async () => ({ default: (await import('./example-dialog.tsx')).ExampleDialog }));

/** More evaluators than these have no columns of their own: an example shows all. */
const MOST_SCORE_COLUMNS = 4;
/** Of a text in a row of the table: the row shows less. */
const EXCERPT_CHARACTERS = 200;
const FAILED = { value: 'failed', label: 'Failed' };
const FILTERS = [
  { value: '', label: 'All' },
  { value: 'regression', label: 'Got worse' },
  { value: 'improvement', label: 'Got better' },
  FAILED,
];
/** Of a run without a baseline: nothing can be worse or better than before. */
const FILTERS_ALONE = [{ value: '', label: 'All' }, { value: 'regression', label: 'Below the threshold' }, FAILED];

const excerpt = (value: unknown) =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, EXCERPT_CHARACTERS);

/** A score as the API has it, from a percentage. */
const scoreAt = (percent: string | undefined) =>
  percent === undefined ? undefined : Number((Number(percent) / 100).toFixed(8));

/** The score that is shown: of one evaluator, or of the example. */
const scoreOf = (row: Result, evaluator: string | undefined) =>
  evaluator === undefined ? row.score : (row.scores?.[evaluator]?.score ?? null);

/** What is said of an example: against the baseline, or against the threshold where there is none. */
function Mark({ row, hasBaseline }: { row: Result; hasBaseline: boolean }) {
  const { status, regression, improvement } = row;
  if (status === 'failed') return <span className="badge bad">failed</span>;
  // The run goes on, or the baseline lacks the example.
  if (regression === null) return NONE;
  if (!hasBaseline)
    return regression ? <span className="badge warn">below</span> : <span className="muted">reached</span>;
  if (regression) return <span className="badge warn">worse</span>;
  return improvement ? <span className="badge good">better</span> : <span className="muted">as before</span>;
}

function columnsOf(
  id: string,
  evaluator: string | undefined,
  hasBaseline: boolean,
  evaluators: readonly string[],
): Column<Result>[] {
  const before: Column<Result> = {
    key: 'before',
    header: 'Before',
    width: '5rem',
    alignEnd: true,
    cell: (row) => formatScore(row.baseline_score),
  };
  const byEvaluator =
    evaluators.length < 2
      ? []
      : evaluators.slice(0, MOST_SCORE_COLUMNS).map(
          (name): Column<Result> => ({
            key: `score ${name}`,
            header: name,
            width: '5rem',
            alignEnd: true,
            cell: (row) => formatScore(row.scores?.[name]?.score),
          }),
        );
  return [
    {
      key: 'example',
      header: 'Example',
      width: 'minmax(8rem, 1fr)',
      cell: (row) => (
        <Link
          to="/evaluations/$id"
          params={{ id }}
          search={(before) => ({ ...before, example: row.seq })}
          resetScroll={false}
          title={row.example_id}
        >
          {nameOf(row.example_id, row.seq)}
        </Link>
      ),
    },
    {
      key: 'score',
      header: 'Score',
      width: '5rem',
      alignEnd: true,
      cell: (row) => formatScore(scoreOf(row, evaluator)),
    },
    ...(hasBaseline ? [before] : []),
    ...byEvaluator,
    {
      key: 'flags',
      header: hasBaseline ? 'Result' : 'Threshold',
      width: '6rem',
      cell: (row) => <Mark row={row} hasBaseline={hasBaseline} />,
    },
    {
      key: 'input',
      header: 'Input',
      width: 'minmax(10rem, 2fr)',
      cell: ({ variables }) => excerpt(Object.values(variables).length === 1 ? Object.values(variables)[0] : variables),
    },
    {
      key: 'output',
      header: 'Output',
      width: 'minmax(12rem, 3fr)',
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
      width: 'minmax(10rem, 2fr)',
      cell: ({ expected }) => (expected === null ? <span className="muted">nothing</span> : excerpt(expected)),
    },
    { key: 'cost', header: 'Cost', width: '5.5rem', alignEnd: true, cell: (row) => formatCost(row.cost) },
    { key: 'latency', header: 'Latency', width: '5.5rem', alignEnd: true, cell: (row) => formatMs(row.model_ms) },
  ];
}

/** The results of a run: all, or those of a filter. */
export function Results({ evaluation }: { evaluation: Evaluation }) {
  const { id, examples_evaluated, examples_total } = evaluation;
  const hasBaseline = evaluation.baseline_id !== null;
  const search = evaluationRoute.useSearch();
  const navigate = evaluationRoute.useNavigate();
  const { only, evaluator, min, max, example } = search;
  const change = (part: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true, resetScroll: false });
  const byScore = min !== undefined || max !== undefined;
  const list = useList<Result>(`${pathOf('evaluations', id)}/results`, {
    limit: RESULTS_PAGE,
    ...(only && { [only]: true }),
    ...(byScore && { evaluator, min_score: scoreAt(min), max_score: scoreAt(max) }),
  });
  const { data: shown, hasMore, loadMore } = list;
  useFreshResults(evaluation, shown?.length ?? 0);
  const evaluators = useMemo(() => evaluation.evaluators.map(({ name }) => name), [evaluation.evaluators]);
  const columns = useMemo(
    () => columnsOf(id, evaluator, hasBaseline, evaluators),
    [id, evaluator, hasBaseline, evaluators],
  );
  const isFiltered = only !== undefined || byScore;
  return (
    <section className="stack" aria-labelledby="results">
      <h2 id="results">Results</h2>
      <ScoreHistogram evaluation={evaluation} />
      <search className="filters">
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
        <FilterField label="Score from, in %" value={min} onChange={(value) => change({ min: value })} type="number" />
        <FilterField label="Score to, in %" value={max} onChange={(value) => change({ max: value })} type="number" />
      </search>
      <p className="muted" role="status">
        {shown &&
          (isFiltered
            ? `${formatNumber(shown.length)}${hasMore ? ' so far' : ''} of ${formatNumber(examples_total)}`
            : `${formatNumber(examples_evaluated)} results`)}
      </p>
      <QueryState query={list} what="results">
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title={isFiltered ? 'No examples match these filters' : 'There are no results yet'}>
              {isFiltered && (
                <button
                  type="button"
                  className="button"
                  onClick={() => change({ only: undefined, min: undefined, max: undefined })}
                >
                  Show all
                </button>
              )}
            </EmptyState>
          ) : (
            <DataTable
              label="Results"
              rows={rows}
              columns={columns}
              rowKey={(row) => String(row.seq)}
              minWidth="84rem"
              onEnd={hasMore ? loadMore : undefined}
            />
          )
        }
      </QueryState>
      {example !== undefined && (
        <Suspense fallback={<Loading what="the example" />}>
          <ExampleDialog
            evaluation={evaluation}
            seq={example}
            rows={shown ?? []}
            onOpen={(seq) => change({ example: seq })}
          />
        </Suspense>
      )}
    </section>
  );
}

/** Reads the results again as the run gets on: the first page while it runs, all that were read when it has ended. */
function useFreshResults(evaluation: Evaluation, loaded: number) {
  const client = useQueryClient();
  const { id, examples_evaluated } = evaluation;
  const ended = hasEnded(evaluation);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the progress that makes results old
  useEffect(() => {
    if (!ended && loaded >= RESULTS_PAGE) return;
    void client.invalidateQueries({ queryKey: ['evaluations', 'list', `${pathOf('evaluations', id)}/results`] });
  }, [client, id, examples_evaluated, ended]);
}
