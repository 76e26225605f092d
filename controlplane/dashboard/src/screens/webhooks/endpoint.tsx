/** One endpoint: how it stands, what can be done with it, what was delivered to it. */
import { ApiError } from '@acg/client/api-error';
import { Anchor, Card, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useLocation, useParams } from 'wouter';
import { api } from '../../api/api.js';
import { queryClient } from '../../api/query-client.js';
import { exactTime } from '../../format/format.js';
import { Failure } from '../../parts/failure.js';
import { Nothing } from '../../parts/nothing.js';
import { PageHeader } from '../../parts/page-header.js';
import { toast } from '../../parts/toast.js';
import { Deliveries } from './deliveries.js';
import { EndpointActions } from './endpoint-actions.js';
import { EndpointStatus } from './endpoint-status.js';
import { type Endpoint, EVENTS } from './endpoints.js';

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
      toast('The endpoint is deleted');
    },
  });
  const asked = useQuery({
    queryKey: ['webhooks', 'endpoint', id],
    queryFn: () => api.get('/v1/webhooks/{id}', { params: { path: { id } } }),
    enabled: remove.isIdle || remove.isError,
  });
  const endpoint = asked.data?.endpoint;
  const all = (
    <Anchor component={Link} href="/webhooks" size="sm">
      All endpoints
    </Anchor>
  );
  if (asked.error instanceof ApiError && asked.error.status === 404) {
    return <Nothing title="No such endpoint" action={all} />;
  }
  // What is known stays: a dialog with what was typed, or a secret that is shown once, would go with it.
  if (asked.error !== null && endpoint === undefined) return <Failure error={asked.error} onRetry={asked.refetch} />;
  return (
    <>
      <PageHeader
        title={endpoint?.url ?? 'Endpoint'}
        description={all}
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
          <About endpoint={endpoint} />
          {(remove.isIdle || remove.isError) && <Deliveries endpoint={endpoint} />}
        </Stack>
      )}
    </>
  );
}

function About({ endpoint }: { readonly endpoint: Endpoint }) {
  const { events, previousSecretUntil } = endpoint;
  return (
    <Card padding="md">
      <Stack gap="xs">
        <Text size="sm" component="div">
          <EndpointStatus endpoint={endpoint} />
        </Text>
        <Text size="sm" c="dimmed">
          Is told: {events.map((name) => EVENTS[name].toLowerCase()).join('; ')}.
        </Text>
        {previousSecretUntil !== null && (
          <Text size="sm">
            The secret was rotated: the old one signs as well until {exactTime(previousSecretUntil)}.
          </Text>
        )}
      </Stack>
    </Card>
  );
}
