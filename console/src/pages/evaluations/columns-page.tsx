import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { get, type Page, pathOf } from '../../api.ts';
import type { Evaluation } from '../../api-types.ts';
import { TargetLink, versionOf } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { CheckField } from '../../components/fields.tsx';
import { Images, imagesIn } from '../../components/images.tsx';
import { OutputView } from '../../components/output-view.tsx';
import { PageHead } from '../../components/page.tsx';
import { Section } from '../../components/section.tsx';
import { EmptyState, Loading, QueryState } from '../../components/states.tsx';
import { useStepKeys } from '../../components/step-keys.ts';
import { JsonView } from '../../components/text-view.tsx';
import { formatCost, formatMs, formatNumber, formatScore, formatTime, NONE } from '../../format.ts';
import { t } from '../../strings.ts';
import { type ComparisonFilter, comparisonQuery, evaluationQuery, sameExampleQuery } from './queries.ts';
import { asText, nameOf, textOf } from './result-text.ts';
import { columnsRoute, MOST_COLUMNS } from './routes.ts';
import { scrollList } from './scroll-list.ts';
import type { Result } from './types.ts';
import './evaluations.css';

const MarkedText = lazy(async () => ({ default: (await import('../../components/text-diff.tsx')).MarkedText }));

/** Number of examples to step through: those with the lowest scores in the first run. */
const LISTED = 500;
/** Longer runs are listed in dataset order. */
const MOST_SORTED = 20_000;

/** Runs side by side: their scores, and their outputs for one example at a time. */
export function ColumnsPage() {
  const { with: given = '' } = columnsRoute.useSearch();
  const ids = [...new Set(given.split(',').filter((id) => id !== ''))].slice(0, MOST_COLUMNS);
  const queries = useQueries({ queries: ids.map((id) => evaluationQuery(id)) });
  const runs = queries.flatMap(({ data }) => (data === undefined ? [] : [data]));
  const failed = queries.find(({ error }) => error !== null);
  const all = {
    data: runs.length === ids.length ? runs : undefined,
    error: failed?.error,
    refetch: () => failed?.refetch(),
  };
  return (
    <>
      <PageHead title={`${ids.length} evaluations compared`} crumbs={<Link to="/evaluations">Evaluations</Link>} />
      {ids.length < 2 ? (
        <EmptyState title="Choose the evaluations to compare">
          <Link to="/evaluations" className="button">
            To the evaluations
          </Link>
        </EmptyState>
      ) : (
        <QueryState query={all} what="the evaluations">
          {(loaded) => (
            <>
              <Scores runs={loaded} />
              <Texts runs={loaded} />
            </>
          )}
        </QueryState>
      )}
    </>
  );
}

/** The title of a run next to others. */
const titleOf = (run: Evaluation) => (run.target.type === 'code' ? t('code') : `${versionOf(run)} · ${run.model}`);

interface Fact {
  title: string;
  read: (run: Evaluation) => number | null;
  format: (value: number | null, run: Evaluation) => string;
  /** The filter of its comparisons, if it is a score. */
  scored?: ComparisonFilter;
}

const score = (title: string, read: Fact['read'], scored: ComparisonFilter = {}): Fact => ({
  title,
  read,
  format: (value) => formatScore(value),
  scored,
});

function factsOf(runs: readonly Evaluation[]): Fact[] {
  const names = [...new Set(runs.flatMap(({ evaluators }) => evaluators.map(({ name }) => name)))];
  return [
    score(t('Score'), (run) => run.score),
    ...names.map((name) => score(name, (run) => run.scores_by_evaluator?.[name] ?? null, { evaluator: name })),
    {
      title: 'Cost',
      read: ({ cost }) => (cost.amount === null ? null : Number(cost.amount)),
      format: (_, { cost }) => formatCost(cost),
    },
    {
      title: 'Latency, median',
      read: ({ latency }) => latency.p50_ms,
      format: (value) => formatMs(value),
    },
    { title: 'Examples', read: (run) => run.examples_total, format: (value) => formatNumber(value) },
    { title: 'Failed', read: (run) => run.examples_failed, format: (value) => formatNumber(value) },
  ];
}

