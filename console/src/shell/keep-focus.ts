/** How far back it is remembered where the focus was: a dialog, what opened it, and some more. */
const REMEMBERED = 10;

/** An element that had the focus, and all that is around it, from the inside. */
type Place = readonly Element[];

function placeOf(element: Element): Place {
  const place: Element[] = [];
  for (let at: Element | null = element; at !== null; at = at.parentElement) place.push(at);
  return place;
}

/**
 * Browsers forget the focus where the element that has it is taken away or disabled: a row whose button ended a session, a button while its
 * request is under way. Those who use a keyboard or a screen reader would begin at the top of the page again. So the focus goes to what was
 * around the element, such as its table, and back to the element when it is enabled again.
 */
export function keepFocus(): void {
  /** The newest is the last. */
  let places: Place[] = [];
  /** Disabled while it had the focus. */
  let waiting: HTMLElement | undefined;
  const isLost = () => document.activeElement === null || document.activeElement === document.body;

  document.addEventListener('focusin', ({ target }) => {
    waiting = undefined;
    if (target instanceof Element) places = [...places, placeOf(target)].slice(-REMEMBERED);
  });
  document.addEventListener('focusout', ({ target, relatedTarget }) => {
    // A click beside everything takes the focus away, too, and is to.
    if (relatedTarget !== null || !(target instanceof Element)) return;
    setTimeout(() => {
      if (!isLost() || !target.isConnected || target.matches(':disabled')) return;
      places = [];
      waiting = undefined;
    });
  });
  const restore = () => {
    const newest = places.at(-1)?.[0];
    // The browser takes the focus away in the next frame.
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
    // A long way through a dialog, and what opened it is no longer remembered.
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
