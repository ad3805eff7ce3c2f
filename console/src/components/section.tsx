import type { ReactNode } from 'react';

/** A part of a page with a heading, by which it is called. */
export function Section({
  id,
  title,
  className = 'stack',
  children,
}: {
  /** Of the heading. */
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
