import { Link } from '@tanstack/react-router';
import { Ago } from '../../components/ago.tsx';
import { LabelBadge, PromptLink } from '../../components/badges.tsx';
import type { Column } from '../../components/data-table.tsx';
import { SelectField } from '../../components/fields.tsx';
import { FilterField } from '../../components/filter-field.tsx';
import { ListPage } from '../../components/list-page.tsx';
import { useList, useRefetchWhileLive } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import { inPercent, shareOf, statusInWords, stepTitle } from './in-words.ts';
import { isLive, stepsOf } from './queries.ts';
import { ReleaseBadge } from './release-badge.tsx';
import { RELEASE_STATES, releasesRoute } from './routes.ts';
import type { Release } from './types.ts';

const REFRESH_MS = 5_000;

const columns: Column<Release>[] = [
  {
    key: 'created',
    header: 'Started',
    width: '12rem',
    cell: (row) => (
      <Link to="/releases/$id" params={{ id: row.id }}>
        <Ago time={row.created_at} />
      </Link>
    ),
  },
  {
    key: 'status',
    header: 'Status',
    width: '9.5rem',
    onCard: 'beside',
    cell: (row) => <ReleaseBadge status={row.status} />,
  },
  {
    key: 'prompt',
    header: 'Prompt',
    width: 'minmax(9rem, 2fr)',
    cell: (row) => <PromptLink name={row.prompt_name} />,
  },
  { key: 'label', header: 'Label', width: '7rem', cell: (row) => <LabelBadge label={row.label} /> },
  {
    key: 'versions',
    header: 'Versions',
    width: '5rem',
    cell: (row) => `${row.stable_version} → ${row.candidate_version}`,
  },
  {
    key: 'step',
    header: 'Step',
    width: 'minmax(11rem, 1fr)',
    cell: (row) => {
      const step = stepsOf(row)[row.step];
      return step && t(`${row.step + 1} of ${row.steps.length}: ${stepTitle(step)}`);
    },
  },
  { key: 'share', header: 'Share', width: '4rem', alignEnd: true, cell: (row) => inPercent(shareOf(row)) },
];

export function ReleasesPage() {
  const search = releasesRoute.useSearch();
  const navigate = releasesRoute.useNavigate();
  const mayWrite = useMay('write');
  const change = (part: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true });
  const list = useList<Release>('/releases', search);
  useRefetchWhileLive(list, isLive, REFRESH_MS);
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <ListPage
      title="Releases"
      list={list}
      what="releases"
      columns={columns}
      rowKey={({ id }) => id}
      create={
        mayWrite && {
          label: 'New release',
          link: {
            to: '/releases/new',
            search: {
              ...(search.prompt_name && { prompt: search.prompt_name }),
              ...(search.label && { label: search.label }),
            },
          },
        }
      }
      empty={{
        title: 'There are no releases yet',
        text: (
          <>
            A release brings a version to a label step by step: it is evaluated, approved, given to a share of the
            callers and compared. When a check fails, all callers get the previous version again.
          </>
        ),
        action: 'Start the first release',
      }}
      filtered={isFiltered && { title: 'No releases match these filters', all: { to: '/releases' } }}
    >
      <search className="filters">
        <FilterField label="Prompt" value={search.prompt_name} onChange={(prompt_name) => change({ prompt_name })} />
        <FilterField label="Label" value={search.label} onChange={(label) => change({ label })} />
        <SelectField
          label="Status"
          value={search.status ?? ''}
          onChange={(status) => change({ status: RELEASE_STATES.find((each) => each === status) })}
          options={[
            { value: '', label: 'Any' },
            ...RELEASE_STATES.map((value) => ({ value, label: statusInWords(value) })),
          ]}
        />
      </search>
    </ListPage>
  );
}
