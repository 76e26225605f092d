/** Limits and budgets that new agents of a project or the organization get where they state none. */
import { BUDGET_ROW_MODES, type BudgetRowMode } from '@acg/base/budget-rows';
import { RATE_LIMITS, type RateLimit } from '@acg/base/limit-definitions';
import { Card, Checkbox, Group, NativeSelect, NumberInput, SimpleGrid, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { centsToDollarInput, dollarInputToCents } from '../../format/format.js';
import { RoleGuardedButton } from '../buttons/role-guarded-button.js';
import { showToast } from '../feedback/toast.js';
import { BudgetAmountInput } from '../forms/budget-amount-input.js';
import { Form } from '../forms/form-with-server-errors.js';
import { formErrors } from '../forms/server-errors-at-form-fields.js';
import { BUDGET_MODE_LABELS, type BudgetRowInput, isPlainMonthly } from './budget-row.js';
import { BudgetRowsSection } from './budget-rows-section.js';

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
const RATE_FIELDS: readonly string[] = RATE_LIMITS.map(({ field }) => field);

/** All budgets as rows: the older fields are the plain monthly row. */
function budgetsOf({ budgets = [], budgetCentsMonthly, budgetMode }: AgentDefaults): readonly BudgetRowInput[] {
  const rows = budgets.map(({ window, cents, models = [], tag, mode }) => {
    const row = { window, cents, models, ...(tag === undefined ? {} : { tag }) };
    return { ...row, mode: mode ?? (isPlainMonthly(row) ? budgetMode : undefined) ?? 'soft' };
  });
  return budgetCentsMonthly === undefined || rows.some(isPlainMonthly)
    ? rows
    : [{ window: 'month', cents: budgetCentsMonthly, models: [], mode: budgetMode ?? 'soft' }, ...rows];
}

/** Null: no defaults. */
function withBudgets(defaults: AgentDefaults, budgets: readonly BudgetRowInput[]): AgentDefaults | null {
  const { budgetCentsMonthly: _cents, budgetMode: _mode, budgets: _budgets, ...rest } = defaults;
  const next = { ...rest, ...(budgets.length === 0 ? {} : { budgets: [...budgets] }) };
  return Object.keys(next).length === 0 ? null : next;
}

export function AgentDefaultsForm({ defaults, save }: AgentDefaultsFormProps) {
  const rows = budgetsOf(defaults ?? {});
  const monthly = rows.find(isPlainMonthly);
  const [rates, setRates] = useState<Partial<Record<RateLimit['field'], number | string>>>(
    Object.fromEntries(RATE_LIMITS.map(({ field }) => [field, defaults?.[field] ?? ''])),
  );
  const [budget, setBudget] = useState<number | string>(centsToDollarInput(monthly?.cents ?? null));
  const [mode, setMode] = useState<BudgetRowMode>(monthly?.mode ?? 'soft');
  // The list below can change the monthly budget, too.
  const stored = `${monthly?.cents} ${monthly?.mode}`;
  const [seen, setSeen] = useState(stored);
  if (seen !== stored) {
    setSeen(stored);
    setBudget(centsToDollarInput(monthly?.cents ?? null));
    setMode(monthly?.mode ?? 'soft');
  }
  const [audited, setAudited] = useState<string[]>([...(defaults?.auditLimits ?? [])]);
  const change = useMutation({
    mutationFn: () => {
      const { auditLimits: _audited, ...other } = defaults ?? {};
      const cents = dollarInputToCents(budget);
      const stated = RATE_LIMITS.flatMap(({ field }) =>
        typeof rates[field] === 'number' ? [[field, rates[field]] as const] : [],
      );
      const auditLimits = RATE_LIMITS.map(({ type }) => type).filter((type) => audited.includes(type));
      const next: AgentDefaults = {
        ...Object.fromEntries(Object.entries(other).filter(([field]) => !RATE_FIELDS.includes(field))),
        ...Object.fromEntries(stated),
        ...(auditLimits.length === 0 ? {} : { auditLimits }),
      };
      const plain: BudgetRowInput[] = cents === null ? [] : [{ window: 'month', cents, models: [], mode }];
      return save(withBudgets(next, [...plain, ...rows.filter((row) => !isPlainMonthly(row))]));
    },
    onSuccess: () => showToast('Defaults saved'),
  });
  const errors = formErrors(change.error, LABELS);
  return (
    <>
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
            <NativeSelect
              label="Mode of the monthly budget"
              data={BUDGET_ROW_MODES.map((value) => ({ value, label: BUDGET_MODE_LABELS[value] }))}
              value={mode}
              onChange={(event) => setMode(event.currentTarget.value as BudgetRowMode)}
            />
          </SimpleGrid>
          <Checkbox.Group
            label="Audit mode"
            description="These limits are counted and never reject."
            value={audited}
            onChange={setAudited}
          >
            <Group mt="xs">
              {RATE_LIMITS.map(({ type, label }) => (
                <Checkbox key={type} value={type} label={label} />
              ))}
            </Group>
          </Checkbox.Group>
          <Group justify="flex-end">
            <RoleGuardedButton requiredRole="admin" type="submit" loading={change.isPending}>
              Save defaults
            </RoleGuardedButton>
          </Group>
        </Form>
      </Card>
      <BudgetRowsSection
        title="More budgets of new agents"
        rows={rows}
        save={(budgets) => save(withBudgets(defaults ?? {}, budgets))}
      />
    </>
  );
}
