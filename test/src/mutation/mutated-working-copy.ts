/** A copy of the working tree in which bugs are planted, one at a time. */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { applyMutant, type Mutant } from './mutant.js';

export type Verdict =
  | 'killed'
  | 'survived'
  /** The text to change is not there once. */
  | 'stale'
  /** The changed code does not compile. */
  | 'invalid';

/** Longer than any test run near one place; a mutant that hangs the tests is noticed by that. */
const RUN_TIMEOUT_MS = 1_200_000;

/** In each workspace, by `npm run build`. */
const BUILD_OUTPUTS = ['dist', 'src/generated'];

/** Less than in the suite: many a bug is noticed as something that never comes. */
const TEST_TIMEOUT_MS = 240_000;
const CONFIG = 'planted.config.ts';
const createVitestConfig = (databaseServerUrl: string): string => `
import config from './vitest.config.js';
const provide = { databaseServerUrl: ${JSON.stringify(databaseServerUrl)} };
const soon = { testTimeout: ${TEST_TIMEOUT_MS}, hookTimeout: ${TEST_TIMEOUT_MS} };
export default { ...config, test: { ...config.test, ...soon, globalSetup: [], provide } };
`;

export class MutatedWorkingCopy {
  readonly #path = mkdtempSync(join(tmpdir(), 'acg-mutation-'));
  /** dist/ holds a bug that the sources do not hold any more. */
  #needsRebuild = false;

  /** `root`: built. `databaseServerUrl`: of the Postgres of all runs, which a run of its own would have to make first. */
  constructor(root: string, databaseServerUrl: string) {
    const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
      .toString()
      .split('\0')
      .filter((file) => file !== '' && existsSync(join(root, file)));
    for (const file of files) {
      mkdirSync(dirname(join(this.#path, file)), { recursive: true });
      cpSync(join(root, file), join(this.#path, file));
    }
    // Hard links: the tree's own @acg links lead into the copy, the packages are shared.
    const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { workspaces: string[] };
    for (const packages of ['.', ...workspaces].map((folder) => join(folder, 'node_modules'))) {
      if (existsSync(join(root, packages))) {
        execFileSync('cp', ['-al', join(root, packages), join(this.#path, packages)]);
      }
    }
    // What is built is written anew with some bugs: a copy, with its times, so that only what changed is built then.
    for (const made of workspaces.flatMap((folder) => BUILD_OUTPUTS.map((name) => join(folder, name)))) {
      if (existsSync(join(root, made))) {
        cpSync(join(root, made), join(this.#path, made), { recursive: true, preserveTimestamps: true });
      }
    }
    execFileSync('git', ['init', '-q'], { cwd: this.#path }); // some tests list the files
    writeFileSync(join(this.#path, CONFIG), createVitestConfig(databaseServerUrl));
  }

  async #build(): Promise<boolean> {
    return (await this.#run('npm', ['run', '-s', 'build'])) === 0;
  }

  /** Whether the tests pass on the code as it is, in sight: a test that fails without a bug proves nothing. */
  async doTestsPass(tests: readonly string[], workers: number): Promise<boolean> {
    return (await this.#runTests(tests, workers, 'inherit')) === 0;
  }

  async runMutant(mutant: Mutant, tests: readonly string[], built: boolean): Promise<Verdict> {
    const changed = applyMutant(this.#path, mutant);
    if (changed === null) return 'stale';
    const path = join(this.#path, mutant.file);
    const original = readFileSync(path, 'utf8');
    if (this.#needsRebuild && !built) await this.#build();
    this.#needsRebuild = built;
    writeFileSync(path, changed);
    try {
      if (built && !(await this.#build())) return 'invalid';
      // One after the other: most bugs are noticed by the first, and vitest has an order of its own.
      for (const path of tests) if ((await this.#runTests([path])) !== 0) return 'killed';
      return 'survived';
    } finally {
      writeFileSync(path, original);
    }
  }

  remove(): void {
    rmSync(this.#path, { recursive: true, force: true });
  }

  #runTests(tests: readonly string[], workers = 1, output: 'ignore' | 'inherit' = 'ignore'): Promise<number> {
    const options = ['--config', CONFIG, '--bail', '1', '--maxWorkers', String(workers), '--reporter', 'dot'];
    return this.#run('npx', ['vitest', 'run', ...options, ...tests], output);
  }

  /** The exit code; -1 when it took too long. Its own process group, so that nothing that it started stays. */
  #run(command: string, args: readonly string[], output: 'ignore' | 'inherit' = 'ignore'): Promise<number> {
    const stdio = ['ignore', output, output] as const;
    const child = spawn(command, args, { cwd: this.#path, stdio: [...stdio], detached: true });
    const end = (): void => {
      try {
        process.kill(-child.pid!, 'SIGKILL');
      } catch {
        // It has ended.
      }
    };
    const timer = setTimeout(end, RUN_TIMEOUT_MS);
    return new Promise((resolve) => {
      child.on('exit', (code) => {
        clearTimeout(timer);
        end();
        resolve(code ?? -1);
      });
    });
  }
}
