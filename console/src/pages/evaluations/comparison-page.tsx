import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { lazy, Suspense } from 'react';
import type { Evaluation } from '../../api-types.ts';
import { TargetLink } from '../../components/badges.tsx';
import { Button, DialogButton } from '../../components/button.tsx';
import { Dumbbell } from '../../components/dumbbell.tsx';
import { Fact } from '../../components/fact.tsx';
import { SelectField } from '../../components/fields.tsx';
import { Interval } from '../../components/interval.tsx';
import { PageHead } from '../../components/page.tsx';
import { Section } from '../../components/section.tsx';
import { QueryState } from '../../components/states.tsx';
import { formatNumber, formatScore, formatTime, plural } from '../../format.ts';
import { useMay } from '../../shell/session.ts';
import { ChangedTexts } from './changed-texts.tsx';
import { inWords, leftOutInWords, verdictInWords } from './in-words.ts';
import { comparisonQuery, evaluationQuery } from './queries.ts';
import { difference } from './result-text.ts';
import { comparisonRoute } from './routes.ts';
import type { Comparison } from './types.ts';
import './evaluations.css';

// Loaded when it is opened.
const SendPairsDialog = lazy(async () => ({ default: (await import('./send-pairs-dialog.tsx')).SendPairsDialog }));

/** The changes between two runs, and whether they are significant. */
export function ComparisonPage() {
  const { id, other } = comparisonRoute.useParams();
  const { show, evaluator, by, value } = comparisonRoute.useSearch();
  const unchanged = show === 'all';
  const mayWrite = useMay('write');
  const comparison = useQuery({
    ...comparisonQuery(id, other, { evaluator, by, value, unchanged }),
    // While another filter of the same runs loads, the previous result stays.
    placeholderData: (before, query) => (query?.queryKey[2] === id && query.queryKey[3] === other ? before : undefined),
  });
  return (
    <>
      <PageHead
        title="Compare evaluations"
        crumbs={[
          <Link key="list" to="/evaluations">
            Evaluations
          </Link>,
          <Link key="run" to="/evaluations/$id" params={{ id }} className="mono">
            {id}
          </Link>,
        ]}
        actions={
          <>
            <Link
              to="/evaluations/$id/compare/$other"
              params={{ id: other, other: id }}
              search={{ ...(evaluator && { evaluator }), ...(by && { by }), ...(value && { value }) }}
              className="button"
            >
              Swap
            </Link>
            <Link to="/evaluations/compare" search={{ with: `${other},${id}` }} className="button">
              In columns
            </Link>
            {mayWrite && (
              <DialogButton
                label="Send pairs to a queue…"
                dialog={(close) => (
                  <Suspense>
                    <SendPairsDialog ids={[id, other]} onClose={close} />
                  </Suspense>
                )}
              />
            )}
          </>
        }
      />
      <div className="grid-2">
        <Run id={other} title="Before" />
        <Run id={id} title="After" />
      </div>
      <QueryState query={comparison} what="the comparison">
        {(found) => <Differences id={id} other={other} comparison={found} />}
      </QueryState>
    </>
  );
}

function Run({ id, title }: { id: string; title: string }) {
  const query = useQuery(evaluationQuery(id));
  return (
    <section className="card" aria-label={title}>
      <h2>
        <Link to="/evaluations/$id" params={{ id }}>
          {title}
        </Link>
      </h2>
      <QueryState query={query} what="the evaluation">
        {(run) => <RunFacts run={run} />}
      </QueryState>
    </section>
  );
}

function RunFacts({ run }: { run: Evaluation }) {
  return (
    <dl className="facts">
      <Fact label="Prompt">
        <TargetLink evaluation={run} />
      </Fact>
      <Fact label="Model">{run.model}</Fact>
      <Fact label="Score">{formatScore(run.score)}</Fact>
      <Fact label="Examples">
        {formatNumber(run.examples_total)}
        {run.dataset && ` of ${run.dataset.name}@${run.dataset.version}`}
      </Fact>
      <Fact label="Ended">{formatTime(run.finished_at)}</Fact>
    </dl>
  );
}

