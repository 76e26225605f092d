/** How much the agent may do, and when somebody is told. */
import { AGENT_LIMITS, RATE_LIMITS, type RateLimit } from '@acg/base/limits';
import { Card, Group, NumberInput, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDraft } from '../../api/drafts.js';
import { useWhyNot } from '../../api/role.js';
import { toCents } from '../../format/format.js';
import { BudgetInput } from '../../parts/budget-input.js';
import { formProblem } from '../../parts/form-problem.js';
import { GuardedButton } from '../../parts/guarded-button.js';
import { ThresholdInput, thresholdsProblem } from '../../parts/threshold-input.js';
import { toast } from '../../parts/toast.js';
import { type Agent, useChangeAgent } from '../../resources/agents.js';
import { ratesAre } from './rates-are.js';

const CENTS = 100;
const numberOr = (value: number | string): number | null => (typeof value === 'number' ? value : null);

const LABELS = {
  ...Object.fromEntries(AGENT_LIMITS.map(({ field, label }) => [field, label])),
  usageThresholds: 'Warnings',
};

/** `{field: make(…)}` over the rates. */
const byRate = <T,>(make: (row: RateLimit) => T) =>
  Object.fromEntries(RATE_LIMITS.map((row) => [row.field, make(row)])) as { [field in RateLimit['field']]: T };

export function LimitsTab({ agent }: { readonly agent: Agent }) {
  const change = useChangeAgent(agent.id);
  const readOnly = useWhyNot('admin') !== null;
  const [draft, keep] = useDraft(`limits of ${agent.id}`, {
    budget: agent.budgetCentsMonthly === null ? ('' as number | string) : agent.budgetCentsMonthly / CENTS,
    thresholds: agent.usageThresholds.map(String),
    ...byRate(({ field }): number | string => agent[field] ?? ''),
  });
  const form = useForm({
    initialValues: draft,
    onValuesChange: keep,
    validate: {
      thresholds: thresholdsProblem,
    },
  });
  const save = form.onSubmit(({ budget, thresholds, ...rates }) =>
    change.mutate(
      {
        budgetCentsMonthly: toCents(budget),
        ...byRate(({ field }) => numberOr(rates[field])),
        usageThresholds: thresholds.map(Number),
      },
      {
        onSuccess: () => {
          toast('The limits are saved.');
          form.resetDirty();
        },
      },
    ),
  );
  const numbers = { min: 0, hideControls: true, readOnly, thousandSeparator: ',' };
  const problem = formProblem(change.error, LABELS);
  return (
    <form onSubmit={save}>
      <Card maw={760}>
        <Stack gap="lg">
          {problem.above}
          <div>
            <Title order={2}>Money</Title>
            <Text size="sm" c="dimmed">
              Calls above the budget are refused until the month (UTC) is over.
            </Text>
          </div>
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
            <BudgetInput
              label="Monthly budget in dollars"
              readOnly={readOnly}
              {...form.getInputProps('budget')}
              error={problem.at('budgetCentsMonthly')}
            />
            <ThresholdInput
              readOnly={readOnly}
              {...form.getInputProps('thresholds')}
              error={form.errors.thresholds ?? problem.at('usageThresholds')}
            />
          </SimpleGrid>
          <div>
            <Title order={2}>Rates</Title>
            <Text size="sm" c="dimmed">
              {ratesAre(RATE_LIMITS)}
            </Text>
          </div>
          <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="md">
            {RATE_LIMITS.map(({ field, label, default: fallback }) => (
              <NumberInput
                key={field}
                label={label}
                {...(fallback === null ? { placeholder: 'no limit' } : {})}
                {...numbers}
                {...form.getInputProps(field)}
                error={problem.at(field)}
              />
            ))}
          </SimpleGrid>
          <Group justify="flex-end">
            <GuardedButton needs="admin" type="submit" loading={change.isPending}>
              Save limits
            </GuardedButton>
          </Group>
        </Stack>
      </Card>
    </form>
  );
}
