/** Scrolls the list of examples, and not the page, until one of its entries is in view. */
export function scrollList(entry: HTMLElement | null): void {
  const list = entry?.closest('.changed-list');
  if (!entry || !list) return;
  const [inner, outer] = [entry.getBoundingClientRect(), list.getBoundingClientRect()];
  if (inner.top < outer.top) list.scrollTop -= outer.top - inner.top;
  else if (inner.bottom > outer.bottom) list.scrollTop += inner.bottom - outer.bottom;
}
