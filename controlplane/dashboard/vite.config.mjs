import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** `npm run dev -w controlplane/dashboard`: against the gateway that this names. */
const gateway = process.env.ACG_URL ?? 'http://127.0.0.1:8080';

export default defineConfig({
  // Files find each other by their own addresses, the page's links are rewritten when it is served: so one build holds
  // wherever the service is published.
  base: './',
  plugins: [react()],
  // From their sources: neither need be built before.
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
    // What is inlined would be a data: URL, which the page's policy forbids for scripts and fonts.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  server: {
    proxy: Object.fromEntries(
      ['/v1', '/docs', '/status', '/device'].map((path) => [path, { target: gateway, changeOrigin: false }]),
    ),
  },
});
