import { Children, type ReactNode, useEffect } from 'react';

/** The title of the browser's tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Prompt Management`;
  }, [title]);
}

/** The top of a page: its heading, what it is part of, and what can be done. */
export function PageHead({
  title,
  crumbs,
  note,
  actions,
}: {
  title: string;
  /** Links to what this is part of, one after the other. */
  crumbs?: ReactNode;
  /** Under the heading. */
  note?: ReactNode;
  actions?: ReactNode;
}) {
  useTitle(title);
  return (
    <div className="page-head">
      <div className="page-title">
        {crumbs && <ol className="crumbs">{Children.map(crumbs, (crumb) => crumb && <li>{crumb}</li>)}</ol>}
        <h1>{title}</h1>
        {note}
      </div>
      {actions && <div className="row">{actions}</div>}
    </div>
  );
}
