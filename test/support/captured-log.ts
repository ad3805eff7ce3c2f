import { type Logger, pino } from 'pino';

/** A log whose lines a test reads: warnings and errors. */
export interface CapturedLog {
  log: Logger;
  lines: Record<string, unknown>[];
}

export function captureLog(): CapturedLog {
  const lines: Record<string, unknown>[] = [];
  return { lines, log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) }) };
}
