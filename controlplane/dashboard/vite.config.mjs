import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The gateway that `npm run dev -w controlplane/dashboard` uses. */
const gateway = process.env.ACG_URL ?? 'http://127.0.0.1:8080';

export default defineConfig({
  // Chunks import each other by relative paths, and the control plane rewrites the links of the page. One build works
  // under every path.
  base: './',
  plugins: [react()],
  // Resolved to their sources, so that neither must be built first.
  resolve: {
    alias: [
      { find: /^@acg\/client\/(.*)$/, replacement: fileURLToPath(new URL('../client/src/$1.ts', import.meta.url)) },
      { find: /^@acg\/base\/(.*)$/, replacement: fileURLToPath(new URL('../../base/src/$1.ts', import.meta.url)) },
    ],
  },
  html: { cspNonce: '__NONCE__' },
  build: {
    target: 'es2022',
    manifest: true,
    // Inlined assets become data: URLs, which the CSP forbids for scripts and fonts.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // The bundler's default is a file for each set of screens that share a module: 63 requests for the overview, which
          // a browser sends to an HTTP/1.1 server six at a time. One file has what the page needs first, one what at
          // least 20 screens and dialogs share.
          groups: [
            { name: 'initial', tags: ['$initial'], priority: 1 },
            { name: 'common', minShareCount: 20 },
          ],
        },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      ['/v1', '/docs', '/status', '/device'].map((path) => [path, { target: gateway, changeOrigin: false }]),
    ),
  },
});
