import type { Logger } from 'pino';
import { isTelemetryOn, type StopTelemetry, type TelemetrySettings } from './settings.ts';

/**
 * Starts sending traces and metrics as the `OTEL_*` variables specify. Data waits in a bounded queue and is dropped while the collector
 * is down. If telemetry is off, the SDK is not even loaded.
 */
export async function startTelemetry(
  settings: TelemetrySettings,
  version: string,
  log: Logger,
): Promise<StopTelemetry | undefined> {
  if (!isTelemetryOn(settings)) return undefined;
  const { startSdk } = await import('./sdk.ts');
  return startSdk(settings, version, log);
}
