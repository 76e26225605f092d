/** The Providers page: accounts, shared credentials, catalogue, breakers and prices. */
import { Skeleton, Stack, Tabs } from '@mantine/core';
import { Redirect } from 'wouter';
import { lazyComponent } from '../../components/layout/lazy-component-no-suspense-delay.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { TabList } from '../../components/layout/tab-list.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { AccountsTab } from './accounts-tab.js';
import { BreakersTab } from './breakers-tab.js';
import { ReenterCredentialsAlert } from './reenter-credentials-alert.js';
import { SharedCredentialsTab } from './shared-credentials-tab.js';

const CatalogueTab = lazyComponent(async () => (await import('./catalogue-tab.js')).CatalogueTab, <Skeleton h={320} />);
const PricesTab = lazyComponent(async () => (await import('./prices-tab.js')).PricesTab, <Skeleton h={320} />);

const DEFAULTS = {
  tab: 'accounts',
  project: '',
  provider: '',
  status: '',
  account: '',
  credential: '',
  model: '',
  source: '',
  page: 1,
};

export function ProvidersPage() {
  const { values, set, clear } = useUrlState(DEFAULTS);
  // Addresses that an earlier command line or callback page names.
  if (values.account !== '')
    return <Redirect to={`/providers/accounts/${encodeURIComponent(values.account)}`} replace />;
  return (
    <>
      <PageHeader title="Providers" description="The gateway calls providers with credentials that agents never see." />
      <Tabs
        value={values.tab}
        onChange={(tab) =>
          set({
            tab: tab ?? DEFAULTS.tab,
            project: '',
            provider: '',
            status: '',
            credential: '',
            model: '',
            source: '',
          })
        }
        keepMounted={false}
      >
        <TabList value={values.tab}>
          <Tabs.Tab value="accounts">Accounts</Tabs.Tab>
          <Tabs.Tab value="shared">Shared credentials</Tabs.Tab>
          <Tabs.Tab value="catalogue">Catalogue</Tabs.Tab>
          <Tabs.Tab value="circuits">Breakers</Tabs.Tab>
          <Tabs.Tab value="prices">Prices</Tabs.Tab>
        </TabList>
        <Tabs.Panel value="accounts">
          <Stack gap="lg">
            <ReenterCredentialsAlert />
            <AccountsTab
              values={values}
              onChange={set}
              onClear={clear}
              filtered={values.project + values.provider + values.status !== ''}
            />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="shared">
          <SharedCredentialsTab
            page={values.page}
            onPage={(page) => set({ page })}
            opened={values.credential}
            onOpen={(credential) => set({ credential, page: values.page })}
          />
        </Tabs.Panel>
        <Tabs.Panel value="catalogue">
          <CatalogueTab />
        </Tabs.Panel>
        <Tabs.Panel value="circuits">
          <BreakersTab page={values.page} onPage={(page) => set({ page })} />
        </Tabs.Panel>
        <Tabs.Panel value="prices">
          <PricesTab values={values} onChange={set} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
