import process from 'node:process';
import type { Logger } from 'pino';
import { loadSettings, type Settings, SettingsError } from './config.ts';
import { EmbeddedStartError } from './embedded/errors.ts';
import { PortError } from './http/http-server.ts';
import { createLogger } from './logger.ts';
import { startTelemetry } from './telemetry/start.ts';
import { projectVersion } from './version.ts';

/** Stops one part of a process. */
export type Stop = () => Promise<void>;

/** Parts of a process, stopped in reverse order of their start. */
export class Parts {
  readonly #parts: { name: string; stop: Stop }[] = [];

  add(name: string, stop: Stop): void {
    this.#parts.push({ name, stop });
  }

  /** Stops everything; failures are logged and do not prevent stopping the rest. */
  async stop(log: Logger): Promise<void> {
    for (let part = this.#parts.pop(); part !== undefined; part = this.#parts.pop()) {
      try {
        await part.stop();
      } catch (error) {
        log.error({ err: error }, `could not stop ${part.name} cleanly`);
      }
    }
  }
}

/** A terminal sends Ctrl-C to both npm and its script, and npm forwards its own: one keystroke arrives twice. */
const ONE_STROKE_MS = 500;
/** How long a stopping process tries to send its remaining telemetry. */
const FLUSH_WITHIN_MS = 5_000;

/** Errors whose message is sufficient without a stack trace. */
function isPlain(error: unknown): error is Error {
  return error instanceof SettingsError || error instanceof PortError || error instanceof EmbeddedStartError;
}

/**
 * Runs a process until SIGINT or SIGTERM, then stops its parts in order. A second signal ends it immediately. If a start fails
 * or a part ends unexpectedly, it stops the rest, reports the reason and exits with 1.
 */
export async function runProcess(
  name: string,
  start: (settings: Settings, log: Logger, parts: Parts, stopRequested: AbortSignal) => Promise<void>,
): Promise<void> {
  let log = createLogger('info', name);
  const parts = new Parts();
  const stopRequested = new AbortController();
  const signals = ['SIGINT', 'SIGTERM'] as const;
  const stopped = new Promise<void>((resolve) => {
    let firstAt = 0;
    const onSignal = (signal: string) => {
      if (stopRequested.signal.aborted) {
        if (performance.now() - firstAt > ONE_STROKE_MS) process.exit(130);
        return;
      }
      firstAt = performance.now();
      log.info({ signal }, 'stopping; repeat the signal to stop immediately');
      stopRequested.abort();
      resolve();
    };
    for (const signal of signals) process.on(signal, onSignal);
  });
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
  try {
    const settings = loadSettings();
    log = createLogger(settings.logLevel, name);
    const stopTelemetry = await startTelemetry(settings.telemetry, projectVersion(), log);
    if (stopTelemetry !== undefined)
      parts.add('the telemetry', () => stopTelemetry(Math.min(settings.shutdownGraceMs, FLUSH_WITHIN_MS)));
    await start(settings, log, parts, stopRequested.signal);
    await stopped;
  } catch (error) {
    if (!stopRequested.signal.aborted) {
      if (isPlain(error)) console.error(error.message);
      else log.fatal({ err: error }, 'cannot continue');
      process.exitCode = 1;
    }
  }
  await parts.stop(log);
  log.info('stopped');
  // Handles of the Temporal SDK may outlive its connections.
  process.exit();
}
