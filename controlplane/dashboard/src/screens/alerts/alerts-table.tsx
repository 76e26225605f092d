/** A list of alerts with what a person can do about them: acknowledge, silence. */
import { Anchor, Group, Stack, Text } from '@mantine/core';
import { type UseQueryResult, useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { StatusBadge } from '../../components/feedback/status-badge.js';
import { showErrorToast, showToast } from '../../components/feedback/toast.js';
import { DataTable } from '../../components/tables/data-table.js';
import { RowActionButton } from '../../components/tables/row-action-button.js';
import { formatDateTime } from '../../format/format.js';
import type { useUrlSorting } from '../../hooks/use-url-sorting.js';
import {
  type Alert,
  acknowledgeAlert,
  type fetchAlerts,
  isSilenced,
  PAGE_SIZE,
  refreshAlerts,
} from './fetch-alert-rules.js';
import { formatMeasure, METRIC_LABELS } from './measures.js';
import { SilenceDialog } from './silence-dialog.js';

interface AlertsTableProps {
  readonly label: string;
  readonly query: UseQueryResult<Awaited<ReturnType<typeof fetchAlerts>>>;
  readonly page: number;
  readonly onPage: (page: number) => void;
  readonly sorting: ReturnType<typeof useUrlSorting>['sorting'];
  readonly empty: ReactNode;
}

export function AlertsTable({ label, query, page, onPage, sorting, empty }: AlertsTableProps) {
  const [toSilence, setToSilence] = useState<Alert | null>(null);
  const acknowledge = useMutation({
    mutationFn: acknowledgeAlert,
    onSuccess: ({ alert }) => {
      refreshAlerts();
      showToast(`${alert.ruleName} acknowledged`);
    },
    onError: showErrorToast,
  });
  return (
    <>
      <DataTable
        label={label}
        query={query}
        rows={(data) => data.alerts}
        rowKey={({ id }) => id}
        sorting={sorting}
        paging={({ total }) => ({ page, pageSize: PAGE_SIZE, total, onPage })}
        empty={empty}
        columns={[
          { header: 'State', cell: (alert) => <AlertState alert={alert} /> },
          { header: 'Rule', sortKey: 'ruleName', cell: ({ ruleName }) => ruleName },
          { header: 'Scope', cell: (alert) => <ScopeLink {...alert} /> },
          {
            header: 'Value',
            cell: ({ metric, value, baseline }) => (
              <Stack gap={0}>
                <Text size="sm" span>
                  {METRIC_LABELS[metric]}: {formatMeasure(metric, value)}
                </Text>
                <Text size="xs" c="dimmed" span>
                  {baseline === null ? 'too few calls last week' : `last week ${formatMeasure(metric, baseline)}`}
                </Text>
              </Stack>
            ),
          },
          {
            header: 'Opened',
            sortKey: 'openedAt',
            cell: ({ openedAt }) => <RelativeTime at={openedAt} />,
          },
          {
            header: 'Actions',
            cell: (alert) =>
              alert.resolvedAt !== null ? null : (
                <Group gap="xs" wrap="nowrap" justify="flex-end">
                  {alert.acknowledgedAt === null && (
                    <RowActionButton
                      requiredRole="member"
                      label="Acknowledge"
                      rowName={alert.ruleName}
                      loading={acknowledge.isPending && acknowledge.variables.id === alert.id}
                      onClick={() => acknowledge.mutate(alert)}
                    />
                  )}
                  <RowActionButton
                    requiredRole="member"
                    label="Silence"
                    rowName={alert.ruleName}
                    onClick={() => setToSilence(alert)}
                  />
                </Group>
              ),
          },
        ]}
      />
      {toSilence !== null && <SilenceDialog alert={toSilence} onClose={() => setToSilence(null)} />}
    </>
  );
}

function AlertState({ alert }: { readonly alert: Alert }) {
  const { state, acknowledgedBy, resolvedAt, silencedUntil } = alert;
  return (
    <Stack gap={0} align="flex-start">
      {state === 'open' && <StatusBadge tone="error">Open</StatusBadge>}
      {state === 'acknowledged' && (
        <StatusBadge tone="warning">
          {acknowledgedBy === null ? 'Acknowledged' : `Acknowledged by ${acknowledgedBy}`}
        </StatusBadge>
      )}
      {state === 'resolved' && <StatusBadge tone="neutral">{`Resolved ${formatDateTime(resolvedAt!)}`}</StatusBadge>}
      {state !== 'resolved' && isSilenced(silencedUntil) && (
        <Text size="xs" c="dimmed" span>
          silent until {formatDateTime(silencedUntil)}
        </Text>
      )}
    </Stack>
  );
}

export function ScopeLink({
  agentId,
  projectId,
  scopeName,
}: Pick<Alert, 'agentId' | 'projectId' | 'scopeName'>): ReactNode {
  if (agentId === null && projectId === null) return 'All calls';
  const href = agentId === null ? `/usage?by=agent&project=${projectId}` : `/agents/${agentId}`;
  return (
    <Anchor component={Link} href={href} inherit underline="always">
      {scopeName}
    </Anchor>
  );
}
