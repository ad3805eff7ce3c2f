import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { z } from 'zod';
import type * as devices from '../../../../src/api/devices/schema.ts';
import { call, get, pathOf, post } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Fact } from '../../components/fact.tsx';
import { CheckField, SelectField, TextField } from '../../components/fields.tsx';
import { PageHead } from '../../components/page.tsx';
import { ErrorState, Loading } from '../../components/states.tsx';
import { formatAgo, formatTime } from '../../format.ts';
import { knownScopes, SCOPE_ALLOWS, type Scope, useSession } from '../../shell/session.ts';
import { deviceRoute } from './routes.ts';

type Device = z.output<typeof devices.DeviceAuthorization>;

const DAYS = ['1', '7', '30', '90', '365'].map((value) => ({
  value,
  label: value === '1' ? '1 day' : `${value} days`,
}));

/** The address can contain anything: only a valid code becomes part of a request path. */
const CODE = /^[a-z]{4}-?[a-z]{4}$/i;

/** A signed-in user approves or denies a key for a program. */
export function DevicePage() {
  const { code } = deviceRoute.useSearch();
  return (
    <>
      <PageHead title="Sign in a program" />
      {code === undefined ? (
        <CodeForm />
      ) : CODE.test(code) ? (
        <Decision key={code} code={code} />
      ) : (
        <NoSuchCode error={new Error('No request has this code. Check it: it has eight letters.')} />
      )}
    </>
  );
}

function NoSuchCode({ error }: { error: Error }) {
  return (
    <section className="stack">
      <ErrorState error={error} />
      <CodeForm />
    </section>
  );
}

function CodeForm() {
  const navigate = useNavigate();
  const [code, setCode] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (code.trim() !== '') void navigate({ to: '/device', search: { code: code.trim() } });
  };
  return (
    <form className="card device" onSubmit={submit}>
      <TextField
        label="Code"
        hint="The program shows it: eight letters. Type only a code that you requested yourself."
        value={code}
        onChange={setCode}
        autoComplete="off"
        autoCapitalize="characters"
        spellCheck={false}
        required
      />
      <div>
        <button type="submit" className="button primary">
          Continue
        </button>
      </div>
    </form>
  );
}

function Decision({ code }: { code: string }) {
  const path = `/device${pathOf('authorizations', code)}`;
  const device = useQuery({
    queryKey: ['device', code],
    queryFn: ({ signal }) => get<Device>(path, undefined, signal),
    // Each lookup counts as an attempt.
    retry: false,
    refetchOnWindowFocus: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const [decided, setDecided] = useState<Device>();
  const found = decided ?? device.data;
  if (found === undefined) return device.error ? <NoSuchCode error={device.error} /> : <Loading what="the request" />;
  if (found.status !== 'pending') return <Decided device={found} />;
  return <Approval path={path} code={code} device={found} onDecided={setDecided} />;
}

function Decided({ device: { client, status, key } }: { device: Device }) {
  return (
    <div className="card device" role="status">
      <h2>{status === 'approved' ? 'Approved' : 'Denied'}</h2>
      {status === 'approved' ? (
        <p>
          <strong>{client}</strong> now has its key: return to it. The key expires on {formatTime(key?.expires_at)};{' '}
          <code>pms logout</code> revokes it earlier.
        </p>
      ) : (
        <p>
          <strong>{client}</strong> does not get a key.
        </p>
      )}
    </div>
  );
}

function Approval({
  path,
  code,
  device,
  onDecided,
}: {
  path: string;
  code: string;
  device: Device;
  onDecided: (device: Device) => void;
}) {
  const session = useSession();
  const offered = knownScopes(device.key?.scopes ?? []);
  const [scopes, setScopes] = useState<readonly Scope[]>(offered);
  const [days, setDays] = useState('90');
  const decide = useMutation({
    mutationFn: (decision: 'approve' | 'deny') =>
      decision === 'approve'
        ? post<Device>(`${path}/approve`, { scopes, expires_in_days: Number(days) })
        : call<Device>('POST', `${path}/deny`),
    onSuccess: onDecided,
  });
  const toggle = (scope: Scope, checked: boolean) =>
    setScopes(offered.filter((each) => (each === scope ? checked : scopes.includes(each))));
  return (
    <form
      className="card device"
      aria-label="Request"
      onSubmit={(event) => {
        event.preventDefault();
        decide.mutate('approve');
      }}
    >
      <p>
        A program asks for a key of the workspace <strong>{session?.workspace.name}</strong>, to act{' '}
        {device.key?.kind === 'personal' ? (
          <>
            as <strong>{session?.key.name}</strong>
          </>
        ) : (
          <>
            like the key <strong>{session?.key.name}</strong>
          </>
        )}
        .
      </p>
      <dl className="facts">
        <Fact label="Code">
          <code>{code.toUpperCase()}</code>
        </Fact>
        <Fact label="Program (as reported)">{device.client}</Fact>
        <Fact label="Address of the program">{device.address}</Fact>
        <Fact label="Requested">
          {formatAgo(device.created_at)} ({formatTime(device.created_at)})
        </Fact>
      </dl>
      <p className="notice warn">
        Approve only what you have started yourself, just now, and only if it shows this very code. If someone sent you
        a code or a link to this page, approving it lets them into your workspace.
      </p>
      <fieldset className="stack">
        <legend>Its permissions</legend>
        {offered.map((scope) => (
          <CheckField
            key={scope}
            label={
              <span>
                <strong>{scope}</strong>: {SCOPE_ALLOWS[scope]}
              </span>
            }
            checked={scopes.includes(scope)}
            onChange={(checked) => toggle(scope, checked)}
          />
        ))}
      </fieldset>
      <SelectField
        label="Key validity"
        hint={device.key?.expires_at ? `On ${formatTime(device.key.expires_at)} at the latest.` : undefined}
        value={days}
        onChange={setDays}
        options={DAYS}
      />
      {decide.error && <ErrorState error={decide.error} />}
      <div className="row">
        <button type="submit" className="button primary" disabled={decide.isPending || scopes.length === 0}>
          Approve
        </button>
        <Button disabled={decide.isPending} onClick={() => decide.mutate('deny')}>
          Deny
        </Button>
      </div>
    </form>
  );
}
