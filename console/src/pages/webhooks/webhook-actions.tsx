import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { patch, pathOf, post } from '../../api.ts';
import { Button, DialogButton } from '../../components/button.tsx';
import { DeleteButton } from '../../components/delete-button.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import { CheckField, TextField } from '../../components/fields.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { showError, showToast, showUndo } from '../../components/toast.tsx';
import { plural } from '../../format.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import { webhookRoute } from './routes.ts';
import type { DeliveryWithAttempts, UpdateWebhook, Webhook, WebhookWithSecret } from './types.ts';
import { formOf, toFields, toHeaders, WebhookFields } from './webhook-form.tsx';

/** The actions for a webhook. */
export function WebhookActions({ webhook }: { webhook: Webhook }) {
  const { id } = webhook;
  const isEnabled = webhook.status === 'enabled';
  const client = useQueryClient();
  const navigate = webhookRoute.useNavigate();
  const [secret, setSecret] = useState<string>();
  const refresh = () => client.invalidateQueries({ queryKey: ['webhooks'] });
  const setEnabled = async (action: 'enable' | 'disable') => {
    await post<Webhook>(`${pathOf('webhooks', id)}/${action}`);
    await refresh();
  };
  const control = useMutation({
    mutationFn: setEnabled,
    onSuccess: (_, action) =>
      action === 'disable'
        ? showUndo(
            'The webhook was disabled.',
            () => setEnabled('enable'),
            t('Pending deliveries were abandoned: Replay… sends their events again.'),
          )
        : showUndo('The webhook was enabled.', () => setEnabled('disable')),
    onError: showError,
  });
  const test = useMutation({
    mutationFn: () => post<DeliveryWithAttempts>(`${pathOf('webhooks', id)}/test`),
    async onSuccess(delivery) {
      await refresh();
      await navigate({ search: (before) => ({ ...before, delivery: delivery.id }), resetScroll: false });
    },
    onError: showError,
  });
  if (!useMay('write')) return null;
  return (
    <>
      {isEnabled && (
        <>
          <Button disabled={test.isPending} onClick={() => test.mutate()}>
            {test.isPending ? 'Sending…' : 'Send a test'}
          </Button>
          <DialogButton label="Replay…" dialog={(close) => <ReplayDialog id={id} onClose={close} onDone={refresh} />} />
        </>
      )}
      <button
        type="button"
        className={isEnabled ? 'button' : 'button primary'}
        disabled={control.isPending}
        onClick={() => control.mutate(isEnabled ? 'disable' : 'enable')}
      >
        {isEnabled ? 'Disable' : 'Enable'}
      </button>
      <DialogButton
        label="Edit…"
        dialog={(close) => <EditDialog webhook={webhook} onClose={close} onDone={refresh} />}
      />
      <DialogButton
        label="Rotate secret…"
        dialog={(close) => (
          <FormDialog
            open
            onClose={close}
            title="Rotate the signing secret?"
            description="Requests are signed with the old one, too, for 24 hours."
            submitLabel="Rotate"
            onSubmit={async () => {
              const rotated = await post<WebhookWithSecret>(`${pathOf('webhooks', id)}/rotate-secret`);
              setSecret(rotated.secret);
              await refresh();
            }}
          />
        )}
      />
      <DeleteButton
        resource="webhooks"
        id={id}
        title="Delete this webhook?"
        description="Pending deliveries are abandoned."
        done="The webhook was deleted."
        onDeleted={() => navigate({ to: '/webhooks' })}
      />
      {secret && (
        <SecretDialog
          title="The new signing secret"
          secret={secret}
          what="secret"
          onClose={() => setSecret(undefined)}
        />
      )}
    </>
  );
}

interface DialogProps {
  onClose: () => void;
  onDone: () => Promise<unknown>;
}

function EditDialog({ webhook, onClose, onDone }: DialogProps & { webhook: Webhook }) {
  const [form, setForm] = useState(() => formOf(webhook));
  const save = async () => {
    const changes: UpdateWebhook = {
      ...toFields(form),
      ...(form.headers.trim() !== '' && { headers: toHeaders(form.headers) }),
    };
    await patch<Webhook>(pathOf('webhooks', webhook.id), changes);
    await onDone();
  };
  return (
    <FormDialog open onClose={onClose} title="Edit the webhook" submitLabel="Save" onSubmit={save}>
      <WebhookFields
        value={form}
        onChange={setForm}
        headersHint="One per line, as Name: value. They replace all current ones; leave empty to keep those."
      />
    </FormDialog>
  );
}

const HOUR_MS = 3_600_000;

/** A time in the format of its field, in the zone of the browser. */
function localTime(date: Date): string {
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function ReplayDialog({ id, onClose, onDone }: DialogProps & { id: string }) {
  const [since, setSince] = useState(() => localTime(new Date(Date.now() - 24 * HOUR_MS)));
  const [until, setUntil] = useState('');
  const [undelivered, setUndelivered] = useState(true);
  const replay = async () => {
    const { replayed } = await post<{ replayed: number }>(`${pathOf('webhooks', id)}/replay`, {
      since: new Date(since).toISOString(),
      ...(until !== '' && { until: new Date(until).toISOString() }),
      undelivered_only: undelivered,
    });
    await onDone();
    showToast(`${plural(replayed, 'event is', 'events are')} being sent again.`);
  };
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Replay events"
      description="Sends the events of a time range again, as new deliveries."
      submitLabel="Replay"
      onSubmit={replay}
    >
      <TextField label="From" type="datetime-local" value={since} onChange={setSince} required />
      <TextField label="Until" type="datetime-local" value={until} onChange={setUntil} hint="Leave empty for now." />
      <CheckField label="Only undelivered events" checked={undelivered} onChange={setUndelivered} />
    </FormDialog>
  );
}
