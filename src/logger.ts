import process from 'node:process';
import { type Logger, pino } from 'pino';
import { PinoPretty } from 'pino-pretty';

/** Logs JSON lines, or readable text on a terminal. Keys and secrets are removed. */
export function createLogger(level: string, name: string): Logger {
  const options = {
    name,
    level,
    redact: { paths: ['authorization', '*.authorization', 'secret', '*.secret'], remove: true },
  };
  if (!process.stdout.isTTY) return pino(options);
  return pino(options, PinoPretty({ colorize: true, ignore: 'pid,hostname,name', translateTime: 'SYS:HH:MM:ss' }));
}
