/** SCIM: the address for the organization's directory, and the tokens with which it admits and removes members. */
import { Card, Code, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { queryClient } from '../../api/query-client.js';
import { useQuery } from '../../api/use-query.js';
import { CopyButton } from '../../components/buttons/copy-button.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { showToast } from '../../components/feedback/toast.js';
import { ConfirmDialog } from '../../components/forms/confirm-dialog.js';
import { Form } from '../../components/forms/form-with-server-errors.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { SecretDialog } from '../../components/secrets/secret-dialog.js';

const QUERY_KEY = ['scim'];
const fetchSettings = () => api.get('/v1/scim');
type Token = Awaited<ReturnType<typeof fetchSettings>>['tokens'][number];

export function ScimProvisioning() {
  const settings = useQuery({ queryKey: QUERY_KEY, queryFn: fetchSettings });
  const refetch = () => queryClient.invalidateQueries({ queryKey: QUERY_KEY });
  if (settings.error !== null) return <ErrorAlert error={settings.error} onRetry={settings.refetch} />;
  if (settings.data === undefined) return null;
  const { baseUrl, tokens, users, activeUsers, members, groups } = settings.data;
  return (
    <Card component="section" aria-label="Provisioning" maw={560}>
      <Title order={2} mb={4}>
        Provisioning
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        SCIM 2.0: your directory deactivates members here the moment it deactivates them there. Enter this address and a
        token at the directory:
      </Text>
      <Group gap="sm" wrap="nowrap" mb="md" align="flex-start">
        <Code block className="acg-code" flex={1} tabIndex={0}>
          {baseUrl}
        </Code>
        <CopyButton value={baseUrl} />
      </Group>
      {users + groups > 0 && (
        <Text size="sm" mb="md">
          {users} people, {activeUsers} active, {members} members; {groups} groups
        </Text>
      )}
      <Stack gap="lg">
        {tokens.map((token) => (
          <TokenRow key={token.id} token={token} onChanged={refetch} />
        ))}
        <NewToken onChanged={refetch} />
      </Stack>
    </Card>
  );
}

function NewToken({ onChanged }: { readonly onChanged: () => unknown }) {
  const [name, setName] = useState('');
  const [secret, setSecret] = useState<string | null>(null);
  const create = useMutation({
    mutationFn: () => api.post('/v1/scim/tokens', { body: { name: name.trim() } }),
    gcTime: 0,
    onSuccess: ({ secretToken }) => {
      setName('');
      setSecret(secretToken);
      void onChanged();
    },
  });
  const errors = formErrors(create.error, { name: 'Name of the token' });
  return (
    <>
      <Form errors={errors} onSubmit={() => create.mutate()}>
        <TextInput
          label="Name of the token"
          placeholder="Okta"
          error={errors.fieldError('name')}
          required
          withAsterisk={false}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Group justify="flex-end">
          <RoleGuardedButton requiredRole="owner" type="submit" loading={create.isPending}>
            Create SCIM token
          </RoleGuardedButton>
        </Group>
      </Form>
      <SecretDialog title="New SCIM token" secret={secret} onStored={() => setSecret(null)} />
    </>
  );
}

function TokenRow({ token, onChanged }: { readonly token: Token; readonly onChanged: () => unknown }) {
  const [isDeleting, setDeleting] = useState(false);
  const remove = useMutation({
    mutationFn: () => api.delete('/v1/scim/tokens/{id}', { params: { path: { id: token.id } } }),
    onSuccess: () => {
      setDeleting(false);
      void onChanged();
      showToast('SCIM token deleted');
    },
  });
  return (
    <Group justify="space-between" gap="sm" role="group" aria-label={token.name}>
      <Stack gap={0}>
        <Text fw={600} className="acg-break-anywhere">
          {token.name}
        </Text>
        <Text size="sm" c="dimmed">
          {token.tokenPrefix}… · Last used <RelativeTime at={token.lastUsedAt} never="Never" />
        </Text>
      </Stack>
      <RoleGuardedButton
        requiredRole="owner"
        size="xs"
        variant="subtle"
        color="red"
        aria-label={`Delete ${token.name}`}
        onClick={() => setDeleting(true)}
      >
        Delete
      </RoleGuardedButton>
      <ConfirmDialog
        opened={isDeleting}
        onClose={() => setDeleting(false)}
        title="Delete SCIM token"
        action="Delete token"
        onConfirm={() => remove.mutate()}
        pending={remove.isPending}
        error={remove.error}
      >
        Requests of the directory with {token.name} are rejected from now on. Members stay as they are.
      </ConfirmDialog>
    </Group>
  );
}
