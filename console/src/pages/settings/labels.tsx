import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { pathOf, put } from '../../api.ts';
import type { LabelRecord } from '../../api-types.ts';
import { LabelBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { TextField } from '../../components/fields.tsx';
import { EmptyState, QueryState } from '../../components/states.tsx';
import { showError, showUndo } from '../../components/toast.tsx';
import { formatNumber } from '../../format.ts';
import { labelsQuery } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { stepsInWords } from '../releases/in-words.ts';

// Loaded lazily with the forms of steps and evaluators, which are rarely needed.
const PolicyDialog = lazy(() =>
  import('./policy-dialog.tsx').then(({ PolicyDialog: dialog }) => ({ default: dialog })),
);

/** Labels, whether moving them needs the scope `publish`, and the steps of their releases. */
export function Labels() {
  const query = useQuery(labelsQuery);
  const client = useQueryClient();
  const isAdmin = useMay('admin');
  const [added, setAdded] = useState('');
  const [edited, setEdited] = useState<LabelRecord>();
  const setProtected = async ({ label, on }: { label: string; on: boolean }) => {
    await put<LabelRecord>(pathOf('labels', label), { protected: on });
    await client.invalidateQueries({ queryKey: ['labels'] });
  };
  const protect = useMutation({
    mutationFn: setProtected,
    onSuccess: (_, { label, on }) =>
      showUndo(on ? `“${label}” is protected.` : `“${label}” is no longer protected.`, () =>
        setProtected({ label, on: !on }),
      ),
    onError: showError,
  });
  const columns: Column<LabelRecord>[] = [
    { key: 'label', header: 'Label', width: 'minmax(8rem, 1fr)', cell: ({ label }) => <LabelBadge label={label} /> },
    {
      key: 'prompts',
      header: 'Prompts',
      width: '7rem',
      alignEnd: true,
      cell: ({ label, prompts }) => (
        <Link to="/prompts" search={{ label }}>
          {formatNumber(prompts)}
          <span className="visually-hidden"> prompts with {label}</span>
        </Link>
      ),
    },
    {
      key: 'protected',
      header: 'Protected',
      width: '7rem',
      cell: (row) =>
        row.protected ? <span className="badge warn">protected</span> : <span className="muted">no</span>,
    },
    {
      key: 'release',
      header: 'Release steps',
      width: 'minmax(14rem, 3fr)',
      cell: ({ release }) =>
        release === null ? (
          <span className="muted">none</span>
        ) : (
          <span title={stepsInWords(release.steps)}>
            {release.required && <span className="badge warn">required</span>} {stepsInWords(release.steps)}
          </span>
        ),
    },
    {
      key: 'actions',
      header: 'Actions',
      width: '16rem',
      cell: (row) =>
        isAdmin && (
          <>
            <Button
              look="small"
              disabled={protect.isPending}
              onClick={() => protect.mutate({ label: row.label, on: !row.protected })}
            >
              {row.protected ? 'Unprotect' : 'Protect'}
              <span className="visually-hidden"> {row.label}</span>
            </Button>{' '}
            <Button look="small" onClick={() => setEdited(row)}>
              Release steps…
              <span className="visually-hidden"> {row.label}</span>
            </Button>
          </>
        ),
    },
  ];
  return (
    <section className="stack" aria-label="Labels">
      <p className="muted">
        A protected label is moved and removed only with the scope “publish” or “admin”. Where its release steps are
        required, it moves only by releases.
      </p>
      <QueryState query={query} what="labels">
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState title="There are no labels yet">
              <p>
                A label such as production points at a version of a prompt. Set the first one in the versions of a
                prompt.
              </p>
              <Link to="/prompts" className="button">
                Open the prompts
              </Link>
            </EmptyState>
          ) : (
            <DataTable label="Labels" rows={data} columns={columns} rowKey={({ label }) => label} />
          )
        }
      </QueryState>
      {edited && (
        <Suspense>
          <PolicyDialog record={edited} onClose={() => setEdited(undefined)} />
        </Suspense>
      )}
      {isAdmin && (
        <form
          className="row"
          onSubmit={(event) => {
            event.preventDefault();
            if (added.trim() !== '')
              protect.mutate({ label: added.trim(), on: true }, { onSuccess: () => setAdded('') });
          }}
        >
          <TextField label="A label that no prompt has yet" value={added} onChange={setAdded} spellCheck={false} />
          <button type="submit" className="button" disabled={protect.isPending}>
            Protect it
          </button>
        </form>
      )}
    </section>
  );
}
