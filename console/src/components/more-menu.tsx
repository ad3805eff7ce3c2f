import { Menu } from '@base-ui/react/menu';
import { Link, type LinkOptions } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { type ReactNode, useState } from 'react';

interface Action {
  label: string;
  /** What it does, unless it leads to an address. */
  onClick?: () => void;
  /** The dialog that it opens. */
  dialog?: (close: () => void) => ReactNode;
  link?: LinkOptions;
  /** An address outside the console. */
  href?: string;
  danger?: boolean;
}

/**
 * The actions of a page, or of a part of it, other than its main one, behind one button.
 * @param of the part, such as "pane 1, row 2"; default: the page
 */
export function MoreMenu({ actions, of }: { actions: readonly (Action | false)[]; of?: string }) {
  // Not inside the menu, which closes when the dialog opens.
  const [open, setOpen] = useState<Action['dialog']>();
  const shown = actions.filter((action) => action !== false);
  if (shown.length === 0) return null;
  return (
    <>
      <Menu.Root>
        <Menu.Trigger
          className={of === undefined ? 'button' : 'button small plain'}
          aria-label={of === undefined ? 'More actions' : `More actions: ${of}`}
          title="More actions"
        >
          <Ellipsis size={16} aria-hidden />
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner className="menu-positioner" sideOffset={4} align="end">
            <Menu.Popup className="menu">
              {shown.map(({ label, onClick, dialog, link, href, danger }) => (
                <Menu.Item
                  key={label}
                  className={danger ? 'menu-item danger' : 'menu-item'}
                  onClick={dialog ? () => setOpen(() => dialog) : onClick}
                  {...(link && { render: <Link {...link} /> })}
                  {...(href !== undefined && { render: <a href={href}>{label}</a> })}
                >
                  {label}
                </Menu.Item>
              ))}
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      {open?.(() => setOpen(undefined))}
    </>
  );
}
