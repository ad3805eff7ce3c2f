import type { z } from 'zod';
import type { SystemDatabase } from '../../db/database.ts';
import { addressGroup } from '../../http/client-address.ts';
import { tooMany } from '../../http/middleware/authentication.ts';
import { defineRoute, type Route, type RouteRequest } from '../../http/route.ts';
import { SCOPES } from '../../services/access/api-keys.ts';
import { presentApiKey } from '../../services/access/present-api-key.ts';
import { createRateLimiter } from '../../services/access/rate-limiter.ts';
import {
  type Approver,
  beginDeviceAuthorization,
  type DeviceAuthorizationRow,
  decideDeviceAuthorization,
  findDeviceAuthorization,
  type Grant,
  grantOf,
  OPEN_SECONDS,
  POLL_SECONDS,
  pollDeviceAuthorization,
  pollError,
} from '../../services/devices/device-authorizations.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import { apiKeySample } from '../api-keys/samples.ts';
import {
  ApproveDeviceAuthorization,
  CreateDeviceAuthorization,
  CreatedDeviceAuthorization,
  DeviceAuthorization,
  DeviceKey,
  DeviceToken,
  UserCodeParams,
} from './schema.ts';

/** Samples for the documentation. */
const createdSample = {
  device_code: 'y0n6zq3vQ1m4Tt8sWkq2b7Hd5xJrLcPfG9aEuVoNiMw',
  user_code: 'BCDF-GHJK',
  verification_uri: 'https://prompts.example.com/console/device',
  verification_uri_complete: 'https://prompts.example.com/console/device?code=BCDF-GHJK',
  expires_in: 600,
  interval: 5,
};

const deviceSample = {
  client: 'pms on workstation',
  address: '192.0.2.1',
  status: 'pending',
  key: { kind: 'personal', scopes: ['read', 'execute', 'score'], expires_at: null },
  created_at: '2026-01-31T12:00:00.000Z',
  expires_at: '2026-01-31T12:10:00.000Z',
};

const approvedSample = {
  ...deviceSample,
  status: 'approved',
  key: { ...deviceSample.key, expires_at: '2026-05-01T12:00:30.000Z' },
};

const deniedSample = { ...deviceSample, status: 'denied', key: null };

const deviceKeySample = {
  ...apiKeySample,
  name: 'pms on workstation',
  kind: 'personal',
  member_id: 'mem_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  expires_at: '2026-05-01T12:00:30.000Z',
  key: 'pms_<43 characters>',
  workspace: { name: 'default' },
};

const tag = 'Devices';
const MAX_BODY_BYTES = 4 * 1024;
/** Codes, right or wrong, that can be tried per minute: in a session, and from an address. Independent of other limits. */
const MAX_CODES_PER_SESSION = 20;
const MAX_CODES_PER_ADDRESS = 240;

type Request = Pick<RouteRequest<unknown, unknown, unknown>, 'key' | 'address'>;

function present(
  { client, address, decision, scopes, key_expires_at, created_at, expires_at }: DeviceAuthorizationRow,
  grant: Grant | null,
): z.input<typeof DeviceAuthorization> {
  const end = decision === null ? grant?.expiresAt : key_expires_at;
  return {
    client,
    address,
    status: decision ?? 'pending',
    key:
      decision === 'denied' || grant === null
        ? null
        : { kind: grant.kind, scopes: scopes ?? grant.scopes, expires_at: end?.toISOString() ?? null },
    created_at: created_at.toISOString(),
    expires_at: expires_at.toISOString(),
  };
}

