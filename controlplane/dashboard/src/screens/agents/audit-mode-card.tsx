/** Which limits of an agent are counted without rejecting calls. */
import { BUDGET_ROW_MODES, type BudgetRowMode } from '@acg/base/budget-rows';
import { RATE_LIMITS } from '@acg/base/limit-definitions';
import { Card, NativeSelect, Stack, Switch, Text, Title } from '@mantine/core';
import { useMissingRoleReason } from '../../api/session.js';
import { BUDGET_MODE_LABELS, isPlainMonthly, toBudgetRowInput } from '../../components/budgets/budget-row.js';
import { showErrorToast, showToast } from '../../components/feedback/toast.js';
import { type Agent, useUpdateAgent } from '../../resources/agent-account-and-key-hooks.js';

export function AuditModeCard({ agent }: { readonly agent: Agent }) {
  const change = useUpdateAgent(agent.id);
  const reason = useMissingRoleReason('admin');
  const monthly = agent.budgets.find(isPlainMonthly);
  const save = (body: Parameters<typeof change.mutate>[0]) =>
    change.mutate(body, { onSuccess: () => showToast('Audit mode saved'), onError: showErrorToast });
  const isDisabled = reason !== null || change.isPending;
  return (
    <Card component="section" aria-label="Audit mode" maw={760}>
      <Stack gap="sm">
        <div>
          <Title order={2}>Audit mode</Title>
          <Text size="sm" c="dimmed">
            {reason ??
              'These limits are counted and never reject. Calls that they would have rejected show it, and an event is sent.'}
          </Text>
        </div>
        {RATE_LIMITS.map(({ type, label }) => (
          <Switch
            key={type}
            label={label}
            disabled={isDisabled}
            checked={agent.auditLimits.includes(type)}
            onChange={({ currentTarget: { checked } }) =>
              save({
                auditLimits: checked
                  ? [...agent.auditLimits, type]
                  : agent.auditLimits.filter((other) => other !== type),
              })
            }
          />
        ))}
        {monthly !== undefined && (
          // All three modes: switching audit off must not turn a hard budget into a soft one.
          <NativeSelect
            label="Monthly budget"
            data={BUDGET_ROW_MODES.map((value) => ({ value, label: BUDGET_MODE_LABELS[value] }))}
            disabled={isDisabled}
            value={monthly.mode}
            onChange={({ currentTarget: { value } }) =>
              save({
                budgets: agent.budgets.map((row) => ({
                  ...toBudgetRowInput(row),
                  ...(row === monthly ? { mode: value as BudgetRowMode } : {}),
                })),
              })
            }
          />
        )}
      </Stack>
    </Card>
  );
}
