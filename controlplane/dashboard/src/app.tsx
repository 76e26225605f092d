/** Which page an address shows: those before the sign-in, or a screen in the shell. */
import { Center, Loader, Skeleton, Stack } from '@mantine/core';
import { lazy, Suspense, useRef } from 'react';
import { Redirect, Route, Switch, useLocation, useSearch } from 'wouter';
import { useMe } from './api/session.js';
import { returnPath, signInPath } from './entry/return-path.js';
import { Failure } from './parts/failure.js';
import { later } from './parts/later.js';
import { ROUTES } from './screens/registry.js';
import { BeingDeleted } from './shell/being-deleted.js';
import { ErrorBoundary } from './shell/error-boundary.js';
import { NotFound } from './shell/not-found.js';
import { Shell } from './shell/shell.js';

const SignIn = lazy(() => import('./entry/sign-in.js').then((module) => ({ default: module.SignIn })));
const SignUp = lazy(() => import('./entry/sign-up.js').then((module) => ({ default: module.SignUp })));
const ForgotPassword = lazy(() =>
  import('./entry/forgot-password.js').then((module) => ({ default: module.ForgotPassword })),
);

const skeleton = (
  <Stack gap="md" role="status" aria-label="Loading">
    <Skeleton h={32} w={220} />
    <Skeleton h={320} />
  </Stack>
);
const SCREENS = ROUTES.map(({ path, load }) => ({ path, component: later(load, skeleton) }));

export function App() {
  const me = useMe();
  const wasIn = useRef(false);
  const failed = useRef<Error | null>(null);
  const [path] = useLocation();
  const search = useSearch();
  // While it is asked again, what has failed stays there to be read.
  failed.current = me.error ?? failed.current;
  if (me.data === undefined) {
    return failed.current === null ? <Waiting /> : <Unable error={failed.current} onRetry={me.refetch} />;
  }
  if (me.data === null) {
    return (
      <ErrorBoundary resetKey={path}>
        <Suspense fallback={<Waiting />}>
          <Switch>
            <Route path="/sign-in" component={SignIn} />
            <Route path="/sign-up" component={SignUp} />
            <Route path="/forgot-password" component={ForgotPassword} />
            <Route>
              <Redirect to={toSignIn(search === '' ? path : `${path}?${search}`, wasIn.current)} replace />
            </Route>
          </Switch>
        </Suspense>
      </ErrorBoundary>
    );
  }
  wasIn.current = true;
  if (path === '/sign-in') return <Redirect to={returnPath(search)} replace />;
  if (path === '/sign-up' || path === '/forgot-password') return <Redirect to="/" replace />;
  const own = me.data.orgs.find(({ id }) => id === me.data?.orgId);
  if (own?.purgeAt !== undefined) {
    return (
      <Shell>
        <BeingDeleted org={own} purgeAt={own.purgeAt} />
      </Shell>
    );
  }
  return (
    <Shell>
      <ErrorBoundary resetKey={path}>
        <Switch>
          {SCREENS.map((route) => (
            <Route key={route.path} path={route.path} component={route.component} />
          ))}
          <Route component={NotFound} />
        </Switch>
      </ErrorBoundary>
    </Shell>
  );
}

const toSignIn = (wanted: string, ended: boolean): string => {
  const path = signInPath(wanted);
  return ended ? `${path}${path.includes('?') ? '&' : '?'}ended` : path;
};

const Waiting = () => (
  <Center mih="100dvh">
    <Loader aria-label="Loading" />
  </Center>
);

const Unable = (props: { readonly error: Error; readonly onRetry: () => unknown }) => (
  <Center mih="100dvh" p="md">
    <Failure {...props} />
  </Center>
);
