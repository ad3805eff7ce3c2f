import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Fragment, useState } from 'react';
import { get, pathOf, post } from '../../api.ts';
import { Ago } from '../../components/ago.tsx';
import { DialogButton } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { DeleteButton } from '../../components/delete-button.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import { Fact } from '../../components/fact.tsx';
import { SelectField, TextField } from '../../components/fields.tsx';
import { ListTable } from '../../components/list-table.tsx';
import { isMember, MemberName } from '../../components/member-name.tsx';
import { RecordPage } from '../../components/record-page.tsx';
import { Section } from '../../components/section.tsx';
import { QueryState } from '../../components/states.tsx';
import { showToast } from '../../components/toast.tsx';
import { formatNumber, formatScore, formatTime } from '../../format.ts';
import { useList } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import { measureWords } from '../agreement/in-words.ts';
import { EMPTY_FILTER, FilterFields, filterWords, toFilter } from '../scores/execution-filter.tsx';
import { queueQuery } from './queries.ts';
import { QueueDialog } from './queue-dialog.tsx';
import { queueRoute } from './routes.ts';
import { SubjectText } from './subject.tsx';
import type { Queue, QueueAgreement, QueueItem } from './types.ts';

const STATES = ['pending', 'leased', 'completed', 'skipped'] as const;

export function QueuePage() {
  const { _splat: name = '' } = queueRoute.useParams();
  const query = useQuery(queueQuery(name));
  return (
    <RecordPage
      title={name}
      list={{ to: '/queues', label: 'Queues', back: 'Back to queues' }}
      note={query.data?.description && <p>{query.data.description}</p>}
      actions={query.data && <Actions queue={query.data} />}
      missing="There is no such queue"
      query={query}
      what="the queue"
    >
      {(queue) => (
        <>
          <Facts queue={queue} />
          {queue.reviewers_per_item > 1 && <Agreement name={name} />}
          <Items name={name} />
        </>
      )}
    </RecordPage>
  );
}

function Actions({ queue }: { queue: Queue }) {
  const { name } = queue;
  const navigate = queueRoute.useNavigate();
  const mayWrite = useMay('write');
  const mayScore = useMay('score');
  return (
    <>
      {(mayScore || mayWrite) && (
        <Link to="/review/$" params={{ _splat: name }} className="button primary">
          Review
        </Link>
      )}
      {mayWrite && (
        <>
          <DialogButton label="Add executions…" dialog={(close) => <AddDialog name={name} onClose={close} />} />
          <DialogButton label="Change…" dialog={(close) => <QueueDialog queue={queue} onClose={close} />} />
          <DeleteButton
            resource="queues"
            id={name}
            title="Delete this queue?"
            description="Its items are deleted, too. The scores stay."
            done="The queue was deleted."
            onDeleted={() => navigate({ to: '/queues' })}
          />
        </>
      )}
    </>
  );
}

/** Adds past executions. */
function AddDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const [filter, setFilter] = useState(EMPTY_FILTER);
  const [limit, setLimit] = useState('100');
  const client = useQueryClient();
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Add executions"
      description="The newest that match. Items already in the queue are unchanged."
      submitLabel="Add"
      onSubmit={async () => {
        const { added, present } = await post<{ added: number; present: number }>(`${pathOf('queues', name)}/items`, {
          filter: toFilter(filter),
          limit: Number(limit),
        });
        await client.invalidateQueries({ queryKey: ['queues'] });
        showToast(`${formatNumber(added)} added.`, t(`${formatNumber(present)} already in the queue.`));
      }}
    >
      <FilterFields value={filter} onChange={setFilter} />
      <TextField
        label="Maximum number"
        type="number"
        min={1}
        max={10_000}
        step={1}
        required
        value={limit}
        onChange={setLimit}
      />
    </FormDialog>
  );
}

function Facts({ queue }: { queue: Queue }) {
  const { score_names, sample_rate, reviewers_per_item, progress, full } = queue;
  const filter = queue.filter ?? queue.trace_filter;
  return (
    <dl className="facts">
      <Fact label="Scores">{score_names.join(', ')}</Fact>
      <Fact label="Added automatically">
        {filter === null
          ? 'none'
          : `${formatScore(sample_rate)} of ${queue.trace_filter === null ? 'executions' : 'traces'}: ${filterWords(filter)}`}
        {full && <span className="badge warn">full</span>}
      </Fact>
      <Fact label="Reviewers for each item">{reviewers_per_item}</Fact>
      {STATES.map((state) => (
        <Fact key={state} label={WORDS[state]}>
          {formatNumber(progress[state])}
        </Fact>
      ))}
    </dl>
  );
}

