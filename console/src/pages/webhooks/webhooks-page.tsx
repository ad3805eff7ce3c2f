import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { post } from '../../api.ts';
import { Ago } from '../../components/ago.tsx';
import { WebhookBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import type { Column } from '../../components/data-table.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import { SelectField } from '../../components/fields.tsx';
import { ListTable } from '../../components/list-table.tsx';
import { PageHead } from '../../components/page.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { EmptyState } from '../../components/states.tsx';
import { TabLinks } from '../../components/tabs.tsx';
import { formatAgo, NONE } from '../../format.ts';
import { useList } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { webhooksRoute } from './routes.ts';
import type { CreateWebhook, Notification, Webhook, WebhookWithSecret } from './types.ts';
import { EMPTY_WEBHOOK, toFields, toHeaders, WebhookFields } from './webhook-form.tsx';

const columns: Column<Webhook>[] = [
  {
    key: 'url',
    header: 'URL',
    width: 'minmax(14rem, 3fr)',
    cell: ({ id, url }) => (
      <Link to="/webhooks/$id" params={{ id }}>
        {url}
      </Link>
    ),
  },
  {
    key: 'status',
    header: 'Status',
    width: '7rem',
    onCard: 'beside',
    cell: (webhook) => <WebhookBadge webhook={webhook} />,
  },
  { key: 'events', header: 'Events', width: 'minmax(12rem, 2fr)', cell: ({ events }) => events.join(', ') },
  {
    key: 'description',
    header: 'Description',
    width: 'minmax(8rem, 2fr)',
    cell: ({ description }) => description ?? <span className="muted">none</span>,
  },
  { key: 'last', header: 'Last delivery', width: '6.5rem', cell: (row) => <Ago time={row.last_delivery_at} /> },
];

export function WebhooksPage() {
  const { tab, status } = webhooksRoute.useSearch();
  const navigate = webhooksRoute.useNavigate();
  const mayWrite = useMay('write');
  const [creating, setCreating] = useState(false);
  return (
    <>
      <PageHead
        title="Webhooks"
        actions={
          mayWrite && (
            <Button look="primary" onClick={() => setCreating(true)}>
              New webhook…
            </Button>
          )
        }
      />
      <TabLinks
        label="Parts of this page"
        current={tab ?? 'webhooks'}
        tabs={[
          { key: 'webhooks', label: 'Webhooks', link: { to: '/webhooks', search: {} } },
          { key: 'notifications', label: 'Notifications', link: { to: '/webhooks', search: { tab: 'notifications' } } },
        ]}
      />
      {tab === 'notifications' ? (
        <Notifications />
      ) : (
        <>
          <search className="filters">
            <SelectField
              label="Status"
              value={status ?? ''}
              onChange={(value) =>
                void navigate({
                  search: value === 'enabled' || value === 'disabled' ? { status: value } : {},
                  replace: true,
                })
              }
              options={[{ value: '', label: 'Any' }, 'enabled', 'disabled']}
            />
          </search>
          <Webhooks status={status} onCreate={mayWrite ? () => setCreating(true) : undefined} />
        </>
      )}
      <CreateDialog open={creating} onClose={() => setCreating(false)} />
    </>
  );
}

function Webhooks({ status, onCreate }: { status: string | undefined; onCreate: (() => void) | undefined }) {
  const list = useList<Webhook>('/webhooks', { status });
  return (
    <ListTable
      list={list}
      what="webhooks"
      label="Webhooks"
      columns={columns}
      rowKey={({ id }) => id}
      empty={
        <EmptyState title={status === undefined ? 'There are no webhooks yet' : 'No webhooks match these filters'}>
          {status === undefined ? (
            <>
              <p>A webhook calls your URL when something happens here.</p>
              {onCreate && <Button onClick={onCreate}>Create the first webhook…</Button>}
            </>
          ) : (
            <Link to="/webhooks" className="button">
              Show all
            </Link>
          )}
        </EmptyState>
      }
    />
  );
}

const notificationColumns: Column<Notification>[] = [
  { key: 'created', header: 'Created', width: '6.5rem', cell: (row) => <Ago time={row.created_at} /> },
  {
    key: 'message',
    header: 'Message',
    width: 'minmax(18rem, 3fr)',
    cell: ({ message }) => <span title={message}>{message}</span>,
  },
  {
    key: 'webhook',
    header: 'Webhook',
    width: '7rem',
    cell: ({ webhook_id }) =>
      webhook_id === null ? (
        NONE
      ) : (
        <Link to="/webhooks/$id" params={{ id: webhook_id }}>
          Show<span className="visually-hidden"> the webhook</span>
        </Link>
      ),
  },
  {
    key: 'email',
    header: 'Email',
    width: 'minmax(10rem, 1fr)',
    cell: ({ email }) =>
      email.sent_at ? `sent ${formatAgo(email.sent_at)}` : (email.error ?? <span className="muted">not sent</span>),
  },
];

function Notifications() {
  const list = useList<Notification>('/notifications');
  return (
    <ListTable
      list={list}
      what="notifications"
      label="Notifications"
      columns={notificationColumns}
      rowKey={({ id }) => id}
      empty={
        <EmptyState title="There are no notifications">
          <p>You are notified when a webhook is disabled because its deliveries failed.</p>
        </EmptyState>
      }
    />
  );
}

function CreateDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const [form, setForm] = useState(EMPTY_WEBHOOK);
  const [created, setCreated] = useState<WebhookWithSecret>();
  const client = useQueryClient();
  const navigate = webhooksRoute.useNavigate();
  const create = async () => {
    const body: CreateWebhook = { ...toFields(form), headers: toHeaders(form.headers) };
    setCreated(await post<WebhookWithSecret>('/webhooks', body));
    setForm(EMPTY_WEBHOOK);
    await client.invalidateQueries({ queryKey: ['webhooks'] });
  };
  return (
    <>
      <FormDialog
        open={open}
        onClose={onClose}
        title="New webhook"
        description="Each call is signed with a secret, which is shown when the webhook has been created."
        submitLabel="Create"
        onSubmit={create}
      >
        <WebhookFields
          value={form}
          onChange={setForm}
          headersHint="One per line, as Name: value. They are stored encrypted and not shown again."
        />
      </FormDialog>
      {created && (
        <SecretDialog
          title="The signing secret"
          secret={created.secret}
          what="secret"
          onClose={() => {
            setCreated(undefined);
            void navigate({ to: '/webhooks/$id', params: { id: created.id } });
          }}
        />
      )}
    </>
  );
}
