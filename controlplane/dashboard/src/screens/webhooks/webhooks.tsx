/** Where events are sent. */
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useDraft } from '../../api/drafts.js';
import { Ago } from '../../parts/ago.js';
import { DataTable } from '../../parts/data-table.js';
import { GuardedButton } from '../../parts/guarded-button.js';
import { Nothing } from '../../parts/nothing.js';
import { PageHeader } from '../../parts/page-header.js';
import { useSearchState } from '../../parts/search-state.js';
import { SecretOnce } from '../../parts/secret-once.js';
import { EndpointDialog } from './endpoint-dialog.js';
import { EndpointStatus } from './endpoint-status.js';
import { PAGE_SIZE, readEndpoints, refreshWebhooks } from './endpoints.js';
import { Verify } from './verify.js';

const DEFAULTS = { page: 1 };

export function Webhooks() {
  const { values, set } = useSearchState(DEFAULTS);
  const [making, setMaking] = useDraft('new endpoint', false);
  const [secret, setSecret] = useState<string | null>(null);
  const endpoints = useQuery({
    queryKey: ['webhooks', 'list', values.page],
    queryFn: () => readEndpoints(values.page),
    refetchInterval: 30_000,
  });
  const add = (
    <GuardedButton needs="admin" onClick={() => setMaking(true)}>
      Add endpoint
    </GuardedButton>
  );
  return (
    <>
      <PageHeader
        title="Webhooks"
        description="Addresses of yours that are told what happens, signed, and told again until they answer."
        actions={add}
      />
      <DataTable
        label="Endpoints"
        query={endpoints}
        rows={(data) => data.endpoints}
        rowKey={({ id }) => id}
        href={({ id }) => `/webhooks/${id}`}
        paging={({ total }) => ({ page: values.page, pageSize: PAGE_SIZE, total, onPage: (page) => set({ page }) })}
        empty={<Nothing title="No endpoints yet" text="Add one to hear of budgets, outages and more." action={add} />}
        columns={[
          {
            header: 'Address',
            cell: ({ url }) => (
              <Text span inherit className="acg-break">
                {url}
              </Text>
            ),
          },
          {
            header: 'Status',
            cell: (endpoint) => <EndpointStatus endpoint={endpoint} />,
          },
          { header: 'Events', numeric: true, cell: ({ events }) => events.length },
          { header: 'Made', cell: ({ createdAt }) => <Ago at={createdAt} /> },
        ]}
      />
      {making && (
        <EndpointDialog
          endpoint={null}
          onClose={() => setMaking(false)}
          onSaved={(made) => {
            refreshWebhooks();
            setMaking(false);
            setSecret(made);
          }}
        />
      )}
      <SecretOnce title="The endpoint’s signing secret" secret={secret} onStored={() => setSecret(null)}>
        <Verify />
      </SecretOnce>
    </>
  );
}
