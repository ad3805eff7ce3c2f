import { Link } from '@tanstack/react-router';
import type { Column } from '../../components/data-table.tsx';
import { ListPage } from '../../components/list-page.tsx';
import { NameText } from '../../components/name-text.tsx';
import { formatCount } from '../../format.ts';
import { useList } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { QueueDialog } from './queue-dialog.tsx';
import type { Queue } from './types.ts';

const columns: Column<Queue>[] = [
  {
    key: 'name',
    header: 'Name',
    width: 'minmax(10rem, 2fr)',
    cell: ({ name }) => (
      <Link to="/queues/$" params={{ _splat: name }}>
        <NameText name={name} />
      </Link>
    ),
  },
  { key: 'scores', header: 'Scores', width: 'minmax(8rem, 1fr)', cell: ({ score_names }) => score_names.join(', ') },
  {
    key: 'progress',
    header: 'Progress',
    width: '10rem',
    cell: ({ name, progress: { pending, leased, completed, skipped } }) => {
      const total = pending + leased + completed + skipped;
      return (
        <>
          <meter min={0} max={Math.max(total, 1)} value={completed} aria-label={`Completed in ${name}`} />{' '}
          {formatCount(completed)} of {formatCount(total)}
        </>
      );
    },
  },
  { key: 'pending', header: 'To do', width: '5rem', alignEnd: true, cell: (row) => formatCount(row.progress.pending) },
  {
    key: 'leased',
    header: 'In progress',
    width: '5rem',
    alignEnd: true,
    cell: (row) => formatCount(row.progress.leased),
  },
  {
    key: 'skipped',
    header: 'Skipped',
    width: '5rem',
    alignEnd: true,
    cell: (row) => formatCount(row.progress.skipped),
  },
  {
    key: 'review',
    header: 'Review',
    width: '6rem',
    cell: ({ name }) => (
      <Link to="/review/$" params={{ _splat: name }}>
        Review<span className="visually-hidden"> {name}</span>
      </Link>
    ),
  },
];

export function QueuesPage() {
  return (
    <ListPage
      title="Queues"
      list={useList<Queue>('/queues')}
      what="queues"
      columns={columns}
      rowKey={({ name }) => name}
      create={useMay('write') && { label: 'New queue…', dialog: (close) => <QueueDialog onClose={close} /> }}
      empty={{
        title: 'There are no queues yet',
        text: 'A queue is a list of executions for people to score one by one.',
        action: 'Create the first queue…',
      }}
    />
  );
}
