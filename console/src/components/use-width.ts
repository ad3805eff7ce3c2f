import { type RefObject, useEffect, useRef, useState } from 'react';

/** The width of an element in pixels, as it changes. */
export function useWidth<Element extends HTMLElement>(byDefault: number): [RefObject<Element | null>, number] {
  const element = useRef<Element>(null);
  const [width, setWidth] = useState(byDefault);
  useEffect(() => {
    const observed = element.current;
    if (observed === null) return;
    const observer = new ResizeObserver(([entry]) => {
      const next = Math.floor(entry?.contentRect.width ?? 0);
      if (next > 0) setWidth(next);
    });
    observer.observe(observed);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}
