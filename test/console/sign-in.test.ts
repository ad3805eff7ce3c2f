import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Stage, startStage, tabTo } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

test('a shared address asks for a key, says if it is invalid, and leads to the page', async () => {
  const { context, page } = await stage.visit();
  await page.goto(stage.at('/executions?status=failed'));
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.getByLabel('API key').fill('pms_wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('This key is unknown, revoked or expired').waitFor();
  await page.getByLabel('API key').fill(stage.service.key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Executions', level: 1 }).waitFor();
  expect(page.url()).toBe(stage.at('/executions?status=failed'));
  await page.getByRole('button', { name: 'Remove the filter Status failed' }).waitFor();
  const [cookie] = await context.cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
  await context.close();
});

test('the target address stays within the console', async () => {
  const { context, page } = await stage.visit();
  await page.goto(stage.at('/sign-in?to=%2F%2Fexample.com%2F'));
  await page.getByLabel('API key').fill(stage.service.key);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  expect(new URL(page.url()).origin).toBe(stage.service.origin);
  await context.close();
});

test('a session whose key is revoked ends, and another key takes over there', async () => {
  const { body: key } = await stage.service.call('POST', '/api-keys', {
    body: { name: 'for a while', scopes: ['read'] },
  });
  const { context, page } = await stage.signIn({}, key.key);
  await page.goto(stage.at('/prompts'));
  await page.getByRole('heading', { name: 'Prompts', level: 1 }).waitFor();
  expect(await page.getByRole('button', { name: 'New prompt…' }).count()).toBe(0);
  await stage.service.call('DELETE', `/api-keys/${key.id}`);
  // The dialog may already be open because the page has refetched.
  await page.getByRole('link', { name: 'Executions' }).dispatchEvent('click');
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await dialog.getByLabel('API key').fill(stage.service.key);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'No executions yet' }).waitFor();
  await page.getByRole('heading', { name: 'Executions', level: 1 }).waitFor();
  // The permissions of the other key are available.
  await page.getByRole('link', { name: 'Prompts', exact: true }).click();
  await page.getByRole('button', { name: 'New prompt…' }).waitFor();
  await context.close();
});

test('signing out ends the session', async () => {
  const { context, page } = await stage.signIn();
  await page.goto(stage.at('/prompts'));
  await page.getByRole('button', { name: /default/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  const response = await context.request.get(`${stage.service.origin}/v1/session`);
  expect(response.status()).toBe(401);
  await context.close();
});

test('the service goes down and comes back', async () => {
  const { context, page } = await stage.signIn();
  await page.goto(stage.at('/prompts'));
  await page.getByRole('heading', { name: 'There are no prompts yet' }).waitFor();
  await context.setOffline(true);
  await page.getByLabel('Search').fill('any');
  await page.getByText('The service cannot be reached. Trying again…').waitFor();
  await context.setOffline(false);
  await page.getByRole('heading', { name: 'No prompts match these filters' }).waitFor();
  await page.getByText('The service cannot be reached').waitFor({ state: 'detached' });
  await context.close();
});

test('without a mouse: sign in, open a dialog, leave it, choose a theme', async () => {
  const { context, page } = await stage.visit();
  await page.goto(stage.at('/'));
  await tabTo(page, page.getByRole('textbox', { name: 'API key' })).catch(async () =>
    page.getByLabel('API key').focus(),
  );
  await page.keyboard.type(stage.service.key);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('p');
  await page.getByRole('heading', { name: 'Prompts', level: 1 }).waitFor();
  await tabTo(page, page.getByRole('button', { name: 'New prompt…' }));
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'New prompt' }).waitFor();
  await tabTo(page, page.getByRole('textbox', { name: 'Name' }));
  await page.keyboard.type('by/keyboard');
  await tabTo(page, page.getByRole('textbox', { name: 'User message' }));
  await page.keyboard.type('Hello');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'New prompt…' }).and(page.locator(':focus')).waitFor();
  await tabTo(page, page.getByRole('button', { name: /default/ }));
  await page.keyboard.press('Enter');
  for (const theme of ['System', 'Light', 'Dark']) {
    await page.getByRole('menuitemradio', { name: theme }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press(theme === 'Dark' ? 'Enter' : 'ArrowDown');
  }
  await page.locator('html[data-theme=dark]').waitFor();
  await context.close();
});
