import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { pathOf, post } from '../../api.ts';
import { StatusBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import type { Column } from '../../components/data-table.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { ListTable } from '../../components/list-table.tsx';
import { showError } from '../../components/toast.tsx';
import { dayStart, formatCost, formatNumber, formatScore, formatTime } from '../../format.ts';
import { listQuery, useList } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import type { Backfill } from './types.ts';

const REFETCH_MS = 2_000;

const isLive = ({ status }: Backfill) => status === 'running';

/** Runs on past executions. */
export function Backfills({ rule }: { rule: string }) {
  const path = `${pathOf('rules', rule)}/backfills`;
  const list = useList<Backfill>(path);
  useInfiniteQuery({
    ...listQuery<Backfill>(path),
    refetchInterval: ({ state }) => (state.data?.pages.some(({ data }) => data.some(isLive)) ? REFETCH_MS : false),
  });
  const mayExecute = useMay('execute');
  const [starting, setStarting] = useState(false);
  return (
    <section className="stack" aria-labelledby="backfills">
      <div className="row">
        <h2 id="backfills">Backfills</h2>
        {mayExecute && (
          <Button look="small" onClick={() => setStarting(true)}>
            Score past executions…
          </Button>
        )}
      </div>
      <ListTable
        list={list}
        what="backfills"
        label="Backfills"
        columns={mayExecute ? [...columns, actions] : columns}
        rowKey={({ id }) => id}
        empty={<p className="muted">None yet.</p>}
      />
      {starting && <StartDialog rule={rule} onClose={() => setStarting(false)} />}
    </section>
  );
}

const columns: Column<Backfill>[] = [
  {
    key: 'period',
    header: 'Executions from',
    width: 'minmax(12rem, 2fr)',
    cell: ({ since, until }) => {
      const words = t(`${formatTime(since)} to ${formatTime(until)}`);
      return <span title={words}>{words}</span>;
    },
  },
  {
    key: 'status',
    header: 'Status',
    width: '8rem',
    onCard: 'beside',
    cell: ({ status, status_reason, error }) => (
      <span title={error?.message ?? status_reason ?? undefined}>
        <StatusBadge status={status} />
      </span>
    ),
  },
  {
    key: 'progress',
    header: 'Progress',
    width: '10rem',
    cell: ({ progress, since }) => (
      <>
        <progress max={1} value={progress} aria-label={`Progress from ${formatTime(since)}`} /> {formatScore(progress)}
      </>
    ),
  },
  {
    key: 'scored',
    header: 'Scored',
    width: '7rem',
    alignEnd: true,
    cell: ({ scored, found }) => `${formatNumber(scored)} of ${formatNumber(found)}`,
  },
  { key: 'failed', header: 'Failed', width: '5rem', alignEnd: true, cell: ({ failed }) => formatNumber(failed) },
  {
    key: 'spent',
    header: 'Spent',
    width: '8rem',
    alignEnd: true,
    cell: ({ spent, max_cost }) =>
      `${formatCost({ amount: spent })}${max_cost === null ? '' : ` of ${formatCost({ amount: max_cost })}`}`,
  },
];

const actions: Column<Backfill> = {
  key: 'actions',
  header: 'Actions',
  width: '12rem',
  cell: (backfill) => <Actions backfill={backfill} />,
};

function Actions({ backfill }: { backfill: Backfill }) {
  const { id, rule, status, max_cost } = backfill;
  const client = useQueryClient();
  const [resuming, setResuming] = useState(false);
  const [cost, setCost] = useState(max_cost ?? '');
  const path = pathOf('rules', rule, 'backfills', id);
  const refresh = () => client.invalidateQueries({ queryKey: ['rules'] });
  const act = useMutation({
    mutationFn: (action: 'pause' | 'cancel') => post<Backfill>(`${path}/${action}`),
    onSuccess: refresh,
    onError: showError,
  });
  if (status !== 'running' && status !== 'paused') return null;
  return (
    <>
      {status === 'running' ? (
        <Button look="small" disabled={act.isPending} onClick={() => act.mutate('pause')}>
          Pause
        </Button>
      ) : (
        <Button look="small" onClick={() => setResuming(true)}>
          Resume…
        </Button>
      )}{' '}
      <Button look="small danger" disabled={act.isPending} onClick={() => act.mutate('cancel')}>
        Cancel
      </Button>
      <FormDialog
        open={resuming}
        onClose={() => setResuming(false)}
        title="Resume the backfill"
        submitLabel="Resume"
        onSubmit={async () => {
          await post(`${path}/resume`, cost === (max_cost ?? '') ? {} : { max_cost: cost === '' ? null : cost });
          await refresh();
        }}
      >
        <TextField
          label="Maximum cost, in US dollars"
          type="number"
          min={0}
          step="any"
          placeholder="no limit"
          value={cost}
          onChange={setCost}
        />
      </FormDialog>
    </>
  );
}

function StartDialog({ rule, onClose }: { rule: string; onClose: () => void }) {
  const [since, setSince] = useState('');
  const [until, setUntil] = useState('');
  const [cost, setCost] = useState('');
  const client = useQueryClient();
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Score past executions"
      description="Uses the current rule and a separate budget. Executions that already have their scores are skipped."
      submitLabel="Start"
      onSubmit={async () => {
        const end = dayStart(until, 1);
        await post(`${pathOf('rules', rule)}/backfill`, {
          since: dayStart(since),
          // Today counts only until now.
          ...(end !== undefined && Date.parse(end) < Date.now() && { until: end }),
          ...(cost !== '' && { max_cost: cost }),
        });
        await client.invalidateQueries({ queryKey: ['rules'] });
      }}
    >
      <TextField label="From" type="date" required value={since} onChange={setSince} />
      <TextField label="To" type="date" value={until} onChange={setUntil} hint="Leave empty for now." />
      <TextField
        label="Maximum cost, in US dollars"
        type="number"
        min={0}
        step="any"
        placeholder="no limit"
        value={cost}
        onChange={setCost}
      />
    </FormDialog>
  );
}
