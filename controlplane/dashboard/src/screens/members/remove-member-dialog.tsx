/** Removes a member or revokes an invitation. Of a member it lists what the member created, to keep or to revoke. */
import { Checkbox, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';
import { ConfirmDialog } from '../../components/forms/confirm-dialog.js';

const KIND_LABELS = {
  api_key: 'Gateway token',
  webhook: 'Webhook',
  management_token: 'Management token',
  run: 'Run',
  scim_token: 'SCIM token',
  trust_rule: 'Trust rule',
} as const;

interface RemoveMemberDialogProps {
  readonly member: { readonly userId: string; readonly email: string; readonly status: 'active' | 'invited' };
  readonly onClose: () => void;
  readonly onRemoved: () => void;
}

export function RemoveMemberDialog({ member, onClose, onRemoved }: RemoveMemberDialogProps) {
  const { userId, email, status } = member;
  const isInvitation = status === 'invited';
  const [revokesCreated, setRevokesCreated] = useState(false);
  const created = useQuery({
    queryKey: ['created by member', userId],
    queryFn: () => api.get('/v1/members/{userId}/created', { params: { path: { userId } } }),
    enabled: !isInvitation,
  });
  const remove = useMutation({
    mutationFn: () =>
      api.delete('/v1/members/{userId}', {
        params: { path: { userId }, query: revokesCreated ? { revoke: 'created' } : {} },
      }),
    onSuccess: onRemoved,
  });
  const kept = (created.data?.items ?? []).filter(({ kind }) => kind !== 'management_token');
  const action = isInvitation ? 'Revoke invitation' : 'Remove member';
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={action}
      action={action}
      onConfirm={() => remove.mutate()}
      pending={remove.isPending}
      error={remove.error}
    >
      {isInvitation ? (
        `The invitation link of ${email} stops working.`
      ) : (
        <Stack gap="sm">
          <Text size="sm">
            {email} loses access at once, in every browser and program. Their management tokens are revoked. Agents and
            gateway tokens stay.
          </Text>
          {kept.length > 0 && (
            <>
              <Text size="sm" fw={600}>
                {email} created:
              </Text>
              <Stack component="ul" gap={4} m={0} pl="md" mah={200} style={{ overflowY: 'auto' }} tabIndex={0}>
                {kept.map(({ kind, id, name, detail }) => (
                  <Text component="li" size="sm" key={id} className="acg-break-anywhere">
                    {KIND_LABELS[kind]} {name} ({detail})
                  </Text>
                ))}
              </Stack>
              <Checkbox
                label="Also revoke these"
                checked={revokesCreated}
                onChange={(event) => setRevokesCreated(event.currentTarget.checked)}
              />
            </>
          )}
        </Stack>
      )}
    </ConfirmDialog>
  );
}
