/** Actions for the selected agents. */
import { Button, Card, Group, Text } from '@mantine/core';
import { Pause, Play } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { Link } from 'wouter';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import type { BulkAgent, BulkKind } from './bulk-status-or-thresholds-dialog.js';

const BulkChangeDialog = lazy(async () => ({
  default: (await import('./bulk-status-or-thresholds-dialog.js')).BulkStatusOrThresholdsDialog,
}));
/** More lines than this cannot be told apart in a chart. */
const COMPARED_MAX = 10;

interface BulkActionsBarProps {
  readonly agents: readonly BulkAgent[];
  readonly period: string;
  readonly onClear: () => void;
}

export function BulkActionsBar({ agents, period, onClear }: BulkActionsBarProps) {
  // The change applies to the agents that were selected when the dialog opened.
  const [open, setOpen] = useState<{ kind: BulkKind; agents: readonly BulkAgent[] } | null>(null);
  const change = (kind: BulkKind) => () => setOpen({ kind, agents });
  const ids = agents.map(({ id }) => id).join(',');
  return (
    <>
      {agents.length > 0 && (
        <Card p="xs" mb="md" component="section" aria-label="Selected agents">
          <Group gap="xs" justify="space-between">
            <Text size="sm" fw={600} px="xs" role="status" aria-live="polite">
              {agents.length} selected
            </Text>
            <Group gap="xs">
              {agents.length <= COMPARED_MAX ? (
                <Button
                  size="xs"
                  variant="default"
                  component={Link}
                  href={`/agents/compare?${new URLSearchParams({ ids, period })}`}
                >
                  Compare
                </Button>
              ) : (
                <RoleGuardedButton
                  requiredRole="viewer"
                  disabledReason={`Select at most ${COMPARED_MAX} agents to compare.`}
                  size="xs"
                  variant="default"
                >
                  Compare
                </RoleGuardedButton>
              )}
              <RoleGuardedButton
                requiredRole="admin"
                size="xs"
                variant="default"
                leftSection={<Pause size={14} aria-hidden />}
                onClick={change('pause')}
              >
                Pause
              </RoleGuardedButton>
              <RoleGuardedButton
                requiredRole="admin"
                size="xs"
                variant="default"
                leftSection={<Play size={14} aria-hidden />}
                onClick={change('resume')}
              >
                Resume
              </RoleGuardedButton>
              <RoleGuardedButton requiredRole="member" size="xs" variant="default" onClick={change('thresholds')}>
                Thresholds
              </RoleGuardedButton>
              <Button size="xs" variant="subtle" onClick={onClear}>
                Clear
              </Button>
            </Group>
          </Group>
        </Card>
      )}
      <Suspense>{open !== null && <BulkChangeDialog {...open} onClose={() => setOpen(null)} />}</Suspense>
    </>
  );
}
