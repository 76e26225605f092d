/** The Settings page: the user's account, sessions, management tokens and organization. */
import { Skeleton, Stack, Tabs } from '@mantine/core';
import { lazyComponent } from '../../components/layout/lazy-component-no-suspense-delay.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { TabList } from '../../components/layout/tab-list.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { ChangePassword } from './change-password.js';
import { LeaveOrDeleteOrganization } from './leave-or-delete-organization.js';
import { NewOrganizationDialog } from './new-organization-dialog.js';
import { Profile } from './profile.js';

const SecondFactor = lazyComponent(async () => (await import('./second-factor.js')).SecondFactor, <Skeleton h={160} />);
const SessionsTab = lazyComponent(async () => (await import('./sessions-tab.js')).SessionsTab, <Skeleton h={320} />);
const ManagementTokensTab = lazyComponent(
  async () => (await import('./management-tokens-tab.js')).ManagementTokensTab,
  <Skeleton h={320} />,
);
const OrganizationSettings = lazyComponent(
  async () => (await import('./organization-settings.js')).OrganizationSettings,
  <Skeleton h={320} />,
);
const SingleSignOnTab = lazyComponent(
  async () => (await import('./single-sign-on-tab.js')).SingleSignOnTab,
  <Skeleton h={320} />,
);

// What the menus and links open: with the page, not after it.
void SecondFactor.preload();
void OrganizationSettings.preload();

const DEFAULTS = { tab: 'account', page: 1, dialog: '' };
/** Value of `dialog` that the user menu links to. */
const NEW_ORGANIZATION = 'new';

export function SettingsPage() {
  const { values, set } = useUrlState(DEFAULTS);
  return (
    <>
      <PageHeader title="Settings" />
      <Tabs value={values.tab} onChange={(tab) => set({ tab: tab ?? 'account' })} keepMounted={false}>
        <TabList value={values.tab}>
          <Tabs.Tab value="account">Account</Tabs.Tab>
          <Tabs.Tab value="sessions">Sessions</Tabs.Tab>
          <Tabs.Tab value="tokens">Management tokens</Tabs.Tab>
          <Tabs.Tab value="organization">Organization</Tabs.Tab>
          <Tabs.Tab value="sso">Single sign-on</Tabs.Tab>
        </TabList>
        <Tabs.Panel value="account">
          <Stack gap="lg">
            <Profile />
            <ChangePassword />
            <SecondFactor />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="sessions">
          <SessionsTab page={values.page} onPage={(page) => set({ page })} />
        </Tabs.Panel>
        <Tabs.Panel value="tokens">
          <ManagementTokensTab page={values.page} onPage={(page) => set({ page })} />
        </Tabs.Panel>
        <Tabs.Panel value="sso">
          <SingleSignOnTab />
        </Tabs.Panel>
        <Tabs.Panel value="organization">
          <Stack gap="lg">
            <OrganizationSettings />
            <LeaveOrDeleteOrganization />
            <NewOrganizationDialog
              opened={values.dialog === NEW_ORGANIZATION}
              onClose={() => set({ dialog: '' }, { replace: true })}
            />
          </Stack>
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
