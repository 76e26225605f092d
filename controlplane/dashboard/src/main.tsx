/** Starts the dashboard: theme, query cache, router. */
import './theme/mantine-styles.css';
import './theme/global.css';
import './theme/compact-tables.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { setNonce } from 'get-nonce';
import { lazy, StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { BASE_PATH } from './api/page-meta-tags.js';
import { queryClient } from './api/query-client.js';
import { AppRoutes, preloadPage } from './app-routes.js';
import { SilentErrorBoundary } from './shell/silent-error-boundary.js';
import { accessibleColorVariables, theme } from './theme/theme.js';

// The CSP allows styles created at run time by the nonce that the server wrote into this page.
const nonce = document.querySelector<HTMLElement>('meta[property="csp-nonce"]')?.nonce ?? '';
setNonce(nonce);

const ToastContainer = lazy(() =>
  import('./components/feedback/toast-container.js').then((module) => ({ default: module.ToastContainer })),
);

preloadPage();
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={accessibleColorVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <SilentErrorBoundary>
        <Suspense>
          <ToastContainer />
        </Suspense>
      </SilentErrorBoundary>
      <QueryClientProvider client={queryClient}>
        <Router base={BASE_PATH}>
          <AppRoutes />
        </Router>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
