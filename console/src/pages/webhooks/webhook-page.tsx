import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, linkOptions } from '@tanstack/react-router';
import { EVENT_TYPES } from '../../../../clients/typescript/src/generated/values.gen.ts';
import { pathOf, post } from '../../api.ts';
import { Ago } from '../../components/ago.tsx';
import { StatusBadge, WebhookBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import type { Column } from '../../components/data-table.tsx';
import { Fact } from '../../components/fact.tsx';
import { Failures } from '../../components/failures.tsx';
import { SelectField } from '../../components/fields.tsx';
import { ListTable } from '../../components/list-table.tsx';
import { RecordPage } from '../../components/record-page.tsx';
import { Section } from '../../components/section.tsx';
import { EmptyState } from '../../components/states.tsx';
import { showError, showToast } from '../../components/toast.tsx';
import { formatNumber, formatTime, plural } from '../../format.ts';
import { recordQuery, useList } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import { DeliveryDialog } from './delivery-dialog.tsx';
import { DELIVERY_STATES, webhookRoute } from './routes.ts';
import type { Delivery, Webhook } from './types.ts';
import { WebhookActions } from './webhook-actions.tsx';

/** Maximum number of waiting deliveries that are sent. */
const MOST_SENT = 100;
/** How far back undelivered events are sent again. */
const RESENT_MS = 7 * 86_400_000;

const columns: Column<Delivery>[] = [
  {
    key: 'created',
    header: 'Created',
    width: '6.5rem',
    cell: ({ id, created_at }) => (
      <Link from="/webhooks/$id" search={(before) => ({ ...before, delivery: id })} resetScroll={false}>
        <Ago time={created_at} />
      </Link>
    ),
  },
  {
    key: 'status',
    header: 'Status',
    width: '7rem',
    onCard: 'beside',
    cell: ({ status }) => <StatusBadge status={status} />,
  },
  { key: 'event', header: 'Event', width: 'minmax(12rem, 1fr)', cell: ({ event }) => event },
  { key: 'trigger', header: 'Trigger', width: '7rem', cell: ({ trigger }) => trigger },
  {
    key: 'attempts',
    header: 'Attempts',
    width: '5.5rem',
    alignEnd: true,
    cell: (row) => formatNumber(row.attempts_made),
  },
  { key: 'reason', header: 'Reason', width: 'minmax(10rem, 2fr)', cell: ({ status_reason }) => status_reason },
  { key: 'next', header: 'Next attempt', width: '6.5rem', cell: (row) => <Ago time={row.next_attempt_at} /> },
];

export function WebhookPage() {
  const { id } = webhookRoute.useParams();
  const query = useQuery(recordQuery<Webhook>('webhooks', id));
  return (
    <RecordPage
      title={query.data?.url ?? 'Webhook'}
      list={{ to: '/webhooks', label: 'Webhooks', back: 'Back to webhooks' }}
      id={id}
      note={query.data?.description && <p className="muted">{query.data.description}</p>}
      actions={query.data && <WebhookActions webhook={query.data} />}
      missing="There is no such webhook"
      query={query}
      what="the webhook"
    >
      {(webhook) => (
        <>
          <Facts webhook={webhook} />
          <Deliveries id={id} />
        </>
      )}
    </RecordPage>
  );
}

/** That deliveries fail, and how to send what is missing. */
function Failing({ webhook: { id, status, consecutive_failures: failures } }: { webhook: Webhook }) {
  const client = useQueryClient();
  const mayWrite = useMay('write');
  const waiting = useList<Delivery>(`${pathOf('webhooks', id)}/deliveries`, {
    status: 'waiting',
    limit: MOST_SENT,
  }).data;
  const resend = useMutation({
    async mutationFn() {
      const due = waiting ?? [];
      for (const delivery of due) await post<Delivery>(`${pathOf('deliveries', delivery.id)}/send-now`);
      const { replayed } = await post<{ replayed: number }>(`${pathOf('webhooks', id)}/replay`, {
        since: new Date(Date.now() - RESENT_MS).toISOString(),
        undelivered_only: true,
      });
      return due.length + replayed;
    },
    onSuccess: (sent) => showToast(`${plural(sent, 'event is', 'events are')} being sent again.`),
    onError: showError,
    onSettled: () => client.invalidateQueries({ queryKey: ['webhooks'] }),
  });
  if (status !== 'enabled' || failures === 0) return null;
  return (
    <Failures
      title={plural(failures, 'attempt in a row failed', 'attempts in a row failed')}
      causes={[...Map.groupBy(waiting ?? [], ({ status_reason }) => status_reason)].flatMap(([reason, { length }]) =>
        reason === null ? [] : [{ code: t('waiting'), message: reason, count: length }],
      )}
      open={linkOptions({
        to: '/webhooks/$id',
        params: { id },
        search: { status: waiting?.length === 0 ? 'failed' : 'waiting' },
      })}
    >
      {mayWrite && (
        <Button look="small" disabled={resend.isPending} onClick={() => resend.mutate()}>
          Send all now
        </Button>
      )}
    </Failures>
  );
}

function Facts({ webhook }: { webhook: Webhook }) {
  const { status, disabled_reason, header_names, previous_secret_expires_at } = webhook;
  return (
    <>
      {status === 'disabled' && (
        <p className="notice bad">
          <strong>Disabled</strong> {disabled_reason ?? 'The reason is unknown.'}
        </p>
      )}
      <Failing webhook={webhook} />
      <dl className="facts">
        <Fact label="Status">
          <WebhookBadge webhook={webhook} />
        </Fact>
        <Fact label="Events">{webhook.events.join(', ')}</Fact>
        <Fact label="Failures in a row">{formatNumber(webhook.consecutive_failures)}</Fact>
        <Fact label="Limit">
          {webhook.rate_limit_per_minute === null ? 'none' : `${webhook.rate_limit_per_minute} per minute`}
        </Fact>
        <Fact label="Custom headers">
          {header_names === null ? 'cannot be decrypted' : header_names.length === 0 ? 'none' : header_names.join(', ')}
        </Fact>
        <Fact label="Last delivery">{formatTime(webhook.last_delivery_at)}</Fact>
        {previous_secret_expires_at && (
          <Fact label="The previous secret signs until">{formatTime(previous_secret_expires_at)}</Fact>
        )}
      </dl>
    </>
  );
}

function Deliveries({ id }: { id: string }) {
  const search = webhookRoute.useSearch();
  const navigate = webhookRoute.useNavigate();
  const { status, event, delivery } = search;
  const change = (part: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...part }), replace: true, resetScroll: false });
  const list = useList<Delivery>(`${pathOf('webhooks', id)}/deliveries`, { status, event });
  const isFiltered = status !== undefined || event !== undefined;
  return (
    <Section id="deliveries" title="Deliveries">
      <search className="filters">
        <SelectField
          label="Status"
          value={status ?? ''}
          onChange={(value) => change({ status: DELIVERY_STATES.find((each) => each === value) })}
          options={[{ value: '', label: 'Any' }, ...DELIVERY_STATES]}
        />
        <SelectField
          label="Event"
          value={event ?? ''}
          onChange={(value) => change({ event: EVENT_TYPES.find((each) => each === value) })}
          options={[{ value: '', label: 'Any' }, ...EVENT_TYPES]}
        />
        <Button onClick={() => void list.refetch()}>Refresh</Button>
      </search>
      <ListTable
        list={list}
        what="deliveries"
        label="Deliveries"
        columns={columns}
        rowKey={(row) => row.id}
        empty={
          <EmptyState title={isFiltered ? 'No deliveries match these filters' : 'No deliveries yet'}>
            {isFiltered ? (
              <Link from="/webhooks/$id" search={{}} className="button">
                Show all
              </Link>
            ) : (
              <p>Send a test above to see one.</p>
            )}
          </EmptyState>
        }
      />
      {delivery !== undefined && <DeliveryDialog id={delivery} onClose={() => change({ delivery: undefined })} />}
    </Section>
  );
}
