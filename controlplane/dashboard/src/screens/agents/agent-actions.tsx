/**
 * Pauses, resumes, revokes or deletes an agent. Pausing can be undone; revoking and deleting require the typed name.
 */
import { Button, Group, Menu } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { MoreHorizontal, Pause, Play } from 'lucide-react';
import { useLocation } from 'wouter';
import { useMissingRoleReason } from '../../api/session.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { showErrorToast, showToast } from '../../components/feedback/toast.js';
import { ConfirmDialog } from '../../components/forms/confirm-dialog.js';
import { type Agent, useDeleteAgent, useSetAgentStatus } from '../../resources/agent-account-and-key-hooks.js';
import { EditAgentDialog } from './edit-agent-dialog.js';

export function AgentActions({ agent }: { readonly agent: Agent }) {
  const [, navigate] = useLocation();
  const status = useSetAgentStatus(agent.id);
  const deleteAgent = useDeleteAgent(agent.id);
  const missingRoleReason = useMissingRoleReason('admin');
  const [revoking, revokeDialog] = useDisclosure(false);
  const [resuming, resumeDialog] = useDisclosure(false);
  const [deleting, deleteDialog] = useDisclosure(false);
  const [editing, editDialog] = useDisclosure(false);
  const showResumedToast = () => showToast(`${agent.name} resumed`);
  const resume = () => status.mutate('active', { onSuccess: showResumedToast, onError: showErrorToast });
  const pause = () =>
    status.mutate('paused', {
      onSuccess: () => showUndoToast(`${agent.name} paused`, resume),
      onError: showErrorToast,
    });
  const revoked = agent.status === 'revoked';
  // Clears an error that a toast has already shown, so that the dialog does not repeat it.
  const openDialog = (dialog: typeof revokeDialog) => () => {
    if (!status.isPending) status.reset();
    dialog.open();
  };
  return (
    <Group gap="sm">
      {agent.status !== 'active' ? (
        <RoleGuardedButton
          requiredRole="admin"
          loading={status.isPending}
          leftSection={<Play size={16} aria-hidden />}
          onClick={revoked ? openDialog(resumeDialog) : resume}
        >
          {revoked ? 'Resume…' : 'Resume'}
        </RoleGuardedButton>
      ) : (
        <RoleGuardedButton
          requiredRole="admin"
          variant="default"
          loading={status.isPending}
          leftSection={<Pause size={16} aria-hidden />}
          onClick={pause}
        >
          Pause
        </RoleGuardedButton>
      )}
      {missingRoleReason === null && (
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" px="sm" aria-label="More actions">
              <MoreHorizontal size={16} aria-hidden />
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={editDialog.open}>Edit name and description…</Menu.Item>
            <Menu.Item disabled={revoked} onClick={openDialog(revokeDialog)}>
              Revoke…
            </Menu.Item>
            <Menu.Item c="var(--acg-error)" onClick={deleteDialog.open}>
              Delete…
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
      {editing && <EditAgentDialog agent={agent} onClose={editDialog.close} />}
      <ConfirmDialog
        opened={revoking}
        onClose={revokeDialog.close}
        title={`Revoke ${agent.name}`}
        action="Revoke agent"
        requiredText={agent.name}
        pending={status.isPending}
        error={status.error}
        onConfirm={() => status.mutate('revoked', { onSuccess: revokeDialog.close })}
      >
        Its tokens stop working until an admin resumes it. Its calls and spend stay in reports.
      </ConfirmDialog>
      <ConfirmDialog
        opened={resuming}
        onClose={resumeDialog.close}
        title={`Resume ${agent.name}`}
        action="Resume agent"
        pending={status.isPending}
        error={status.error}
        onConfirm={() =>
          status.mutate('active', {
            onSuccess: () => {
              resumeDialog.close();
              showResumedToast();
            },
          })
        }
      >
        This agent was revoked. Its tokens work again, except expired tokens and tokens that were revoked separately. It
        keeps its limits and credentials.
      </ConfirmDialog>
      <ConfirmDialog
        opened={deleting}
        onClose={deleteDialog.close}
        title={`Delete ${agent.name}`}
        action="Delete agent"
        requiredText={agent.name}
        pending={deleteAgent.isPending}
        error={deleteAgent.error}
        onConfirm={() =>
          deleteAgent.mutate(undefined, {
            onSuccess: () => {
              showToast(`${agent.name} deleted`);
              navigate('/agents');
            },
          })
        }
      >
        Deletes its tokens and the provider credentials stored for it. Its spend stays in reports.
      </ConfirmDialog>
    </Group>
  );
}

const UNDO_MS = 8_000;

function showUndoToast(message: string, undo: () => void): void {
  const id = notifications.show({
    color: 'yellow',
    autoClose: UNDO_MS,
    message: (
      <Group justify="space-between" gap="sm">
        {message}
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => {
            notifications.hide(id);
            undo();
          }}
        >
          Undo
        </Button>
      </Group>
    ),
  });
}
