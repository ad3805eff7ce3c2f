import { Link } from '@tanstack/react-router';
import { Ago } from '../../components/ago.tsx';
import type { Column } from '../../components/data-table.tsx';
import { SelectField } from '../../components/fields.tsx';
import { FilterField } from '../../components/filter-field.tsx';
import { ListPage } from '../../components/list-page.tsx';
import { NameText } from '../../components/name-text.tsx';
import { formatNumber, formatScore } from '../../format.ts';
import { useList, useRefetchWhileLive } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { signed } from '../evaluations/in-words.ts';
import { StateBadge, spentInWords } from './in-words.tsx';
import { isUnfinished } from './queries.ts';
import { IMPROVEMENT_STATES, improvementsRoute } from './routes.ts';
import type { Improvement } from './types.ts';

const REFRESH_MS = 3_000;

const columns: Column<Improvement>[] = [
  {
    key: 'prompt',
    header: 'Prompt',
    width: 'minmax(9rem, 2fr)',
    cell: ({ id, prompt_name, prompt_version }) => (
      <Link to="/improvements/$id" params={{ id }} data-row-link>
        <NameText name={prompt_name} version={prompt_version} />
      </Link>
    ),
  },
  {
    key: 'state',
    header: 'Result',
    width: '11.5rem',
    onCard: 'beside',
    cell: (row) => <StateBadge improvement={row} />,
  },
  {
    key: 'dataset',
    header: 'Dataset',
    width: 'minmax(8rem, 1fr)',
    cell: ({ dataset }) => <NameText name={dataset.name} version={dataset.version} />,
  },
  {
    key: 'proposals',
    header: 'Candidates',
    width: '5.5rem',
    alignEnd: true,
    cell: ({ proposals }) => formatNumber(Math.max(proposals.made, 0)),
  },
  {
    key: 'base',
    header: 'Base',
    width: '4.5rem',
    alignEnd: true,
    cell: ({ verdict, base }) => formatScore(verdict?.score_base ?? base.check),
  },
  {
    key: 'gain',
    header: 'Gain',
    width: '4.5rem',
    alignEnd: true,
    cell: ({ verdict }) => (verdict?.difference == null ? '' : signed(verdict.difference)),
  },
  { key: 'cost', header: 'Cost', width: '8.5rem', alignEnd: true, cell: spentInWords },
  { key: 'created', header: 'Started', width: '6.5rem', cell: (row) => <Ago time={row.created_at} /> },
];

export function ImprovementsPage() {
  const search = improvementsRoute.useSearch();
  const navigate = improvementsRoute.useNavigate();
  const mayExecute = useMay('execute');
  const change = (part: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true });
  const list = useList<Improvement>('/improvements', search);
  useRefetchWhileLive(list, isUnfinished, REFRESH_MS);
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <ListPage
      title="Improvements"
      list={list}
      what="improvements"
      columns={columns}
      rowKey={({ id }) => id}
      create={
        mayExecute && {
          label: 'New improvement',
          link: { to: '/improvements/new', search: search.prompt_name ? { prompt: search.prompt_name } : {} },
        }
      }
      empty={{
        title: 'No improvements yet',
        text: (
          <>
            An improvement searches for a better version of a prompt: a model rewrites it from examples that fail, and
            the best candidate is tested once on examples that nothing has seen. It needs a dataset of about 120
            examples, and spends at most what you allow.
          </>
        ),
        action: 'Start the first improvement',
      }}
      filtered={isFiltered && { title: 'No improvements match these filters', all: { to: '/improvements' } }}
    >
      <search className="filters">
        <FilterField label="Prompt" value={search.prompt_name} onChange={(prompt_name) => change({ prompt_name })} />
        <SelectField
          label="Status"
          value={search.status ?? ''}
          onChange={(status) => change({ status: IMPROVEMENT_STATES.find((each) => each === status) })}
          options={[{ value: '', label: 'Any' }, ...IMPROVEMENT_STATES]}
        />
      </search>
    </ListPage>
  );
}
