/** One endpoint: how it stands, what can be done with it, what was delivered to it. */
import { ApiError } from '@acg/client/api-errors';
import { Anchor, Card, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useLocation, useParams } from 'wouter';
import { api } from '../../api/api-client.js';
import { queryClient } from '../../api/query-client.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { showToast } from '../../components/feedback/toast.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { formatExactTime } from '../../format/format.js';
import { DeliveriesTable } from './deliveries-table.js';
import { EndpointActions } from './endpoint-actions.js';
import { EndpointStatusBadge } from './endpoint-status-badge.js';
import { type Endpoint, EVENT_DESCRIPTIONS } from './webhook-queries.js';

export function EndpointPage() {
  const id = useParams().id ?? '';
  const [, navigate] = useLocation();
  const remove = useMutation({
    mutationFn: () => api.delete('/v1/webhooks/{id}', { params: { path: { id } } }),
    onSuccess: () => {
      navigate('/webhooks');
      // What belonged to it is gone: nobody asks for it again.
      queryClient.removeQueries({ queryKey: ['webhooks', 'deliveries', id] });
      queryClient.removeQueries({ queryKey: ['webhooks', 'endpoint', id] });
      void queryClient.invalidateQueries({ queryKey: ['webhooks', 'list'] });
      showToast('The endpoint is deleted');
    },
  });
  const endpointQuery = useQuery({
    queryKey: ['webhooks', 'endpoint', id],
    queryFn: () => api.get('/v1/webhooks/{id}', { params: { path: { id } } }),
    enabled: remove.isIdle || remove.isError,
  });
  const endpoint = endpointQuery.data?.endpoint;
  const allEndpointsLink = (
    <Anchor component={Link} href="/webhooks" size="sm">
      All endpoints
    </Anchor>
  );
  if (endpointQuery.error instanceof ApiError && endpointQuery.error.status === 404) {
    return <EmptyState title="No such endpoint" action={allEndpointsLink} />;
  }
  // What is known stays: a dialog with what was typed, or a secret that is shown once, would go with it.
  if (endpointQuery.error !== null && endpoint === undefined)
    return <ErrorAlert error={endpointQuery.error} onRetry={endpointQuery.refetch} />;
  return (
    <>
      <PageHeader
        title={endpoint?.url ?? 'Endpoint'}
        description={allEndpointsLink}
        actions={
          endpoint !== undefined && (
            <EndpointActions
              endpoint={endpoint}
              onDelete={() => remove.mutate()}
              deleting={remove.isPending}
              deleteError={remove.error}
            />
          )
        }
      />
      {endpoint === undefined ? (
        <Skeleton h={320} />
      ) : (
        <Stack gap="lg">
          <EndpointSummary endpoint={endpoint} />
          {(remove.isIdle || remove.isError) && <DeliveriesTable endpoint={endpoint} />}
        </Stack>
      )}
    </>
  );
}

function EndpointSummary({ endpoint }: { readonly endpoint: Endpoint }) {
  const { events, previousSecretUntil } = endpoint;
  return (
    <Card padding="md">
      <Stack gap="xs">
        <Text size="sm" component="div">
          <EndpointStatusBadge endpoint={endpoint} />
        </Text>
        <Text size="sm" c="dimmed">
          Is told: {events.map((name) => EVENT_DESCRIPTIONS[name].toLowerCase()).join('; ')}.
        </Text>
        {previousSecretUntil !== null && (
          <Text size="sm">
            The secret was rotated: the old one signs as well until {formatExactTime(previousSecretUntil)}.
          </Text>
        )}
      </Stack>
    </Card>
  );
}