/** One number of each run. The highest score is the best only if its comparison with every other run says so. */
function FactRow({ fact: { title, read, format, scored }, runs }: { fact: Fact; runs: readonly Evaluation[] }) {
  const values = runs.map(read);
  const known = values.filter((value) => value !== null);
  const top = scored === undefined || new Set(known).size < 2 ? undefined : runs[values.indexOf(Math.max(...known))];
  const comparisons = useQueries({
    queries:
      top === undefined ? [] : runs.filter((run) => run !== top).map(({ id }) => comparisonQuery(top.id, id, scored)),
  });
  const isKnown = comparisons.every(({ isPending }) => !isPending);
  const isBest = comparisons.every(({ data }) => data?.verdict === 'improvement');
  return (
    <tr>
      <th scope="row">{title}</th>
      {runs.map((run, at) => {
        const text = format(values[at] ?? null, run);
        if (run !== top || !isKnown) return <td key={run.id}>{text}</td>;
        return (
          <td key={run.id}>
            {isBest ? (
              <>
                <strong>{text}</strong> <span className="badge good">best</span>
              </>
            ) : (
              <>
                {text} <span className="muted">not clearly best</span>
              </>
            )}
          </td>
        );
      })}
    </tr>
  );
}

function Scores({ runs }: { runs: readonly Evaluation[] }) {
  const [first] = runs;
  return (
    <Section id="scores" title="Scores">
      <div className="wide-scroll" tabIndex={0} role="region" aria-label="Scores of each run">
        <table className="simple-table columns-table">
          <thead>
            <tr>
              <td />
              {runs.map((run) => (
                <th key={run.id} scope="col">
                  <Link to="/evaluations/$id" params={{ id: run.id }}>
                    {titleOf(run)}
                  </Link>
                  <div className="columns-note">
                    <TargetLink evaluation={run} />
                  </div>
                  <div className="columns-note muted">
                    {run.dataset ? `${run.dataset.name}@${run.dataset.version}` : 'inline examples'},{' '}
                    {formatTime(run.finished_at ?? run.created_at)}
                  </div>
                  {first && run !== first && (
                    <Link
                      to="/evaluations/$id/compare/$other"
                      params={{ id: run.id, other: first.id }}
                      className="columns-note"
                    >
                      Against the first
                    </Link>
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {factsOf(runs).map((fact) => (
              <FactRow key={fact.title} fact={fact} runs={runs} />
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

function Texts({ runs }: { runs: readonly Evaluation[] }) {
  const { example, mark = false } = columnsRoute.useSearch();
  const navigate = columnsRoute.useNavigate();
  const first = runs[0];
  const list = useQuery({
    queryKey: ['evaluations', 'lowest', first?.id],
    queryFn: ({ signal }) =>
      get<Page<Result>>(
        `${pathOf('evaluations', first?.id ?? '')}/results`,
        { limit: LISTED, sort: (first?.examples_total ?? 0) <= MOST_SORTED ? 'score' : undefined },
        signal,
      ),
    enabled: first !== undefined,
    staleTime: 60_000,
  });
  const rows = list.data?.data ?? [];
  const at = Math.max(
    rows.findIndex(({ seq }) => seq === example),
    0,
  );
  const current = rows[at];
  const go = (to: number): boolean => {
    const next = rows[to];
    if (next === undefined) return false;
    void navigate({ search: (before) => ({ ...before, example: next.seq }), replace: true, resetScroll: false });
    return true;
  };
  useStepKeys((by) => go(at + by));
  return (
    <Section id="texts" title="Texts of an example">
      <QueryState query={list} what="the examples">
        {() =>
          current === undefined ? (
            <p className="muted">The first run has no results.</p>
          ) : (
            <div className="changed-texts">
              <List rows={rows} at={at} go={go} />
              <article className="card" aria-label={`Example ${current.example_id}`}>
                <div className="row changed-head">
                  <h3>
                    {nameOf(current.example_id, current.seq)}{' '}
                    <span className="muted">
                      {at + 1} of {formatNumber(rows.length)}
                    </span>
                  </h3>
                  <div className="row">
                    <CheckField
                      label="Highlight differences from the first"
                      checked={mark}
                      onChange={(checked) =>
                        void navigate({
                          search: (before) => ({ ...before, mark: checked || undefined }),
                          replace: true,
                          resetScroll: false,
                        })
                      }
                    />
                    <Button look="small" disabled={at === 0} onClick={() => go(at - 1)}>
                      Previous <kbd aria-hidden>k</kbd>
                    </Button>
                    <Button look="small" disabled={at === rows.length - 1} onClick={() => go(at + 1)}>
                      Next <kbd aria-hidden>j</kbd>
                    </Button>
                  </div>
                </div>
                <div className="grid-2">
                  <div className="stack">
                    <h4>Variables</h4>
                    <JsonView value={current.variables} label="variables" />
                  </div>
                  {current.expected !== null && (
                    <div className="stack">
                      <h4>Expected</h4>
                      <OutputView text={asText(current.expected)} label="expected" />
                    </div>
                  )}
                </div>
                <div className="wide-scroll" tabIndex={0} role="region" aria-label="Outputs">
                  <ol className="text-columns">
                    {runs.map((run, index) => (
                      <Column
                        key={run.id}
                        run={run}
                        label={`output ${index + 1}`}
                        example={current}
                        base={mark && index > 0 ? textOf(current) : undefined}
                      />
                    ))}
                  </ol>
                </div>
              </article>
            </div>
          )
        }
      </QueryState>
    </Section>
  );
}

function List({ rows, at, go }: { rows: readonly Result[]; at: number; go: (to: number) => void }) {
  const shown = useRef<HTMLButtonElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the selection moves
  useEffect(() => {
    scrollList(shown.current);
  }, [at]);
  return (
    <div className="changed-list">
      <ol>
        {rows.map((row, index) => (
          <li key={row.seq}>
            <button
              type="button"
              ref={index === at ? shown : undefined}
              className="changed-item"
              aria-current={index === at}
              onClick={() => go(index)}
            >
              <span>{nameOf(row.example_id, row.seq)}</span>
              <span className="muted">{formatScore(row.score)}</span>
            </button>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** The output of one run for an example of the first. */
function Column({
  run,
  label,
  example,
  base,
}: {
  run: Evaluation;
  /** The label of its output for screen readers. */
  label: string;
  example: Result;
  base: string | null | undefined;
}) {
  const query = useQuery(sameExampleQuery(run.id, example));
  return (
    <li className="stack">
      <h4>{titleOf(run)}</h4>
      <QueryState query={query} what="the output">
        {(found) =>
          found === null ? (
            <p className="muted">It has no such example.</p>
          ) : (
            <Output result={found} label={label} base={base} />
          )
        }
      </QueryState>
    </li>
  );
}

function Output({ result, label, base }: { result: Result; label: string; base: string | null | undefined }) {
  const text = textOf(result);
  return (
    <>
      <p>
        <strong>{formatScore(result.score)}</strong>{' '}
        <span className="muted">
          {formatCost(result.cost)}, {formatMs(result.model_ms)}
        </span>
      </p>
      {text === null ? (
        <p className="muted">No output.</p>
      ) : base == null ? (
        <OutputView text={text} label={label} />
      ) : (
        <Suspense fallback={<Loading what="the text" />}>
          <MarkedText base={base} text={text} label={label} />
          <Images images={imagesIn(text)} label={`images of ${label}`} />
        </Suspense>
      )}
      <dl className="reasons">
        {Object.entries(result.scores ?? {}).map(([name, { score: own, reason }]) => (
          <div key={name}>
            <dt>
              {name} <strong>{formatScore(own)}</strong>
            </dt>
            <dd className="muted">{reason ?? NONE}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
