import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useMemo, useRef } from 'react';
import { Button } from '../../components/button.tsx';
import { OutputView } from '../../components/output-view.tsx';
import { Section } from '../../components/section.tsx';
import { Loading, QueryState } from '../../components/states.tsx';
import { useStepKeys } from '../../components/step-keys.ts';
import { JsonView } from '../../components/text-view.tsx';
import { formatNumber, formatScore } from '../../format.ts';
import { t } from '../../strings.ts';
import { resultQuery } from './queries.ts';
import { asText, difference, nameOf, textOf } from './result-text.ts';
import { COMPARED, comparisonRoute } from './routes.ts';
import { scrollList } from './scroll-list.ts';
import type { Comparison, Result } from './types.ts';

/** Loaded lazily because it compares texts. */
const TextDiff = lazy(async () => ({ default: (await import('../../components/text-diff.tsx')).TextDiff }));

type Changed = Comparison['regressions']['examples'][number];

const TITLES = { worse: t('Got worse'), better: t('Got better'), changed: t('Changed'), all: t('All') } as const;

/** The examples of one kind, those with the largest loss first, or in dataset order if requested. */
function listOf(comparison: Comparison, show: (typeof COMPARED)[number], byPlace: boolean): readonly Changed[] {
  const { regressions, improvements, unchanged_examples: unchanged = [] } = comparison;
  const found =
    show === 'worse'
      ? regressions.examples
      : show === 'better'
        ? improvements.examples
        : [...regressions.examples, ...(show === 'all' ? unchanged : []), ...improvements.examples.toReversed()];
  return byPlace ? [...found].sort((a, b) => a.seq_b - b.seq_b) : found;
}

/** The examples that both runs have, filtered, each with its texts before and after. */
export function ChangedTexts({ id, other, comparison }: { id: string; other: string; comparison: Comparison }) {
  const { show: asked, example: open, order } = comparisonRoute.useSearch();
  const navigate = comparisonRoute.useNavigate();
  const { regressions, improvements, unchanged } = comparison;
  const show = asked ?? (regressions.total === 0 && improvements.total > 0 ? 'better' : 'worse');
  const changed = regressions.total + improvements.total;
  const totals = { worse: regressions.total, better: improvements.total, changed, all: changed + unchanged };
  const examples = useMemo(() => listOf(comparison, show, order === 'examples'), [comparison, show, order]);
  const at = Math.max(
    examples.findIndex(({ seq_b }) => seq_b === open),
    0,
  );
  const current = examples[at];
  const go = (to: number): boolean => {
    const next = examples[to];
    if (next === undefined) return false;
    void navigate({ search: (before) => ({ ...before, example: next.seq_b }), replace: true, resetScroll: false });
    return true;
  };
  useStepKeys((by) => go(at + by));
  if (totals.all === 0) return null;
  return (
    <Section id="texts" title="Texts side by side">
      <div className="row texts-head">
        <nav aria-label="Which examples" className="tabs-list">
          {COMPARED.map((each) => (
            <Link
              key={each}
              to="/evaluations/$id/compare/$other"
              params={{ id, other }}
              search={(before) => ({ ...before, show: each, example: undefined })}
              className="tab"
              activeOptions={{ exact: true, includeSearch: true }}
              aria-current={each === show ? 'page' : undefined}
              resetScroll={false}
            >
              {TITLES[each]}: {formatNumber(totals[each])}
            </Link>
          ))}
        </nav>
        <label className="row">
          Order
          <select
            className="narrow"
            value={order ?? ''}
            onChange={({ target: { value } }) =>
              void navigate({
                search: (before) => ({ ...before, order: value === 'examples' ? 'examples' : undefined }),
                replace: true,
                resetScroll: false,
              })
            }
          >
            <option value="">Largest loss first</option>
            <option value="examples">As in the dataset</option>
          </select>
        </label>
      </div>
      {current === undefined ? (
        <p className="muted">None {show === 'changed' || show === 'all' ? 'changed' : `got ${show}`}.</p>
      ) : (
        <div className="changed-texts">
          <ChangedList examples={examples} total={totals[show]} current={current} onOpen={go} />
          <ChangedExample
            key={current.seq_b}
            id={id}
            other={other}
            changed={current}
            at={at}
            count={examples.length}
            go={go}
          />
        </div>
      )}
    </Section>
  );
}

