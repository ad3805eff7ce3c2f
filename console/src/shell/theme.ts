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

/** Charts use the colors of the theme, so they listen to this event. */
export const THEME_CHANGED = 'pms-theme-changed';

export function applyTheme(theme: Theme = currentTheme()): void {
  document.documentElement.dataset['theme'] = theme;
}

export function chooseTheme(theme: Theme): void {
  applyTheme(theme);
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Private windows may not store it: then it lasts until the page is left.
  }
  window.dispatchEvent(new Event(THEME_CHANGED));
}
