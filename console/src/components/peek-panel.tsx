import { Link, type LinkOptions } from '@tanstack/react-router';
import { ChevronDown, ChevronUp, Maximize2, X } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { hasDialog } from '../shell/single-keys.ts';
import { Button } from './button.tsx';
import './peek.css';

/** A record next to its list. Escape closes it; `j` and `k` belong to the list. Without room for both, it replaces the list. */
export function PeekPanel({
  id,
  title,
  page,
  onStep,
  onClose,
  actions,
  children,
}: {
  id: string;
  title: string;
  /** The record's own page, if it has one. */
  page?: LinkOptions;
  /** Goes to the next or previous one; undefined if there is none. */
  onStep: Record<'next' | 'before', (() => void) | undefined>;
  onClose: () => void;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const latest = useRef(onClose);
  useEffect(() => {
    latest.current = onClose;
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another record is shown from its top
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    body.current?.scrollTo({ top: 0 });
  }, [id]);
  useEffect(() => {
    const press = ({ key, defaultPrevented }: KeyboardEvent) => {
      if (key === 'Escape' && !defaultPrevented && !hasDialog()) latest.current();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  return (
    <section className="peek-panel" aria-labelledby="peek-panel-title">
      <div className="peek-panel-head">
        <h2 id="peek-panel-title" ref={heading} tabIndex={-1}>
          {title}
        </h2>
        <div className="row">
          <Button
            look="small"
            aria-label="Previous"
            title="Previous (k)"
            disabled={onStep.before === undefined}
            onClick={onStep.before}
          >
            <ChevronUp size={16} aria-hidden />
          </Button>
          <Button
            look="small"
            aria-label="Next"
            title="Next (j)"
            disabled={onStep.next === undefined}
            onClick={onStep.next}
          >
            <ChevronDown size={16} aria-hidden />
          </Button>
          {page && (
            <Link {...page} className="button small">
              <Maximize2 size={16} aria-hidden />
              Full page
            </Link>
          )}
          <Button look="small" aria-label="Close" title="Close (Escape)" onClick={onClose}>
            <X size={16} aria-hidden />
          </Button>
        </div>
      </div>
      <div className="peek-panel-body" ref={body}>
        {actions && <div className="row peek-panel-actions">{actions}</div>}
        {children}
      </div>
    </section>
  );
}
