import type { ReactNode } from 'react';

/** A part of a page, labeled by its heading. */
export function Section({
  id,
  title,
  className = 'stack',
  children,
}: {
  /** The id of the heading. */
  id: string;
  title: string;
  className?: string;
  children: ReactNode;
}) {
  return (
    <section className={className} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}
