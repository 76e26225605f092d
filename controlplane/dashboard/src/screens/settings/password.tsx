/** Changes the password; every other session ends with the old one. */
import { Button, Card, Group, PasswordInput, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api.js';
import { queryClient } from '../../api/query-client.js';
import { Form } from '../../parts/form.js';
import { formProblem } from '../../parts/form-problem.js';
import { toast } from '../../parts/toast.js';

const MIN_LENGTH = 10;
const LABELS = { currentPassword: 'Current password', newPassword: 'New password' };

export function Password() {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const save = useMutation({
    mutationFn: () => api.post('/v1/auth/change-password', { body: { currentPassword: current, newPassword: next } }),
    gcTime: 0,
    onSuccess: () => {
      setCurrent('');
      setNext('');
      void queryClient.invalidateQueries({ queryKey: ['sessions'] });
      toast('The password is changed; other sessions have ended');
    },
  });
  const problem = formProblem(save.error, LABELS);
  return (
    <Card component="section" aria-label="Password" maw={560}>
      <Title order={2} mb={4}>
        Password
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        All your other sessions end when it changes.
      </Text>
      <Form problem={problem} onSubmit={() => save.mutate()}>
        <PasswordInput
          label="Current password"
          {...problem.atSecret('currentPassword')}
          required
          autoComplete="current-password"
          value={current}
          onChange={(event) => setCurrent(event.currentTarget.value)}
        />
        <PasswordInput
          label="New password"
          {...problem.atSecret('newPassword')}
          description={`At least ${MIN_LENGTH} characters.`}
          required
          minLength={MIN_LENGTH}
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
