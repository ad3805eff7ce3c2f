import type { OwnSession } from '../api-types.ts';
import { Vault } from './vault.ts';

/** Unsaved input. */
export interface Draft<Value = unknown> {
  id: string;
  /** The kind of page, which determines the type of the value. */
  kind: string;
  /** Identifies the page, such as by the name of a prompt. */
  subject: string;
  /** The browser tab of the draft. */
  tab: string;
  /** When it was last changed, in milliseconds. */
  at: number;
  value: Value;
}

const held = new Map<string, Draft>();
/** Drafts that this browser cannot store: they last as long as the page. */
const unkept = new Set<string>();
/** Drafts open on the page. */
const inUse = new Set<string>();
/** Drafts with unwritten changes. */
const dirty = new Set<string>();
let isWriting = false;
let owner: string | undefined;
let vault: Vault | undefined;
let version = 0;
const listeners = new Set<() => void>();

function tell(): void {
  version++;
  for (const listener of listeners) listener();
}

export const newDraftId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

const TAB = 'pms-tab';
const OLD_DOCUMENT_MS = 500;

/** A name for this tab that survives a reload. */
let tab = newDraftId();

/** A duplicated tab has the same name: the lock distinguishes them. A reloaded page gets the lock when the previous one is gone. */
async function nameTab(): Promise<void> {
  try {
    const before = sessionStorage.getItem(TAB);
    if (before !== null && (await lock(before))) {
      tab = before;
      return;
    }
    sessionStorage.setItem(TAB, tab);
    await lock(tab);
  } catch {
    // Without storage, the name lasts until the page is left.
  }
}

/** @returns whether this page got the lock, which it keeps */
function lock(name: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const holds = new Promise<never>(() => {});
  navigator.locks
    .request(`pms-tab-${name}`, { signal: AbortSignal.timeout(OLD_DOCUMENT_MS) }, () => {
      resolve(true);
      return holds;
    })
    .catch(() => resolve(false));
  return promise;
}

let named: Promise<void> | undefined;
const isDraft = (value: unknown): value is Draft =>
  typeof value === 'object' && value !== null && 'id' in value && 'kind' in value && 'subject' in value;

async function readInto(from: Vault, id: string): Promise<void> {
  const found = await from.read(id);
  if (from !== vault) return;
  if (isDraft(found)) held.set(id, found);
  else held.delete(id);
}

/** Loads the drafts of a session's key. Drafts open on the page are kept, and now belong to this key. */
export async function openDrafts(session: OwnSession): Promise<void> {
  if (owner === session.key.id) return;
  owner = session.key.id;
  named ??= nameTab();
  await named;
  const opened = await Vault.open(session.key.id, session.drafts_key);
  vault = opened;
  for (const id of held.keys()) if (!inUse.has(id)) held.delete(id);
  unkept.clear();
  if (opened)
    await Promise.all(
      opened
        .ids()
        .filter((id) => !held.has(id))
        .map((id) => readInto(opened, id)),
    );
  for (const id of inUse) if (held.has(id)) dirty.add(id);
  void writeAll();
  tell();
}

/** The number of drafts that would be lost if the page were left now. */
export const unsavedDrafts = (): number => unkept.size;

/** Call after signing out: stored drafts can't be read until the same key signs in. */
export function closeDrafts(): void {
  owner = undefined;
  vault = undefined;
  held.clear();
  unkept.clear();
  dirty.clear();
  tell();
}

async function writeAll(): Promise<void> {
  if (isWriting) return;
  isWriting = true;
  for (let [id] = dirty; id !== undefined; [id] = dirty) {
    dirty.delete(id);
    const draft = held.get(id);
    if (draft === undefined) continue;
    const isKept = (await vault?.write(id, draft, () => held.has(id)).catch(() => false)) ?? false;
    if (isKept) unkept.delete(id);
    else if (held.has(id)) unkept.add(id);
  }
  isWriting = false;
}

/** Updates a draft, and stores it in this browser if there is room. */
export function keepDraft(draft: Pick<Draft, 'id' | 'kind' | 'subject' | 'value'>): void {
  held.set(draft.id, { ...draft, tab, at: Date.now() });
  dirty.add(draft.id);
  tell();
  void writeAll();
}

/** Deletes a draft that was saved or discarded. */
export function dropDraft(id: string): void {
  if (!held.delete(id)) return;
  dirty.delete(id);
  unkept.delete(id);
  vault?.remove(id);
  tell();
}

/** Takes over a draft of another tab. If that tab is still open, it keeps its content, and stores a draft again with the next change. */
export function adoptDraft<Value>({ id, kind, subject, value }: Draft<Value>): Draft<Value> {
  const adopted = { id: newDraftId(), kind, subject, value, tab, at: Date.now() };
  keepDraft(adopted);
  dropDraft(id);
  return adopted;
}

/** Marks a draft as open on the page. @returns a function that unmarks it */
export function markOnPage(id: string): () => void {
  inUse.add(id);
  return () => inUse.delete(id);
}

/** Newest first. @param subject default: all of the kind */
export function draftsOf<Value>(kind: string, subject?: string): Draft<Value>[] {
  return ([...held.values()] as Draft<Value>[])
    .filter((each) => each.kind === kind && (subject === undefined || each.subject === subject))
    .sort((a, b) => b.at - a.at);
}

export const isOfThisTab = (draft: Draft): boolean => draft.tab === tab;

export function subscribeToDrafts(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const draftsVersion = () => version;

// Another tab has stored or deleted one.
window.addEventListener('storage', ({ key }) => {
  const id = key === null ? undefined : vault?.idOf(key);
  if (id === undefined || vault === undefined || inUse.has(id)) return;
  void readInto(vault, id).then(tell);
});

// Warn before losing drafts that could not be stored or are just being written.
window.addEventListener('beforeunload', (event) => {
  if (isWriting || dirty.size > 0 || unkept.size > 0) event.preventDefault();
});
