import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { get } from '../../api.ts';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Fact } from '../../components/fact.tsx';
import { CheckField, SelectField } from '../../components/fields.tsx';
import { PageHead } from '../../components/page.tsx';
import { EmptyState, QueryState } from '../../components/states.tsx';
import { formatNumber, formatScore, NONE } from '../../format.ts';
import { isNotFound } from '../../queries.ts';
import { t } from '../../strings.ts';
import { SubjectLink } from '../queues/subject.tsx';
import { definitionsQuery, scoreWords } from '../scores/score-value.ts';
import type { ScoreDefinition } from '../scores/types.ts';
import { measureWords } from './in-words.ts';
import { agreementRoute } from './routes.ts';
import type { EvaluatorAgreement } from './types.ts';

const SHOWN_DISAGREEMENTS = 100;

/** Compares evaluator scores with human scores. */
export function AgreementPage() {
  const definitions = useQuery(definitionsQuery);
  return (
    <>
      <PageHead
        title="Judges against people"
        crumbs={<Link to="/rules">Rules</Link>}
        note={
          <p className="muted">Each evaluator version is compared with people on the subjects that both have scored.</p>
        }
      />
      <QueryState query={definitions} what="the names of scores">
        {({ data }) => <Chosen definitions={data.filter(({ data_type }) => data_type !== 'text')} />}
      </QueryState>
    </>
  );
}

function Chosen({ definitions }: { definitions: ScoreDefinition[] }) {
  const { score = '', feedback, ordered } = agreementRoute.useSearch();
  const navigate = agreementRoute.useNavigate();
  const change = (part: { score?: string | undefined; feedback?: string | undefined; ordered?: string | undefined }) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true });
  const definition = definitions.find(({ name }) => name === score);
  const names = definitions.map(({ name }) => name);
  return (
    <>
      <search className="filters">
        <SelectField
          label="Score"
          value={score}
          onChange={(chosen) => change({ score: chosen === '' ? undefined : chosen })}
          options={[
            { value: '', label: 'Choose…' },
            ...(score === '' || names.includes(score) ? names : [score, ...names]),
          ]}
        />
        <CheckField
          label="Include feedback of end users"
          checked={feedback === 'true'}
          onChange={(on) => change({ feedback: on ? 'true' : undefined })}
        />
        {definition?.data_type === 'categorical' && definition.categories !== null && (
          <CheckField
            label="Its categories are ordered"
            checked={ordered === 'true'}
            onChange={(on) => change({ ordered: on ? 'true' : undefined })}
          />
        )}
      </search>
      {score === '' ? (
        <EmptyState title="Choose a score">
          <p>Choose a score that both an evaluator and people give.</p>
        </EmptyState>
      ) : (
        <Compared score={score} feedback={feedback} ordered={ordered} />
      )}
    </>
  );
}

function Compared(search: { score: string; feedback: string | undefined; ordered: string | undefined }) {
  const query = useQuery({
    queryKey: ['evaluators', 'agreement', search],
    queryFn: ({ signal }) =>
      get<EvaluatorAgreement>('/evaluators/agreement', { ...search, disagreements: SHOWN_DISAGREEMENTS }, signal),
    staleTime: 30_000,
  });
  if (isNotFound(query.error)) return <EmptyState title="There is no score of this name" />;
  return (
    <QueryState query={query} what="the comparison">
      {({ evaluators, truncated }) => (
        <>
          {truncated && <p className="notice">The newest 20,000 scores of people are compared; there are more.</p>}
          {evaluators.length === 0 ? (
            <EmptyState title="No evaluator has produced this score">
              <p>Give a rule’s evaluator the same name as the score that people give.</p>
            </EmptyState>
          ) : (
            evaluators.map((each) => <Version key={`${each.rule} ${each.version} ${each.model}`} version={each} />)
          )}
        </>
      )}
    </QueryState>
  );
}

type ComparedVersion = EvaluatorAgreement['evaluators'][number];
type Disagreement = ComparedVersion['disagreements'][number];

const TONES = new Map<boolean | null, string>([
  [true, 'good'],
  [false, 'bad'],
  [null, 'warn'],
]);

const columns: Column<Disagreement>[] = [
  {
    key: 'subject',
    header: 'Subject',
    width: 'minmax(12rem, 1fr)',
    cell: ({ subject }) => <SubjectLink subject={subject} />,
  },
  { key: 'evaluator', header: 'Evaluator', width: '8rem', cell: ({ evaluator }) => scoreWords(evaluator) },
  {
    key: 'people',
    header: 'People',
    width: '10rem',
    cell: ({ people, reviewers }) => `${scoreWords(people)}${reviewers > 1 ? ` (${reviewers})` : ''}`,
  },
  {
    key: 'reason',
    header: 'Reason of the evaluator',
    width: 'minmax(14rem, 3fr)',
    cell: ({ reason }) => <span title={reason ?? undefined}>{reason ?? NONE}</span>,
  },
];

function Version({ version: each }: { version: ComparedVersion }) {
  const { rule, version, model, n, undecided, measures, same, mean_distance, better_than_chance, verdict } = each;
  const title = t(`${rule}, version ${version}`);
  return (
    <section className="card" aria-label={title}>
      <div className="row">
        <h2>{title}</h2>
        {model !== null && <span className="muted">{model}</span>}
      </div>
      <p className="row">
        <span className={`badge ${TONES.get(better_than_chance)}`}>
          {better_than_chance === null
            ? 'cannot be determined'
            : better_than_chance
              ? 'better than chance'
              : 'no better'}
        </span>
        <span>{verdict}</span>
      </p>
      <dl className="facts">
        {measures.map((measure) => (
          <Fact key={measure.name} label="Agreement (95 % interval)">
            {measureWords(measure)}
          </Fact>
        ))}
        <Fact label="Scored by both">
          {formatNumber(n)}
          {undecided > 0 && <span className="muted"> ({formatNumber(undecided)} left out: people are split)</span>}
        </Fact>
        <Fact label="Exact agreement">{formatScore(same)}</Fact>
        {mean_distance !== null && <Fact label="Mean distance">{scoreWords(mean_distance)}</Fact>}
      </dl>
      <h3>Disagreements</h3>
      {each.disagreements.length === 0 ? (
        <p className="muted">None.</p>
      ) : (
        <>
          <DataTable
            label={`Disagreements with ${title}`}
            rows={each.disagreements}
            columns={columns}
            rowKey={({ subject }) => JSON.stringify(subject)}
          />
          {each.disagreements_total > each.disagreements.length && (
            <p className="muted">
              The largest {formatNumber(each.disagreements.length)} of {formatNumber(each.disagreements_total)}.
            </p>
          )}
        </>
      )}
    </section>
  );
}
