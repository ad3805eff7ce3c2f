import { Menu } from '@base-ui/react/menu';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Check } from 'lucide-react';
import { useState } from 'react';
import { call, isSignedOut } from '../api.ts';
import type { EndedSession } from '../api-types.ts';
import { showError } from '../components/toast.tsx';
import { closeDrafts, unsavedDrafts } from '../drafts/drafts.ts';
import { t } from '../strings.ts';
import { useConfig } from './config.ts';
import { rememberProvider } from './provider-sign-in.tsx';
import { useSession } from './session.ts';
import { useSwitchWorkspace } from './switch-workspace.ts';
import { chooseTheme, currentTheme, type Theme } from './theme.ts';

const THEMES: Record<Theme, string> = { system: t('System'), light: t('Light'), dark: t('Dark') };

/** The signed-in user, the theme, and signing out. */
export function SessionMenu() {
  const session = useSession();
  const config = useConfig();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [theme, setTheme] = useState(currentTheme);
  const signOut = useMutation({
    mutationFn: () =>
      call<EndedSession>('DELETE', '/session', { waitsForSignIn: false }).catch((error: unknown) => {
        if (!isSignedOut(error)) throw error;
      }),
    async onSuccess(ended) {
      rememberProvider(null);
      // Otherwise the session at the provider would let the next person in without asking.
      if (ended?.end_session_url) return window.location.assign(ended.end_session_url);
      await navigate({ to: '/sign-in' });
      client.clear();
      closeDrafts();
    },
    onError: showError,
  });
  const switchTo = useSwitchWorkspace();
  if (session === undefined) return null;
  return (
    <Menu.Root>
      <Menu.Trigger className="session-trigger">
        <span className="session-workspace">{session.workspace.name}</span>
        <span className="muted">{session.member?.name ?? session.key.name}</span>
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className="menu-positioner" sideOffset={6} align="start">
          <Menu.Popup className="menu">
            {session.workspaces.length > 1 && (
              <>
                <Menu.Group>
                  <Menu.GroupLabel className="menu-label">Workspace</Menu.GroupLabel>
                  <Menu.RadioGroup value={session.workspace.name} onValueChange={(chosen: string) => switchTo(chosen)}>
                    {session.workspaces.map(({ name, role }) => (
                      <Menu.RadioItem key={name} value={name} className="menu-item">
                        <Menu.RadioItemIndicator className="menu-mark">
                          <Check className="icon" aria-hidden />
                        </Menu.RadioItemIndicator>
                        {name} <span className="muted">{role}</span>
                      </Menu.RadioItem>
                    ))}
                  </Menu.RadioGroup>
                </Menu.Group>
                <Menu.Separator className="menu-separator" />
              </>
            )}
            <Menu.Group>
              <Menu.GroupLabel className="menu-label">Theme</Menu.GroupLabel>
              <Menu.RadioGroup
                value={theme}
                onValueChange={(chosen: Theme) => {
                  setTheme(chosen);
                  chooseTheme(chosen);
                }}
              >
                {Object.entries(THEMES).map(([value, label]) => (
                  <Menu.RadioItem key={value} value={value} className="menu-item">
                    <Menu.RadioItemIndicator className="menu-mark">
                      <Check className="icon" aria-hidden />
                    </Menu.RadioItemIndicator>
                    {label}
                  </Menu.RadioItem>
                ))}
              </Menu.RadioGroup>
            </Menu.Group>
            <Menu.Separator className="menu-separator" />
            <Menu.LinkItem className="menu-item" href="/docs/guides">
              Guides
            </Menu.LinkItem>
            <Menu.LinkItem className="menu-item" href="/docs">
              API documentation
            </Menu.LinkItem>
            <Menu.Item
              className="menu-item"
              onClick={() => {
                if (unsavedDrafts() > 0 && !window.confirm(t('Sign out without saving your changes?'))) return;
                signOut.mutate();
              }}
            >
              Sign out
            </Menu.Item>
            {config && <p className="menu-note">Version {config.version}</p>}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