/** `/device/…`: a program requests access, a person decides, the program fetches its key. */
export function deviceRoutes({
  system,
  quotas,
  publicUrl,
}: {
  system: SystemDatabase;
  quotas: Quotas;
  /** The address where browsers reach the service. Default: the address that the program used */
  publicUrl: string | undefined;
}): Route[] {
  const ofSession = createRateLimiter(system, 'device-codes-of', MAX_CODES_PER_SESSION);
  const ofAddress = createRateLimiter(system, 'device-codes-from', MAX_CODES_PER_ADDRESS);

  /** Identifies who tries a code, on a session-only route. @throws ApiError `rate_limited`, whether the code is right or not */
  async function approverOf({ key, address }: Request): Promise<Approver> {
    const { sessionId } = key;
    if (sessionId === undefined) throw new Error('This route requires a session.');
    for (const state of [await ofSession.take(sessionId), await ofAddress.take(addressGroup(address))])
      if (!state.allowed) throw tooMany(state, `Too many codes. Try again in ${state.resetSeconds} s.`);
    return { ...key, sessionId };
  }

  const baseOf = ({ isHttps, header }: { isHttps: boolean; header: string | undefined }) =>
    publicUrl ?? `${isHttps ? 'https' : 'http'}://${header}`;

  return [
    defineRoute({
      method: 'post',
      path: '/device/authorizations',
      operationId: 'createDeviceAuthorization',
      audit: 'none',
      tag,
      summary: 'Create a device authorization',
      description:
        'For programs that a person runs. The program shows the code and the address, and polls `POST /device/token`. No key is issued until a signed-in person approves the code.',
      scope: SCOPES,
      withoutKey: true,
      status: 201,
      body: CreateDeviceAuthorization,
      maxBodyBytes: MAX_BODY_BYTES,
      bodyExamples: { 'The command line': { client: 'pms on workstation' } },
      response: CreatedDeviceAuthorization,
      responseExample: createdSample,
      async handler(request) {
        const { body, address } = request;
        const { deviceCode, userCode } = await beginDeviceAuthorization(system, {
          client: body.client,
          address,
          caller: addressGroup(address),
        });
        const page = `${baseOf({ isHttps: request.isHttps, header: request.header('Host') })}/console/device`;
        return {
          device_code: deviceCode,
          user_code: userCode,
          verification_uri: page,
          verification_uri_complete: `${page}?code=${userCode}`,
          expires_in: OPEN_SECONDS,
          interval: POLL_SECONDS,
        };
      },
    }),
    defineRoute({
      method: 'post',
      path: '/device/token',
      operationId: 'createDeviceKey',
      audit: ['api_key.created'],
      tag,
      summary: 'Exchange an approved device code for a key, shown once',
      description:
        'Returns 400 until the code is approved: `authorization_pending` (poll again after the interval), `slow_down` (add 5 seconds to the interval), `denied`, `expired`. The audit log attributes the key to the session that approved it.',
      scope: SCOPES,
      withoutKey: true,
      status: 201,
      body: DeviceToken,
      maxBodyBytes: MAX_BODY_BYTES,
      bodyExamples: { 'The code': { device_code: createdSample.device_code } },
      response: DeviceKey,
      responseExample: deviceKeySample,
      errors: ['authorization_pending', 'slow_down', 'denied', 'expired', 'quota_exceeded'],
      async handler({ body }) {
        const polled = await pollDeviceAuthorization(system, quotas, body.device_code);
        if (polled.outcome !== 'key') throw pollError(polled);
        const { key, record, workspaceName } = polled;
        return { ...presentApiKey(record), key, workspace: { name: workspaceName } };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/device/authorizations/{user_code}',
      operationId: 'getDeviceAuthorization',
      tag,
      summary: 'Retrieve a device authorization',
      scope: SCOPES,
      bySession: true,
      params: UserCodeParams,
      response: DeviceAuthorization,
      responseExample: deviceSample,
      errors: ['invalid_state'],
      async handler(request) {
        const approver = await approverOf(request);
        const row = await findDeviceAuthorization(system, request.params.user_code, approver);
        return present(row, await grantOf(request.db.query, approver));
      },
    }),
    defineRoute({
      method: 'post',
      path: '/device/authorizations/{user_code}/approve',
      operationId: 'approveDeviceAuthorization',
      audit: 'none',
      tag,
      summary: 'Approve a device authorization',
      description:
        'A member issues a personal key. A session started with a key issues a key of the same kind, which ends with that key. The new key has at most the permissions of the session.',
      scope: SCOPES,
      bySession: true,
      params: UserCodeParams,
      body: ApproveDeviceAuthorization,
      bodyOptional: true,
      maxBodyBytes: MAX_BODY_BYTES,
      bodyExamples: { 'To run prompts': { scopes: ['read', 'execute'], expires_in_days: 30 } },
      response: DeviceAuthorization,
      responseExample: approvedSample,
      errors: ['invalid_state'],
      async handler(request) {
        const approver = await approverOf(request);
        const { scopes, expires_in_days: expiresInDays } = request.body;
        const grant = await grantOf(request.db.query, approver);
        const approval = { scopes, expiresInDays, grant };
        return present(await decideDeviceAuthorization(system, request.params.user_code, approver, approval), grant);
      },
    }),
    defineRoute({
      method: 'post',
      path: '/device/authorizations/{user_code}/deny',
      operationId: 'denyDeviceAuthorization',
      audit: 'none',
      tag,
      summary: 'Deny a device authorization',
      scope: SCOPES,
      bySession: true,
      params: UserCodeParams,
      response: DeviceAuthorization,
      responseExample: deniedSample,
      errors: ['invalid_state'],
      async handler(request) {
        const approver = await approverOf(request);
        return present(await decideDeviceAuthorization(system, request.params.user_code, approver, null), null);
      },
    }),
  ];
}
