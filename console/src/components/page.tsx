import { Children, type ReactNode, useEffect } from 'react';

/** Sets the title of the browser tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Prompt Management`;
  }, [title]);
}

/** The top of a page: its heading, breadcrumbs and actions. */
export function PageHead({
  title,
  crumbs,
  note,
  actions,
}: {
  title: string;
  /** Links to the parents, in order. */
  crumbs?: ReactNode;
  /** Below the heading. */
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
