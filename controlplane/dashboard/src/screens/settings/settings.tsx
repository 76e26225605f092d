/** Settings of the person and of the organization. */
import { Stack, Tabs } from '@mantine/core';
import { PageHeader } from '../../parts/page-header.js';
import { useSearchState } from '../../parts/search-state.js';
import { DangerZone } from './danger-zone.js';
import { NewOrganization } from './new-organization.js';
import { OrganizationSettings } from './organization-settings.js';
import { Password } from './password.js';
import { Profile } from './profile.js';
import { Sessions } from './sessions.js';
import { Tokens } from './tokens.js';

const DEFAULTS = { tab: 'account', page: 1, dialog: '' };
/** The menu of organizations leads to it. */
const NEW_ORGANIZATION = 'new';

export function SettingsPage() {
  const { values, set } = useSearchState(DEFAULTS);
  return (
    <>
      <PageHeader title="Settings" />
      <Tabs value={values.tab} onChange={(tab) => set({ tab: tab ?? 'account' })} keepMounted={false}>
        <Tabs.List mb="lg" className="acg-tabs">
          <Tabs.Tab value="account">Account</Tabs.Tab>
          <Tabs.Tab value="sessions">Sessions</Tabs.Tab>
          <Tabs.Tab value="tokens">Tokens</Tabs.Tab>
          <Tabs.Tab value="organization">Organization</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="account">
          <Stack gap="lg">
            <Profile />
            <Password />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="sessions">
          <Sessions page={values.page} onPage={(page) => set({ page })} />
        </Tabs.Panel>
        <Tabs.Panel value="tokens">
          <Tokens page={values.page} onPage={(page) => set({ page })} />
        </Tabs.Panel>
        <Tabs.Panel value="organization">
          <Stack gap="lg">
            <OrganizationSettings />
            <DangerZone />
            <NewOrganization
              opened={values.dialog === NEW_ORGANIZATION}
              onClose={() => set({ dialog: '' }, { replace: true })}
            />
          </Stack>
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
