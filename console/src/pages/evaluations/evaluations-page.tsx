import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { Evaluation } from '../../api-types.ts';
import { Ago } from '../../components/ago.tsx';
import { EvaluationBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import type { Column } from '../../components/data-table.tsx';
import { SelectField } from '../../components/fields.tsx';
import { FilterField } from '../../components/filter-field.tsx';
import { ListPage } from '../../components/list-page.tsx';
import { NameText } from '../../components/name-text.tsx';
import { formatCost, formatNumber, formatScore, formatTime, NONE } from '../../format.ts';
import { useList, useRefetchWhileLive } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { hasEnded } from './queries.ts';
import { EVALUATION_STATES, evaluationsRoute, MOST_COLUMNS } from './routes.ts';
import { VersionScores } from './version-scores.tsx';

const REFRESH_MS = 3_000;

const COLUMNS: Column<Evaluation>[] = [
  {
    key: 'run',
    header: 'Evaluation',
    width: 'minmax(11rem, 2fr)',
    onCard: 'title',
    cell: (row) => <RunLink evaluation={row} />,
  },
  {
    key: 'status',
    header: 'Status',
    width: '6.5rem',
    onCard: 'beside',
    cell: (row) => <EvaluationBadge evaluation={row} />,
  },
  {
    key: 'dataset',
    header: 'Dataset',
    width: 'minmax(9rem, 1fr)',
    cell: ({ dataset }) =>
      dataset ? <NameText name={dataset.name} version={dataset.version} /> : <span className="muted">inline</span>,
  },
  {
    key: 'examples',
    header: 'Examples',
    width: '5.5rem',
    alignEnd: true,
    cell: (row) =>
      hasEnded(row)
        ? formatNumber(row.examples_total)
        : `${formatNumber(row.examples_evaluated)} of ${formatNumber(row.examples_total)}`,
  },
  { key: 'score', header: 'Score', width: '4.5rem', alignEnd: true, cell: (row) => formatScore(row.score) },
  {
    key: 'passed',
    header: 'Passed',
    width: '4rem',
    cell: ({ passed }) =>
      passed === null ? NONE : <span className={`badge ${passed ? 'good' : 'bad'}`}>{passed ? 'yes' : 'no'}</span>,
  },
  {
    key: 'worse',
    header: 'Worse',
    width: '4rem',
    alignEnd: true,
    cell: (row) => formatNumber(row.baseline_id === null ? null : row.regressions),
  },
  { key: 'cost', header: 'Cost', width: '5.5rem', alignEnd: true, cell: (row) => formatCost(row.cost) },
  { key: 'created', header: 'Created', width: '6.5rem', cell: (row) => <Ago time={row.created_at} /> },
];

/** What ran, as a link to its results. */
function RunLink({ evaluation }: { evaluation: Evaluation }) {
  const { id, name, prompt_name, prompt_version, target, from_executions: from } = evaluation;
  return (
    <>
      <Link to="/evaluations/$id" params={{ id }} data-row-link>
        <NameText name={prompt_name} version={prompt_version === 0 ? null : prompt_version} />
      </Link>
      {target.type !== 'prompt' ? (
        <span className="badge">code</span>
      ) : (
        prompt_version === 0 && <span className="badge">{from?.recorded ? 'recorded' : 'draft'}</span>
      )}
      {name !== null && (
        <>
          {' '}
          <span className="muted" title={name}>
            {name}
          </span>
        </>
      )}
    </>
  );
}

/** Selects runs to compare. */
const choiceColumn = (
  chosen: readonly string[],
  setChosen: (change: (before: readonly string[]) => readonly string[]) => void,
): Column<Evaluation> => ({
  key: 'choice',
  header: 'Compare',
  head: <span className="visually-hidden">Compare</span>,
  width: '1.25rem',
  onCard: 'beside',
  cell: ({ id, prompt_name, created_at }) => (
    <input
      type="checkbox"
      aria-label={`Compare ${prompt_name} of ${formatTime(created_at)}`}
      checked={chosen.includes(id)}
      disabled={!chosen.includes(id) && chosen.length >= MOST_COLUMNS}
      onChange={({ target: { checked } }) =>
        setChosen((before) => (checked ? [...before, id] : before.filter((each) => each !== id)))
      }
    />
  ),
});

/** Opens the comparison of the selection: two runs later against earlier, more in columns. */
function CompareChosen({ chosen }: { chosen: readonly string[] }) {
  if (chosen.length < 2) return <Button disabled>Compare: choose two or more</Button>;
  // Ids sort by time.
  const [first = '', ...others] = [...chosen].sort();
  const [last = ''] = others;
  return others.length === 1 ? (
    <Link to="/evaluations/$id/compare/$other" params={{ id: last, other: first }} className="button">
      Compare 2 runs
    </Link>
  ) : (
    <Link to="/evaluations/compare" search={{ with: [first, ...others].join(',') }} className="button">
      Compare {chosen.length} runs
    </Link>
  );
}

export function EvaluationsPage() {
  const search = evaluationsRoute.useSearch();
  const navigate = evaluationsRoute.useNavigate();
  const mayExecute = useMay('execute');
  const change = (part: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true });
  const list = useList<Evaluation>('/evaluations', search);
  useRefetchWhileLive(list, (row) => !hasEnded(row), REFRESH_MS);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const columns = useMemo(() => [choiceColumn(chosen, setChosen), ...COLUMNS], [chosen]);
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <ListPage
      title="Evaluations"
      list={list}
      what="evaluations"
      columns={columns}
      rowKey={({ id }) => id}
      create={
        mayExecute && {
          label: 'New evaluation',
          link: {
            to: '/evaluations/new',
            search: {
              ...(search.prompt_name && { prompt: search.prompt_name }),
              ...(search.dataset && { dataset: search.dataset }),
            },
          },
        }
      }
      empty={{
        title: 'No evaluations yet',
        text: 'An evaluation runs a prompt with every example of a dataset, and scores the outputs.',
        action: 'Start the first evaluation',
      }}
      filtered={isFiltered && { title: 'No evaluations match these filters', all: { to: '/evaluations' } }}
    >
      <search className="filters">
        <FilterField label="Prompt" value={search.prompt_name} onChange={(prompt_name) => change({ prompt_name })} />
        <FilterField label="Dataset" value={search.dataset} onChange={(dataset) => change({ dataset })} />
        <SelectField
          label="Status"
          value={search.status ?? ''}
          onChange={(status) => change({ status: EVALUATION_STATES.find((each) => each === status) })}
          options={[{ value: '', label: 'Any' }, ...EVALUATION_STATES]}
        />
        {chosen.length > 0 && <CompareChosen chosen={chosen} />}
        {search.schedule_id && (
          <Button onClick={() => change({ schedule_id: undefined })}>
            One schedule <X className="icon" aria-hidden />
            <span className="visually-hidden"> show all</span>
          </Button>
        )}
      </search>
      {search.prompt_name && <VersionScores prompt={search.prompt_name} dataset={search.dataset} />}
    </ListPage>
  );
}
