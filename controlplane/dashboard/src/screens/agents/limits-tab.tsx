/** How much the agent may do, and when somebody is told. */
import { Card, Group, NumberInput, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useWhyNot } from '../../api/role.js';
import { toCents } from '../../format/format.js';
import { formProblem } from '../../parts/form-problem.js';
import { GuardedButton } from '../../parts/guarded-button.js';
import { ThresholdInput, thresholdsProblem } from '../../parts/threshold-input.js';
import { toast } from '../../parts/toast.js';
import { type Agent, useChangeAgent } from '../../resources/agents.js';

const CENTS = 100;
const numberOr = (value: number | string): number | null => (typeof value === 'number' ? value : null);

const LABELS = {
  budgetCentsMonthly: 'Budget',
  usageThresholds: 'Warnings',
  rpmLimit: 'Requests per minute',
  rpdLimit: 'Requests per day',
  tpmLimit: 'Tokens per minute',
};

export function LimitsTab({ agent }: { readonly agent: Agent }) {
  const change = useChangeAgent(agent.id);
  const readOnly = useWhyNot('admin') !== null;
  const form = useForm({
    initialValues: {
      budget: agent.budgetCentsMonthly === null ? ('' as number | string) : agent.budgetCentsMonthly / CENTS,
      rpm: agent.rpmLimit as number | string,
      rpd: agent.rpdLimit as number | string,
      tpm: (agent.tpmLimit ?? '') as number | string,
      thresholds: agent.usageThresholds.map(String),
    },
    validate: {
      thresholds: thresholdsProblem,
    },
  });
  const save = form.onSubmit(({ budget, rpm, rpd, tpm, thresholds }) =>
    change.mutate(
      {
        budgetCentsMonthly: toCents(budget),
        rpmLimit: numberOr(rpm),
        rpdLimit: numberOr(rpd),
        tpmLimit: numberOr(tpm),
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
            <NumberInput
              label="Monthly budget in dollars"
              placeholder="none"
              prefix="$"
              decimalScale={2}
              {...numbers}
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
              Over any 60 seconds, and over 24 hours from the first call. Empty: the gateway’s default for requests, no
              limit for tokens.
            </Text>
          </div>
          <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="md">
            <NumberInput
              label="Requests per minute"
              {...numbers}
              {...form.getInputProps('rpm')}
              error={problem.at('rpmLimit')}
            />
            <NumberInput
              label="Requests per day"
              {...numbers}
              {...form.getInputProps('rpd')}
              error={problem.at('rpdLimit')}
            />
            <NumberInput
              label="Tokens per minute"
              placeholder="no limit"
              {...numbers}
              {...form.getInputProps('tpm')}
              error={problem.at('tpmLimit')}
            />
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
