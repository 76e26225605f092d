/** Actions of a webhook endpoint: test, pause, edit, rotate the secret, delete. */
import { Button, Group, Menu, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { MoreHorizontal, Pause, Play } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { useMissingRoleReason } from '../../api/session.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { showErrorToast, showToast } from '../../components/feedback/toast.js';
import { ConfirmDialog } from '../../components/forms/confirm-dialog.js';
import { SecretDialog } from '../../components/secrets/secret-dialog.js';
import { formatExactTime } from '../../format/format.js';
import { EndpointDialog } from './endpoint-dialog.js';
import { type Endpoint, refreshWebhooks } from './fetch-webhooks-retry-deliveries.js';
import { type NewSecret, RotateSecretDialog } from './rotate-secret-dialog.js';
import { SignatureVerificationCode } from './signature-verification-code.js';
import { TestEndpointDialog } from './test-endpoint-dialog.js';

interface EndpointActionsProps {
  readonly endpoint: Endpoint;
  readonly onDelete: () => void;
  readonly deleting: boolean;
  readonly deleteError: unknown;
}

export function EndpointActions({ endpoint, onDelete, deleting, deleteError }: EndpointActionsProps) {
  const { id, status } = endpoint;
  const [open, setOpen] = useFormDraft<'test' | 'edit' | 'rotate' | 'delete' | null>(`endpoint ${id}`, null);
  const [newSecret, setNewSecret] = useState<NewSecret | null>(null);
  const missingRoleReason = useMissingRoleReason('admin');
  const close = (): void => setOpen(null);
  const active = status === 'active';
  const setStatus = useMutation({
    mutationFn: (next: 'active' | 'paused') =>
      api.patch('/v1/webhooks/{id}', { params: { path: { id } }, body: { status: next } }),
    onSuccess: refreshWebhooks,
    onError: showErrorToast,
  });
  return (
    <Group gap="sm">
      <RoleGuardedButton
        requiredRole="admin"
        disabledReason={active ? null : 'The endpoint is paused.'}
        onClick={() => setOpen('test')}
      >
        Send test event
      </RoleGuardedButton>
      <RoleGuardedButton
        requiredRole="admin"
        variant="default"
        loading={setStatus.isPending}
        leftSection={active ? <Pause size={16} aria-hidden /> : <Play size={16} aria-hidden />}
        onClick={() => setStatus.mutate(active ? 'paused' : 'active')}
      >
        {active ? 'Pause' : 'Resume'}
      </RoleGuardedButton>
      {missingRoleReason === null && (
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" px="sm" aria-label="More actions">
              <MoreHorizontal size={16} aria-hidden />
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => setOpen('edit')}>Edit…</Menu.Item>
            <Menu.Item onClick={() => setOpen('rotate')}>Rotate secret…</Menu.Item>
            <Menu.Item c="var(--acg-error)" onClick={() => setOpen('delete')}>
              Delete…
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
      {open === 'test' && <TestEndpointDialog endpoint={endpoint} onClose={close} />}
      {open === 'edit' && (
        <EndpointDialog
          endpoint={endpoint}
          onClose={close}
          onSaved={() => {
            refreshWebhooks();
            close();
            showToast('Endpoint saved');
          }}
        />
      )}
      {open === 'rotate' && (
        <RotateSecretDialog
          endpoint={endpoint}
          onClose={close}
          onRotated={(secret) => {
            close();
            setNewSecret(secret);
          }}
        />
      )}
      <SecretDialog title="New signing secret" secret={newSecret?.secret ?? null} onStored={() => setNewSecret(null)}>
        <Text size="sm">
          {newSecret === null || newSecret.previousUntil === null
            ? 'The previous secret is no longer used.'
            : `The previous secret also signs deliveries until ${formatExactTime(newSecret.previousUntil)}.`}
        </Text>
        <SignatureVerificationCode />
      </SecretDialog>
      <ConfirmDialog
        opened={open === 'delete'}
        onClose={close}
        title="Delete endpoint"
        action="Delete endpoint"
        onConfirm={onDelete}
        pending={deleting}
        error={deleteError}
      >
        No more events are sent to it, and its delivery history is deleted.
      </ConfirmDialog>
    </Group>
  );
}
