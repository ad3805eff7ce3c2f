import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { isOfThisTab } from '../drafts/drafts.ts';
import { useDrafts } from '../drafts/use-drafts.ts';
import { navigation } from './navigation.ts';
import { SessionMenu } from './session-menu.tsx';
import { SignInAgain } from './sign-in-again.tsx';

/** The menu beside the pages. On narrow screens it opens above them. */
export function Shell() {
  const [open, setOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  const shown = useRef(pathname);
  // Back to where something was typed.
  const playground = useDrafts<{ search: object }>('playground').find(isOfThisTab)?.value.search ?? {};
  useEffect(() => {
    if (shown.current === pathname) return;
    shown.current = pathname;
    setOpen(false);
    // A page that has changed without being loaded is announced by its heading.
    main.current?.focus({ preventScroll: true });
  }, [pathname]);
  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        To the content
      </a>
      <header className="sidebar" data-open={open}>
        <div className="sidebar-top">
          <Link to="/prompts" className="brand">
            Prompt Management
          </Link>
          <button
            type="button"
            className="menu-button"
            aria-expanded={open}
            aria-controls="menu"
            onClick={() => setOpen(!open)}
          >
            Menu
          </button>
        </div>
        <div className="sidebar-menu" id="menu">
          <nav aria-label="Main">
            <ul>
              {navigation.map(({ label, link }) => (
                <li key={label}>
                  <Link
                    {...link}
                    {...(link.to === '/playground' && { search: playground })}
                    className="nav-link"
                    activeOptions={{ includeSearch: false }}
                    activeProps={{ 'aria-current': 'page' }}
                  >
                    {label}
                  </Link>
                </li>
              ))}
            </ul>
          </nav>
          <SessionMenu />
        </div>
      </header>
      <main id="main" className="page" tabIndex={-1} ref={main}>
        <Outlet />
      </main>
      <SignInAgain />
    </div>
  );
}
