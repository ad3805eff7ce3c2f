import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { get, type Page, pathOf, post } from '../../api.ts';
import { ComboField } from '../../components/combo-field.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import { showToast } from '../../components/toast.tsx';
import { formatNumber } from '../../format.ts';
import { t } from '../../strings.ts';
import type { Queue } from '../queues/types.ts';

/** Adds executions, or traces, to a queue for human scoring. @param ids public ids */
export function AddToQueueDialog({
  ids,
  of = 'execution_ids',
  onDone,
  onClose,
}: {
  ids: readonly string[];
  of?: 'execution_ids' | 'traces';
  onDone?: () => void;
  onClose: () => void;
}) {
  const { data } = useQuery({
    queryKey: ['queues', 'names'],
    queryFn: ({ signal }) => get<Page<Queue>>('/queues', { limit: 1000 }, signal),
  });
  const [name, setName] = useState('');
  const client = useQueryClient();
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Add to a queue"
      description={
        ids.length === 1
          ? 'People score it there. If it is already in the queue, nothing changes.'
          : `People score these ${formatNumber(ids.length)} there. Items already in the queue are unchanged.`
      }
      submitLabel="Put"
      canSubmit={name.trim() !== ''}
      onSubmit={async () => {
        const { added, present } = await post<{ added: number; present: number }>(
          `${pathOf('queues', name.trim())}/items`,
          of === 'traces' ? { traces: ids.map((id) => ({ trace_id: id })) } : { execution_ids: ids },
        );
        await client.invalidateQueries({ queryKey: ['queues'] });
        showToast(
          `${formatNumber(added)} put into ${name.trim()}.`,
          present > 0 ? t(`${formatNumber(present)} were already in the queue.`) : undefined,
        );
        onDone?.();
      }}
    >
      {data?.data.length === 0 ? (
        <p>
          There is no queue yet. <Link to="/queues">Make one first.</Link>
        </p>
      ) : (
        <ComboField
          label="Queue"
          value={name}
          onChange={setName}
          options={(data?.data ?? []).map((queue) => queue.name)}
          required
          spellCheck={false}
        />
      )}
    </FormDialog>
  );
}
