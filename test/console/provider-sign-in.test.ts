import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { createOtherWorkspace } from '../api/workspace.ts';
import { freePort } from '../support/identity/free-port.ts';
import { type OidcProvider, startOidcProvider } from '../support/identity/oidc-provider.ts';
import { settingsOf } from '../support/identity/stage.ts';
import { type Stage, startStage, write } from './stage.ts';

// People sign in by a certified identity provider, in a browser.

const ADA = { name: 'Ada', email: 'ada@example.com', groups: ['leads'] };
let provider: OidcProvider;
let stage: Stage;
beforeAll(async () => {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  provider = await startOidcProvider(origin);
  await provider.setPeople({ ada: ADA, eve: { name: 'Eve', groups: [] } });
  const settings = settingsOf('sso', provider, {
    name: 'Example',
    scopes: 'openid profile email groups offline_access',
  });
  stage = await startStage({ PORT: String(port), PUBLIC_URL: origin, OIDC_PROVIDERS: JSON.stringify([settings]) });
  await createOtherWorkspace(stage.service, 'research');
});
afterAll(async () => {
  await stage?.stop();
  await provider?.stop();
});

async function signIn(page: Page, person: string): Promise<void> {
  await page.getByRole('link', { name: 'Sign in with Example' }).click();
  await page.getByLabel('Name').fill(person);
  await page.getByRole('button', { name: 'Continue' }).click();
}

test('a shared address leads to the provider and back, without browser warnings', async () => {
  const { context, page, complaints } = await stage.visit();
  await page.goto(stage.at('/executions?status=failed'));
  await signIn(page, 'ada');
  await page.getByRole('heading', { name: 'Executions', level: 1 }).waitFor();
  expect(page.url()).toBe(stage.at('/executions?status=failed'));
  const session = (await context.cookies(stage.service.origin)).filter(({ name }) => name.startsWith('pms_'));
  expect(session).toMatchObject([{ name: 'pms_session', httpOnly: true, sameSite: 'Strict' }]);
  expect(complaints).toEqual([]);
  await context.close();
});

test('the menu has the person and switches to another workspace; signing out ends automatic sign-in', async () => {
  const { context, page } = await stage.visit();
  await page.goto(stage.at('/prompts'));
  await signIn(page, 'ada');
  await page.getByRole('button', { name: 'default Ada' }).click();
  await page.getByRole('menuitemradio', { name: 'research viewer' }).click();
  await page.getByRole('button', { name: 'research Ada' }).waitFor();
  // A viewer changes nothing.
  expect(await page.getByRole('button', { name: 'New prompt…' }).count()).toBe(0);
  await page.getByRole('button', { name: 'research Ada' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: /yes/i }).click();
  await page.getByRole('link', { name: 'Sign in with Example' }).waitFor();
  expect(new URL(page.url()).origin).toBe(stage.service.origin);
  await page.goto(stage.at('/prompts'));
  await page.getByRole('link', { name: 'Sign in with Example' }).click();
  await page.getByLabel('Name').waitFor();
  await context.close();
});

test('a missing role and an unreachable provider are explained', async () => {
  const { context, page } = await stage.visit();
  await page.goto(stage.at('/sign-in'));
  await signIn(page, 'eve');
  await page.getByText('Example recognizes you but gives you no role here.').waitFor();
  await page.goto(stage.at('/sign-in?error=provider_down&provider=sso'));
  await page.getByText('Example cannot be reached at the moment.').waitFor();
  await page.goto(stage.at('/sign-in?error=%3Cimg%20src%3Dx%3E'));
  await page.getByRole('link', { name: 'Sign in with Example' }).waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
  await context.close();
});

const endSessions = () =>
  stage.service.dependencies.db.system.query((all) => all.deleteFrom('sessions').where('provider', 'is not', null));
/** This process caches sessions for a while: clear it like a notification of their end would. */
const forget = async () => {
  await stage.service.dependencies.db.system.query({
    text: `select pg_notify('api_key_revoked', encode(hash, 'hex')) from api_keys where kind = 'sign_in'`,
  });
};

test('an expired session is renewed without a question, if the one at the provider lasts', async () => {
  const { context, page } = await stage.visit();
  await page.goto(stage.at('/prompts'));
  await signIn(page, 'ada');
  await page.getByRole('heading', { name: 'Prompts', level: 1 }).waitFor();
  await endSessions();
  await forget();
  await page.goto(stage.at('/datasets'));
  await page.getByRole('heading', { name: 'Datasets', level: 1 }).waitFor();
  // A second time within a minute it asks first, to avoid redirect loops.
  await context.clearCookies({ domain: '127.0.0.1', name: 'pms_session' });
  await page.goto(stage.at('/datasets'));
  await page.getByRole('link', { name: 'Sign in with Example' }).waitFor();
  await context.close();
});

test('a session that ends in mid-work is renewed by the provider, and typed text is there', async () => {
  const { context, page } = await stage.visit();
  const PROMPT = { name: 'greeting', template: 'Hello.', model: 'sandbox/echo' };
  expect((await stage.service.call('POST', '/prompts', { body: PROMPT })).status).toBe(201);
  await page.goto(stage.at('/prompts'));
  await signIn(page, 'ada');
  // The person's last workspace: the other one.
  await page.getByRole('button', { name: 'research Ada' }).click();
  await page.getByRole('menuitemradio', { name: 'default admin' }).click();
  await page.getByRole('button', { name: 'default Ada' }).waitFor();
  await page.goto(stage.at('/prompts/greeting'));
  await write(page, 'Text', 'Hello, typed and not saved.');
  await page.waitForFunction(() => Object.keys(localStorage).some((name) => name.startsWith('pms-draft:')));
  await endSessions();
  await forget();
  await page.getByRole('button', { name: /^Save as version/ }).dispatchEvent('click');
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await dialog.getByRole('link', { name: 'Sign in with Example' }).click();
  await page.getByText('Hello, typed and not saved.').first().waitFor();
  await context.close();
});
