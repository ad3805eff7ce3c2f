import { useMutation, useQueryClient } from '@tanstack/react-query';
import { pathOf, remove } from '../../api.ts';
import type { Session } from '../../api-types.ts';
import { Ago } from '../../components/ago.tsx';
import { Button } from '../../components/button.tsx';
import type { Column } from '../../components/data-table.tsx';
import { ListTable } from '../../components/list-table.tsx';
import { showError, showToast } from '../../components/toast.tsx';
import { useList } from '../../queries.ts';

/** Who is signed in. */
export function Sessions() {
  const list = useList<Session>('/sessions');
  const client = useQueryClient();
  const end = useMutation({
    mutationFn: ({ id }: Session) => remove(pathOf('sessions', id)),
    async onSuccess() {
      // If it was the current session, the console asks for a new sign-in.
      await Promise.all([
        client.invalidateQueries({ queryKey: ['sessions'] }),
        client.invalidateQueries({ queryKey: ['session'] }),
      ]);
      showToast('The session was ended.');
    },
    onError: showError,
  });
  const columns: Column<Session>[] = [
    {
      key: 'key',
      header: 'Key',
      width: 'minmax(9rem, 1fr)',
      cell: ({ key, is_current }) => (
        <>
          {key.name} {is_current && <span className="badge accent">current</span>}
        </>
      ),
    },
    { key: 'address', header: 'Address', width: 'minmax(8rem, 1fr)', cell: ({ address }) => address },
    {
      key: 'browser',
      header: 'Browser',
      width: 'minmax(12rem, 2fr)',
      cell: ({ user_agent }) => <span title={user_agent ?? ''}>{user_agent ?? 'unknown'}</span>,
    },
    { key: 'created', header: 'Signed in', width: '6.5rem', cell: (row) => <Ago time={row.created_at} /> },
    { key: 'used', header: 'Last used', width: '6.5rem', cell: (row) => <Ago time={row.last_used_at} /> },
    { key: 'expires', header: 'Expires', width: '6.5rem', cell: (row) => <Ago time={row.expires_at} /> },
    {
      key: 'actions',
      header: 'Actions',
      width: '6rem',
      cell: (row) => (
        <Button look="small" disabled={end.isPending} onClick={() => end.mutate(row)}>
          End<span className="visually-hidden"> the session of {row.key.name}</span>
        </Button>
      ),
    },
  ];
  return (
    <section className="stack" aria-label="Sessions">
      <p className="muted">With the scope “admin” all sessions of the workspace, otherwise those of the same key.</p>
      <ListTable list={list} what="sessions" label="Sessions" columns={columns} rowKey={({ id }) => id} />
    </section>
  );
}
