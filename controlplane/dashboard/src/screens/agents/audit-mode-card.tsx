/** Which limits of an agent are counted without rejecting calls. */
import { RATE_LIMITS } from '@acg/base/limit-definitions';
import { Card, Stack, Switch, Text, Title } from '@mantine/core';
import { useMissingRoleReason } from '../../api/session.js';
import { isPlainMonthly, toBudgetRowInput } from '../../components/budgets/budget-row.js';
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
          <Switch
            label="Monthly budget"
            disabled={isDisabled}
            checked={monthly.mode === 'audit'}
            onChange={({ currentTarget: { checked } }) =>
              save({
                budgets: agent.budgets.map((row) => ({
                  ...toBudgetRowInput(row),
                  ...(row === monthly ? { mode: checked ? 'audit' : 'soft' } : {}),
                })),
              })
            }
          />
        )}
      </Stack>
    </Card>
  );
}
