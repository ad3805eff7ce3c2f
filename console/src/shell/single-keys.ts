const STORED_AS = 'review-keys';

/** Whether single-key shortcuts are on: users of speech input may have to turn them off. */
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
    // Without storage, it lasts until the page is left.
  }
}

/** Elements in which keys are text. */
export const TYPED = 'textarea, select, [contenteditable=true], input:not([type=radio], [type=checkbox])';

/** Whether a dialog is open, which then gets the keys. Notices are dialogs as well, but do not take them. */
export const hasDialog = () => document.querySelector('[role=dialog]:not([aria-modal=false]), dialog[open]') !== null;
