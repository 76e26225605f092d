import { Alert, Anchor, Button, PasswordInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Link, useLocation } from 'wouter';
import { useConfig, useSignUp } from '../api/session.js';
import { formProblem } from '../parts/form-problem.js';
import { EntryPage } from './entry-page.js';
import { useWait } from './wait.js';

const PASSWORD_MIN = 10;
const LABELS = { name: 'Your name', orgName: 'Organization', email: 'E-mail', password: 'Password' };

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
  const problem = formProblem(signUp.error, LABELS);
  const closed = config?.signup === 'closed';
  const submit = form.onSubmit((values) =>
    signUp.mutate(
      { ...values, name: values.name.trim(), orgName: values.orgName.trim(), email: values.email.trim() },
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
      {problem.above}
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
        error={problem.at('name')}
      />
      <TextInput
        label="Organization"
        autoComplete="organization"
        maxLength={80}
        required
        withAsterisk={false}
        {...form.getInputProps('orgName')}
        error={problem.at('orgName')}
      />
      <TextInput
        label="E-mail"
        type="email"
        autoComplete="username"
        required
        withAsterisk={false}
        {...form.getInputProps('email')}
        error={problem.at('email')}
      />
      <PasswordInput
        label="Password"
        description={`At least ${PASSWORD_MIN} characters`}
        autoComplete="new-password"
        maxLength={256}
        required
        withAsterisk={false}
        {...form.getInputProps('password')}
        {...problem.atSecret('password')}
      />
      <Button type="submit" fullWidth loading={signUp.isPending} disabled={closed || wait > 0}>
        {wait > 0 ? `Again in ${wait} s` : 'Make the account'}
      </Button>
    </EntryPage>
  );
}
