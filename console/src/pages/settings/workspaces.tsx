import { useQuery } from '@tanstack/react-query';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Fact } from '../../components/fact.tsx';
import { QueryState } from '../../components/states.tsx';
import { meQuery } from '../../queries.ts';
import { useSession } from '../../shell/session.ts';
import { useSwitchWorkspace } from '../../shell/switch-workspace.ts';

interface Row {
  name: string;
  role: string;
}

/** The workspace of the session with its permissions, and the user's other workspaces. */
export function Workspaces() {
  const query = useQuery(meQuery);
  const session = useSession();
  const switchTo = useSwitchWorkspace();
  const current = session?.workspace.name;
  const columns: Column<Row>[] = [
    {
      key: 'name',
      header: 'Workspace',
      width: 'minmax(10rem, 2fr)',
      cell: ({ name }) => (
        <>
          {name} {name === current && <span className="badge accent">current</span>}
        </>
      ),
    },
    { key: 'role', header: 'Your role', width: 'minmax(8rem, 1fr)', cell: ({ role }) => role },
    {
      key: 'actions',
      header: 'Actions',
      width: '8rem',
      cell: ({ name }) =>
        name !== current && (
          <Button look="small" onClick={() => switchTo(name)}>
            Switch<span className="visually-hidden"> to {name}</span>
          </Button>
        ),
    },
  ];
  return (
    <section className="stack" aria-label="Workspaces">
      <p className="muted">
        A workspace has its own prompts, runs, keys and members, and shares nothing with other workspaces. The operator
        of the service creates and removes them.
      </p>
      <QueryState query={query} what="your workspaces">
        {({ workspace, role, scopes, member }) => (
          <>
            <dl className="facts">
              <Fact label="Current workspace">{workspace.name}</Fact>
              <Fact label="Signed in as">{member?.name ?? `the key ${session?.key.name ?? ''}`}</Fact>
              {role !== null && <Fact label="Your role">{role}</Fact>}
              <Fact label="Scopes">{scopes.join(', ')}</Fact>
            </dl>
            {session && session.workspaces.length > 0 ? (
              <DataTable label="Workspaces" rows={session.workspaces} columns={columns} rowKey={({ name }) => name} />
            ) : (
              <p className="notice">
                This session was started with a key, which opens only this workspace. To open another one, sign out and
                sign in with a key of that workspace.
              </p>
            )}
          </>
        )}
      </QueryState>
    </section>
  );
}
