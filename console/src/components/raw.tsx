import { useSyncExternalStore } from 'react';
import { Button } from './button.tsx';

const CHANGED = 'pms-raw-changed';
const STORED_AS = 'pms-raw';
let raw = readRaw();

function readRaw(): boolean {
  try {
    return localStorage.getItem(STORED_AS) === 'true';
  } catch {
    return false;
  }
}

/** Sets whether texts of models are shown unformatted, on all pages in this browser. */
export function setRaw(next: boolean): void {
  raw = next;
  try {
    localStorage.setItem(STORED_AS, String(next));
  } catch {
    // Without storage, it lasts until the page is left.
  }
  window.dispatchEvent(new Event(CHANGED));
}

export const isRaw = () => raw;

function subscribe(listener: () => void): () => void {
  window.addEventListener(CHANGED, listener);
  return () => window.removeEventListener(CHANGED, listener);
}

export const useRaw = () => useSyncExternalStore(subscribe, isRaw);

/** The key `v` does the same. */
export function RawToggle() {
  const isShownRaw = useRaw();
  return (
    <Button look="small" aria-pressed={isShownRaw} aria-keyshortcuts="v" onClick={() => setRaw(!isShownRaw)}>
      Raw
    </Button>
  );
}
