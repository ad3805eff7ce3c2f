import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Ago } from '../../components/ago.tsx';
import type { Column } from '../../components/data-table.tsx';
import { ListPage } from '../../components/list-page.tsx';
import { useList } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { evaluatorTypesQuery } from '../evaluations/queries.ts';
import { SavedEvaluatorDialog } from './saved-evaluator-dialog.tsx';
import type { SavedEvaluator } from './types.ts';

/** The title of an evaluator's type. */
export function TypeName({ type }: { type: string }) {
  const types = useQuery(evaluatorTypesQuery).data?.data ?? [];
  return types.find((each) => each.type === type)?.title ?? type;
}

const columns: Column<SavedEvaluator>[] = [
  {
    key: 'name',
    header: 'Name',
    width: 'minmax(10rem, 1fr)',
    cell: ({ name }) => (
      <Link to="/evaluators/$name" params={{ name }} translate="no">
        {name}
      </Link>
    ),
  },
  {
    key: 'version',
    header: 'Version',
    width: '5.5rem',
    onCard: 'beside',
    cell: ({ version }) => <span translate="no">v{version}</span>,
  },
  {
    key: 'type',
    header: 'Scores by',
    width: 'minmax(9rem, 1fr)',
    cell: ({ evaluator }) => <TypeName type={evaluator.type} />,
  },
  {
    key: 'description',
    header: 'Measures',
    width: 'minmax(12rem, 2fr)',
    cell: ({ description }) => description ?? '',
  },
  { key: 'changed', header: 'Changed', width: '6.5rem', cell: ({ updated_at }) => <Ago time={updated_at} /> },
];

export function SavedEvaluatorsPage() {
  const list = useList<SavedEvaluator>('/saved-evaluators');
  return (
    <ListPage
      title="Evaluators"
      list={list}
      what="evaluators"
      columns={columns}
      rowKey={({ name }) => name}
      create={
        useMay('write') && { label: 'New evaluator…', dialog: (close) => <SavedEvaluatorDialog onClose={close} /> }
      }
      empty={{
        title: 'There are no saved evaluators yet',
        text: 'An evaluator with a name can be used in evaluations, rules, releases, improvements and the playground, and has versions.',
        more: (
          <a className="button" href="/docs/guides/evaluators">
            What evaluators there are
          </a>
        ),
      }}
    />
  );
}
