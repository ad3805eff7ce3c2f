import { setTimeout as delay } from 'node:timers/promises';
import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { NodeSDK } from '@opentelemetry/sdk-node';
import type { Logger } from 'pino';
import type { StopTelemetry, TelemetrySettings } from './settings.ts';

/** If a collector is down, each export fails: log that once a minute. */
const LOG_EVERY_MS = 60_000;
const MAX_MESSAGE = 500;

/** Routes the SDK's own messages to our log. */
function diagnosticsTo(log: Logger): DiagLogger {
  let quietUntil = 0;
  const warn = (message: string) => {
    if (Date.now() < quietUntil) return;
    quietUntil = Date.now() + LOG_EVERY_MS;
    log.warn({ from: 'opentelemetry' }, message.slice(0, MAX_MESSAGE));
  };
  const ignore = () => {};
  return { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
}

/** Registers providers of spans and metrics for this process. An invalid variable of the SDK is logged as a warning and ignored. */
export function startSdk({ traces, metrics }: TelemetrySettings, version: string, log: Logger): StopTelemetry {
  const listen = () =>
    diag.setLogger(diagnosticsTo(log), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  listen();
  const sdk = new NodeSDK({
    // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence.
    resource: defaultResource().merge(
      resourceFromAttributes({ 'service.name': 'prompt-management-service', 'service.version': version }),
    ),
    logRecordProcessors: [],
    ...(!traces && { spanProcessors: [] }),
    ...(!metrics && { metricReaders: [] }),
  });
  // With OTEL_LOG_LEVEL, the SDK would write to the console.
  listen();
  sdk.start();
  return async (withinMs) => {
    const flushed = sdk.shutdown().catch((error: unknown) => log.warn({ err: error }, 'not all telemetry was sent'));
    await Promise.race([flushed, delay(withinMs, undefined, { ref: false })]);
  };
}
