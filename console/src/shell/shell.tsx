import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { Menu as MenuIcon, MessageSquareCode, Search } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { isOfThisTab } from '../drafts/drafts.ts';
import { useDrafts } from '../drafts/use-drafts.ts';
import { useLiveUpdates } from './live.ts';
import { navigation } from './navigation.ts';
import { SessionMenu } from './session-menu.tsx';
import { OPEN_PALETTE, Shortcuts } from './shortcuts.tsx';
import { SignInAgain } from './sign-in-again.tsx';

/** The menu next to the pages. On narrow screens it opens above them. */
export function Shell() {
  useLiveUpdates();
  const [open, setOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  const shown = useRef(pathname);
  // Back to the playground with unsaved input.
  const playground = useDrafts<{ search: object }>('playground').find(isOfThisTab)?.value.search ?? {};
  useEffect(() => {
    if (shown.current === pathname) return;
    shown.current = pathname;
    setOpen(false);
    // A navigation without a page load is announced through the heading.
    main.current?.focus({ preventScroll: true });
  }, [pathname]);
  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <header className="sidebar" data-open={open}>
        <div className="sidebar-top">
          <Link to="/" className="brand">
            <MessageSquareCode className="icon" aria-hidden />
            Prompt Management
          </Link>
          <button
            type="button"
            className="menu-button"
            aria-expanded={open}
            aria-controls="menu"
            onClick={() => setOpen(!open)}
          >
            <MenuIcon className="icon" aria-hidden />
            Menu
          </button>
        </div>
        <div className="sidebar-menu" id="menu">
          <nav aria-label="Main" className="stack">
            <button
              type="button"
              className="palette-trigger"
              aria-keyshortcuts="Control+K Meta+K"
              onClick={() => window.dispatchEvent(new Event(OPEN_PALETTE))}
            >
              <Search className="icon" aria-hidden />
              Go to…
              <kbd aria-hidden>Ctrl K</kbd>
            </button>
            <div>
              {navigation.map(({ title, pages }) => (
                <div key={title} className="nav-group">
                  <p className="nav-group-title" aria-hidden>
                    {title}
                  </p>
                  <ul aria-label={title}>
                    {pages.map(({ label, link, Icon }) => (
                      <li key={label}>
                        <Link
                          {...link}
                          {...(link.to === '/playground' && { search: playground })}
                          className="nav-link"
                          activeOptions={{ includeSearch: false, exact: link.to === '/' }}
                          activeProps={{ 'aria-current': 'page' }}
                        >
                          <Icon className="icon" aria-hidden />
                          {label}
                        </Link>
                      </li>
                    ))}
                  </ul>
                </div>
              ))}
            </div>
          </nav>
          <SessionMenu />
        </div>
      </header>
      <main id="main" className="page" tabIndex={-1} ref={main}>
        <Outlet />
      </main>
      <Shortcuts />
      <SignInAgain />
    </div>
  );
}
