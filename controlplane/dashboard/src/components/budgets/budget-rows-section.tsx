/**
 * Budgets per day, week, month and in total of an agent, a project or the organization. The plain monthly budget has a
 * field of its own elsewhere; it is kept as it is.
 */
import { Button, Card, Group, Stack, Table, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { formatCents, formatDateTime } from '../../format/format.js';
import { RoleGuardedButton } from '../buttons/role-guarded-button.js';
import { BudgetBar } from '../feedback/budget-bar.js';
import { showErrorToast, showToast } from '../feedback/toast.js';
import { type BudgetRow, type BudgetRowInput, isPlainMonthly, toBudgetRowInput } from './budget-row.js';
import { BudgetRowDialog } from './budget-row-dialog.js';

/** Rows of defaults for new agents spend nothing. */
type ShownRow = BudgetRowInput & Partial<Pick<BudgetRow, 'id' | 'spentCents' | 'resetAt'>>;

interface BudgetRowsSectionProps {
  readonly title?: string;
  readonly rows: readonly (BudgetRow | ShownRow)[];
  /** Replaces the whole list. */
  readonly save: (rows: BudgetRowInput[]) => Promise<unknown>;
}

const WINDOW_LABELS = { day: 'Per day', week: 'Per week', month: 'Per month', total: 'In total' } as const;
const MODE_LABELS = { soft: 'soft', hard: 'hard', audit: 'audit only' } as const;

const countedCalls = ({ models, tag }: BudgetRow | ShownRow): string =>
  [models.length === 0 ? 'all models' : models.join(', '), ...(tag === undefined ? [] : [tag])].join(' · ');

export function BudgetRowsSection({ title = 'More budgets', rows, save }: BudgetRowsSectionProps) {
  /** Index of the row that the dialog changes; -1: a new one; null: closed. */
  const [edited, setEdited] = useState<number | null>(null);
  const shown = rows.filter((row) => !isPlainMonthly(row));
  const replace = (next: BudgetRowInput[]) => save([...rows.filter(isPlainMonthly).map(toBudgetRowInput), ...next]);
  const remove = (row: BudgetRow | ShownRow) =>
    replace(shown.filter((other) => other !== row).map(toBudgetRowInput)).then(
      () => showToast('Budget removed'),
      showErrorToast,
    );
  return (
    <Card component="section" aria-label={title} maw={760}>
      <Stack gap="md">
        <Group justify="space-between" align="flex-start">
          <div>
            <Title order={2}>{title}</Title>
            <Text size="sm" c="dimmed">
              Per day, week, month or in total, for all models or some. All of them apply at once.
            </Text>
          </div>
          <RoleGuardedButton requiredRole="admin" variant="default" onClick={() => setEdited(-1)}>
            Add budget
          </RoleGuardedButton>
        </Group>
        {shown.length > 0 && (
          <Table.ScrollContainer minWidth={480}>
            <Table className="acg-table" verticalSpacing="xs">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Window</Table.Th>
                  <Table.Th>Budget</Table.Th>
                  <Table.Th>Counts</Table.Th>
                  <Table.Th aria-label="Actions" />
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {shown.map((row, i) => (
                  <Table.Tr key={row.id ?? i}>
                    <Table.Td>
                      <Text size="sm">{`${WINDOW_LABELS[row.window]}, ${MODE_LABELS[row.mode]}`}</Text>
                      {row.resetAt !== undefined && (
                        <Text size="xs" c="dimmed">
                          {row.resetAt === null ? 'never resets' : `resets ${formatDateTime(row.resetAt)}`}
                        </Text>
                      )}
                    </Table.Td>
                    <Table.Td>
                      {row.spentCents === undefined ? (
                        formatCents(row.cents)
                      ) : (
                        <BudgetBar spentCents={row.spentCents} budgetCents={row.cents} />
                      )}
                    </Table.Td>
                    <Table.Td>{countedCalls(row)}</Table.Td>
                    <Table.Td>
                      <Group gap="xs" justify="flex-end" wrap="nowrap">
                        <Button size="compact-sm" variant="subtle" onClick={() => setEdited(i)}>
                          Edit
                        </Button>
                        <RoleGuardedButton
                          requiredRole="admin"
                          size="compact-sm"
                          variant="subtle"
                          color="red"
                          onClick={() => void remove(row)}
                        >
                          Remove
                        </RoleGuardedButton>
                      </Group>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        )}
      </Stack>
      {edited !== null && (
        <BudgetRowDialog
          row={shown[edited] ?? null}
          onClose={() => setEdited(null)}
          save={(row) =>
            replace(
              edited < 0
                ? [...shown.map(toBudgetRowInput), row]
                : shown.map((other, i) => (i === edited ? row : toBudgetRowInput(other))),
            )
          }
          onSaved={() => {
            setEdited(null);
            showToast('Budget saved');
          }}
        />
      )}
    </Card>
  );
}
