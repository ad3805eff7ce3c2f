import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { pathOf, post } from '../../api.ts';
import { StatusBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { Modal } from '../../components/dialog.tsx';
import { Fact } from '../../components/fact.tsx';
import { QueryState } from '../../components/states.tsx';
import { TemporalLink } from '../../components/temporal-link.tsx';
import { TextView } from '../../components/text-view.tsx';
import { showError, showToast } from '../../components/toast.tsx';
import { formatMs, formatTime } from '../../format.ts';
import { recordQuery } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import type { Delivery, DeliveryWithAttempts } from './types.ts';

const POLL_MS = 2_000;

/** A delivery with each attempt. */
export function DeliveryDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const client = useQueryClient();
  const mayWrite = useMay('write');
  const query = useQuery({
    ...recordQuery<DeliveryWithAttempts>('deliveries', id),
    refetchInterval: ({ state }) =>
      state.data?.status === 'queued' || state.data?.status === 'waiting' ? POLL_MS : false,
  });
  const redeliver = useMutation({
    mutationFn: () => post<Delivery>(`${pathOf('deliveries', id)}/redeliver`),
    async onSuccess() {
      await client.invalidateQueries({ queryKey: ['webhooks'] });
      showToast('The event is being sent again, as a new delivery.');
      onClose();
    },
    onError: showError,
  });
  const sendNow = useMutation({
    mutationFn: () => post<Delivery>(`${pathOf('deliveries', id)}/send-now`),
    async onSuccess() {
      await Promise.all([
        client.invalidateQueries({ queryKey: ['webhooks'] }),
        client.invalidateQueries({ queryKey: ['deliveries'] }),
      ]);
      showToast('The delivery is being sent.');
    },
    onError: showError,
  });
  return (
    <Modal open wide onClose={onClose} title="Delivery" description={id}>
      <QueryState query={query} what="the delivery">
        {(delivery) => (
          <>
            <dl className="facts">
              <Fact label="Status">
                <StatusBadge status={delivery.status} />
              </Fact>
              <Fact label="Event">
                {delivery.event} <span className="muted">{delivery.event_id}</span>
              </Fact>
              <Fact label="Trigger">{delivery.trigger}</Fact>
              {delivery.next_attempt_at && <Fact label="Next attempt">{formatTime(delivery.next_attempt_at)}</Fact>}
            </dl>
            {delivery.status_reason && <p className="notice">{delivery.status_reason}</p>}
            <Attempts attempts={delivery.attempts} />
            {delivery.request_body !== null && (
              <section className="stack" aria-label="Body">
                <h3>Body of the request</h3>
                <TextView text={delivery.request_body} label="body of the request" />
              </section>
            )}
          </>
        )}
      </QueryState>
      <div className="dialog-actions">
        <TemporalLink workflowId={query.data?.workflow_id} />
        {mayWrite && query.data?.status === 'waiting' && (
          <Button look="primary" disabled={sendNow.isPending} onClick={() => sendNow.mutate()}>
            Send now
          </Button>
        )}
        {mayWrite && query.data && mayBeSentAgain(query.data) && (
          <Button disabled={redeliver.isPending} onClick={() => redeliver.mutate()}>
            Send again
          </Button>
        )}
        <Button onClick={onClose}>Close</Button>
      </div>
    </Modal>
  );
}

/** A test is repeated as a new test, and a waiting delivery is sent now. */
const mayBeSentAgain = ({ trigger, status }: Delivery) =>
  trigger !== 'test' && status !== 'queued' && status !== 'waiting';

type Attempt = DeliveryWithAttempts['attempts'][number];

/** The sent request, for comparison with what the receiver got. */
function SentRequest({ request, attempt }: { request: NonNullable<Attempt['request']>; attempt: number }) {
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <details>
      <summary>
        Request<span className="visually-hidden"> of attempt {attempt}</span>
      </summary>
      <TextView text={[`POST ${request.url}`, ...headers].join('\n')} label={`request of attempt ${attempt}`} />
    </details>
  );
}

function Attempts({ attempts }: { attempts: DeliveryWithAttempts['attempts'] }) {
  if (attempts.length === 0) return <p className="muted">No attempt has ended yet.</p>;
  return (
    <ol className="stack" aria-label="Attempts">
      {attempts.map(({ attempt, started_at, request, status, duration_ms, error, response_body }) => (
        <li key={attempt} className="card">
          <h3>
            Attempt {attempt}{' '}
            <span className={`badge ${error === null ? 'good' : 'bad'}`}>{status ?? 'no response'}</span>
          </h3>
          <p className="muted">
            {formatTime(started_at)}, {formatMs(duration_ms)}
          </p>
          {error && <p className="field-error">{error}</p>}
          {response_body && <TextView text={response_body} label={`response to attempt ${attempt}`} />}
          {request && <SentRequest request={request} attempt={attempt} />}
        </li>
      ))}
    </ol>
  );
}
