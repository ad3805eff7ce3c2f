import { isObject } from '../../domain/text/json.ts';
import type { RequestBody } from '../requests/json-body.ts';

/** Puts a streamed response together. */
export interface Assembler {
  /**
   * Adds the data of one event. What is not known is left out.
   *
   * @returns the text of the response that it adds, often none
   */
  add(event: RequestBody): string;
  /** Whether the provider has said that the response is whole. */
  isComplete(): boolean;
  /** The response as the provider would have sent it in one piece. */
  body(): RequestBody;
}

/** Sets what an event says; null says nothing. */
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

/** A place in a list; some servers send it as a text, or not at all. */
export function indexOf(value: unknown): number | undefined {
  const index = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof index === 'number' && Number.isInteger(index) ? index : undefined;
}
