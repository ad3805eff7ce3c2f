import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import { createOtherWorkspace } from '../api/workspace.ts';
import { waitFor } from '../support/wait-for.ts';
import { violationsInThemes } from './accessible.ts';
import { type Stage, startStage, write } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

const call: Stage['service']['call'] = (...args) => stage.service.call(...args);

async function newKey(name: string): Promise<{ id: string; key: string }> {
  const { body } = await call('POST', '/api-keys', { body: { name, scopes: ['read', 'execute', 'write'] } });
  return body;
}

async function newPrompt(name: string, template = 'Hello {{ name }}'): Promise<void> {
  await call('POST', '/prompts', { body: { name, template, model: 'sandbox/echo' } });
}

const editor = (page: Page, name = 'Text') => page.getByRole('textbox', { name, exact: true });

/** Everything in the browser's storage, once something has that many drafts in it. */
async function stored(page: Page, drafts: number): Promise<string> {
  const read = () => page.evaluate<string>('JSON.stringify(Object.entries(localStorage))');
  await waitFor('the drafts', async () => (await read()).split('pms-draft:').length - 1 === drafts);
  return read();
}

/** Ends a browser's session like an administrator. */
async function endSession({ request }: BrowserContext): Promise<void> {
  const own = () => request.get(`${stage.service.origin}/v1/session`);
  const { id } = await (await own()).json();
  await call('DELETE', `/sessions/${id}`);
  await waitFor('its end', async () => (await own()).status() === 401);
}

