// npm run screenshots:sign-in
// Signs people in with a real identity provider, in a browser, at a service that runs like `npm start`, and saves the pages that
// docs/sign-in.md and docs/members.md show to docs/images. Takes about a minute.
import { launchBrowser } from '../test/support/browser.ts';
import { startOidcProvider } from '../test/support/identity/oidc-provider.ts';
import { settingsOf } from '../test/support/identity/stage.ts';
import { killOrphans } from '../test/support/processes.ts';
import { createTestEnvironment, startedService } from '../test/support/processes-service.ts';
import { saveScreenshot } from './save-screenshot.ts';

const SCREEN = { width: 1280, height: 720 };
const PEOPLE = {
  ada: { name: 'Ada Lovelace', email: 'ada@example.com', groups: ['leads'] },
  grace: { name: 'Grace Hopper', email: 'grace@example.com', groups: ['engineers'] },
};

const place = await createTestEnvironment();
const { origin, env, call } = place;
const provider = await startOidcProvider(origin);
await provider.setPeople(PEOPLE);
env['PUBLIC_URL'] = origin;
env['OIDC_PROVIDERS'] = JSON.stringify([
  settingsOf('sso', provider, { name: 'Example', scopes: 'openid profile email groups offline_access' }),
]);
const chromium = await launchBrowser();

async function newPage() {
  const context = await chromium.browser.newContext({ locale: 'en-US', timezoneId: 'UTC', viewport: SCREEN });
  return context.newPage();
}

async function signIn(person: keyof typeof PEOPLE) {
  const page = await newPage();
  await page.goto(`${origin}/console/prompts`);
  await page.getByRole('link', { name: 'Sign in with Example' }).waitFor();
  if (person === 'ada') await saveScreenshot(page, 'sign-in');
  await page.getByRole('link', { name: 'Sign in with Example' }).click();
  await page.getByLabel('Name').fill(person);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Prompts', level: 1 }).waitFor();
  return page;
}

try {
  await startedService(place);
  await call('POST', '/prompts', {
    body: { name: 'support/answer', template: 'Answer {{ customer }}: {{ question }}', model: 'sandbox/echo' },
  });
  await signIn('grace');
  const page = await signIn('ada');
  await page.getByRole('button', { name: 'default Ada Lovelace' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
  await saveScreenshot(page, 'signed-in');
  await page.goto(`${origin}/console/settings?tab=members`);
  await page.getByText('grace@example.com').waitFor();
  await saveScreenshot(page, 'members');
  const asked = await call('POST', '/device/authorizations', { body: { client: 'pms on workstation' }, key: null });
  await page.goto(asked.body.verification_uri_complete);
  await page.getByText('pms on workstation').first().waitFor();
  await saveScreenshot(page, 'device');
} finally {
  await chromium.close();
  await killOrphans();
  await provider.stop();
  await place.remove();
}
