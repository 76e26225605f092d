/** Agents whose budget is nearly or wholly used up: what somebody should look at first. */
import { Anchor, Card, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api } from '../../api/api.js';
import { BudgetBar } from '../../parts/budget-bar.js';

const SHOWN = 5;
const NEARLY_PERCENT = 80;

export function Attention() {
  const query = { sort: 'budgetUsedPercent', order: 'desc', limit: SHOWN } as const;
  const agents = useQuery({
    queryKey: ['agents', 'attention'],
    queryFn: () => api.get('/v1/usage/agents', { params: { query } }),
    refetchInterval: 60_000,
  });
  const nearly = (agents.data?.agents ?? []).filter(
    ({ budgetUsedPercent }) => (budgetUsedPercent ?? 0) >= NEARLY_PERCENT,
  );
  // Nothing to say is said by nothing: the list is for what needs somebody.
  if (nearly.length === 0) return null;
  return (
    <Card component="section" aria-label="Needs attention">
      <Title order={2} mb="md">
        Needs attention
      </Title>
      <Stack gap="sm">
        {nearly.map(({ id, name, monthCents, budgetCentsMonthly }) => (
          <Group key={id} justify="space-between" gap="md">
            <Text size="sm">
              <Anchor component={Link} href={`/agents/${id}?tab=limits`} inherit underline="always">
                {name}
              </Anchor>{' '}
              has used up its monthly budget, or nearly
            </Text>
            <BudgetBar spentCents={monthCents} budgetCents={budgetCentsMonthly} />
          </Group>
        ))}
      </Stack>
    </Card>
  );
}
