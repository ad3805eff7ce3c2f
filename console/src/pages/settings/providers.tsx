import { useMutation, useQuery } from '@tanstack/react-query';
import { pathOf, post } from '../../api.ts';
import type { Provider } from '../../api-types.ts';
import { Button } from '../../components/button.tsx';
import { ErrorState, QueryState } from '../../components/states.tsx';
import { formatMs, plural } from '../../format.ts';
import { providersQuery } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';

interface ProviderTest {
  ok: boolean;
  latency_ms: number;
  models: number | null;
  error: { code: string; message: string } | null;
}

/** Which providers can be called, what the others lack, and whether they respond. */
export function Providers() {
  const query = useQuery(providersQuery);
  return (
    <section className="stack" aria-label="Providers">
      <p className="muted">
        The operator of the service configures providers with environment variables. A test asks a provider for the list
        of its models: that costs nothing.
      </p>
      <QueryState query={query} what="the providers">
        {({ data }) => (
          <ul className="grid-2">
            {data.map((provider) => (
              <li key={provider.provider} className="card">
                <ProviderCard provider={provider} />
              </li>
            ))}
          </ul>
        )}
      </QueryState>
    </section>
  );
}

function modelsInWords(provider: string, listed: number): string {
  if (provider === 'sandbox')
    return t(`${plural(listed, 'model', 'models')} of the service itself, which cost nothing.`);
  if (listed === 0) return t('Any model of this provider, by name.');
  return t(`${plural(listed, 'model', 'models')} with a known price, and any other by its name.`);
}

function ProviderCard({ provider: { provider, is_configured, setting, has_batches, models } }: { provider: Provider }) {
  const isAdmin = useMay('admin');
  const test = useMutation({ mutationFn: () => post<ProviderTest>(`${pathOf('providers', provider)}/test`) });
  return (
    <div className="stack">
      <div className="row">
        <h2>{provider}</h2>
        <span className={`badge ${is_configured ? 'good' : ''}`}>
          {is_configured ? 'configured' : 'not configured'}
        </span>
      </div>
      {is_configured ? (
        <p className="muted">
          {modelsInWords(provider, models.length)}
          {has_batches && ' Evaluations can call them in batches.'}
        </p>
      ) : (
        setting !== null && (
          <p>
            <code>{setting}</code> is missing. Set it in the environment of the service, and restart it.
          </p>
        )
      )}
      {is_configured && isAdmin && (
        <div className="row">
          <Button disabled={test.isPending} onClick={() => test.mutate()}>
            {test.isPending ? 'Testing…' : 'Test'}
            <span className="visually-hidden"> {provider}</span>
          </Button>
          {test.data?.ok && (
            <span role="status" className="badge good">
              answered in {formatMs(test.data.latency_ms)}
              {test.data.models !== null && `, ${plural(test.data.models, 'model', 'models')}`}
            </span>
          )}
        </div>
      )}
      {test.data?.error && (
        <p role="alert" className="notice bad">
          {test.data.error.message}
        </p>
      )}
      {test.error && <ErrorState error={test.error} />}
    </div>
  );
}
