/** The open alerts of alert rules, above the events. Nothing without one. */
import { Box, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { AlertsTable } from './alerts-table.js';
import { fetchAlerts } from './fetch-alert-rules.js';

const REFETCH_MS = 15_000;

export function OpenAlerts() {
  const [page, setPage] = useState(1);
  const alerts = useQuery({
    queryKey: ['alert-rules', 'open', page],
    queryFn: () => fetchAlerts(page, 'open'),
    refetchInterval: REFETCH_MS,
  });
  if (alerts.isError) return <ErrorAlert error={alerts.error} onRetry={alerts.refetch} />;
  if (alerts.data === undefined || alerts.data.total === 0) return null;
  return (
    <Box component="section" aria-label="Open alerts" mb="lg">
      <Title order={2} size="h4" mb="xs">
        Open alerts
      </Title>
      <AlertsTable label="Open alerts" query={alerts} page={page} onPage={setPage} empty={null} />
    </Box>
  );
}
