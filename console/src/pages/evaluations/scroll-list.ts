/** Scrolls the list of examples, but not the page, to bring an entry into view. */
export function scrollList(entry: HTMLElement | null): void {
  const list = entry?.closest('.changed-list');
  if (!entry || !list) return;
  const [inner, outer] = [entry.getBoundingClientRect(), list.getBoundingClientRect()];
  if (inner.top < outer.top) list.scrollTop -= outer.top - inner.top;
  else if (inner.bottom > outer.bottom) list.scrollTop += inner.bottom - outer.bottom;
}
