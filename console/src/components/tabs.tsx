import { Link, type LinkOptions } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

/** The parts of a page. They are links because each has its own address. */
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
  // Phones cannot show all of them: scroll the selected one into view.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the selection moves
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
          // The address may have more parameters than the tab; the page handles them. A link is current by its path only.
          activeOptions={{ exact: true, includeSearch: true }}
          aria-current={tab.key === current ? 'page' : undefined}
        >
          {tab.label}
        </Link>
      ))}
    </nav>
  );
}
