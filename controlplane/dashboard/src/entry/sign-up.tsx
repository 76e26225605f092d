import { Alert, Anchor, Button, PasswordInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Link, useLocation } from 'wouter';
import { useConfig, useSignUp } from '../api/session.js';
import { Failure } from '../parts/failure.js';
import { EntryPage } from './entry-page.js';
import { useWait } from './wait.js';

const PASSWORD_MIN = 10;

export function SignUp() {
  const [, navigate] = useLocation();
  const signUp = useSignUp();
  const wait = useWait(signUp.error);
  const config = useConfig().data;
  const form = useForm({
    initialValues: { name: '', orgName: '', email: '', password: '' },
    validate: {
      password: (value) => (value.length < PASSWORD_MIN ? `At least ${PASSWORD_MIN} characters` : null),
    },
  });
  const closed = config?.signup === 'closed';
  const submit = form.onSubmit((values) =>
    signUp.mutate(
      { ...values, email: values.email.trim() },
      { onSuccess: () => navigate('/setup', { replace: true }) },
    ),
  );
  return (
    <EntryPage
      title="Make an account"
      text={config?.signup === 'first' ? 'You are the first here: this account will own the gateway.' : undefined}
      onSubmit={submit}
      footer={
        <>
          Have one?{' '}
          <Anchor component={Link} href="/sign-in" underline="always">
            Sign in
          </Anchor>
        </>
      }
    >
      {closed && (
        <Alert color="indigo" variant="light">
          New accounts are made by invitation here. Ask somebody who has one.
        </Alert>
      )}
      <TextInput
        label="Your name"
        autoComplete="name"
        maxLength={80}
        required
        withAsterisk={false}
        autoFocus
        {...form.getInputProps('name')}
      />
      <TextInput
        label="Organization"
        autoComplete="organization"
        maxLength={80}
        required
        withAsterisk={false}
        {...form.getInputProps('orgName')}
      />
      <TextInput
        label="E-mail"
        type="email"
        autoComplete="username"
        required
        withAsterisk={false}
        {...form.getInputProps('email')}
      />
      <PasswordInput
        label="Password"
        description={`At least ${PASSWORD_MIN} characters`}
        autoComplete="new-password"
        maxLength={256}
        required
        withAsterisk={false}
        {...form.getInputProps('password')}
      />
      {signUp.error !== null && <Failure error={signUp.error} />}
      <Button type="submit" fullWidth loading={signUp.isPending} disabled={closed || wait > 0}>
        {wait > 0 ? `Again in ${wait} s` : 'Make the account'}
      </Button>
    </EntryPage>
  );
}
