/** A copy of the working tree in which mutants are applied, one at a time, and tests are run. */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { POSTGRES_URL_VARIABLE } from '../global-setup.js';

/** In each workspace, by `npm run build`. Some tests start processes from them: unchanged ones. */
const BUILD_OUTPUTS = ['dist', 'src/generated'];
const COMPILE_TIMEOUT_MS = 600_000;

type Outcome = 'passed' | 'failed' | 'timeout';

export class WorkingCopy {
  readonly #path = mkdtempSync(join(tmpdir(), 'acg-mutation-'));

  /** `root`: a built tree. `databaseServerUrl`: the Postgres of all runs; without it each run would start its own. */
  constructor(
    root: string,
    files: readonly string[],
    private readonly databaseServerUrl: string,
  ) {
    for (const file of files) {
      mkdirSync(dirname(join(this.#path, file)), { recursive: true });
      cpSync(join(root, file), join(this.#path, file));
    }
    const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { workspaces: string[] };
    for (const folder of ['.', ...workspaces]) {
      // Hard links: the @acg links of the copy point into the copy, the packages are shared.
      const packages = join(folder, 'node_modules');
      if (existsSync(join(root, packages))) {
        execFileSync('cp', ['-al', join(root, packages), join(this.#path, packages)]);
      }
      for (const made of BUILD_OUTPUTS.map((name) => join(folder, name))) {
        if (existsSync(join(root, made))) cpSync(join(root, made), join(this.#path, made), { recursive: true });
      }
    }
    execFileSync('git', ['init', '-q'], { cwd: this.#path }); // some tests list the files
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.#path, file), text);
  }

  /** A test that takes longer than `timeoutMs` has timed out. */
  runTest(test: string, timeoutMs: number): Promise<Outcome> {
    const limits = [`--testTimeout=${timeoutMs}`, `--hookTimeout=${timeoutMs}`];
    return this.#run(['vitest', 'run', '--bail=1', '--maxWorkers=1', ...limits, test], timeoutMs);
  }

  /** Whether the workspace of a source compiles. */
  async compiles(file: string): Promise<boolean> {
    return (await this.#run(['tsc', '--noEmit', '-p', file.split('/src/')[0]!], COMPILE_TIMEOUT_MS)) === 'passed';
  }

  remove(): void {
    rmSync(this.#path, { recursive: true, force: true });
  }

  /** Runs in its own process group, so that no process started by a test survives. */
  #run(args: readonly string[], timeoutMs: number): Promise<Outcome> {
    const env = { ...process.env, [POSTGRES_URL_VARIABLE]: this.databaseServerUrl };
    const limits = { timeout: timeoutMs, killSignal: 'SIGKILL' } as const;
    const child = spawn('npx', args, { cwd: this.#path, stdio: 'ignore', detached: true, env, ...limits });
    return new Promise((resolve) => {
      child.on('exit', (code, signal) => {
        try {
          process.kill(-child.pid!, 'SIGKILL');
        } catch {
          // no process of the group is left
        }
        resolve(signal !== null ? 'timeout' : code === 0 ? 'passed' : 'failed');
      });
    });
  }
}
