import { type Logger, pino } from 'pino';

/** A log whose warnings and errors a test can read. */
export interface CapturedLog {
  log: Logger;
  lines: Record<string, unknown>[];
}

export function captureLog(): CapturedLog {
  const lines: Record<string, unknown>[] = [];
  return { lines, log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) }) };
}
