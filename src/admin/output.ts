import process from 'node:process';
import type { JsonValue } from '../domain/text/json.ts';

/** The result of a command: one JSON object for programs, text for people. */
export interface Result {
  json: { [key: string]: JsonValue };
  text: string;
}

/** Writes a result to standard output. Nothing else is ever written there. */
export function print({ json, text }: Result, asJson: boolean): void {
  process.stdout.write(`${asJson ? JSON.stringify(json) : text}\n`);
}

/** Rows in aligned columns under a heading; the sentence if there are no rows. */
export function table(head: string[], rows: string[][], none: string): string {
  if (rows.length === 0) return none;
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
