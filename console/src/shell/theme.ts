export type Theme = 'system' | 'light' | 'dark';

const KEY = 'pms-theme';

export function currentTheme(): Theme {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === 'light' || kept === 'dark' ? kept : 'system';
  } catch {
    return 'system';
  }
}

/** Charts draw with the colours of the theme, so they listen for it. */
export const THEME_CHANGED = 'pms-theme-changed';

export function applyTheme(theme: Theme = currentTheme()): void {
  document.documentElement.dataset['theme'] = theme;
}

export function chooseTheme(theme: Theme): void {
  applyTheme(theme);
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Private windows may keep nothing: then it holds until the page is left.
  }
  window.dispatchEvent(new Event(THEME_CHANGED));
}
