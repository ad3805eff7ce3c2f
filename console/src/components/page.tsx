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
  heading,
  crumbs,
  note,
  actions,
}: {
  title: string;
  /** The `h1`, if it is more than the title. */
  heading?: ReactNode;
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
        {heading ?? <h1>{title}</h1>}
        {note}
      </div>
      {actions && <div className="row">{actions}</div>}
    </div>
  );
}
