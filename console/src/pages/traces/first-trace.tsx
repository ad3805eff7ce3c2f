import { Link } from '@tanstack/react-router';
import { TextView } from '../../components/text-view.tsx';
import { useMay } from '../../shell/session.ts';

/** Environment variables for any program with OpenTelemetry. */
const settings = () => `export OTEL_SERVICE_NAME=my-agent
export OTEL_EXPORTER_OTLP_ENDPOINT=${window.location.origin}
export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
export OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20$PMS_API_KEY"`;

/** How to send the first trace. */
export function FirstTrace() {
  const isAdmin = useMay('admin');
  return (
    <div className="stack first-trace">
      <TextView text={settings()} label="settings" />
      <p>
        The key needs only the scope <code>ingest</code>.{' '}
        {isAdmin && (
          <>
            <Link to="/settings">Create one.</Link>{' '}
          </>
        )}
        <a href="/docs/guides/traces">How to send traces from each framework</a>
      </p>
    </div>
  );
}
