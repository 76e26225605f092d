/** The page of a webhook endpoint: status, actions and deliveries. */
import { ApiError } from '@acg/client/api-errors';
import { Anchor, Card, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link, useLocation, useParams } from 'wouter';
import { api } from '../../api/api-client.js';
import { queryClient } from '../../api/query-client.js';
import { useQuery } from '../../api/use-query.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { showToast } from '../../components/feedback/toast.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { formatExactTime } from '../../format/format.js';
import { useEventTypes } from '../../resources/use-event-types.js';
import { DeliveriesTable } from './deliveries-table.js';
import { DeliveryRate } from './delivery-rate.js';
import { EndpointActions } from './endpoint-actions.js';
import { ENDPOINT_KIND_LABELS } from './endpoint-dialog.js';
import { EndpointStatusBadge } from './endpoint-status-badge.js';
import type { Endpoint } from './fetch-webhooks-retry-deliveries.js';

export function EndpointPage() {
  const id = useParams().id ?? '';
  const [, navigate] = useLocation();
  const deleteEndpoint = useMutation({
    mutationFn: () => api.delete('/v1/webhooks/{id}', { params: { path: { id } } }),
    onSuccess: () => {
      navigate('/webhooks');
      // Drops its cached queries, so that they are not refetched.
      queryClient.removeQueries({ queryKey: ['webhooks', 'deliveries', id] });
      queryClient.removeQueries({ queryKey: ['webhooks', 'endpoint', id] });
      void queryClient.invalidateQueries({ queryKey: ['webhooks', 'list'] });
      showToast('Endpoint deleted');
    },
  });
  const endpointQuery = useQuery({
    queryKey: ['webhooks', 'endpoint', id],
    queryFn: () => api.get('/v1/webhooks/{id}', { params: { path: { id } } }),
    enabled: deleteEndpoint.isIdle || deleteEndpoint.isError,
    refetchInterval: 15_000,
  });
  const endpoint = endpointQuery.data?.endpoint;
  const allEndpointsLink = (
    <Anchor component={Link} href="/webhooks" size="sm">
      All endpoints
    </Anchor>
  );
  if (endpointQuery.error instanceof ApiError && endpointQuery.error.status === 404) {
    return <EmptyState title="Endpoint not found" action={allEndpointsLink} />;
  }
  // Keeps loaded content on a refetch error: an open dialog's input, or a secret that is shown once, would be lost.
  if (endpointQuery.error !== null && endpoint === undefined)
    return <ErrorAlert error={endpointQuery.error} onRetry={endpointQuery.refetch} />;
  return (
    <>
      {allEndpointsLink}
      <PageHeader
        title={endpoint?.url ?? 'Endpoint'}
        actions={
          endpoint !== undefined && (
            <EndpointActions
              endpoint={endpoint}
              onDelete={() => deleteEndpoint.mutate()}
              deleting={deleteEndpoint.isPending}
              deleteError={deleteEndpoint.error}
            />
          )
        }
      />
      {endpoint === undefined ? (
        <Skeleton h={320} />
      ) : (
        <Stack gap="lg">
          <EndpointSummary endpoint={endpoint} />
          {(deleteEndpoint.isIdle || deleteEndpoint.isError) && <DeliveriesTable endpoint={endpoint} />}
        </Stack>
      )}
    </>
  );
}

function EndpointSummary({ endpoint }: { readonly endpoint: Endpoint }) {
  const { events, previousSecretUntil } = endpoint;
  const { titleOf } = useEventTypes();
  return (
    <Card padding="md">
      <Stack gap="xs">
        <Text size="sm" component="div">
          <EndpointStatusBadge endpoint={endpoint} />
        </Text>
        <Text size="sm" component="div">
          Newest deliveries: <DeliveryRate {...endpoint} />
        </Text>
        <Text size="sm" c="dimmed">
          Kind: {ENDPOINT_KIND_LABELS[endpoint.kind]}
        </Text>
        <Text size="sm" c="dimmed">
          Events: {events.map((name) => titleOf(name)).join('; ')}
        </Text>
        {previousSecretUntil !== null && (
          <Text size="sm">
            The secret was rotated. The previous one also signs deliveries until {formatExactTime(previousSecretUntil)}.
          </Text>
        )}
      </Stack>
    </Card>
  );
}
