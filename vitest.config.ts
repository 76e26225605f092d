import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('.', import.meta.url));

export default defineConfig({
  resolve: {
    // Tests run on the sources, so a stale build can never pass for the code.
    alias: [
      { find: /^@acg\/cli\/(.*)$/, replacement: `${root}controlplane/cli/src/$1.ts` },
      { find: /^@acg\/client\/(.*)$/, replacement: `${root}controlplane/client/src/$1.ts` },
      {
        find: /^@acg\/(base|proto|dataplane|controlplane|singlenode|stand-in-provider)\/(.*)$/,
        replacement: `${root}$1/src/$2.ts`,
      },
    ],
  },
  test: {
    include: [
      '{base,proto,dataplane,controlplane,controlplane/cli,controlplane/dashboard,singlenode,stand-in-provider,test,bench}/src/**/*.test.ts',
    ],
    globalSetup: ['test/src/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 4,
    // For what never ends. Nothing else depends on time: a busy machine may take as long as it likes.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 300_000, interval: 10 } },
    reporters: ['default'],
  },
});
