/** A copy of the working tree to which mutants are applied, one at a time. */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { applyMutant, type Mutant } from './mutant.js';

export type Verdict =
  | 'killed'
  | 'survived'
  /** The text to change does not occur exactly once. */
  | 'stale'
  /** The changed code does not compile. */
  | 'invalid';

/** Longer than any test run near one place; a mutant that makes the tests hang counts as killed. */
const RUN_TIMEOUT_MS = 1_200_000;

/** In each workspace, by `npm run build`. */
const BUILD_OUTPUTS = ['dist', 'src/generated'];

/** Shorter than in the suite: many mutants make a test wait for an event that never comes. */
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
  /** dist/ contains a mutant that the sources no longer contain. */
  #needsRebuild = false;

  /** `root`: a built tree. `databaseServerUrl`: the Postgres of all runs; without it each run would start its own. */
  constructor(root: string, databaseServerUrl: string) {
    const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
      .toString()
      .split('\0')
      .filter((file) => file !== '' && existsSync(join(root, file)));
    for (const file of files) {
      mkdirSync(dirname(join(this.#path, file)), { recursive: true });
      cpSync(join(root, file), join(this.#path, file));
    }
    // Hard links: the @acg links of the copy point into the copy, the packages are shared.
    const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { workspaces: string[] };
    for (const packages of ['.', ...workspaces].map((folder) => join(folder, 'node_modules'))) {
      if (existsSync(join(root, packages))) {
        execFileSync('cp', ['-al', join(root, packages), join(this.#path, packages)]);
      }
    }
    // Some mutants rebuild the output. It is copied with its file times, so that only changed files are rebuilt.
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

  /**
   * Whether the tests pass on the unchanged code, with visible output: a test that fails without a mutant shows
   * nothing.
   */
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
      // One after the other: the first kills most mutants, and vitest has its own order.
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

  /** The exit code; -1 after a timeout. Runs in its own process group, so that no started process survives. */
  #run(command: string, args: readonly string[], output: 'ignore' | 'inherit' = 'ignore'): Promise<number> {
    const stdio = ['ignore', output, output] as const;
    const child = spawn(command, args, { cwd: this.#path, stdio: [...stdio], detached: true });
    const end = (): void => {
      try {
        process.kill(-child.pid!, 'SIGKILL');
      } catch {
        // the process has exited
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
