import type { Logger } from 'pino';
import { isTelemetryOn, type StopTelemetry, type TelemetrySettings } from './settings.ts';

/**
 * Starts to send traces and metrics, as the `OTEL_*` variables say. What is sent waits in a queue of bounded length; where the collector is away, it is
 * dropped. Where telemetry is off, the SDK is not even loaded.
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
