import { Link, type LinkOptions } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

/** The parts of a page. Each has an address of its own, so these are links. */
export function TabLinks({
  label,
  tabs,
  current,
}: {
  label: string;
  tabs: { key: string; label: string; link: LinkOptions }[];
  current: string;
}) {
  const list = useRef<HTMLElement>(null);
  // On a phone not all fit: the list begins where the chosen one can be seen.
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is chosen moves
  useEffect(() => {
    const chosen = list.current?.querySelector<HTMLElement>('[aria-current="page"]');
    if (!list.current || !chosen) return;
    const { left, right } = chosen.getBoundingClientRect();
    const outer = list.current.getBoundingClientRect();
    if (right > outer.right || left < outer.left) list.current.scrollLeft += left - outer.left;
  }, [current]);
  return (
    <nav aria-label={label} className="tabs-list" ref={list}>
      {tabs.map((tab) => (
        <Link
          key={tab.key}
          {...tab.link}
          className="tab"
          // The address may hold more than the tab: that is for the page to say. Of itself, a link is current by its path alone.
          activeOptions={{ exact: true, includeSearch: true }}
          aria-current={tab.key === current ? 'page' : undefined}
        >
          {tab.label}
        </Link>
      ))}
    </nav>
  );
}
