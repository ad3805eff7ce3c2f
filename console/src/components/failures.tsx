import type { ReactNode } from 'react';
import { formatNumber } from '../format.ts';

/** A cause of failures. */
export interface Cause {
  code: string;
  /** The message of one of the failures. */
  message: string;
  count: number;
}

/** How many failed and why, with a link to them. Shown above scores and figures. */
export function Failures({
  title,
  causes,
  children,
}: {
  title: string;
  causes: readonly Cause[];
  /** The link. */
  children: ReactNode;
}) {
  return (
    <section className="notice bad" aria-label="Failures">
      <strong>{title}</strong>
      {children}
      {causes.length > 0 && (
        <ul>
          {causes.map(({ code, message, count }) => (
            <li key={`${code} ${message}`}>
              {formatNumber(count)} × <code>{code}</code> {message}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
