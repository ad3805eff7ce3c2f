import { PageHead } from '../../components/page.tsx';
import { EmptyState } from '../../components/states.tsx';
import { TabLinks } from '../../components/tabs.tsx';
import { useMay } from '../../shell/session.ts';
import { AuditLog } from './audit-log.tsx';
import { Keys } from './keys.tsx';
import { Labels } from './labels.tsx';
import { Members } from './members.tsx';
import { MyKeys } from './my-keys.tsx';
import { Providers } from './providers.tsx';
import { settingsRoute, type TABS } from './routes.ts';
import { Sessions } from './sessions.tsx';
import { Workspaces } from './workspaces.tsx';

export function SettingsPage() {
  const { tab } = settingsRoute.useSearch();
  const isAdmin = useMay('admin');
  const link = (key: (typeof TABS)[number] | undefined) => ({
    to: '/settings' as const,
    search: key === undefined ? {} : { tab: key },
  });
  return (
    <>
      <PageHead title="Settings" />
      <TabLinks
        label="Parts of this page"
        current={tab ?? 'keys'}
        tabs={[
          { key: 'keys', label: 'Keys', link: link(undefined) },
          { key: 'my-keys', label: 'My API keys', link: link('my-keys') },
          { key: 'members', label: 'Members', link: link('members') },
          { key: 'workspaces', label: 'Workspaces', link: link('workspaces') },
          { key: 'labels', label: 'Labels', link: link('labels') },
          { key: 'providers', label: 'Providers', link: link('providers') },
          { key: 'sessions', label: 'Sessions', link: link('sessions') },
          { key: 'audit', label: 'Audit log', link: link('audit') },
        ]}
      />
      {tab === 'labels' ? (
        <Labels />
      ) : tab === 'members' ? (
        <Members />
      ) : tab === 'workspaces' ? (
        <Workspaces />
      ) : tab === 'providers' ? (
        <Providers />
      ) : tab === 'my-keys' ? (
        <MyKeys />
      ) : tab === 'sessions' ? (
        <Sessions />
      ) : !isAdmin ? (
        <EmptyState title="Only for administrators">
          <p>The key of this session lacks the scope “admin”: sign in with a key that has it.</p>
        </EmptyState>
      ) : tab === 'audit' ? (
        <AuditLog />
      ) : (
        <Keys />
      )}
    </>
  );
}
