/** The Webhooks page: all endpoints. */
import { Text } from '@mantine/core';
import { useState } from 'react';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { useQuery } from '../../api/use-query.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { SecretDialog } from '../../components/secrets/secret-dialog.js';
import { DataTable } from '../../components/tables/data-table.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { DeliveryRate } from './delivery-rate.js';
import { ENDPOINT_KIND_LABELS, EndpointDialog } from './endpoint-dialog.js';
import { EndpointStatusBadge } from './endpoint-status-badge.js';
import { ENDPOINTS_SHOWN, fetchEndpoints, refreshWebhooks } from './fetch-webhooks-retry-deliveries.js';
import { SignatureVerificationCode } from './signature-verification-code.js';

const DEFAULTS = { page: 1 };

export function WebhooksPage() {
  const { values, set } = useUrlState(DEFAULTS);
  const [isCreating, setIsCreating] = useFormDraft('new endpoint', false);
  const [secret, setSecret] = useState<string | null>(null);
  const endpoints = useQuery({
    queryKey: ['webhooks', 'list', values.page],
    queryFn: () => fetchEndpoints(values.page),
    refetchInterval: 30_000,
  });
  const add = (
    <RoleGuardedButton requiredRole="admin" onClick={() => setIsCreating(true)}>
      Add endpoint
    </RoleGuardedButton>
  );
  return (
    <>
      <PageHeader
        title="Webhooks"
        description="Endpoints that receive signed events. Failed deliveries are retried."
        actions={add}
      />
      <DataTable
        label="Endpoints"
        query={endpoints}
        rows={(data) => data.endpoints}
        rowKey={({ id }) => id}
        href={({ id }) => `/webhooks/${id}`}
        paging={({ total }) => ({
          page: values.page,
          pageSize: ENDPOINTS_SHOWN,
          total,
          onPage: (page) => set({ page }),
        })}
        empty={
          <EmptyState
            title="No endpoints yet"
            text="Add one to receive events of budgets, outages and more."
            action={add}
          />
        }
        columns={[
          {
            header: 'Endpoint URL',
            sortValue: ({ url }) => url,
            cell: ({ url }) => (
              <Text span inherit className="acg-break-anywhere">
                {url}
              </Text>
            ),
          },
          {
            header: 'Status',
            sortValue: ({ status, failingSince }) => (failingSince === null ? status : 'failing'),
            cell: (endpoint) => <EndpointStatusBadge endpoint={endpoint} />,
          },
          {
            header: 'Newest deliveries',
            sortValue: ({ recent }) => recent.failed,
            cell: (endpoint) => <DeliveryRate {...endpoint} />,
          },
          { header: 'Kind', cell: ({ kind }) => ENDPOINT_KIND_LABELS[kind], wideOnly: true },
          {
            header: 'Events',
            numeric: true,
            sortValue: ({ events }) => events.length,
            cell: ({ events }) => events.length,
          },
          {
            header: 'Created',
            sortValue: ({ createdAt }) => createdAt,
            cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
          },
        ]}
      />
      {isCreating && (
        <EndpointDialog
          endpoint={null}
          onClose={() => setIsCreating(false)}
          onSaved={(newSecret) => {
            refreshWebhooks();
            setIsCreating(false);
            setSecret(newSecret);
          }}
        />
      )}
      <SecretDialog title="Signing secret" secret={secret} onStored={() => setSecret(null)}>
        <SignatureVerificationCode />
      </SecretDialog>
    </>
  );
}
