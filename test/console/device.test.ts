import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { signInMember } from '../support/members.ts';
import { violationsInThemes } from './accessible.ts';
import { type Stage, startStage, type Visitor } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

interface Codes {
  user_code: string;
  device_code: string;
  verification_uri_complete: string;
}
const begin = async (client = 'pms on workstation'): Promise<Codes> =>
  (await stage.service.call('POST', '/device/authorizations', { key: null, body: { client } })).body;
const poll = ({ device_code }: Codes) =>
  stage.service.call('POST', '/device/token', { key: null, body: { device_code } });

/** A person signed in by an identity provider. */
async function visitAsMember(role: 'editor' | 'viewer'): Promise<Visitor> {
  const { token } = await signInMember(stage.service, { role, name: 'Ada Lovelace' });
  const visitor = await stage.visit();
  await visitor.context.addCookies([
    { name: 'pms_session', value: token, url: stage.service.origin, httpOnly: true, sameSite: 'Strict' },
  ]);
  return visitor;
}

describe('the page on which a person lets a program in', () => {
  test('asks to sign in first and returns, shows the request and its rights, and approves', async () => {
    const codes = await begin();
    const { context, page, complaints } = await stage.visit();
    await page.goto(codes.verification_uri_complete);
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    await page.getByLabel('API key').fill(stage.service.key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    const request = page.getByRole('form', { name: 'Request' });
    await request.waitFor();
    for (const text of ['pms on workstation', '127.0.0.1', codes.user_code, 'like the key bootstrap'])
      expect(await request.textContent()).toContain(text);
    expect(await request.textContent()).toContain('Approve only what you have started yourself');
    expect(await request.getByLabel('Key validity').inputValue()).toBe('90');
    expect(await violationsInThemes(page)).toEqual([]);
    await request.getByRole('checkbox', { name: /^admin/ }).uncheck();
    await request.getByLabel('Key validity').selectOption('30 days');
    await request.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('heading', { name: 'Approved' }).waitFor();
    const { status, body: key } = await poll(codes);
    expect([status, key.kind, key.scopes]).toEqual([
      201,
      'service',
      ['read', 'execute', 'score', 'ingest', 'write', 'publish'],
    ]);
    const days = (Date.parse(key.expires_at) - Date.now()) / (24 * 60 * 60_000);
    expect(Math.round(days)).toBe(30);
    // The code no longer works.
    await page.reload();
    await page.getByText(/There is no such code|No request has this code/).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('gives a member a personal key, with the rights of the role', async () => {
    const codes = await begin();
    const { context, page } = await visitAsMember('viewer');
    await page.goto(codes.verification_uri_complete);
    const request = page.getByRole('form', { name: 'Request' });
    await request.getByText('as Ada Lovelace').waitFor();
    expect(await request.getByRole('checkbox').count()).toBe(1);
    await request.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('heading', { name: 'Approved' }).waitFor();
    expect((await poll(codes)).body).toMatchObject({ kind: 'personal', scopes: ['read'] });
    await context.close();
  });

  test('accepts a typed code, also in lower case, and denies', async () => {
    const codes = await begin();
    const { context, page } = await visitAsMember('editor');
    await page.goto(stage.at('/device'));
    await page.getByLabel('Code').fill(codes.user_code.toLowerCase());
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByRole('heading', { name: 'Denied' }).waitFor();
    expect((await poll(codes)).body.error.code).toBe('denied');
    await context.close();
  });

  test('reports an unknown code, and one that another person decided on', async () => {
    const codes = await begin();
    const other = await signInMember(stage.service, { role: 'editor' });
    await stage.service.call('POST', `/device/authorizations/${codes.user_code}/deny`, {
      key: null,
      headers: other.headers,
    });
    const { context, page } = await visitAsMember('editor');
    // The last ones would lead to another operation.
    for (const code of [codes.user_code, 'BBBB-BBBB', '..', '../../releases/rel_1', `${codes.user_code}/approve?`]) {
      await page.goto(stage.at(`/device?code=${encodeURIComponent(code)}`));
      await page.getByText(/There is no such code|No request has this code/).waitFor();
      await page.getByLabel('Code').waitFor();
    }
    await context.close();
  });

  test('shows the name of a program as text', async () => {
    const codes = await begin('<img src=x onerror=alert(1)>');
    const { context, page, complaints } = await visitAsMember('editor');
    await page.goto(codes.verification_uri_complete);
    await page.getByText('<img src=x onerror=alert(1)>').waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('can’t be framed by another page, where a click could be stolen', async () => {
    const response = await fetch(stage.at('/device?code=BBBB-BBBB'));
    expect(response.headers.get('Content-Security-Policy')).toContain("frame-ancestors 'none'");
  });
});
