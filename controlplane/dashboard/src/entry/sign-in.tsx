import { ApiError } from '@acg/client/api-error';
import { Alert, Anchor, Button, PasswordInput, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { useConfig, useSignIn } from '../api/session.js';
import { Failure } from '../parts/failure.js';
import { EntryPage } from './entry-page.js';
import { returnPath } from './return-path.js';
import { useWait } from './wait.js';

export function SignIn() {
  const search = useSearch();
  const [, navigate] = useLocation();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const signIn = useSignIn();
  const wait = useWait(signIn.error);
  const config = useConfig().data;
  const submit = () =>
    signIn.mutate(
      { email: email.trim(), password },
      { onSuccess: () => navigate(returnPath(search), { replace: true }) },
    );
  return (
    <EntryPage
      title="Sign in"
      onSubmit={submit}
      footer={
        config !== undefined &&
        config.signup !== 'closed' && (
          <>
            New here?{' '}
            <Anchor component={Link} href="/sign-up" underline="always">
              Make an account
            </Anchor>
          </>
        )
      }
    >
      {new URLSearchParams(search).has('ended') && signIn.error === null && (
        <Alert color="indigo" variant="light" role="status">
          Your session has ended. Sign in to go on where you were.
        </Alert>
      )}
      <TextInput
        label="E-mail"
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
        name="password"
        autoComplete="current-password"
        required
        withAsterisk={false}
        maxLength={256}
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
      />
      {signIn.error !== null && <Wrong error={signIn.error} />}
      <Button type="submit" fullWidth loading={signIn.isPending} disabled={wait > 0}>
        {wait > 0 ? `Again in ${wait} s` : 'Sign in'}
      </Button>
      <Anchor component={Link} href="/forgot-password" size="sm" ta="center" underline="always">
        Forgot your password?
      </Anchor>
    </EntryPage>
  );
}

const Wrong = ({ error }: { readonly error: unknown }) =>
  error instanceof ApiError && error.status === 401 ? (
    <Alert color="red" variant="light" role="alert">
      E-mail or password is wrong.
    </Alert>
  ) : (
    <Failure error={error} />
  );
