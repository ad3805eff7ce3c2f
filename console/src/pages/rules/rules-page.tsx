import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Column } from '../../components/data-table.tsx';
import { ListPage } from '../../components/list-page.tsx';
import { NameText } from '../../components/name-text.tsx';
import { formatCount, formatScore } from '../../format.ts';
import { listQuery, useList } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { scopeWords, spentWords } from './in-words.ts';
import { RuleDialog } from './rule-dialog.tsx';
import type { Rule } from './types.ts';

const REFETCH_MS = 15_000;

const columns: Column<Rule>[] = [
  {
    key: 'name',
    header: 'Name',
    width: 'minmax(9rem, 1fr)',
    cell: ({ name }) => (
      <Link to="/rules/$" params={{ _splat: name }}>
        <NameText name={name} />
      </Link>
    ),
  },
  {
    key: 'enabled',
    header: 'State',
    width: '6rem',
    onCard: 'beside',
    cell: ({ enabled }) =>
      enabled ? <span className="badge good">enabled</span> : <span className="badge warn">disabled</span>,
  },
  { key: 'of', header: 'Scores', width: 'minmax(10rem, 1fr)', cell: scopeWords },
  {
    key: 'sample',
    header: 'Share',
    width: '5rem',
    alignEnd: true,
    cell: ({ sample_rate }) => formatScore(sample_rate),
  },
  { key: 'spent', header: 'Spent today', width: '10rem', alignEnd: true, cell: spentWords },
  { key: 'scored', header: 'Scored', width: '5rem', alignEnd: true, cell: ({ scored }) => formatCount(scored) },
  { key: 'failed', header: 'Failed', width: '5rem', alignEnd: true, cell: ({ failed }) => formatCount(failed) },
  {
    key: 'skipped',
    header: 'Skipped',
    width: '5rem',
    alignEnd: true,
    cell: ({ skipped, skipped_budget }) => formatCount(skipped + skipped_budget),
  },
];

export function RulesPage() {
  const list = useList<Rule>('/rules');
  // Their counts keep changing.
  useInfiniteQuery({ ...listQuery<Rule>('/rules'), refetchInterval: REFETCH_MS });
  return (
    <ListPage
      title="Rules"
      list={list}
      what="rules"
      columns={columns}
      rowKey={({ name }) => name}
      actions={
        <Link to="/agreement" className="button">
          Judges against people
        </Link>
      }
      create={useMay('execute') && { label: 'New rule…', dialog: (close) => <RuleDialog onClose={close} /> }}
      empty={{
        title: 'There are no rules yet',
        text: 'A rule scores executions as they complete, with the evaluators of evaluations.',
        action: 'Create the first rule…',
      }}
    />
  );
}
