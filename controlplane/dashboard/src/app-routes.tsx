/** Maps addresses to pages: the pages before sign-in, and the screens inside the shell. */
import { UUID_PATTERN_ANY_CASE } from '@acg/base/uuid-patterns';
import { Center, Skeleton, Stack } from '@mantine/core';
import { type ComponentType, lazy, Suspense, useEffect, useLayoutEffect, useRef } from 'react';
import { Redirect, Route, Router, Switch, useLocation, useParams, useSearch } from 'wouter';
import { BASE_PATH, HAS_NO_SESSION_COOKIE } from './api/page-meta-tags.js';
import { fetchMeEarly, useMe } from './api/session.js';
import { ErrorAlert } from './components/feedback/error-alert.js';
import { lazyComponent } from './components/layout/lazy-component-no-suspense-delay.js';
import { preloadWhenIdle } from './components/layout/preload-when-idle.js';
import { ROUTES } from './screens/screen-registry.js';
import { AppLayout, preloadLayout } from './shell/app-layout.js';
import { ErrorBoundary } from './shell/error-boundary.js';
import { NotFoundPage } from './shell/not-found-page.js';
import { organizationBase, parseOrganizationSlug } from './shell/organization-address.js';
import { OrganizationPendingDeletionPage } from './shell/organization-pending-deletion-page.js';
import { parseReturnPath, signInPath } from './sign-in/return-path.js';

const SecondFactorMissingPage = lazyComponent(
  async () => (await import('./shell/second-factor-missing-page.js')).SecondFactorMissingPage,

  null,
);
const OtherOrganizationPage = lazyComponent(
  async () => (await import('./shell/other-organization-page.js')).OtherOrganizationPage,
  null,
);
const SsoRequiredPage = lazyComponent(async () => (await import('./shell/sso-required-page.js')).SsoRequiredPage, null);
const SignInPage = lazy(() => import('./sign-in/sign-in-page.js').then((module) => ({ default: module.SignInPage })));
const SignUpPage = lazy(() => import('./sign-in/sign-up-page.js').then((module) => ({ default: module.SignUpPage })));
const ForgotPasswordPage = lazy(() =>
  import('./sign-in/forgot-password-page.js').then((module) => ({ default: module.ForgotPasswordPage })),
);

const skeleton = (
  <Stack gap="md" role="status" aria-label="Loading">
    <Skeleton h={32} w={220} />
    <Skeleton h={320} />
  </Stack>
);
const SCREEN_ROUTES = ROUTES.map(({ path, load }) => ({ path, component: lazyComponent(load, skeleton) }));

/** Requests the session, and at the same time the code of the screen of the address. Without a session it does nothing. */
export function preloadPage(): void {
  if (HAS_NO_SESSION_COOKIE) return;
  fetchMeEarly();
  preloadLayout();
  const path = location.pathname.slice(BASE_PATH.length);
  const slug = parseOrganizationSlug(path);
  const screen = slug === null ? path : path.slice(organizationBase(slug).length);
  void SCREEN_ROUTES.find((route) => toPattern(route.path).test(screen))?.component.preload();
}