async function signInWith(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

test('text typed into a prompt survives leaving and reloading the page, until it is saved or discarded', async () => {
  await newPrompt('kept');
  const { context, page, complaints } = await stage.signIn();
  page.on('dialog', (dialog) => complaints.push(dialog.message()));
  await page.goto(stage.at('/prompts/kept'));
  await write(page, 'Text', 'Typed {{ name }}');
  await page.getByLabel('What changes, and why').fill('A reason');
  await page.getByRole('link', { name: 'Executions' }).click();
  await page.getByRole('heading', { name: 'Executions', level: 1 }).waitFor();
  await page.goBack();
  await editor(page).getByText('Typed {{ name }}').waitFor();
  await stored(page, 1);
  await page.reload();
  await editor(page).getByText('Typed {{ name }}').waitFor();
  await page.getByText(/^Your unsaved changes from/).waitFor();
  expect(await page.getByLabel('What changes, and why').inputValue()).toBe('A reason');
  expect(await violationsInThemes(page)).toEqual([]);

  // Someone else has saved in the meantime: the page says so, and nothing is overwritten.
  await call('PUT', '/prompts/kept', { body: { template: 'Theirs' } });
  await page.reload();
  await page.getByText('Version 2 was saved since you started.').waitFor();
  await page.getByRole('button', { name: /^Save as version/ }).click();
  const dialog = page.getByRole('dialog', { name: 'There is a newer version: 2' });
  await dialog.getByRole('button', { name: 'Save mine as version 3' }).click();
  await page.getByText('Saved as version 3.').first().waitFor();
  expect((await call('GET', '/prompts/kept')).body).toMatchObject({ version: 3, template: 'Typed {{ name }}' });
  await stored(page, 0);

  await write(page, 'Text', 'Again');
  await stored(page, 1);
  await page.reload();
  await page.getByRole('button', { name: 'Discard', exact: true }).click();
  await editor(page).getByText('Typed {{ name }}').waitFor();
  await stored(page, 0);
  await page.reload();
  await editor(page).getByText('Typed {{ name }}').waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('the playground keeps its panes, drafts and variables', async () => {
  await newPrompt('played');
  const { context, page, complaints } = await stage.signIn();
  await page.goto(stage.at('/playground?prompt=played'));
  await page.getByLabel('name', { exact: true }).fill('Ada');
  await page.getByRole('button', { name: 'Add a pane' }).click();
  const second = page.getByRole('region', { name: 'Pane 2' });
  await second.getByLabel('Model').fill('sandbox/json');
  await write(page, 'Text of pane 2', 'Bye {{ name }} of {{ place }}');
  await page.getByLabel('place', { exact: true }).fill('London');
  const isThere = async () => {
    await editor(page, 'Text of pane 2').getByText('Bye {{ name }} of {{ place }}').waitFor();
    expect(await page.getByLabel('name', { exact: true }).inputValue()).toBe('Ada');
    expect(await page.getByLabel('place', { exact: true }).inputValue()).toBe('London');
    expect(await second.getByLabel('Model').inputValue()).toBe('sandbox/json');
  };
  // The menu leads back to it, too.
  await page.getByRole('link', { name: 'Executions' }).click();
  await page.getByRole('heading', { name: 'Executions', level: 1 }).waitFor();
  await page.getByRole('link', { name: 'Playground' }).click();
  await isThere();
  await stored(page, 1);
  await page.reload();
  await isThere();
  await page.getByRole('button', { name: 'Run all' }).click();
  await page.getByRole('region', { name: 'output of pane 1' }).getByText('Hello Ada', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Discard', exact: true }).click();
  await second.waitFor({ state: 'detached' });
  expect(await page.getByLabel('name', { exact: true }).inputValue()).toBe('');
  // The run stays in the history.
  await stored(page, 1);
  expect(complaints).toEqual([]);
  await context.close();
});

test('two tabs that edit one prompt do not overwrite each other', async () => {
  await newPrompt('tabs');
  const { context, page } = await stage.signIn();
  await page.goto(stage.at('/prompts/tabs'));
  await write(page, 'Text', 'Of the first');
  await stored(page, 1);
  const other = await context.newPage();
  await other.goto(stage.at('/prompts/tabs'));
  await other.getByText(/^Unsaved changes to version 1, .*, in another tab\.$/).waitFor();
  await editor(other).getByText('Hello {{ name }}').waitFor();
  await write(other, 'Text', 'Of the second');
  await stored(other, 2);
  await Promise.all([page.reload(), other.reload()]);
  await editor(page).getByText('Of the first').waitFor();
  await editor(other).getByText('Of the second').waitFor();
  // The tab is closed: its text is taken over.
  await page.close();
  await other.getByRole('button', { name: /^Use them/ }).click();
  await editor(other).getByText('Of the first').waitFor();
  await other.getByRole('button', { name: /^Use them/ }).click();
  await editor(other).getByText('Of the second').waitFor();
  await context.close();
});

test('drafts are unreadable to the next person that signs in and in the browser, and stay for their own key', async () => {
  await newPrompt('secret/prompt');
  const [mine, next] = await Promise.all([newKey('mine'), newKey('next')]);
  const { context, page } = await stage.signIn({}, mine.key);
  await page.goto(stage.at('/prompts/secret/prompt'));
  await write(page, 'Text', 'Confidential words');
  const kept = await stored(page, 1);
  expect(kept).not.toContain('Confidential');
  expect(kept).not.toContain('secret');
  await page.getByRole('button', { name: /mine/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await signInWith(page, next.key);
  await page.getByRole('link', { name: 'Prompts', exact: true }).click();
  await page.getByRole('heading', { name: 'Prompts', level: 1 }).waitFor();
  await page.getByRole('link', { name: 'secret/ 1' }).click();
  await page.getByRole('link', { name: 'secret/prompt' }).click();
  await editor(page).getByText('Hello {{ name }}').waitFor();
  expect(await page.getByText(/unsaved changes/i).count()).toBe(0);
  expect(await page.getByText('Confidential').count()).toBe(0);
  const ofOthers = await context.request.get(`${stage.service.origin}/v1/session`);
  const { drafts_key: nextsKey } = await ofOthers.json();
  const { body: sessions } = await call('GET', '/sessions');
  expect(JSON.stringify(sessions)).not.toContain('drafts_key');

  await page.getByRole('button', { name: /next/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await signInWith(page, mine.key);
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  await page.goto(stage.at('/prompts/secret/prompt'));
  await editor(page).getByText('Confidential words').waitFor();
  const own = await context.request.get(`${stage.service.origin}/v1/session`);
  expect((await own.json()).drafts_key).not.toBe(nextsKey);
  await context.close();
});

test('a draft too large to be kept is not left without a question', async () => {
  await newPrompt('large');
  const { context, page } = await stage.signIn();
  await page.goto(stage.at('/prompts/large'));
  await page.evaluate(
    `localStorage.setItem('pms-draft:key_other:1', JSON.stringify({ at: 1, iv: '', data: 'x'.repeat(2_900_000) }))`,
  );
  // Drafts of other users make room.
  await write(page, 'Text', 'x'.repeat(200_000));
  await waitFor('room', () => page.evaluate<boolean>(`!('pms-draft:key_other:1' in localStorage)`));
  await stored(page, 1);
  await write(page, 'Text', 'y'.repeat(900_000));
  await stored(page, 0);
  const asked = page.waitForEvent('dialog');
  void page.reload().catch(() => {});
  const dialog = await asked;
  expect(dialog.type()).toBe('beforeunload');
  await dialog.dismiss();
  // Within the console it stays in memory.
  await page.getByRole('link', { name: 'Executions' }).click();
  await page.getByRole('heading', { name: 'Executions', level: 1 }).waitFor();
  await page.goBack();
  await editor(page).getByText(/^y+/).waitFor();
  await context.close();
});

test('a session that ends during an edit is renewed over the page, and the save succeeds', async () => {
  await newPrompt('ended');
  const { id, key } = await newKey('for a while');
  const after = await newKey('the next one');
  const { context, page, complaints } = await stage.signIn({}, key);
  await page.goto(stage.at('/prompts/ended'));
  await write(page, 'Text', 'Typed before {{ name }}');
  await page.getByLabel('What changes, and why').fill('A reason');
  await call('DELETE', `/api-keys/${id}`);
  // The dialog may already be open because the page has refetched.
  await page.getByRole('button', { name: 'Save as version 2' }).dispatchEvent('click');
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await dialog.waitFor();
  expect(await violationsInThemes(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await dialog.getByLabel('API key').fill('pms_wrong');
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await dialog.getByText('This key is unknown, revoked or expired').waitFor();
  await dialog.getByLabel('API key').fill(after.key);
  await page.keyboard.press('Enter');
  await page.getByText('Saved as version 2.').first().waitFor();
  await dialog.waitFor({ state: 'detached' });
  expect((await call('GET', '/prompts/ended')).body).toMatchObject({
    version: 2,
    template: 'Typed before {{ name }}',
    commit_message: 'A reason',
  });
  await editor(page).getByText('Typed before {{ name }}').waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test('so is one that ends under an open dialog, or while the playground runs', async () => {
  await newPrompt('under');
  const { context, page } = await stage.signIn();
  const goOn = async () => {
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel('API key').click();
    await dialog.getByLabel('API key').fill(stage.service.key);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  await page.goto(stage.at('/prompts'));
  await page.getByRole('button', { name: 'New prompt…' }).click();
  await page.getByLabel('Name').fill('under/dialog');
  await page.getByRole('textbox', { name: 'User message' }).fill('Hello');
  await endSession(context);
  await page.getByRole('button', { name: 'Create' }).dispatchEvent('click');
  await goOn();
  await page.getByRole('heading', { name: 'under/dialog', level: 1 }).waitFor();

  await page.goto(stage.at('/playground?prompt=under'));
  await page.getByLabel('name', { exact: true }).fill('Ada');
  await endSession(context);
  await page.getByRole('button', { name: 'Run', exact: true }).dispatchEvent('click');
  await goOn();
  await page.getByRole('region', { name: 'output of pane 1' }).getByText('Hello Ada', { exact: true }).waitFor();
  await context.close();
});

test('signing in to another workspace saves nothing of the first', async () => {
  await newPrompt('elsewhere');
  const { context, page } = await stage.signIn();
  await page.goto(stage.at('/prompts/elsewhere'));
  await write(page, 'Text', 'Mine');
  await stored(page, 1);
  await endSession(context);
  const other = await createOtherWorkspace(stage.service, 'beside');
  await other.call('POST', '/prompts', { body: { name: 'elsewhere', template: 'Theirs', model: 'sandbox/echo' } });
  await page.getByRole('button', { name: 'Save as version 2' }).dispatchEvent('click');
  await signInWith(page, other.key);
  await page.getByRole('list', { name: 'Build' }).getByRole('link', { name: 'Prompts' }).click();
  await page.getByRole('link', { name: 'elsewhere' }).click();
  await editor(page).getByText('Theirs').waitFor();
  expect(await page.getByText('Mine', { exact: true }).count()).toBe(0);
  expect((await other.call('GET', '/prompts/elsewhere')).body.version).toBe(1);
  expect((await call('GET', '/prompts/elsewhere')).body.version).toBe(1);
  await context.close();
});

test('the reason for a refused save is visible at any scroll position', async () => {
  await newPrompt('refused', Array.from({ length: 200 }, (_, line) => `Line ${line}`).join('\n'));
  const { context, page } = await stage.signIn({ viewport: { width: 1280, height: 900 } });
  await page.goto(stage.at('/prompts/refused'));
  await write(page, 'Text', 'Hello {{> nobody/has-this }}');
  await page.getByRole('heading', { name: 'refused', level: 1 }).scrollIntoViewIfNeeded();
  await page.getByRole('button', { name: 'Save as version 2' }).click();
  const alert = page.getByRole('alert');
  await alert.getByText(/nobody\/has-this/).waitFor();
  const [reason, button] = await Promise.all([
    alert.boundingBox(),
    page.getByRole('button', { name: 'Save as version 2' }).boundingBox(),
  ]);
  expect((reason?.y ?? 0) + (reason?.height ?? 0)).toBeLessThanOrEqual(button?.y ?? 0);
  const isOnTop = await page.evaluate<boolean>(`(() => {
    const { x, y } = ${JSON.stringify(reason)};
    return document.elementFromPoint(x + 20, y + 12)?.closest('[role=alert]') !== null;
  })()`);
  expect(isOnTop).toBe(true);
  await context.close();
});

test('forms that create something keep typed text until it is sent or discarded', async () => {
  const headers = { 'Content-Type': 'application/x-ndjson' };
  await call('PUT', '/datasets/filled', { raw: '{"variables":{"name":"Ada"}}', headers });
  const { context, page, complaints } = await stage.signIn();
  page.on('dialog', (dialog) => complaints.push(dialog.message()));
  const openExample = async () => {
    await page.goto(stage.at('/datasets/filled'));
    await page.getByRole('button', { name: 'Add an example…' }).click();
  };
  const openPrompt = async () => {
    await page.goto(stage.at('/prompts'));
    await page.getByRole('button', { name: 'New prompt…' }).click();
  };
  const forms: [label: string, text: string, open: () => Promise<unknown>][] = [
    ['Pass threshold, in %', '7', () => page.goto(stage.at('/evaluations/new'))],
    ['Maximum cost, in US dollars', '1.5', () => page.goto(stage.at('/schedules/new'))],
    ['User message', 'Typed {{ name }}', openPrompt],
    ['Expected', 'Typed', openExample],
  ];
  for (const [index, [label, text, open]] of forms.entries()) {
    await open();
    const field = page.getByLabel(label, { exact: true });
    const before = await field.inputValue();
    await field.fill(text);
    await stored(page, index + 1);
    await open();
    await page.getByText(/^Your unsaved changes from/).waitFor();
    expect(await field.inputValue()).toBe(text);
    await page.getByRole('button', { name: 'Discard', exact: true }).click();
    expect(await field.inputValue()).toBe(before);
    await field.fill(text);
    await stored(page, index + 1);
  }
  // The last one is sent.
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('The example was added in version 2.').first().waitFor();
  await stored(page, forms.length - 1);
  expect(complaints).toEqual([]);
  await context.close();
});
