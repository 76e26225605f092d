/** The person's own name. */
import { Button, Card, Group, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api.js';
import { ME, queryClient } from '../../api/query-client.js';
import { useMe } from '../../api/session.js';
import { Form } from '../../parts/form.js';
import { formProblem } from '../../parts/form-problem.js';
import { toast } from '../../parts/toast.js';

export function Profile() {
  const user = useMe().data?.user ?? null;
  const [name, setName] = useState(user?.name ?? '');
  const save = useMutation({
    mutationFn: () => api.patch('/v1/me', { body: { name } }),
    onSuccess: (me) => {
      queryClient.setQueryData(ME, me);
      toast('Your name is saved');
    },
  });
  const problem = formProblem(save.error, { name: 'Name' });
  return (
    <Card component="section" aria-label="Profile" maw={560}>
      <Title order={2} mb="md">
        Profile
      </Title>
      <Form problem={problem} onSubmit={() => save.mutate()}>
        <TextInput
          label="E-mail"
          value={user?.email ?? ''}
          readOnly
          description={user?.emailVerified === false ? 'Not confirmed yet: the link is in your mail.' : undefined}
        />
        <TextInput
          label="Name"
          error={problem.at('name')}
          required
          maxLength={80}
          autoComplete="name"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Group justify="flex-end">
          <Button type="submit" loading={save.isPending} disabled={name.trim() === '' || name === user?.name}>
            Save
          </Button>
        </Group>
      </Form>
    </Card>
  );
}
