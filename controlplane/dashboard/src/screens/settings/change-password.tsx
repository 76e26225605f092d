/** Changes the password; all other sessions end. */
import { Button, Card, Group, PasswordInput, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { queryClient } from '../../api/query-client.js';
import { showToast } from '../../components/feedback/toast.js';
import { Form } from '../../components/forms/form-with-server-errors.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';

const PASSWORD_CHARS_MIN = 10;
const LABELS = { currentPassword: 'Current password', newPassword: 'New password' };

export function ChangePassword() {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const save = useMutation({
    mutationFn: () => api.post('/v1/auth/change-password', { body: { currentPassword: current, newPassword: next } }),
    gcTime: 0,
    onSuccess: () => {
      setCurrent('');
      setNext('');
      void queryClient.invalidateQueries({ queryKey: ['sessions'] });
      showToast('Password changed. All other sessions have ended.');
    },
  });
  const errors = formErrors(save.error, LABELS);
  return (
    <Card component="section" aria-label="Password" maw={560}>
      <Title order={2} mb={4}>
        Password
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        Changing it ends all your other sessions.
      </Text>
      <Form errors={errors} onSubmit={() => save.mutate()}>
        <PasswordInput
          label="Current password"
          {...errors.secretFieldProps('currentPassword')}
          required
          autoComplete="current-password"
          value={current}
          onChange={(event) => setCurrent(event.currentTarget.value)}
        />
        <PasswordInput
          label="New password"
          {...errors.secretFieldProps('newPassword')}
          description={`At least ${PASSWORD_CHARS_MIN} characters.`}
          required
          minLength={PASSWORD_CHARS_MIN}
          autoComplete="new-password"
          value={next}
          onChange={(event) => setNext(event.currentTarget.value)}
        />
        <Group justify="flex-end">
          <Button type="submit" loading={save.isPending}>
            Change password
          </Button>
        </Group>
      </Form>
    </Card>
  );
}