/** A member by name; for a key or session, the end of its id. */
function Reviewer({ id }: { id: string }) {
  const short = id.slice(-8);
  return isMember(id) ? <MemberName id={id} fallback={short} /> : short;
}

const WORDS = {
  pending: t('To do'),
  leased: t('In progress'),
  completed: t('Completed'),
  skipped: t('Skipped'),
} as const;
const TONES = { pending: '', leased: 'accent', completed: 'good', skipped: 'warn' } as const;

const columns: Column<QueueItem>[] = [
  {
    key: 'subject',
    header: 'Subject',
    width: 'minmax(12rem, 2fr)',
    cell: ({ subject, other }) => (
      <>
        <SubjectText subject={subject} />
        {other && (
          <>
            {' '}
            <span className="muted">or</span> <SubjectText subject={other} />
          </>
        )}
      </>
    ),
  },
  {
    key: 'state',
    header: 'State',
    width: '8rem',
    onCard: 'beside',
    cell: ({ state }) => <span className={`badge ${TONES[state]}`}>{WORDS[state].toLowerCase()}</span>,
  },
  {
    key: 'reviewers',
    header: 'Reviewers',
    width: 'minmax(10rem, 2fr)',
    cell: ({ reviews }) => {
      const wordsOf = ({ state, leased_until }: (typeof reviews)[number]) =>
        state === 'leased' ? t(`until ${formatTime(leased_until)}`) : WORDS[state].toLowerCase();
      return (
        <span title={reviews.map((each) => `${each.reviewer} ${wordsOf(each)}`).join(', ')}>
          {reviews.map((each, at) => (
            <Fragment key={each.reviewer}>
              {at > 0 && ', '}
              <Reviewer id={each.reviewer} /> {wordsOf(each)}
            </Fragment>
          ))}
        </span>
      );
    },
  },
  {
    key: 'corrections',
    header: 'Corrected in',
    width: 'minmax(8rem, 1fr)',
    cell: ({ reviews }) => {
      const dataset = reviews.find(({ correction }) => correction !== null)?.correction?.dataset;
      return (
        dataset !== undefined && (
          <Link to="/datasets/$" params={{ _splat: dataset }}>
            {dataset}
          </Link>
        )
      );
    },
  },
  { key: 'added', header: 'Added', width: '6.5rem', cell: ({ created_at }) => <Ago time={created_at} /> },
];

function Items({ name }: { name: string }) {
  const [state, setState] = useState('');
  const list = useList<QueueItem>(`${pathOf('queues', name)}/items`, { state });
  return (
    <Section id="items" title="Items">
      <div className="filters">
        <SelectField
          label="State"
          value={state}
          onChange={setState}
          options={[{ value: '', label: 'Any' }, ...STATES.map((value) => ({ value, label: WORDS[value] }))]}
        />
      </div>
      <ListTable
        list={list}
        what="the items"
        label="Items"
        columns={columns}
        rowKey={({ id }) => id}
        empty={<p className="muted">None.</p>}
      />
    </Section>
  );
}

type ScoreAgreement = QueueAgreement['scores'][number];

const agreementColumns: Column<ScoreAgreement>[] = [
  { key: 'score', header: 'Score', width: 'minmax(8rem, 1fr)', cell: ({ name }) => name },
  { key: 'items', header: 'Items', width: '6rem', alignEnd: true, cell: ({ items }) => formatNumber(items) },
  { key: 'same', header: 'The same', width: '6rem', alignEnd: true, cell: ({ same }) => formatScore(same) },
  {
    key: 'measure',
    header: 'Agreement',
    width: 'minmax(16rem, 2fr)',
    cell: ({ measure }) => measureWords(measure),
  },
];

/** How much reviewers agree on items that several have scored. */
function Agreement({ name }: { name: string }) {
  const query = useQuery({
    queryKey: ['queues', 'agreement', name],
    queryFn: ({ signal }) => get<QueueAgreement>(`${pathOf('queues', name)}/agreement`, undefined, signal),
    staleTime: 60_000,
  });
  return (
    <Section id="agreement" title="Agreement of reviewers">
      <QueryState query={query} what="the agreement">
        {({ scores }) =>
          scores.length === 0 ? (
            <p className="muted">No item has been scored by two reviewers yet.</p>
          ) : (
            <DataTable label="Agreement" rows={scores} columns={agreementColumns} rowKey={({ name: score }) => score} />
          )
        }
      </QueryState>
    </Section>
  );
}
