import { Link, type LinkOptions } from '@tanstack/react-router';

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
  return (
    <nav aria-label={label} className="tabs-list">
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
