/** What agents may call, with which credentials, and whether it answers. */
import { Stack, Tabs } from '@mantine/core';
import { PageHeader } from '../../parts/page-header.js';
import { useSearchState } from '../../parts/search-state.js';
import { Accounts } from './accounts.js';
import { Catalogue } from './catalogue.js';
import { Circuits } from './circuits.js';
import { NeedsCredentials } from './needs-credentials.js';
import { Prices } from './prices.js';
import { Shared } from './shared.js';

const DEFAULTS = { tab: 'accounts', project: '', status: '', credential: '', model: '', source: '', page: 1 };

export function Providers() {
  const { values, set, clear } = useSearchState(DEFAULTS);
  return (
    <>
      <PageHeader
        title="Providers"
        description="The gateway calls them with credentials that agents never see. One agent’s, or shared by many."
      />
      <Tabs
        value={values.tab}
        onChange={(tab) =>
          set({ tab: tab ?? DEFAULTS.tab, project: '', status: '', credential: '', model: '', source: '' })
        }
        keepMounted={false}
      >
        <Tabs.List mb="lg" className="acg-tabs">
          <Tabs.Tab value="accounts">Accounts</Tabs.Tab>
          <Tabs.Tab value="shared">Shared credentials</Tabs.Tab>
          <Tabs.Tab value="catalogue">Catalogue</Tabs.Tab>
          <Tabs.Tab value="circuits">Circuits</Tabs.Tab>
          <Tabs.Tab value="prices">Prices</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="accounts">
          <Stack gap="lg">
            <NeedsCredentials />
            <Accounts values={values} onChange={set} onClear={clear} filtered={values.project + values.status !== ''} />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="shared">
          <Shared
            page={values.page}
            onPage={(page) => set({ page })}
            opened={values.credential}
            onOpen={(credential) => set({ credential, page: values.page })}
          />
        </Tabs.Panel>
        <Tabs.Panel value="catalogue">
          <Catalogue />
        </Tabs.Panel>
        <Tabs.Panel value="circuits">
          <Circuits page={values.page} onPage={(page) => set({ page })} />
        </Tabs.Panel>
        <Tabs.Panel value="prices">
          <Prices values={values} onChange={set} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
