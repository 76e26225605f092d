/** Alert rules, with their last evaluation, and the alerts that they opened. */
import { Anchor, Group, Stack, Text, Title } from '@mantine/core';
import { keepPreviousData, useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { useQuery } from '../../api/use-query.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { StatusBadge } from '../../components/feedback/status-badge.js';
import { showToast } from '../../components/feedback/toast.js';
import { ConfirmDialog } from '../../components/forms/confirm-dialog.js';
import { lazyComponent } from '../../components/layout/lazy-component-no-suspense-delay.js';
import { PageHeader } from '../../components/layout/page-header.js';
import { DataTable } from '../../components/tables/data-table.js';
import { RowActionButton } from '../../components/tables/row-action-button.js';
import { formatDateTime } from '../../format/format.js';
import { useUrlSorting } from '../../hooks/use-url-sorting.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { AlertsTable, ScopeLink } from './alerts-table.js';
import {
  ALERT_SORTS,
  type AlertRule,
  fetchAlertRules,
  fetchAlerts,
  isSilenced,
  PAGE_SIZE,
  RULE_SORTS,
  refreshAlerts,
} from './fetch-alert-rules.js';
import { formatMeasure, METRIC_LABELS } from './measures.js';

const DEFAULTS = { page: 1, alerts: 1 };
const REFETCH_MS = 15_000;
const NEW = 'new';

const AlertRuleDialog = lazyComponent(async () => (await import('./alert-rule-dialog.js')).AlertRuleDialog, null);

export function AlertRulesPage() {
  const { values, set } = useUrlState(DEFAULTS);
  const [edited, setEdited] = useFormDraft('alert rule edited', '');
  const [toDelete, setToDelete] = useState<AlertRule | null>(null);
  const ruleOrder = useUrlSorting(RULE_SORTS);
  const alertOrder = useUrlSorting(ALERT_SORTS, 'desc', 'alerts');
  const rules = useQuery({
    queryKey: ['alert-rules', 'rules', values.page, ruleOrder.query],
    queryFn: () => fetchAlertRules({ page: values.page, ...ruleOrder.query }),
    placeholderData: keepPreviousData,
    refetchInterval: REFETCH_MS,
  });
  const alerts = useQuery({
    queryKey: ['alert-rules', 'alerts', values.alerts, alertOrder.query],
    queryFn: () => fetchAlerts({ page: values.alerts, ...alertOrder.query }),
    placeholderData: keepPreviousData,
    refetchInterval: REFETCH_MS,
  });
  const deleteRule = useMutation({
    mutationFn: ({ id }: AlertRule) => api.delete('/v1/alert-rules/{id}', { params: { path: { id } } }),
    onSuccess: (_, { name }) => {
      refreshAlerts();
      setToDelete(null);
      showToast(`${name} deleted`);
    },
  });
  const rule = rules.data?.rules.find(({ id }) => id === edited);
  const button = (
    <RoleGuardedButton requiredRole="member" onClick={() => setEdited(NEW)}>
      New alert rule
    </RoleGuardedButton>
  );
  return (
    <>
      <PageHeader
        title="Alert rules"
        description={
          <>
            Each compares the last hours with the same hours of last week, once a minute. Alerts go to{' '}
            <Anchor component={Link} href="/webhooks" inherit underline="always">
              webhooks, Slack and Teams
            </Anchor>{' '}
            and to{' '}
            <Anchor component={Link} href="/alerts" inherit underline="always">
              e-mail
            </Anchor>{' '}
            that select “Alert rule met”.
          </>
        }
        actions={button}
      />
      <DataTable
        label="Alert rules"
        query={rules}
        rows={(data) => data.rules}
        rowKey={({ id }) => id}
        sorting={ruleOrder.sorting}
        paging={({ total }) => ({ page: values.page, pageSize: PAGE_SIZE, total, onPage: (page) => set({ page }) })}
        empty={
          <EmptyState
            title="No alert rules yet"
            text="Create one to learn of a jump of errors, latency or spend."
            action={button}
          />
        }
        columns={[
          { header: 'State', cell: (one) => <RuleState rule={one} /> },
          { header: 'Name', sortKey: 'name', cell: ({ name }) => name },
          { header: 'Scope', cell: (one) => <ScopeLink {...one} /> },
          {
            header: 'Condition',
            cell: ({ metric, increasePercent, atLeast, windowHours }) =>
              `${METRIC_LABELS[metric]}: ${increasePercent}% over last week, from ${formatMeasure(metric, atLeast)}, in ${windowHours} h`,
          },
          {
            header: 'Now',
            cell: ({ metric, value, baseline }) => (
              <Stack gap={0}>
                <Text size="sm" span>
                  {formatMeasure(metric, value)}
                </Text>
                <Text size="xs" c="dimmed" span>
                  {baseline === null ? 'too few calls last week' : `last week ${formatMeasure(metric, baseline)}`}
                </Text>
              </Stack>
            ),
          },
          { header: 'Evaluated', cell: ({ evaluatedAt }) => <RelativeTime at={evaluatedAt} never="Not yet" /> },
          {
            header: 'Actions',
            cell: (one) => (
              <Group gap="xs" wrap="nowrap" justify="flex-end">
                <RowActionButton
                  requiredRole="member"
                  label="Edit"
                  rowName={one.name}
                  onClick={() => setEdited(one.id)}
                />
                <RowActionButton
                  requiredRole="member"
                  label="Delete"
                  rowName={one.name}
                  isDestructive
                  onClick={() => {
                    deleteRule.reset();
                    setToDelete(one);
                  }}
                />
              </Group>
            ),
          },
        ]}
      />
      <Title order={2} size="h4" mt="xl" mb="xs">
        Alerts of the last 90 days
      </Title>
      <AlertsTable
        label="Alerts"
        query={alerts}
        page={values.alerts}
        onPage={(page) => set({ alerts: page })}
        sorting={alertOrder.sorting}
        empty={<EmptyState title="No alerts yet" text="An alert opens when a rule is met." />}
      />
      {(edited === NEW || rule !== undefined) && (
        <AlertRuleDialog
          key={edited}
          rule={rule ?? null}
          onClose={() => setEdited('')}
          onSaved={() => {
            refreshAlerts();
            setEdited('');
          }}
        />
      )}
      <ConfirmDialog
        opened={toDelete !== null}
        onClose={() => setToDelete(null)}
        title="Delete alert rule"
        action="Delete alert rule"
        onConfirm={() => toDelete !== null && deleteRule.mutate(toDelete)}
        pending={deleteRule.isPending}
        error={deleteRule.error}
      >
        {toDelete?.name} and its alerts are deleted. Sent events remain in the event list.
      </ConfirmDialog>
    </>
  );
}

function RuleState({ rule: { enabled, openAlertId, failedAt, silencedUntil } }: { readonly rule: AlertRule }) {
  if (!enabled) return <StatusBadge tone="neutral">Disabled</StatusBadge>;
  return (
    <Stack gap={0} align="flex-start">
      {openAlertId !== null && <StatusBadge tone="error">Alerting</StatusBadge>}
      {failedAt !== null && <StatusBadge tone="warning">Evaluation failed</StatusBadge>}
      {openAlertId === null && failedAt === null && <StatusBadge tone="neutral">OK</StatusBadge>}
      {isSilenced(silencedUntil) && (
        <Text size="xs" c="dimmed" span>
          silent until {formatDateTime(silencedUntil)}
        </Text>
      )}
    </Stack>
  );
}
