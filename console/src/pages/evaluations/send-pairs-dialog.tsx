import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { get, type Page, pathOf, post, put } from '../../api.ts';
import { ComboField } from '../../components/combo-field.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { showToast } from '../../components/toast.tsx';
import { formatNumber } from '../../format.ts';
import { t } from '../../strings.ts';
import type { PutQueue, Queue } from '../queues/types.ts';

/** What a new queue of pairs asks for. */
const PAIRS: PutQueue = { score_names: ['better'], description: 'Which output is better?' };

/** Puts examples whose outputs differ between two runs into a queue, where people say which one is better. */
export function SendPairsDialog({ ids, onClose }: { ids: readonly [string, string]; onClose: () => void }) {
  const { data } = useQuery({
    queryKey: ['queues', 'names'],
    queryFn: ({ signal }) => get<Page<Queue>>('/queues', { limit: 1000 }, signal),
  });
  const names = (data?.data ?? []).map((queue) => queue.name);
  const [typed, setTyped] = useState('');
  const [limit, setLimit] = useState('100');
  const client = useQueryClient();
  const navigate = useNavigate();
  const name = typed.trim();
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Send pairs to a queue"
      description="Reviewers see both outputs of an example side by side, without their runs, and say which one is better. Examples with equal outputs are left out."
      submitLabel="Send"
      canSubmit={name !== '' && data !== undefined}
      onSubmit={async () => {
        if (!names.includes(name)) await put(pathOf('queues', name), PAIRS);
        const { added, present } = await post<{ added: number; present: number }>(`${pathOf('queues', name)}/items`, {
          compared: { evaluation_ids: ids },
          limit: Number(limit),
        });
        await client.invalidateQueries({ queryKey: ['queues'] });
        showToast(
          `${formatNumber(added)} put into ${name}.`,
          present > 0 ? t(`${formatNumber(present)} were already in the queue.`) : undefined,
        );
        await navigate({ to: '/queues/$', params: { _splat: name } });
      }}
    >
      <ComboField
        label="Queue"
        value={typed}
        onChange={setTyped}
        options={names}
        required
        spellCheck={false}
        hint={
          name !== '' && data !== undefined && !names.includes(name)
            ? 'It does not exist, and is created with the score “better”.'
            : undefined
        }
      />
      <TextField
        label="Maximum number"
        type="number"
        min={1}
        max={1000}
        step={1}
        required
        value={limit}
        onChange={setLimit}
        hint="If more examples differ, they are chosen at random."
      />
    </FormDialog>
  );
}
