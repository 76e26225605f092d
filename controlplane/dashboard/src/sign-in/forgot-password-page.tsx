import { Alert, Anchor, Button, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api } from '../api/api-client.js';
import { useConfig } from '../api/session.js';
import { formErrors } from '../components/forms/server-errors-at-form-fields.js';
import { SignInLayout } from './sign-in-layout.js';

export function ForgotPasswordPage() {
  const [email, setEmail] = useState('');
  const requestReset = useMutation({
    mutationFn: (to: string) => api.post('/v1/auth/forgot-password', { body: { email: to } }),
  });
  const errors = formErrors(requestReset.error, { email: 'E-mail' });
  const mail = useConfig().data?.mail;
  return (
    <SignInLayout
      title="Forgot your password?"
      text="We send you a link to set a new one."
      onSubmit={() => requestReset.mutate(email.trim())}
      footer={
        <Anchor component={Link} href="/sign-in" underline="always">
          Back to log in
        </Anchor>
      }
    >
      {errors.formError}
      <TextInput
        label="E-mail"
        error={errors.fieldError('email')}
        type="email"
        autoComplete="username"
        required
        withAsterisk={false}
        autoFocus
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      {requestReset.isSuccess && (
        <Alert color="green" variant="light" role="status" title="Check your e-mail">
          If an account with this address exists, we have sent a link.
          {mail === 'outbox' &&
            ' This gateway stores e-mails in the folder “outbox” of its data directory. Ask its operator for the link.'}
        </Alert>
      )}
      <Button type="submit" fullWidth loading={requestReset.isPending}>
        Send link
      </Button>
    </SignInLayout>
  );
}
