import { type Answer, type Call, createCall } from '../test/support/service.ts';
import type { Service } from './service.ts';

/** The body of an answer. @throws Error on any status but 2xx */
export async function callOk(answering: Promise<Answer>): Promise<Answer['body']> {
  const { status, body } = await answering;
  if (status > 299) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return body;
}

/** A key that the first one makes, and a caller with it. */
export async function keyOf(service: Service, name: string, scopes: string[]): Promise<{ key: string; call: Call }> {
  const owner = createCall(service.origin, service.key);
  const { key } = await callOk(owner('POST', '/api-keys', { body: { name, scopes } }));
  return { key, call: createCall(service.origin, key) };
}
