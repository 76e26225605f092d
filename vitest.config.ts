import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{base,proto,dataplane,controlplane,singlenode,test,bench}/src/**/*.test.ts'],
    globalSetup: ['test/src/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 4,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default'],
  },
});