const toneOf = (change: number) => (change < 0 ? 'lost' : change > 0 ? 'won' : 'muted');

function ChangedList({
  examples,
  total,
  current,
  onOpen,
}: {
  examples: readonly Changed[];
  total: number;
  current: Changed;
  onOpen: (at: number) => void;
}) {
  const shown = useRef<HTMLButtonElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the selection moves
  useEffect(() => {
    scrollList(shown.current);
  }, [current.seq_b]);
  return (
    <div className="changed-list">
      <ol>
        {examples.map((each, at) => (
          <li key={each.seq_b}>
            <button
              type="button"
              ref={each === current ? shown : undefined}
              className="changed-item"
              aria-current={each === current}
              onClick={() => onOpen(at)}
            >
              <span>{nameOf(each.key, each.seq_b)}</span>
              <span className={toneOf(each.difference)}>{difference(each.difference)}</span>
            </button>
          </li>
        ))}
      </ol>
      {examples.length < total && (
        <p className="field-hint">
          The {formatNumber(examples.length)} that changed most, of {formatNumber(total)}.
        </p>
      )}
    </div>
  );
}

function ChangedExample({
  id,
  other,
  changed,
  at,
  count,
  go,
}: {
  id: string;
  other: string;
  changed: Changed;
  at: number;
  count: number;
  go: (to: number) => void;
}) {
  const after = useQuery(resultQuery(id, changed.seq_b));
  const before = useQuery(resultQuery(other, changed.seq_a));
  return (
    <article className="card" aria-label={`Example ${changed.key}`}>
      <div className="row changed-head">
        <h3>
          <Link to="/evaluations/$id" params={{ id }} search={{ example: changed.seq_b }}>
            {nameOf(changed.key, changed.seq_b)}
          </Link>{' '}
          <span className="muted">
            {at + 1} of {count}
          </span>
        </h3>
        <div className="row">
          <Button look="small" disabled={at === 0} onClick={() => go(at - 1)}>
            Previous <kbd aria-hidden>k</kbd>
          </Button>
          <Button look="small" disabled={at === count - 1} onClick={() => go(at + 1)}>
            Next <kbd aria-hidden>j</kbd>
          </Button>
          <Link to="/playground" search={{ evaluation: id, example: changed.seq_b }} className="button small">
            Open in the playground
          </Link>
        </div>
      </div>
      <QueryState query={before} what="the output before">
        {(old) => (
          <QueryState query={after} what="the output after">
            {(now) => <Texts old={old} now={now} />}
          </QueryState>
        )}
      </QueryState>
    </article>
  );
}

function Texts({ old, now }: { old: Result; now: Result }) {
  const names = [...new Set([...Object.keys(old.scores ?? {}), ...Object.keys(now.scores ?? {})])];
  return (
    <>
      <div className="grid-2">
        <div className="stack">
          <h4>Variables</h4>
          <JsonView value={now.variables} label="variables" />
        </div>
        {now.expected !== null && now.expected !== undefined && (
          <div className="stack">
            <h4>Expected</h4>
            <OutputView text={asText(now.expected)} label="expected" />
          </div>
        )}
      </div>
      <Suspense fallback={<Loading what="the texts" />}>
        <TextDiff
          label="output"
          before={{ title: <>Before {formatScore(old.score)}</>, text: textOf(old) }}
          after={{ title: <>After {formatScore(now.score)}</>, text: textOf(now) }}
        />
      </Suspense>
      {names.length > 0 && (
        <div className="wide-scroll" tabIndex={0} role="region" aria-label="Scores and reasons">
          <table className="simple-table wide-table">
            <thead>
              <tr>
                <th scope="col">Evaluator</th>
                <th scope="col">Before</th>
                <th scope="col">Reason</th>
                <th scope="col">After</th>
                <th scope="col">Reason</th>
              </tr>
            </thead>
            <tbody>
              {names.map((name) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td>{formatScore(old.scores?.[name]?.score)}</td>
                  <td>{old.scores?.[name]?.reason}</td>
                  <td>{formatScore(now.scores?.[name]?.score)}</td>
                  <td>{now.scores?.[name]?.reason}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
