import { Link, type LinkOptions } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { formatNumber } from '../format.ts';

/** A cause of failures. */
export interface Cause {
  code: string;
  /** The message of one of the failures. */
  message: string;
  count: number;
}

/** How many failed and why, with links to them. Shown above scores and figures. */
export function Failures({
  title,
  causes = [],
  open,
  openCause,
  children,
}: {
  title: string;
  causes?: readonly Cause[];
  /** The list of what failed. */
  open: LinkOptions;
  /** The list of what failed with one code. */
  openCause?: (code: string) => LinkOptions;
  /** More that can be done, such as to retry. */
  children?: ReactNode;
}) {
  return (
    <section className="notice bad" aria-label="Failures">
      <strong>{title}</strong>
      <span className="row">
        <Link {...open} className="button small">
          Open
        </Link>
        {children}
      </span>
      {causes.length > 0 && (
        <ul>
          {causes.map(({ code, message, count }) => (
            <li key={`${code} ${message}`}>
              {formatNumber(count)} ×{' '}
              {openCause ? (
                <Link {...openCause(code)}>
                  <code>{code}</code>
                </Link>
              ) : (
                <code>{code}</code>
              )}{' '}
              {message}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
