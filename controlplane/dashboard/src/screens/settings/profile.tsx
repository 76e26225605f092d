/** The user's name and e-mail address, with a button to resend the confirmation link. */
import { Button, Card, Group, Text, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { ME_QUERY_KEY, queryClient } from '../../api/query-client.js';
import { useConfig, useMe } from '../../api/session.js';
import { showErrorToast, showToast } from '../../components/feedback/toast.js';
import { Form } from '../../components/forms/form-with-server-errors.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';

export function Profile() {
  const user = useMe().data?.user ?? null;
  const [name, setName] = useFormDraft('profile name', user?.name ?? '');
  const save = useMutation({
    mutationFn: () => api.patch('/v1/me', { body: { name: name.trim() } }),
    onSuccess: (me) => {
      queryClient.setQueryData(ME_QUERY_KEY, me);
      showToast('Name saved');
    },
  });
  const errors = formErrors(save.error, { name: 'Name' });
  return (
    <Card component="section" aria-label="Profile" maw={560}>
      <Title order={2} mb="md">
        Profile
      </Title>
      <Form errors={errors} onSubmit={() => save.mutate()}>
        <TextInput
          label="E-mail"
          value={user?.email ?? ''}
          readOnly
          description={
            user?.emailVerified === false ? 'Not confirmed yet. Open the link in the confirmation e-mail.' : undefined
          }
        />
        {user?.emailVerified === false && <ResendVerification email={user.email} />}
        <TextInput
          label="Name"
          error={errors.fieldError('name')}
          required
          maxLength={80}
          autoComplete="name"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Group justify="flex-end">
          <Button type="submit" loading={save.isPending} disabled={name.trim() === '' || name.trim() === user?.name}>
            Save
          </Button>
        </Group>
      </Form>
    </Card>
  );
}

/** The link expires after a day, and e-mails get lost. */
function ResendVerification({ email }: { readonly email: string }) {
  const mail = useConfig().data?.mail;
  const send = useMutation({
    mutationFn: () => api.post('/v1/auth/resend-verification', { body: { email } }),
    onSuccess: () => showToast('New link sent. The previous link no longer works.'),
    onError: showErrorToast,
  });
  return (
    <Group gap="sm">
      <Button variant="default" size="xs" loading={send.isPending} onClick={() => send.mutate()}>
        Resend the link
      </Button>
      {mail === 'outbox' && (
        <Text size="xs" c="dimmed" flex="1 1 200px">
          This gateway stores e-mails in the folder “outbox” of its data directory. Ask its operator for the link.
        </Text>
      )}
    </Group>
  );
}
