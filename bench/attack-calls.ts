import { type Answer, type Call, createCall } from '../test/support/service.ts';
import type { Service } from './service.ts';

/** The body of a response. @throws Error for any status except 2xx */
export async function callOk(answering: Promise<Answer>): Promise<Answer['body']> {
  const { status, body } = await answering;
  if (status > 299) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return body;
}

/** Creates a key with the first one. @returns a caller that uses it */
export async function keyOf(service: Service, name: string, scopes: string[]): Promise<{ key: string; call: Call }> {
  const owner = createCall(service.origin, service.key);
  const { key } = await callOk(owner('POST', '/api-keys', { body: { name, scopes } }));
  return { key, call: createCall(service.origin, key) };
}
