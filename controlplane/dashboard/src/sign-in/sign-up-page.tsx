import { Alert, Anchor, Button, PasswordInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Link, useLocation } from 'wouter';
import { useConfig, useSignUp } from '../api/session.js';
import { formErrors } from '../components/forms/server-errors-at-form-fields.js';
import { SignInLayout } from './sign-in-layout.js';
import { useRetryCountdownSeconds } from './use-retry-countdown.js';

const PASSWORD_CHARS_MIN = 10;
const LABELS = { name: 'Your name', orgName: 'Organization', email: 'E-mail', password: 'Password' };

export function SignUpPage() {
  const [, navigate] = useLocation();
  const signUp = useSignUp();
  const waitSeconds = useRetryCountdownSeconds(signUp.error);
  const config = useConfig().data;
  const form = useForm({
    initialValues: { name: '', orgName: '', email: '', password: '' },
    validate: {
      password: (value) => (value.length < PASSWORD_CHARS_MIN ? `At least ${PASSWORD_CHARS_MIN} characters` : null),
    },
  });
  const errors = formErrors(signUp.error, LABELS);
  const closed = config?.signup === 'closed';
  const submit = form.onSubmit((values) =>
    signUp.mutate(
      { ...values, name: values.name.trim(), orgName: values.orgName.trim(), email: values.email.trim() },
      { onSuccess: () => navigate('/setup', { replace: true }) },
    ),
  );
  return (
    <SignInLayout
      title="Sign up"
      text={config?.signup === 'first' ? 'This is the first account: it will own the gateway.' : undefined}
      onSubmit={submit}
      footer={
        <>
          Already have an account?{' '}
          <Anchor component={Link} href="/sign-in" underline="always">
            Log in
          </Anchor>
        </>
      }
    >
      {errors.formError}
      {closed && (
        <Alert color="indigo" variant="light">
          Sign-up is by invitation only. Ask a member of your organization for one.
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
        error={errors.fieldError('name')}
      />
      <TextInput
        label="Organization"
        autoComplete="organization"
        maxLength={80}
        required
        withAsterisk={false}
        {...form.getInputProps('orgName')}
        error={errors.fieldError('orgName')}
      />
      <TextInput
        label="E-mail"
        type="email"
        autoComplete="username"
        required
        withAsterisk={false}
        {...form.getInputProps('email')}
        error={errors.fieldError('email')}
      />
      <PasswordInput
        label="Password"
        description={`At least ${PASSWORD_CHARS_MIN} characters`}
        autoComplete="new-password"
        maxLength={256}
        required
        withAsterisk={false}
        {...form.getInputProps('password')}
        {...errors.secretFieldProps('password')}
      />
      <Button type="submit" fullWidth loading={signUp.isPending} disabled={closed || waitSeconds > 0}>
        {waitSeconds > 0 ? `Try again in ${waitSeconds} s` : 'Sign up'}
      </Button>
    </SignInLayout>
  );
}
