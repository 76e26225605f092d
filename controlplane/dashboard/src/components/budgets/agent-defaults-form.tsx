/** Limits that new agents of a project or the organization get where they state none. */
import { RATE_LIMITS, type RateLimit } from '@acg/base/limit-definitions';
import { Card, Group, NumberInput, SimpleGrid, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { centsToDollarInput, dollarInputToCents } from '../../format/format.js';
import { RoleGuardedButton } from '../buttons/role-guarded-button.js';
import { showToast } from '../feedback/toast.js';
import { BudgetAmountInput } from '../forms/budget-amount-input.js';
import { Form } from '../forms/form-with-server-errors.js';
import { formErrors } from '../forms/server-errors-at-form-fields.js';
import type { BudgetRowInput } from './budget-row.js';

type Rates = { [field in RateLimit['field']]?: number };

export interface AgentDefaults extends Rates {
  budgetCentsMonthly?: number;
  budgetMode?: 'soft' | 'hard';
  budgets?: (Omit<BudgetRowInput, 'models' | 'mode'> &
    Partial<Pick<BudgetRowInput, 'models' | 'mode'>> & { id?: string })[];
  auditLimits?: RateLimit['type'][];
}

interface AgentDefaultsFormProps {
  readonly defaults: AgentDefaults | null;
  readonly save: (defaults: AgentDefaults | null) => Promise<unknown>;
}

const LABELS = { agentDefaults: 'Defaults' };

export function AgentDefaultsForm({ defaults, save }: AgentDefaultsFormProps) {
  const [rates, setRates] = useState<Partial<Record<RateLimit['field'], number | string>>>(
    Object.fromEntries(RATE_LIMITS.map(({ field }) => [field, defaults?.[field] ?? ''])),
  );
  const [budget, setBudget] = useState<number | string>(centsToDollarInput(defaults?.budgetCentsMonthly ?? null));
  const change = useMutation({
    mutationFn: () => {
      const { rpmLimit: _rpm, rpdLimit: _rpd, tpmLimit: _tpm, budgetCentsMonthly: _cents, ...kept } = defaults ?? {};
      const cents = dollarInputToCents(budget);
      const stated = RATE_LIMITS.flatMap(({ field }) =>
        typeof rates[field] === 'number' ? [[field, rates[field]] as const] : [],
      );
      const next: AgentDefaults = {
        ...kept,
        ...Object.fromEntries(stated),
        ...(cents === null ? {} : { budgetCentsMonthly: cents }),
      };
      return save(Object.keys(next).length === 0 ? null : next);
    },
    onSuccess: () => showToast('Defaults saved'),
  });
  const errors = formErrors(change.error, LABELS);
  return (
    <Card component="section" aria-label="Defaults for new agents" maw={760}>
      <Title order={2}>Defaults for new agents</Title>
      <Text size="sm" c="dimmed" mb="md">
        A new agent gets them where it states no limit of its own. Changes do not affect existing agents.
      </Text>
      <Form errors={errors} onSubmit={() => change.mutate()}>
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
          {RATE_LIMITS.map(({ field, label }) => (
            <NumberInput
              key={field}
              label={label}
              min={1}
              hideControls
              thousandSeparator=","
              placeholder="No default"
              value={rates[field] ?? ''}
              onChange={(value) => setRates({ ...rates, [field]: value })}
            />
          ))}
          <BudgetAmountInput label="Monthly budget of an agent (USD)" value={budget} onChange={setBudget} />
        </SimpleGrid>
        <Group justify="flex-end">
          <RoleGuardedButton requiredRole="admin" type="submit" loading={change.isPending}>
            Save defaults
          </RoleGuardedButton>
        </Group>
      </Form>
    </Card>
  );
}
