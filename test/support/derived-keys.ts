import { browserHeaders } from './members.ts';
import type { TestService } from './service.ts';

/** A key that a session of `key` issues to a program: created from that key. @returns the response of `POST /device/token` */
export async function deriveKey({ call }: Pick<TestService, 'call'>, key: string) {
  const session = await call('POST', '/session', { key: null, body: { key } });
  const headers = browserHeaders(/pms_session=([^;]+)/.exec(session.headers.get('Set-Cookie') ?? '')?.[1] ?? '');
  const { body: codes } = await call('POST', '/device/authorizations', { key: null, body: { client: 'a program' } });
  const approved = await call('POST', `/device/authorizations/${codes.user_code}/approve`, {
    key: null,
    headers,
    body: {},
  });
  if (approved.status !== 200) throw new Error(JSON.stringify(approved.body));
  return call('POST', '/device/token', { key: null, body: { device_code: codes.device_code } });
}
