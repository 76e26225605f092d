/** What agents may call, with which credentials, and whether it answers. */
import { Stack, Tabs } from '@mantine/core';
import { PageHeader } from '../../parts/page-header.js';
import { useSearchState } from '../../parts/search-state.js';
import { Accounts } from './accounts.js';
import { Catalogue } from './catalogue.js';
import { Circuits } from './circuits.js';
import { NeedsCredentials } from './needs-credentials.js';

const DEFAULTS = { tab: 'accounts', project: '', status: '', page: 1 };

export function Providers() {
  const { values, set, clear, filtered } = useSearchState(DEFAULTS);
  return (
    <>
      <PageHeader
        title="Providers"
        description="The gateway calls them with credentials that agents never see. An agent’s are added on its own page."
      />
      <Tabs
        value={values.tab}
        onChange={(tab) => set({ tab: tab ?? DEFAULTS.tab, project: '', status: '' })}
        keepMounted={false}
      >
        <Tabs.List mb="lg" className="acg-tabs">
          <Tabs.Tab value="accounts">Accounts</Tabs.Tab>
          <Tabs.Tab value="catalogue">Catalogue</Tabs.Tab>
          <Tabs.Tab value="circuits">Circuits</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="accounts">
          <Stack gap="lg">
            <NeedsCredentials />
            <Accounts values={values} onChange={set} onClear={clear} filtered={filtered} />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="catalogue">
          <Catalogue />
        </Tabs.Panel>
        <Tabs.Panel value="circuits">
          <Circuits page={values.page} onPage={(page) => set({ page })} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
