import { v7 } from 'uuid';

/** Prefixes of public ids. The body is a UUIDv7 (RFC 9562), so ids sort by time of creation. */
export const ID_PREFIXES = {
  execution: 'exec',
  evaluation: 'eval',
  event: 'evt',
  apiKey: 'key',
  workspace: 'ws',
  schedule: 'sched',
  webhook: 'wh',
  delivery: 'dlv',
  notification: 'ntf',
} as const;

export type IdKind = keyof typeof ID_PREFIXES;

/** A new UUIDv7, as it is stored. */
export function newId(): string {
  return v7();
}

/** `exec_0190…`: the id as callers see it. */
export function publicId(kind: IdKind, uuid: string): string {
  return `${ID_PREFIXES[kind]}_${uuid}`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The stored UUID of a public id; undefined where the text is no id of that kind. */
export function parsePublicId(kind: IdKind, text: string): string | undefined {
  const prefix = `${ID_PREFIXES[kind]}_`;
  const body = text.startsWith(prefix) ? text.slice(prefix.length) : '';
  return UUID.test(body) ? body : undefined;
}
