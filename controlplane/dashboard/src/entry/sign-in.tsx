import { ApiError } from '@acg/client/api-error';
import { Alert, Anchor, Button, PasswordInput, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { draftsKept } from '../api/drafts.js';
import { useConfig, useSignIn } from '../api/session.js';
import { formProblem } from '../parts/form-problem.js';
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
  const problem = formProblem(signIn.error, { email: 'E-mail', password: 'Password' });
  const config = useConfig().data;
  const isWrong = signIn.error instanceof ApiError && signIn.error.status === 401;
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
          {draftsKept() && ' What you had typed is still there then, but for passwords and credentials.'}
        </Alert>
      )}
      {isWrong ? <Wrong /> : problem.above}
      <TextInput
        label="E-mail"
        error={problem.at('email')}
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
        {...problem.atSecret('password')}
        name="password"
        autoComplete="current-password"
        required
        withAsterisk={false}
        maxLength={256}
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
      />
      <Button type="submit" fullWidth loading={signIn.isPending} disabled={wait > 0}>
        {wait > 0 ? `Again in ${wait} s` : 'Sign in'}
      </Button>
      <Anchor component={Link} href="/forgot-password" size="sm" ta="center" underline="always">
        Forgot your password?
      </Anchor>
    </EntryPage>
  );
}

const Wrong = () => (
  <Alert color="red" variant="light" role="alert">
    E-mail or password is wrong.
  </Alert>
);
