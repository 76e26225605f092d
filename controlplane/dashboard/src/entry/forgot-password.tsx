import { Alert, Anchor, Button, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api } from '../api/api.js';
import { useConfig } from '../api/session.js';
import { formProblem } from '../parts/form-problem.js';
import { EntryPage } from './entry-page.js';

export function ForgotPassword() {
  const [email, setEmail] = useState('');
  const ask = useMutation({
    mutationFn: (to: string) => api.post('/v1/auth/forgot-password', { body: { email: to } }),
  });
  const problem = formProblem(ask.error, { email: 'E-mail' });
  const mail = useConfig().data?.mail;
  return (
    <EntryPage
      title="Forgot your password?"
      text="We send a link that sets a new one."
      onSubmit={() => ask.mutate(email.trim())}
      footer={
        <Anchor component={Link} href="/sign-in" underline="always">
          Back to sign in
        </Anchor>
      }
    >
      {problem.above}
      <TextInput
        label="E-mail"
        error={problem.at('email')}
        type="email"
        autoComplete="username"
        required
        withAsterisk={false}
        autoFocus
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      {ask.isSuccess && (
        <Alert color="green" variant="light" role="status" title="On its way">
          If there is an account with that address, the mail is sent.
          {mail === 'outbox' &&
            ' This gateway keeps its mails in the folder “outbox” of its data directory: ask whoever runs it.'}
        </Alert>
      )}
      <Button type="submit" fullWidth loading={ask.isPending}>
        Send the link
      </Button>
    </EntryPage>
  );
}
