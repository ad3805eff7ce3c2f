const STORED_AS = 'review-keys';

/** Whether keys without Ctrl or ⌘ do something: whoever speaks to the computer may have to turn them off. */
export function keysAreOn(): boolean {
  try {
    return localStorage.getItem(STORED_AS) !== 'off';
  } catch {
    return true;
  }
}

export function setKeysOn(on: boolean): void {
  try {
    if (on) localStorage.removeItem(STORED_AS);
    else localStorage.setItem(STORED_AS, 'off');
  } catch {
    // It holds until the page is left.
  }
}

/** Where a key is text. */
export const TYPED = 'textarea, select, [contenteditable=true], input:not([type=radio], [type=checkbox])';

/** A dialog is open: keys are its own. */
export const hasDialog = () => document.querySelector('[role=dialog], dialog[open]') !== null;
