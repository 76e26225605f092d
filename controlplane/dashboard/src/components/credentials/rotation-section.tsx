/**
 * The rotation of a stored credential with overlap: its state, which calls still carry the previous credential, and what a
 * person can do about it (docs/contract.md#rotation-with-overlap).
 */
import { Alert, Group, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { formatCount } from '../../format/format.js';
import type { ConnectTarget } from '../../resources/connection-hooks.js';
import { type Rotation, type RotationAction, useRotationAction } from '../../resources/rotation-hooks.js';
import { RoleGuardedButton } from '../buttons/role-guarded-button.js';
import { DetailRow } from '../feedback/detail-row.js';
import { RelativeTime } from '../feedback/relative-time.js';
import { StatusBadge } from '../feedback/status-badge.js';
import { showToast } from '../feedback/toast.js';
import { ConfirmDialog } from '../forms/confirm-dialog.js';

const STATES = {
  testing: [
    'warning',
    'Testing the new credential',
    'Calls carry the current credential until the provider accepts the new one.',
  ],
  rejected: [
    'error',
    'New credential rejected',
    'The new credential was deleted. Calls carry the same credential as before.',
  ],
  retiring: [
    'warning',
    'Retiring the previous credential',
    'New calls carry the new credential. Calls in flight finish with the previous one.',
  ],
  retired: [
    'success',
    'Previous credential retired',
    'The gateway has deleted the previous credential. Revoke it at the provider, too.',
  ],
  rolled_back: ['error', 'Rolled back', 'Calls carry the previous credential again. The new one was deleted.'],
  cancelled: ['neutral', 'Cancelled', 'The new credential was deleted. Calls carry the same credential as before.'],
} as const satisfies Record<Rotation['state'], readonly ['neutral' | 'error' | 'success' | 'warning', string, string]>;

interface ActionDefinition {
  readonly action: RotationAction;
  readonly label: string;
  readonly isDestructive?: boolean;
  readonly text: string;
  readonly done: string;
}

const ROLL_BACK: ActionDefinition = {
  action: 'roll_back',
  label: 'Roll back',
  text: 'The gateway tests the previous credential. If the provider accepts it, new calls carry it again, and the new credential is deleted.',
  done: 'Rolled back to the previous credential',
};
const RETIRE: ActionDefinition = {
  action: 'retire',
  label: 'Retire now',
  text: 'Deletes the previous credential now. Its calls in flight finish. A rollback is not possible afterwards.',
  done: 'Previous credential deleted',
};
const CANCEL: ActionDefinition = {
  action: 'cancel',
  label: 'Cancel rotation',
  text: 'Deletes the new credential. Calls carry the same credential as before.',
  done: 'Rotation cancelled',
};
const compromised = (which: 'current' | 'previous'): ActionDefinition => ({
  action: 'compromised',
  label: `Mark ${which} as compromised`,
  isDestructive: true,
  text:
    which === 'current'
      ? 'Deletes the current credential at once and aborts its calls in flight. The new one is used untested. The gateway never restores the compromised credential.'
      : 'Deletes the previous credential at once and aborts its calls in flight. The gateway never restores it.',
  done: 'Compromised credential deleted. Revoke it at the provider, too.',
});

const ACTIONS: Partial<Record<Rotation['state'], readonly ActionDefinition[]>> = {
  testing: [CANCEL, compromised('current')],
  retiring: [ROLL_BACK, RETIRE, compromised('previous')],
};

interface RotationSectionProps {
  readonly target: ConnectTarget;
  readonly rotation: Rotation;
}

export function RotationSection({ target, rotation }: RotationSectionProps) {
  const [tone, label, meaning] = STATES[rotation.state];
  return (
    <Stack gap="sm" component="section" aria-label="Rotation">
      <Title order={2}>Rotation</Title>
      <Stack component="dl" gap={6} m={0} aria-live="polite">
        <DetailRow label="State">
          <StatusBadge tone={tone}>{label}</StatusBadge>
        </DetailRow>
        <RotationFacts rotation={rotation} />
      </Stack>
      <Text size="sm">{meaning}</Text>
      {rotation.problem !== null && (
        <Alert color={rotation.state === 'testing' ? 'yellow' : 'red'} variant="light" title={rotation.problem}>
          {rotation.state === 'rejected' && 'Check the credential at the provider, then rotate again.'}
          {rotation.state === 'rolled_back' && 'Create another credential at the provider, then rotate again.'}
          {rotation.state === 'testing' && 'The gateway tests it again by itself.'}
        </Alert>
      )}
      <RotationActions target={target} actions={ACTIONS[rotation.state] ?? []} />
    </Stack>
  );
}

function RotationFacts({ rotation }: { readonly rotation: Rotation }) {
  const { state, startedAt, testStatus, nextTestAt, inUseSince, keepUntil, retiresBy, callsInFlight, endedAt } =
    rotation;
  return (
    <>
      <DetailRow label="Started">
        <RelativeTime at={startedAt} />
      </DetailRow>
      {testStatus !== null && <DetailRow label="Answer to the last test">HTTP {testStatus}</DetailRow>}
      {state === 'testing' && nextTestAt !== null && (
        <DetailRow label="Next test">
          <RelativeTime at={nextTestAt} />
        </DetailRow>
      )}
      {inUseSince !== null && (
        <DetailRow label="New credential in use since">
          <RelativeTime at={inUseSince} />
        </DetailRow>
      )}
      {state === 'retiring' && (
        <>
          <DetailRow label="Calls in flight with the previous one">
            {callsInFlight === null ? 'not every data plane has reported' : formatCount(callsInFlight)}
          </DetailRow>
          <DetailRow label="Previous one kept until">
            <RelativeTime at={keepUntil} />
          </DetailRow>
          <DetailRow label="Deleted at the latest">
            <RelativeTime at={retiresBy} />
          </DetailRow>
        </>
      )}
      {endedAt !== null && (
        <DetailRow label="Ended">
          <RelativeTime at={endedAt} />
        </DetailRow>
      )}
      {rotation.compromised && <DetailRow label="Previous credential">Compromised, never used again</DetailRow>}
    </>
  );
}

interface RotationActionsProps {
  readonly target: ConnectTarget;
  readonly actions: readonly ActionDefinition[];
}

function RotationActions({ target, actions }: RotationActionsProps) {
  const act = useRotationAction(target);
  const [chosen, setChosen] = useState<ActionDefinition | null>(null);
  return (
    <>
      <Group gap="sm">
        {actions.map((definition) => (
          <RoleGuardedButton
            key={definition.action}
            requiredRole="admin"
            variant={definition.isDestructive ? 'subtle' : 'default'}
            {...(definition.isDestructive ? { color: 'red' } : {})}
            onClick={() => {
              act.reset();
              setChosen(definition);
            }}
          >
            {definition.label}
          </RoleGuardedButton>
        ))}
      </Group>
      {chosen !== null && (
        <ConfirmDialog
          opened
          onClose={() => setChosen(null)}
          title={chosen.label}
          action={chosen.label}
          onConfirm={() =>
            act.mutate(chosen.action, {
              onSuccess: () => {
                setChosen(null);
                showToast(chosen.done);
              },
            })
          }
          pending={act.isPending}
          error={act.error}
        >
          {chosen.text}
        </ConfirmDialog>
      )}
    </>
  );
}
