import { Link, type LinkOptions } from '@tanstack/react-router';
import { type ComponentProps, type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { ListTable } from './list-table.tsx';
import { PageHead } from './page.tsx';
import { EmptyState } from './states.tsx';

/** How one more is made: in a dialog, on a page of its own, or as the page has it. */
interface Create {
  label: string;
  link?: LinkOptions;
  dialog?: (close: () => void) => ReactNode;
  onClick?: () => void;
}

/** The page of a list: its head with the way to make one more, what it is filtered by, and the table. */
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
  /** False: this session may not. */
  create: false | Create;
  /** Before the button that makes one more. */
  actions?: ReactNode;
  /** What is said where there is nothing yet, and what `create` is called there. */
  empty: { title: string; text: ReactNode; action?: string; more?: ReactNode };
  /** What is said where filters leave nothing, and the address of all; false: nothing is filtered. */
  filtered?: false | { title: string; all: LinkOptions };
  /** Between the head and the table. */
  children?: ReactNode;
}) {
  // Not in the table: that may come and go while the dialog is open.
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
