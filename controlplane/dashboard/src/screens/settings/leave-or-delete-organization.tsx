/** Leaves or deletes the organization. */
import { Card, Group, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { BASE_PATH } from '../../api/page-meta-tags.js';
import { useMe } from '../../api/session.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { ConfirmDialog } from '../../components/forms/confirm-dialog.js';

export function LeaveOrDeleteOrganization() {
  const me = useMe().data;
  const currentOrg = me?.orgs.find(({ id }) => id === me.orgId);
  const [open, setOpen] = useState<'leave' | 'delete' | null>(null);
  const [password, setPassword] = useState('');
  // A full page load, because the session belonged to that organization.
  const reloadDashboard = (): void => location.assign(`${BASE_PATH}/`);
  const leave = useMutation({ mutationFn: () => api.delete('/v1/members/me'), onSuccess: reloadDashboard });
  const deleteOrganization = useMutation({
    mutationFn: () => api.delete('/v1/orgs/{id}', { params: { path: { id: currentOrg!.id } }, body: { password } }),
    gcTime: 0,
    onSuccess: reloadDashboard,
  });
  const name = currentOrg?.name ?? '';
  return (
    <Card component="section" aria-label="Danger zone" maw={760}>
      <Title order={2} mb="md">
        Danger zone
      </Title>
      <Stack gap="md">
        <Group justify="space-between" gap="md">
          <Text size="sm" flex="1 1 240px">
            Leave {name}. You need an invitation to come back.
          </Text>
          <RoleGuardedButton requiredRole="viewer" variant="default" onClick={() => setOpen('leave')}>
            Leave
          </RoleGuardedButton>
        </Group>
        <Group justify="space-between" gap="md">
          <Text size="sm" flex="1 1 240px">
            Delete {name} with all agents, gateway tokens and credentials. Calls stop at once. An owner can restore it
            within seven days.
          </Text>
          <RoleGuardedButton requiredRole="owner" color="red" variant="light" onClick={() => setOpen('delete')}>
            Delete organization
          </RoleGuardedButton>
        </Group>
      </Stack>
      <ConfirmDialog
        opened={open === 'leave'}
        onClose={() => setOpen(null)}
        title={`Leave ${name}`}
        action="Leave"
        onConfirm={() => leave.mutate()}
        pending={leave.isPending}
        error={leave.error}
      >
        You lose access at once. Log in again to use another organization.
      </ConfirmDialog>
      <ConfirmDialog
        opened={open === 'delete'}
        onClose={() => {
          setOpen(null);
          setPassword('');
        }}
        title={`Delete ${name}`}
        action="Delete organization"
        requiredText={name}
        onConfirm={() => deleteOrganization.mutate()}
        pending={deleteOrganization.isPending}
        error={deleteOrganization.error}
      >
        <Stack gap="md">
          <span>
            All gateway tokens and management tokens are revoked permanently now. Everything else is deleted in seven
            days. Until then any owner can restore it. All owners get an e-mail.
          </span>
          <PasswordInput
            label="Your password"
            required
            autoComplete="current-password"
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
        </Stack>
      </ConfirmDialog>
    </Card>
  );
}
