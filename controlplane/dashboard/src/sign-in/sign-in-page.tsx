import { ApiError } from '@acg/client/api-errors';
import { Alert, Anchor, Button, PasswordInput, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { api } from '../api/api-client.js';
import { hasSavedDrafts } from '../api/form-drafts-across-sign-in.js';
import { useConfig, useSignIn } from '../api/session.js';
import { formErrors } from '../components/forms/server-errors-at-form-fields.js';
import { parseReturnPath } from './return-path.js';
import { SignInLayout } from './sign-in-layout.js';
import { useRetryCountdownSeconds } from './use-retry-countdown.js';

export function SignInPage() {
  const search = useSearch();
  const [, navigate] = useLocation();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const signIn = useSignIn();
  const waitSeconds = useRetryCountdownSeconds(signIn.error);
  const errors = formErrors(signIn.error, { email: 'E-mail', password: 'Password', code: 'Authentication code' });
  const config = useConfig().data;
  const rejection = signIn.error instanceof ApiError && signIn.error.status === 401 ? signIn.error : null;
  const isWrongPassword = rejection !== null && !rejection.secondFactor;
  const [needsCode, setNeedsCode] = useState(false);
  if (rejection?.secondFactor === true && !needsCode) setNeedsCode(true);
  const submit = () =>
    signIn.mutate(
      { email: email.trim(), password, ...(needsCode && code !== '' ? { code: code.trim() } : {}) },
      { onSuccess: () => navigate(parseReturnPath(search), { replace: true }) },
    );
  return (
    <SignInLayout
      title="Log in"
      onSubmit={submit}
      footer={
        config !== undefined &&
        config.signup !== 'closed' && (
          <>
            New here?{' '}
            <Anchor component={Link} href="/sign-up" underline="always">
              Sign up
            </Anchor>
          </>
        )
      }
    >
      {new URLSearchParams(search).has('ended') && signIn.error === null && (
        <Alert color="indigo" variant="light" role="status">
          Your session has ended. Log in to continue where you were.
          {hasSavedDrafts() && ' Your input is kept, except passwords and credentials.'}
        </Alert>
      )}
      {isWrongPassword ? <WrongPasswordAlert /> : rejection === null && errors.formError}
      <TextInput
        label="E-mail"
        error={errors.fieldError('email')}
        type="email"
        name="email"
        autoComplete="username"
        required
        withAsterisk={false}
        autoFocus
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <PasswordInput
        label="Password"
        {...errors.secretFieldProps('password')}
        name="password"
        autoComplete="current-password"
        required
        withAsterisk={false}
        maxLength={256}
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
      />
      {needsCode && (
        <TextInput
          label="Authentication code"
          description="From your authenticator app, or a recovery code."
          error={signIn.variables?.code === undefined ? undefined : errors.fieldError('code')}
          name="code"
          autoComplete="one-time-code"
          required
          withAsterisk={false}
          autoFocus
          maxLength={40}
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
      )}
      <Button type="submit" fullWidth loading={signIn.isPending} disabled={waitSeconds > 0}>
        {waitSeconds > 0 ? `Try again in ${waitSeconds} s` : 'Log in'}
      </Button>
      <SingleSignOnButton email={email.trim()} />
      <Anchor component={Link} href="/forgot-password" size="sm" ta="center" underline="always">
        Forgot your password?
      </Anchor>
    </SignInLayout>
  );
}

/** Sends the browser to the identity provider of the organization that verified the domain of the address. */
function SingleSignOnButton({ email }: { readonly email: string }) {
  const start = useMutation({
    mutationFn: () => api.post('/v1/sso/start', { body: { email } }),
    onSuccess: ({ url }) => location.assign(url),
  });
  const errors = formErrors(start.error, {});
  return (
    <>
      {errors.formError}
      <Button
        variant="default"
        fullWidth
        loading={start.isPending || start.isSuccess}
        disabled={!email.includes('@')}
        onClick={() => start.mutate()}
      >
        Use single sign-on
      </Button>
    </>
  );
}

const WrongPasswordAlert = () => (
  <Alert color="red" variant="light" role="alert">
    Wrong e-mail address or password.
  </Alert>
);
