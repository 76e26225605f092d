/** The open alerts of alert rules, above the events. Nothing without one. */
import { Box, Title } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { useQuery } from '../../api/use-query.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { useUrlSorting } from '../../hooks/use-url-sorting.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { AlertsTable } from './alerts-table.js';
import { ALERT_SORTS, fetchAlerts } from './fetch-alert-rules.js';

const REFETCH_MS = 15_000;
const DEFAULTS = { open: 1 };

export function OpenAlerts() {
  const { values, set } = useUrlState(DEFAULTS);
  const { query, sorting } = useUrlSorting(ALERT_SORTS, 'desc', 'open');
  const alerts = useQuery({
    queryKey: ['alert-rules', 'open', values.open, query],
    queryFn: () => fetchAlerts({ page: values.open, ...query }, 'open'),
    placeholderData: keepPreviousData,
    refetchInterval: REFETCH_MS,
  });
  if (alerts.isError) return <ErrorAlert error={alerts.error} onRetry={alerts.refetch} />;
  if (alerts.data === undefined || alerts.data.total === 0) return null;
  return (
    <Box component="section" aria-label="Open alerts" mb="lg">
      <Title order={2} size="h4" mb="xs">
        Open alerts
      </Title>
      <AlertsTable
        label="Open alerts"
        query={alerts}
        page={values.open}
        onPage={(page) => set({ open: page })}
        sorting={sorting}
        empty={null}
      />
    </Box>
  );
}
