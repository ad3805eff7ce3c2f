import { Link } from '@tanstack/react-router';
import { Ago } from '../../components/ago.tsx';
import type { Column } from '../../components/data-table.tsx';
import { ListPage } from '../../components/list-page.tsx';
import { NONE } from '../../format.ts';
import { useList } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import type { Schedule } from './types.ts';

const columns: Column<Schedule>[] = [
  {
    key: 'name',
    header: 'Name',
    width: 'minmax(10rem, 1fr)',
    cell: ({ id, name }) => (
      <Link to="/schedules/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  {
    key: 'state',
    header: 'State',
    width: '6rem',
    onCard: 'beside',
    cell: ({ paused }) => <span className={`badge ${paused ? 'warn' : 'good'}`}>{paused ? 'paused' : 'active'}</span>,
  },
  {
    key: 'due',
    header: 'Due',
    width: 'minmax(12rem, 1fr)',
    cell: ({ cron, time_zone }) => (
      <>
        <code>{cron}</code> {time_zone}
      </>
    ),
  },
  {
    key: 'error',
    header: 'Last start',
    width: 'minmax(10rem, 2fr)',
    cell: ({ last_error }) => (last_error ? <span className="badge bad">{last_error.message}</span> : NONE),
  },
  { key: 'created', header: 'Created', width: '6.5rem', cell: (row) => <Ago time={row.created_at} /> },
];

export function SchedulesPage() {
  return (
    <ListPage
      title="Schedules"
      list={useList<Schedule>('/schedules')}
      what="schedules"
      columns={columns}
      rowKey={({ id }) => id}
      create={useMay('execute') && { label: 'New schedule', link: { to: '/schedules/new' } }}
      empty={{
        title: 'There are no schedules yet',
        text: 'A schedule starts the same evaluation regularly, with the version and the dataset that are current then.',
        action: 'Create the first schedule',
      }}
    />
  );
}
