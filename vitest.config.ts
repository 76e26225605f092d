import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { listProjectFiles, PROJECTS, type ProjectName } from './test/src/assign-vitest-projects.js';

const root = fileURLToPath(new URL('.', import.meta.url));

/** Runs slow projects first, and in each project the files that took longest, or without a previous run the largest. */
class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project }: TestSpecification): number => PROJECTS.indexOf(project.name as ProjectName);
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

/**
 * For what never ends, ms. Nothing else depends on time: a busy machine may take as long as it likes. A property with the
 * 20 000 runs of `npm run test:deep` took more than ten minutes on a busy machine.
 */
const endlessAfterMs = process.env.PROPERTY_RUNS === undefined ? 600_000 : 7_200_000;

/** Settings of every project. Not inherited with `extends`, which would override `--maxWorkers`. */
const shared = {
  pool: 'forks',
  testTimeout: endlessAfterMs,
  hookTimeout: endlessAfterMs,
  expect: { poll: { timeout: 300_000, interval: 10 } },
} as const;
const postgres = { ...shared, globalSetup: ['test/src/global-setup.ts'] };
const propertyRuns = ['test/src/property-runs.ts'];
/** The files of a project share the processes of its workers, and with them the imported modules. */
const sharedProcess = { isolate: false };

const resolve = {
  // Tests run on the sources, so a stale build can never pass for the code.
  alias: [
    { find: /^@acg\/cli\/(.*)$/, replacement: `${root}controlplane/cli/src/$1.ts` },
    { find: /^@acg\/client\/(.*)$/, replacement: `${root}controlplane/client/src/$1.ts` },
    {
      find: /^@acg\/(base|proto|dataplane|controlplane|singlenode|stand-in-provider)\/(.*)$/,
      replacement: `${root}$1/src/$2.ts`,
    },
  ],
};

const { workspaces }: { workspaces: string[] } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const folders = workspaces.map((workspace) => `${workspace}/src`).filter((folder) => existsSync(root + folder));
const { stack, browser, api, toolchain, isolated, unit } = listProjectFiles(folders);

export default defineConfig({
  test: {
    globalSetup: ['test/src/bundle-programs.ts'],
    maxWorkers: 4,
    sequence: { sequencer: SlowFilesFirst },
    reporters: ['default'],
    projects: [
      // Real processes of the planes.
      { resolve, test: { ...postgres, ...sharedProcess, name: 'stack', include: stack } },
      // The dashboard in Chromium.
      { resolve, test: { ...postgres, ...sharedProcess, name: 'browser', include: browser } },
      // The control plane in the process of the test.
      { resolve, test: { ...postgres, ...sharedProcess, name: 'api', include: api, setupFiles: propertyRuns } },
      // promtool, kubectl, nginx, images.
      { resolve, test: { ...shared, name: 'toolchain', include: toolchain } },
      // All others, without Postgres.
      { resolve, test: { ...shared, name: 'isolated', include: isolated, setupFiles: propertyRuns } },
      { resolve, test: { ...shared, ...sharedProcess, name: 'unit', include: unit, setupFiles: propertyRuns } },
    ],
  },
});
