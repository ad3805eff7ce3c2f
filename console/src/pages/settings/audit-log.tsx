import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Ago } from '../../components/ago.tsx';
import { Button } from '../../components/button.tsx';
import type { Column } from '../../components/data-table.tsx';
import { Modal } from '../../components/dialog.tsx';
import { SelectField } from '../../components/fields.tsx';
import { FilterField } from '../../components/filter-field.tsx';
import { ListTable } from '../../components/list-table.tsx';
import { NameText } from '../../components/name-text.tsx';
import { EmptyState } from '../../components/states.tsx';
import { JsonView } from '../../components/text-view.tsx';
import { dayStart, NONE } from '../../format.ts';
import { AUDIT_ACTIONS } from '../../generated/audit-actions.ts';
import { useList } from '../../queries.ts';
import { Actor, type AuditEntry, AuditWords } from './audit-words.tsx';
import { settingsRoute } from './routes.ts';

/** Who changed what, and when. */
export function AuditLog() {
  const search = settingsRoute.useSearch();
  const navigate = settingsRoute.useNavigate();
  const { actor, action, resource, since, until } = search;
  const change = (part: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true });
  const list = useList<AuditEntry>('/audit-log', {
    actor,
    action,
    resource,
    since: dayStart(since),
    until: dayStart(until, 1),
  });
  const [open, setOpen] = useState<AuditEntry>();
  const only = (part: Partial<typeof search>) => {
    setOpen(undefined);
    change(part);
  };
  const columns: Column<AuditEntry>[] = [
    {
      key: 'time',
      header: 'When',
      width: '6.5rem',
      cell: (row) => (
        <Button look="small plain" onClick={() => setOpen(row)}>
          <Ago time={row.created_at} />
        </Button>
      ),
    },
    { key: 'actor', header: 'Who', width: 'minmax(9rem, 1fr)', cell: (row) => <Actor {...row} /> },
    { key: 'action', header: 'What', width: 'minmax(12rem, 2fr)', onCard: 'title', cell: AuditWords },
    {
      key: 'resource',
      header: 'Of',
      width: 'minmax(10rem, 2fr)',
      cell: ({ resource: { type, id } }) => <NameText name={`${type.replaceAll('_', ' ')} ${id}`} />,
    },
    { key: 'address', header: 'From', width: '7rem', cell: (row) => row.address ?? NONE },
  ];
  const isFiltered = [actor, action, resource, since, until].some((value) => value !== undefined);
  return (
    <section className="stack" aria-label="Audit log">
      <search className="filters">
        <SelectField
          label="What"
          value={action ?? ''}
          onChange={(value) => change({ action: value === '' ? undefined : value })}
          options={[{ value: '', label: 'Anything' }, ...AUDIT_ACTIONS]}
        />
        <FilterField
          label="Resource, such as prompt:name"
          value={resource}
          onChange={(value) => change({ resource: value })}
        />
        <FilterField
          label="Actor: id of a member, key or session"
          value={actor}
          onChange={(value) => change({ actor: value })}
        />
        <FilterField label="From" type="date" value={since} onChange={(value) => change({ since: value })} />
        <FilterField label="To" type="date" value={until} onChange={(value) => change({ until: value })} />
      </search>
      <ListTable
        list={list}
        what="the audit log"
        label="Audit log"
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          <EmptyState title={isFiltered ? 'No entries match these filters' : 'No changes yet'}>
            {isFiltered && (
              <Link to="/settings" search={{ tab: 'audit' }} className="button">
                Show all
              </Link>
            )}
          </EmptyState>
        }
      />
      {open && (
        <Modal open wide onClose={() => setOpen(undefined)} title={open.action} description={open.id}>
          <JsonView value={open} label="entry" />
          <div className="dialog-actions">
            <Button onClick={() => only({ resource: `${open.resource.type}:${open.resource.id}` })}>
              Only this {open.resource.type}
            </Button>
            {open.actor.member_id && (
              <Button onClick={() => only({ actor: open.actor.member_id ?? undefined })}>Only by this member</Button>
            )}
            {open.actor.key_id && (
              <Button onClick={() => only({ actor: open.actor.key_id ?? undefined })}>Only by this key</Button>
            )}
            <Button onClick={() => setOpen(undefined)}>Close</Button>
          </div>
        </Modal>
      )}
    </section>
  );
}
