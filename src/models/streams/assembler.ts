import { isObject } from '../../domain/text/json.ts';
import type { RequestBody } from '../requests/json-body.ts';

/** Assembles a streamed response. */
export interface Assembler {
  /**
   * Adds the data of one event, skipping unknown parts.
   *
   * @returns the response text that it adds, often empty
   */
  add(event: RequestBody): string;
  /** Whether the provider has marked the response as complete. */
  isComplete(): boolean;
  /** The response as if sent in one piece. */
  body(): RequestBody;
}

/** Assigns the fields of an event; null fields are ignored. */
export function assignKnown(target: RequestBody, from: RequestBody): void {
  for (const [key, value] of Object.entries(from)) {
    if (value !== null && value !== undefined) target[key] = value;
  }
}

/** Like `assignKnown`, for an object inside the target. */
export function assignInside(target: RequestBody, key: string, from: unknown): void {
  if (!isObject(from)) return;
  const inside = target[key];
  const merged = isObject(inside) ? inside : {};
  assignKnown(merged, from);
  target[key] = merged;
}

/** An index in a list; some servers send it as a string, or omit it. */
export function indexOf(value: unknown): number | undefined {
  const index = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof index === 'number' && Number.isInteger(index) ? index : undefined;
}
