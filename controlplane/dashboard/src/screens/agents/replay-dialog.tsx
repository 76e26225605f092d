/** Replays the agent's recorded calls against other limits, with a chart of what they would have rejected. */
import { DAY_MS } from '@acg/base/time-and-money-units';
import { List, Modal, NativeSelect, NumberInput, SimpleGrid, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { FAILED_COLOR } from '../../components/charts/chart-props-and-colors.js';
import { TimeSeriesChart } from '../../components/charts/time-series-chart.js';
import { BudgetAmountInput } from '../../components/forms/budget-amount-input.js';
import { Form } from '../../components/forms/form-with-server-errors.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { dollarInputToCents, formatCents, formatCount, formatDateTime } from '../../format/format.js';
import type { Agent } from '../../resources/agent-account-and-key-hooks.js';

const PERIODS = [
  { value: '1', label: 'The last day' },
  { value: '7', label: 'The last 7 days' },
  { value: '30', label: 'The last 30 days' },
];
const LABELS = { rpmLimit: 'Requests per minute', rpdLimit: 'Requests per day', tpmLimit: 'Tokens per minute' };
const RATES = ['rpmLimit', 'rpdLimit', 'tpmLimit'] as const;

interface ReplayDialogProps {
  readonly agent: Agent;
  readonly onClose: () => void;
}

export function ReplayDialog({ agent, onClose }: ReplayDialogProps) {
  const [rates, setRates] = useState<Readonly<Record<(typeof RATES)[number], number | string>>>({
    rpmLimit: agent.rpmLimit,
    rpdLimit: '',
    tpmLimit: '',
  });
  const [dayBudget, setDayBudget] = useState<number | string>('');
  const [monthBudget, setMonthBudget] = useState<number | string>('');
  const [days, setDays] = useState('7');
  const replay = useMutation({
    mutationFn: async () => {
      const nowMs = Date.now();
      const budgets = [
        { window: 'day' as const, cents: dollarInputToCents(dayBudget) },
        { window: 'month' as const, cents: dollarInputToCents(monthBudget) },
      ].flatMap(({ window, cents }) => (cents === null ? [] : [{ window, cents }]));
      const stated = RATES.flatMap((field) =>
        typeof rates[field] === 'number' ? [[field, rates[field]] as const] : [],
      );
      return api.post('/v1/limits/replay', {
        body: {
          agentIds: [agent.id],
          from: new Date(nowMs - Number(days) * DAY_MS).toISOString(),
          to: new Date(nowMs).toISOString(),
          limits: { ...Object.fromEntries(stated), budgets },
        },
      });
    },
  });
  const result = replay.data;
  return (
    <Modal opened onClose={onClose} title="What would these limits have rejected?" size="xl">
      <Stack gap="lg">
        <Text size="sm" c="dimmed">
          {`Checks the recorded calls of ${agent.name} against the limits below. It changes nothing: limits are not saved, and calls are not sent.`}
        </Text>
        <Form errors={formErrors(replay.error, LABELS)} onSubmit={() => replay.mutate()}>
          <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="md">
            {RATES.map((field) => (
              <NumberInput
                key={field}
                label={LABELS[field]}
                placeholder="No limit"
                min={1}
                hideControls
                thousandSeparator=","
                value={rates[field]}
                onChange={(value) => setRates({ ...rates, [field]: value })}
              />
            ))}
            <BudgetAmountInput label="Budget per day (USD)" value={dayBudget} onChange={setDayBudget} />
            <BudgetAmountInput label="Budget per month (USD)" value={monthBudget} onChange={setMonthBudget} />
            <NativeSelect
              label="Calls of"
              data={PERIODS}
              value={days}
              onChange={(event) => setDays(event.currentTarget.value)}
            />
          </SimpleGrid>
          <RoleGuardedButton requiredRole="viewer" type="submit" loading={replay.isPending}>
            Replay
          </RoleGuardedButton>
        </Form>
        {result !== undefined && (
          <>
            <Text>
              {result.rejected === 0
                ? `These limits would have rejected none of ${formatCount(result.calls)} calls.`
                : `These limits would have rejected ${formatCount(result.rejected)} of ${formatCount(result.calls)} calls, which cost ${formatCents(result.rejectedCents)}. The first: ${formatDateTime(result.firstRejectedAt!)}.`}
            </Text>
            <TimeSeriesChart
              title="Calls"
              buckets={result.timeseries.map(({ bucket }) => bucket)}
              interval={result.interval}
              format={formatCount}
              series={[
                { label: 'Admitted', values: result.timeseries.map(({ calls, rejected }) => calls - rejected) },
                { label: 'Rejected', values: result.timeseries.map(({ rejected }) => rejected), color: FAILED_COLOR },
              ]}
            />
            <List size="sm" c="dimmed">
              {!result.complete && (
                <List.Item>{`The replay stopped at its bound, at ${formatDateTime(result.replayedUntil)}.`}</List.Item>
              )}
              {result.notes.map((note) => (
                <List.Item key={note}>{note}</List.Item>
              ))}
            </List>
          </>
        )}
      </Stack>
    </Modal>
  );
}
