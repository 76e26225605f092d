/** Stops an agent: with one click and a way back, or with its name typed, after which resuming it asks first. */
import { Button, Group, Menu } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { MoreHorizontal, Pause, Play } from 'lucide-react';
import { useLocation } from 'wouter';
import { useMissingRoleReason } from '../../api/role-check.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { showErrorToast, showToast } from '../../components/feedback/toast.js';
import { ConfirmDialog } from '../../components/forms/confirm-dialog.js';
import { type Agent, useDeleteAgent, useSetAgentStatus } from '../../resources/agents.js';

export function AgentActions({ agent }: { readonly agent: Agent }) {
  const [, navigate] = useLocation();
  const status = useSetAgentStatus(agent.id);
  const remove = useDeleteAgent(agent.id);
  const whyNot = useMissingRoleReason('admin');
  const [revoking, revokeDialog] = useDisclosure(false);
  const [resuming, resumeDialog] = useDisclosure(false);
  const [deleting, deleteDialog] = useDisclosure(false);
  const showResumedToast = () => showToast(`${agent.name} may call again.`);
  const resume = () => status.mutate('active', { onSuccess: showResumedToast, onError: showErrorToast });
  const pause = () =>
    status.mutate('paused', {
      onSuccess: () => showUndoToast(`${agent.name} is paused.`, resume),
      onError: showErrorToast,
    });
  const revoked = agent.status === 'revoked';
  // What failed before has been said: a dialog does not say it again as its own.
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
          {revoked ? 'Resume …' : 'Resume'}
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
      {whyNot === null && (
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" px="sm" aria-label="More actions">
              <MoreHorizontal size={16} aria-hidden />
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item disabled={revoked} onClick={openDialog(revokeDialog)}>
              Revoke …
            </Menu.Item>
            <Menu.Item c="var(--acg-bad)" onClick={deleteDialog.open}>
              Delete …
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
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
        None of its tokens works any more, until an admin resumes it. Its calls and its bill stay.
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
        It was revoked. Its tokens work again, but for those that were revoked themselves or are over: whoever holds one
        may call, within the limits and with the credentials that it had.
      </ConfirmDialog>
      <ConfirmDialog
        opened={deleting}
        onClose={deleteDialog.close}
        title={`Delete ${agent.name}`}
        action="Delete agent"
        requiredText={agent.name}
        pending={remove.isPending}
        error={remove.error}
        onConfirm={() =>
          remove.mutate(undefined, {
            onSuccess: () => {
              showToast(`${agent.name} is deleted.`);
              navigate('/agents');
            },
          })
        }
      >
        Its tokens and the provider credentials stored for it are gone. What it spent still counts in reports.
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
