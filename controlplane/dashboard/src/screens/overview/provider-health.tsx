/** Status of the providers as the gateway sees them, failing ones first. */
import { Card, SimpleGrid, Skeleton, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { StatusBadge } from '../../components/feedback/status-badge.js';

const TONES = { operational: 'success', degraded: 'warning', outage: 'error' } as const;
const ORDER = ['outage', 'degraded', 'operational'];

export function ProviderHealth() {
  const status = useQuery({ queryKey: ['status'], queryFn: () => api.get('/v1/status'), refetchInterval: 15_000 });
  const providers = [...(status.data?.providers ?? [])].sort(
    (a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status),
  );
  return (
    <Card component="section" aria-label="Providers">
      <Title order={2} mb="md">
        Providers
      </Title>
      {status.isPending && <Skeleton h={60} />}
      {status.error !== null && <ErrorAlert error={status.error} onRetry={status.refetch} />}
      <SimpleGrid cols={{ base: 2, xs: 3 }} spacing="md">
        {providers.map((provider) => (
          <div key={provider.slug}>
            <Text size="sm" fw={600}>
              {provider.displayName}
            </Text>
            <Text size="sm" component="div">
              <StatusBadge tone={TONES[provider.status]}>{provider.status}</StatusBadge>
            </Text>
          </div>
        ))}
      </SimpleGrid>
    </Card>
  );
}
