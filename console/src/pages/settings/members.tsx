import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { call, pathOf, remove } from '../../api.ts';
import type { Member, Role } from '../../api-types.ts';
import { Ago } from '../../components/ago.tsx';
import { Button } from '../../components/button.tsx';
import type { Column } from '../../components/data-table.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import { SelectField } from '../../components/fields.tsx';
import { FilterField } from '../../components/filter-field.tsx';
import { ListTable } from '../../components/list-table.tsx';
import { EmptyState } from '../../components/states.tsx';
import { showToast, showUndo } from '../../components/toast.tsx';
import { NONE } from '../../format.ts';
import { useList } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import { settingsRoute } from './routes.ts';

const ROLES: Record<Role, string> = {
  viewer: 'viewer: reads',
  runner: t('runner: runs and scores, too'),
  editor: t('editor: changes, too'),
  publisher: t('publisher: moves protected labels, too'),
  admin: 'admin: everything',
};
/** The role from the identity provider. */
const PROVIDER = '';

const BADGES: Record<Member['status'], string> = { active: 'good', suspended: 'bad', removed: '' };

/** A pending change to a member. */
interface Plan {
  member: Member;
  action: 'role' | 'suspend' | 'reinstate' | 'remove';
}

/** The members of the workspace. Only admins can change them. */
export function Members() {
  const { search, status } = settingsRoute.useSearch();
  const navigate = settingsRoute.useNavigate();
  const change = (part: { search?: string | undefined; status?: Member['status'] | undefined }) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true });
  const list = useList<Member>('/members', { search, status });
  const isAdmin = useMay('admin');
  const [plan, setPlan] = useState<Plan>();
  const columns: Column<Member>[] = [
    { key: 'name', header: 'Name', width: 'minmax(10rem, 2fr)', cell: ({ name }) => name },
    { key: 'email', header: 'E-mail', width: 'minmax(12rem, 2fr)', cell: ({ email }) => email ?? NONE },
    {
      key: 'role',
      header: 'Role',
      width: '10rem',
      cell: ({ role, role_set }) => (
        <>
          {role} {role_set !== null && <span className="badge">set here</span>}
        </>
      ),
    },
    {
      key: 'status',
      header: 'Status',
      width: '7rem',
      onCard: 'beside',
      cell: (row) => <span className={`badge ${BADGES[row.status]}`}>{row.status}</span>,
    },
    { key: 'seen', header: 'Last seen', width: '6.5rem', cell: (row) => <Ago time={row.last_seen_at} /> },
    {
      key: 'actions',
      header: 'Actions',
      width: isAdmin ? '21rem' : '8rem',
      cell: (row) => <Actions member={row} isAdmin={isAdmin} onPlan={setPlan} />,
    },
  ];
  const isFiltered = search !== undefined || status !== undefined;
  return (
    <section className="stack" aria-label="Members">
      <p className="muted">
        People become members by signing in with the identity provider, or by its provisioning. Their roles come from
        its groups, unless an admin sets one here.
      </p>
      <search className="filters">
        <FilterField label="Name or e-mail" value={search} onChange={(value) => change({ search: value })} />
        <SelectField
          label="Status"
          value={status ?? ''}
          onChange={(value) =>
            change({ status: value === 'active' || value === 'suspended' || value === 'removed' ? value : undefined })
          }
          options={[{ value: '', label: 'Any' }, 'active', 'suspended', 'removed']}
        />
      </search>
      <ListTable
        list={list}
        what="members"
        label="Members"
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          <EmptyState title={isFiltered ? 'No members match these filters' : 'No members yet'}>
            {isFiltered && (
              <Link to="/settings" search={{ tab: 'members' }} className="button">
                Show all
              </Link>
            )}
          </EmptyState>
        }
      />
      {plan && <PlanDialog plan={plan} onClose={() => setPlan(undefined)} />}
    </section>
  );
}

function Actions({ member, isAdmin, onPlan }: { member: Member; isAdmin: boolean; onPlan: (plan: Plan) => void }) {
  const action = (label: string, which: Plan['action']) => (
    <Button look="small plain" onClick={() => onPlan({ member, action: which })}>
      {label}
      <span className="visually-hidden"> {member.name}</span>
    </Button>
  );
  if (!isAdmin) return NONE;
  return (
    <>
      {member.status !== 'removed' && (
        <>
          {action(t('Role…'), 'role')}
          {member.status === 'active' ? action(t('Suspend…'), 'suspend') : action(t('Reinstate…'), 'reinstate')}
          {action(t('Remove…'), 'remove')}
        </>
      )}
      <Link to="/settings" search={{ tab: 'audit', actor: member.id }} className="button small plain">
        Log<span className="visually-hidden"> of {member.name}</span>
      </Link>
    </>
  );
}

const QUESTIONS = {
  suspend: {
    title: 'Suspend',
    text: 'Sessions end. Personal keys stop working until an admin ends the suspension, regardless of the identity provider.',
  },
  reinstate: { title: 'Reinstate', text: 'Personal keys work again. Ended sessions stay ended.' },
  remove: {
    title: 'Remove',
    text: 'Sessions end and personal keys are revoked immediately. A person to whom the identity provider still gives a role here becomes a member again by signing in: to keep someone out, suspend them.',
  },
} as const;

function PlanDialog({ plan: { member, action }, onClose }: { plan: Plan; onClose: () => void }) {
  const client = useQueryClient();
  const [role, setRole] = useState<string>(member.role_set ?? PROVIDER);
  const path = pathOf('members', member.id);
  const done = async (what: string) => {
    await client.invalidateQueries({ queryKey: ['members'] });
    showToast(what);
  };
  const setRoleTo = async (next: string | null) => {
    await call('PATCH', path, { body: { role: next } });
    await client.invalidateQueries({ queryKey: ['members'] });
  };
  if (action === 'role')
    return (
      <FormDialog
        open
        onClose={onClose}
        title={`Role of ${member.name}`}
        description="Takes effect immediately, including for open sessions and personal keys."
        submitLabel="Change"
        onSubmit={async () => {
          await setRoleTo(role === PROVIDER ? null : role);
          showUndo('The role was changed.', () => setRoleTo(member.role_set));
        }}
      >
        <SelectField
          label="Role"
          value={role}
          onChange={setRole}
          options={[
            { value: PROVIDER, label: 'What the identity provider gives' },
            ...Object.entries(ROLES).map(([value, label]) => ({ value, label })),
          ]}
        />
      </FormDialog>
    );
  const { title, text } = QUESTIONS[action];
  return (
    <FormDialog
      open
      onClose={onClose}
      title={`${title} ${member.name}?`}
      description={text}
      submitLabel={title}
      danger={action !== 'reinstate'}
      onSubmit={async () => {
        if (action === 'remove') await remove(path);
        else await call('PATCH', path, { body: { status: action === 'suspend' ? 'suspended' : 'active' } });
        await done(
          {
            remove: t(`${member.name} was removed.`),
            suspend: t(`${member.name} was suspended.`),
            reinstate: t(`${member.name} was reinstated.`),
          }[action],
        );
      }}
    />
  );
}