function Differences({ id, other, comparison }: { id: string; other: string; comparison: Comparison }) {
  const { text, tone } = inWords(comparison);
  const { regressions, improvements, by_evaluator, only_in_a, only_in_b, interval } = comparison;
  return (
    <>
      <div className={`notice ${tone}`} role="status">
        <strong>{text}</strong>
        <span>{comparison.note}</span>
        {interval !== null && (
          <Interval low={interval.low} high={interval.high} difference={comparison.difference ?? 0} />
        )}
      </div>
      <Filters comparison={comparison} />
      <dl className="facts">
        <Fact label="Compared">{plural(comparison.examples_compared, 'example', 'examples')}</Fact>
        <Fact label="Mean score">
          {formatScore(comparison.score_a)} → {formatScore(comparison.score_b)}
        </Fact>
        <Fact label="Worse / better / same">
          {formatNumber(regressions.total)} / {formatNumber(improvements.total)} / {formatNumber(comparison.unchanged)}
        </Fact>
        <Fact label="Only in one run">{formatNumber(only_in_a.total + only_in_b.total)}</Fact>
      </dl>
      <Section id="by-evaluator" title="By evaluator">
        <div className="wide-scroll" tabIndex={0} role="region" aria-label="By evaluator: numbers">
          <table className="simple-table wide-table">
            <thead>
              <tr>
                <th scope="col">Evaluator</th>
                <th scope="col">Before</th>
                <th scope="col">After</th>
                <th scope="col" className="wide">
                  0 to 100 %
                </th>
                <th scope="col">Points</th>
                <th scope="col">Worse</th>
                <th scope="col">Better</th>
              </tr>
            </thead>
            <tbody>
              {by_evaluator.map((each) => (
                <tr key={each.name}>
                  <th scope="row">
                    {each.name}
                    <LeftOut reason={leftOutInWords(comparison, each.name)} />
                  </th>
                  <td>{formatScore(each.score_a)}</td>
                  <td>{formatScore(each.score_b)}</td>
                  <td>
                    <Dumbbell before={each.score_a} after={each.score_b} />
                  </td>
                  <td>{difference(each.difference)}</td>
                  <td>{formatNumber(each.regressions)}</td>
                  <td>{formatNumber(each.improvements)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Section>
      <ByGroup id={id} other={other} />
      <ChangedTexts id={id} other={other} comparison={comparison} />
    </>
  );
}

function LeftOut({ reason }: { reason: string | undefined }) {
  return (
    reason !== undefined && (
      <>
        {' '}
        <span className="badge warn">left out: {reason}</span>
      </>
    )
  );
}

/** The filters of the whole page. */
function Filters({ comparison }: { comparison: Comparison }) {
  const search = comparisonRoute.useSearch();
  const navigate = comparisonRoute.useNavigate();
  const { evaluator, by, value } = search;
  const change = (part: Partial<typeof search>) =>
    void navigate({
      search: (before) => ({ ...before, example: undefined, ...part }),
      replace: true,
      resetScroll: false,
    });
  const common = comparison.by_evaluator.filter(({ difference: found }) => found !== null).map(({ name }) => name);
  const keys = comparison.metadata_keys ?? [];
  if (common.length < 2 && keys.length === 0) return null;
  return (
    <search className="filters">
      {common.length > 1 && (
        <SelectField
          label="Scores of"
          value={evaluator ?? ''}
          onChange={(name) => change({ evaluator: name === '' ? undefined : name })}
          options={[{ value: '', label: 'The examples' }, ...common]}
        />
      )}
      {keys.length > 0 && (
        <SelectField
          label="Group by"
          value={by ?? ''}
          onChange={(key) => change({ by: key === '' ? undefined : key, value: undefined })}
          options={[{ value: '', label: 'Nothing' }, ...keys]}
        />
      )}
      {value !== undefined && (
        <Button onClick={() => change({ value: undefined })}>
          Only {by}: {value} <X className="icon" aria-hidden />
          <span className="visually-hidden"> show all groups</span>
        </Button>
      )}
    </search>
  );
}

/** Groups examples by a metadata key: each group's difference, and whether it is significant. */
function ByGroup({ id, other }: { id: string; other: string }) {
  const { evaluator, by, value, show } = comparisonRoute.useSearch();
  const query = useQuery({
    ...comparisonQuery(id, other, { evaluator, by, unchanged: show === 'all' }),
    enabled: by !== undefined,
    placeholderData: keepPreviousData,
  });
  if (by === undefined) return null;
  return (
    <section className="stack" aria-labelledby="by-group">
      <h2 id="by-group">By {by}</h2>
      <QueryState query={query} what="the groups">
        {({ by_group: found, withheld }) => (
          <>
            <div className="wide-scroll" tabIndex={0} role="region" aria-label={`By ${by}: numbers`}>
              <table className="simple-table groups">
                <thead>
                  <tr>
                    <th scope="col">{by}</th>
                    <th scope="col">Examples</th>
                    <th scope="col">Before</th>
                    <th scope="col">After</th>
                    <th scope="col" className="group-interval">
                      Difference, with its 95 % interval
                    </th>
                    <th scope="col">Worse</th>
                    <th scope="col">Better</th>
                    <th scope="col">Verdict</th>
                  </tr>
                </thead>
                <tbody>
                  {found?.groups.map((group) => (
                    <Group
                      key={group.value ?? ''}
                      group={group}
                      withheld={withheld}
                      params={{ id, other }}
                      isChosen={group.value === value}
                      widest={widestOf(found.groups)}
                    />
                  ))}
                </tbody>
              </table>
            </div>
            {found && found.total > found.groups.length && (
              <p className="field-hint">
                The {formatNumber(found.groups.length)} largest of {formatNumber(found.total)}.
              </p>
            )}
          </>
        )}
      </QueryState>
    </section>
  );
}

type Groups = NonNullable<Comparison['by_group']>['groups'];

/** All groups share one scale for their intervals. */
const widestOf = (groups: Groups) =>
  Math.max(
    0.01,
    ...groups.flatMap(({ interval }) => (interval ? [Math.abs(interval.low), Math.abs(interval.high)] : [])),
  ) * 1.1;

function Group({
  group,
  withheld,
  params,
  isChosen,
  widest,
}: {
  group: Groups[number];
  withheld: Comparison['withheld'];
  params: { id: string; other: string };
  isChosen: boolean;
  widest: number;
}) {
  const { value, interval, regressions, improvements } = group;
  const { text, tone } = verdictInWords({ ...group, withheld, differing: regressions + improvements });
  return (
    <tr aria-current={isChosen || undefined}>
      <th scope="row">
        {value === null ? (
          <span className="muted">none</span>
        ) : (
          <Link
            to="/evaluations/$id/compare/$other"
            params={params}
            search={(before) => ({ ...before, value: isChosen ? undefined : value, example: undefined })}
            resetScroll={false}
          >
            {value === '' ? '(empty)' : value}
          </Link>
        )}
      </th>
      <td>{formatNumber(group.examples)}</td>
      <td>{formatScore(group.score_a)}</td>
      <td>{formatScore(group.score_b)}</td>
      <td>
        {difference(group.difference)}
        {interval && <Interval low={interval.low} high={interval.high} difference={group.difference} widest={widest} />}
      </td>
      <td>{formatNumber(regressions)}</td>
      <td>{formatNumber(improvements)}</td>
      <td>
        <span className={`verdict ${tone}`}>{text}</span>
      </td>
    </tr>
  );
}
