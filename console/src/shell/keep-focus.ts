/** How many earlier focus positions are remembered: a dialog, its opener, and some more. */
const REMEMBERED = 10;

/** An element that had the focus, with its ancestors, innermost first. */
type Place = readonly Element[];

function placeOf(element: Element): Place {
  const place: Element[] = [];
  for (let at: Element | null = element; at !== null; at = at.parentElement) place.push(at);
  return place;
}

/**
 * Browsers lose the focus if its element is removed or disabled: a row whose button ended a session, a button during its request.
 * Keyboard and screen reader users would start at the top of the page again. So the focus moves to the nearest remaining ancestor, such
 * as the table, and returns to the element when it is enabled again.
 */
export function keepFocus(): void {
  /** Newest last. */
  let places: Place[] = [];
  /** Was disabled while it had the focus. */
  let waiting: HTMLElement | undefined;
  const isLost = () => document.activeElement === null || document.activeElement === document.body;

  document.addEventListener('focusin', ({ target }) => {
    waiting = undefined;
    if (target instanceof Element) places = [...places, placeOf(target)].slice(-REMEMBERED);
  });
  document.addEventListener('focusout', ({ target, relatedTarget }) => {
    // A click outside of everything intentionally removes the focus.
    if (relatedTarget !== null || !(target instanceof Element)) return;
    setTimeout(() => {
      if (!isLost() || !target.isConnected || target.matches(':disabled')) return;
      places = [];
      waiting = undefined;
    });
  });
  const restore = () => {
    const newest = places.at(-1)?.[0];
    // The browser removes the focus in the next frame.
    if (newest instanceof HTMLElement && newest.matches(':disabled')) waiting = newest;
    if (!isLost()) return;
    if (waiting?.isConnected) {
      if (!waiting.matches(':disabled')) waiting.focus();
      return;
    }
    if (newest?.isConnected) return;
    const around = places
      .toReversed()
      .flatMap(
        (place) =>
          place.find((each, at) => each.isConnected && each.matches(at === 0 ? ':enabled, a' : '[tabindex]')) ?? [],
      )[0];
    // After long use of a dialog, its opener is no longer remembered.
    const target = around ?? (places.length > 0 ? document.getElementById('main') : null);
    if (target instanceof HTMLElement) target.focus({ preventScroll: true });
  };
  new MutationObserver(restore).observe(document.body, {
    subtree: true,
    childList: true,
    attributes: true,
    attributeFilter: ['disabled'],
  });
}
