import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { z } from 'zod';
import { SCOPES } from '../../../../clients/typescript/src/generated/values.gen.ts';
import type * as keys from '../../../../src/api/api-keys/schema.ts';
import { pathOf, post, remove } from '../../api.ts';
import { Ago } from '../../components/ago.tsx';
import { Button } from '../../components/button.tsx';
import type { Column } from '../../components/data-table.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import { CheckField, TextField } from '../../components/fields.tsx';
import { ListTable } from '../../components/list-table.tsx';
import { MemberName } from '../../components/member-name.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { useList } from '../../queries.ts';
import { SCOPE_ALLOWS, type Scope, useSession } from '../../shell/session.ts';

type ApiKey = z.output<typeof keys.ApiKey>;

function KeyState({ apiKey: { revoked_at, expires_at } }: { apiKey: ApiKey }) {
  if (revoked_at) return <span className="badge bad">revoked</span>;
  const isExpired = expires_at && Date.parse(expires_at) <= Date.now();
  return isExpired ? <span className="badge bad">expired</span> : <span className="badge good">valid</span>;
}

/** The keys of the workspace, including those of its members. */
export const Keys = () => <KeyTable path="/api-keys" what="Keys" scopes={SCOPES} />;

/**
 * A table of keys with its actions.
 * @param path of the list and its keys
 * @param scopes available for a new key
 */
export function KeyTable({
  path,
  what,
  scopes: offered,
}: {
  path: '/api-keys' | '/me/api-keys';
  what: string;
  scopes: readonly Scope[];
}) {
  const isOwn = path === '/me/api-keys';
  const list = useList<ApiKey>(path);
  const own = useSession()?.key.id;
  const client = useQueryClient();
  const [creating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<ApiKey>();
  const refresh = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ['api-keys'] }),
      client.invalidateQueries({ queryKey: ['me', 'list'] }),
    ]);
  const columns: Column<ApiKey>[] = [
    {
      key: 'name',
      header: 'Name',
      width: 'minmax(10rem, 2fr)',
      cell: ({ id, name, kind, member_id }) => (
        <>
          {name} {id === own && <span className="badge accent">of this session</span>}
          {kind === 'emergency' && <span className="badge bad">emergency</span>}
          {kind === 'personal' && member_id !== null && !isOwn && (
            <span className="badge">
              of <MemberName id={member_id} fallback="a member" />
            </span>
          )}
        </>
      ),
    },
    {
      key: 'state',
      header: 'State',
      width: '6rem',
      onCard: 'beside',
      cell: (row) => <KeyState apiKey={row} />,
    },
    { key: 'scopes', header: 'Scopes', width: 'minmax(10rem, 1fr)', cell: ({ scopes }) => scopes.join(', ') },
    { key: 'used', header: 'Last used', width: '6.5rem', cell: (row) => <Ago time={row.last_used_at} /> },
    {
      key: 'expires',
      header: 'Expires',
      width: '6.5rem',
      cell: (row) => (row.expires_at ? <Ago time={row.expires_at} /> : 'never'),
    },
    { key: 'created', header: 'Created', width: '6.5rem', cell: (row) => <Ago time={row.created_at} /> },
    {
      key: 'actions',
      header: 'Actions',
      width: '7rem',
      cell: (row) =>
        row.revoked_at === null && (
          <Button look="small plain" onClick={() => setRevoking(row)}>
            Revoke…<span className="visually-hidden"> {row.name}</span>
          </Button>
        ),
    },
  ];
  return (
    <section className="stack" aria-label={what}>
      <div>
        <Button look="primary" onClick={() => setCreating(true)}>
          New key…
        </Button>
      </div>
      <ListTable list={list} what="keys" label={what} columns={columns} rowKey={({ id }) => id} />
      <NewKeyDialog
        path={path}
        offered={offered}
        description={
          isOwn
            ? 'A personal key has your permissions, limited to its scopes, and ends with your membership.'
            : 'The key gives access to this workspace, for a program or for a person who signs in here.'
        }
        open={creating}
        onClose={() => setCreating(false)}
        onDone={refresh}
      />
      {revoking && (
        <FormDialog
          open
          onClose={() => setRevoking(undefined)}
          title={`Revoke “${revoking.name}”?`}
          description={
            revoking.id === own
              ? 'It is the key of this session: you will be signed out.'
              : 'Programs that use it stop working immediately, and its sessions end.'
          }
          submitLabel="Revoke"
          danger
          onSubmit={async () => {
            await remove(`${path}${pathOf(revoking.id)}`);
            await refresh();
          }}
        />
      )}
    </section>
  );
}

function NewKeyDialog({
  path,
  offered,
  description,
  open,
  onClose,
  onDone,
}: {
  path: string;
  offered: readonly Scope[];
  description: string;
  open: boolean;
  onClose: () => void;
  onDone: () => Promise<unknown>;
}) {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<Scope[]>(() =>
    (['read', 'execute'] as const).filter((scope) => offered.includes(scope)),
  );
  const [expires, setExpires] = useState('');
  const [key, setKey] = useState<string>();
  const create = async () => {
    const created = await post<{ key: string }>(path, {
      name: name.trim(),
      scopes,
      ...(expires !== '' && { expires_at: new Date(expires).toISOString() }),
    });
    setKey(created.key);
    setName('');
    await onDone();
  };
  return (
    <>
      <FormDialog
        open={open}
        onClose={onClose}
        title="New key"
        description={description}
        submitLabel="Create"
        canSubmit={scopes.length > 0}
        onSubmit={create}
      >
        <TextField
          label="Name"
          value={name}
          onChange={setName}
          required
          maxLength={100}
          hint="The person or program that uses the key."
        />
        <fieldset className="stack">
          <legend>Scopes</legend>
          {SCOPES.filter((scope) => offered.includes(scope)).map((scope) => (
            <CheckField
              key={scope}
              label={
                <span>
                  {scope} <span className="muted">{SCOPE_ALLOWS[scope]}</span>
                </span>
              }
              checked={scopes.includes(scope)}
              onChange={(on) => setScopes(SCOPES.filter((each) => (each === scope ? on : scopes.includes(each))))}
            />
          ))}
        </fieldset>
        <TextField
          label="Expires"
          type="datetime-local"
          value={expires}
          onChange={setExpires}
          hint="Leave empty for no expiry."
        />
      </FormDialog>
      {key && <SecretDialog title="The new key" secret={key} what="key" onClose={() => setKey(undefined)} />}
    </>
  );
}
