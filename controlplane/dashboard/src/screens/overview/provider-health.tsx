/** Status of the providers that had calls in the period, and of failing ones, which come first. */
import { Anchor, Card, Group, SimpleGrid, Skeleton, Text, Title } from '@mantine/core';
import { api } from '../../api/api-client.js';
import { BASE_PATH } from '../../api/page-meta-tags.js';
import { useQuery } from '../../api/use-query.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { StatusBadge } from '../../components/feedback/status-badge.js';
import type { Period } from '../../components/forms/period-control.js';
import { useSpendRanking } from './agent-or-provider-spend-ranking.js';

const TONES = { operational: 'success', degraded: 'warning', outage: 'error' } as const;
const ORDER = ['outage', 'degraded', 'operational'];

export function ProviderHealth({ period }: { readonly period: Period }) {
  const status = useQuery({ queryKey: ['status'], queryFn: () => api.get('/v1/status'), refetchInterval: 15_000 });
  const used = useSpendRanking('provider', period).data?.rows.map(({ value }) => value) ?? [];
  const providers = (status.data?.providers ?? [])
    .filter(({ slug, status }) => status !== 'operational' || used.includes(slug))
    .sort((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status));
  return (
    <Card component="section" aria-label="Providers">
      <Group justify="space-between" mb="md">
        <Title order={2}>Providers</Title>
        <Anchor href={`${BASE_PATH}/status`} size="sm">
          All providers
        </Anchor>
      </Group>
      {status.isPending && <Skeleton h={60} />}
      {status.error !== null && <ErrorAlert error={status.error} onRetry={status.refetch} />}
      {status.data !== undefined && providers.length === 0 && <Text size="sm">All providers are operational.</Text>}
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