/** `/agents/:id` matches `/agents/x`. */
const toPattern = (path: string): RegExp => new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}/?$`);

export function AppRoutes() {
  const me = useMe();
  const wasSignedIn = useRef(false);
  const lastError = useRef<Error | null>(null);
  /** The organization whose screens this page has shown; null: none yet. */
  const shownSlug = useRef<string | null>(null);
  const [path, navigate] = useLocation();
  const search = useSearch();
  const slug = parseOrganizationSlug(path);
  const currentSlug = me.data?.orgs.find(({ id }) => id === me.data?.orgId)?.slug;
  useEffect(() => {
    if (me.data === undefined) return;
    if (me.data !== null) wasSignedIn.current = true;
    // Without a session the address is a link again: the next session may begin in another organization.
    if (me.data === null) shownSlug.current = null;
    else if (slug !== null && slug === currentSlug) shownSlug.current = slug;
  }, [me.data, slug, currentSlug]);
  // Keeps the last error visible while the request is retried.
  lastError.current = me.error ?? lastError.current;
  if (me.data === undefined) {
    return lastError.current === null ? (
      <FullPageLoader />
    ) : (
      <FullPageError error={lastError.current} onRetry={me.refetch} />
    );
  }
  if (me.data === null) {
    return (
      <ErrorBoundary resetKey={path}>
        <Suspense fallback={<FullPageLoader />}>
          <Switch>
            <Route path="/sign-in" component={SignInPage} />
            <Route path="/sign-up" component={SignUpPage} />
            <Route path="/forgot-password" component={ForgotPasswordPage} />
            <Route>
              <Redirect to={signInRedirect(search === '' ? path : `${path}?${search}`, wasSignedIn.current)} replace />
            </Route>
          </Switch>
        </Suspense>
      </ErrorBoundary>
    );
  }
  if (path === '/sign-in') return <Redirect to={parseReturnPath(search)} replace />;
  if (path === '/sign-up' || path === '/forgot-password') return <Redirect to="/" replace />;
  if (currentSlug === undefined) return <Screens me={me.data} />;
  if (slug === null)
    return <Redirect to={`${organizationBase(currentSlug)}${path}${search === '' ? '' : `?${search}`}`} replace />;
  if (slug === currentSlug) {
    return (
      <Router base={organizationBase(slug)}>
        <Screens me={me.data} />
      </Router>
    );
  }
  return (
    <Router base={organizationBase(slug)}>
      <AppLayout>
        <OtherOrganizationPage
          slug={slug}
          isOpenedLink={shownSlug.current === null}
          onLeave={() => navigate(`${organizationBase(currentSlug)}/`)}
        />
      </AppLayout>
    </Router>
  );
}

/** The screens of the session's organization. */
function Screens({ me }: { readonly me: NonNullable<ReturnType<typeof useMe>['data']> }) {
  const [path] = useLocation();
  useEffect(() => preloadWhenIdle(SCREEN_ROUTES.map(({ component }) => component)), []);
  const currentOrg = me.orgs.find(({ id }) => id === me.orgId);
  if (currentOrg?.purgeAt !== undefined) {
    return (
      <AppLayout>
        <OrganizationPendingDeletionPage org={currentOrg} purgeAt={currentOrg.purgeAt} />
      </AppLayout>
    );
  }
  if (currentOrg?.ssoRequired === true && path !== '/settings') {
    return (
      <AppLayout>
        <SsoRequiredPage orgName={currentOrg.name} email={me.user?.email ?? ''} />
      </AppLayout>
    );
  }
  if (currentOrg?.secondFactorMissing === true && path !== '/settings') {
    return (
      <AppLayout>
        <SecondFactorMissingPage orgName={currentOrg.name} />
      </AppLayout>
    );
  }
  return (
    <AppLayout>
      <ErrorBoundary resetKey={path}>
        <Switch>
          {SCREEN_ROUTES.map((route) => (
            <Route key={route.path} path={route.path}>
              <ScreenOfAddress screen={route.component} />
            </Route>
          ))}
          <Route component={NotFoundPage} />
        </Switch>
      </ErrorBoundary>
    </AppLayout>
  );
}

/** An address such as `/agents/garbage` names nothing, so no screen asks the API for it. */
function ScreenOfAddress({ screen: Screen }: { readonly screen: ComponentType }) {
  const { id } = useParams<{ id?: string }>();
  return id === undefined || UUID_PATTERN_ANY_CASE.test(id) ? <Screen /> : <NotFoundPage />;
}

const signInRedirect = (wanted: string, sessionEnded: boolean): string => {
  const path = signInPath(wanted);
  return sessionEnded ? `${path}${path.includes('?') ? '&' : '?'}ended` : path;
};

/** The frame of the page in index.html, which the browser paints before it has the scripts. */
const frame = document.getElementById('frame');

/** Shows that frame for as long as it is mounted. After 3 s the frame says that the gateway responds slowly. */
function FullPageLoader() {
  useLayoutEffect(() => {
    if (frame === null) return undefined;
    document.body.append(frame);
    return () => frame.remove();
  }, []);
  return null;
}

const FullPageError = (props: { readonly error: Error; readonly onRetry: () => unknown }) => (
  <Center mih="100dvh" p="md">
    <ErrorAlert {...props} />
  </Center>
);
