import { Link, type LinkOptions } from '@tanstack/react-router';
import { type ComponentProps, type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { ListTable } from './list-table.tsx';
import { PageHead } from './page.tsx';
import { EmptyState } from './states.tsx';

/** How to create an entry: in a dialog, on a separate page, or in the page's own way. */
interface Create {
  label: string;
  link?: LinkOptions;
  dialog?: (close: () => void) => ReactNode;
  onClick?: () => void;
}

/** The page of a list: its heading with the create button, its filters, and the table. */
export function ListPage<Row>({
  title,
  create,
  actions,
  empty: { title: emptyTitle, text, action, more },
  filtered,
  children,
  ...table
}: Omit<ComponentProps<typeof ListTable<Row>>, 'label' | 'empty'> & {
  title: string;
  /** False if this session lacks the permission. */
  create: false | Create;
  /** Before the create button. */
  actions?: ReactNode;
  /** Shown if the list is empty, with the label for `create`. */
  empty: { title: string; text: ReactNode; action?: string; more?: ReactNode };
  /** Shown if the filters match nothing, with the address of the full list; false if nothing is filtered. */
  filtered?: false | { title: string; all: LinkOptions };
  /** Between the heading and the table. */
  children?: ReactNode;
}) {
  // Not inside the table, which can be unmounted while the dialog is open.
  const [isOpen, setOpen] = useState(false);
  const dialog = create ? create.dialog : undefined;
  const button = (label: string, isPrimary: boolean) =>
    create &&
    (create.link ? (
      <Link {...create.link} className={isPrimary ? 'button primary' : 'button'}>
        {label}
      </Link>
    ) : (
      <Button look={isPrimary ? 'primary' : ''} onClick={create.onClick ?? (() => setOpen(true))}>
        {label}
      </Button>
    ));
  const head = (
    <>
      {actions}
      {create && button(create.label, true)}
    </>
  );
  return (
    <>
      <PageHead title={title} actions={head} />
      {children}
      <ListTable
        {...table}
        label={title}
        empty={
          filtered ? (
            <EmptyState title={filtered.title} all={filtered.all} />
          ) : (
            <EmptyState title={emptyTitle}>
              <p>{text}</p>
              {action && button(action, false)}
              {more}
            </EmptyState>
          )
        }
      />
      {isOpen && dialog?.(() => setOpen(false))}
    </>
  );
}
