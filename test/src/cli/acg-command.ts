/** Runs `acg` without a terminal and with a separate settings directory, in this process or as a real one. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { runCommandLine } from '@acg/cli/program';
import type { Terminal } from '@acg/cli/terminal/terminal';

const PROGRAM = fileURLToPath(new URL('../../../controlplane/cli/bin/acg.js', import.meta.url));
/** Longer than any command takes; a command that prompts would wait forever. */
const TIMEOUT_MS = 25_000;

export interface ProcessResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers are asserted field by field
  readonly json: any;
}

interface RunOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Runs the built program, for much more CPU: its start, its end, and files named relative to `cwd`. */
  readonly asProcess?: boolean;
  /** Called with the process once it runs; implies `asProcess`. */
  readonly onStart?: (child: ChildProcess) => void;
}

const toResult = (code: number | null, stdout: string, stderr: string): ProcessResult => ({
  code,
  stdout,
  stderr,
  get json() {
    return JSON.parse(stdout);
  },
});

export class AcgCommand {
  readonly homeDirectory = mkdtempSync(join(tmpdir(), 'acg-cli-'));
  readonly credentialsPath = join(this.homeDirectory, 'config', 'acg', 'credentials.json');

  constructor(
    /** Of each call. */
    readonly env: Readonly<Record<string, string>> = {},
    readonly program = PROGRAM,
  ) {}

  get environment(): NodeJS.ProcessEnv {
    const { PATH } = process.env;
    return { PATH, HOME: this.homeDirectory, XDG_CONFIG_HOME: join(this.homeDirectory, 'config'), ...this.env };
  }

  /** Without input, stdin stays open and silent, as under a supervisor; a command that reads it hangs. */
  run(args: readonly string[], options: RunOptions = {}): Promise<ProcessResult> {
    // The program that `acg run` starts inherits the streams of the process.
    const needsProcess = options.asProcess === true || options.onStart !== undefined || args[0] === 'run';
    return needsProcess ? this.#runAsProcess(args, options) : this.#runInThisProcess(args, options);
  }

  async #runInThisProcess(args: readonly string[], { input, env, cwd }: RunOptions): Promise<ProcessResult> {
    const written = { stdout: '', stderr: '' };
    const stream = (name: keyof typeof written) =>
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          written[name] += chunk.toString();
          done();
        },
      });
    const stdin = new PassThrough();
    if (input !== undefined) stdin.end(input);
    const terminal = {
      env: { ...this.environment, ...env },
      cwd: cwd ?? this.homeDirectory,
      home: this.homeDirectory,
      platform: process.platform,
      uid: process.getuid?.(),
      stdin,
      stdout: stream('stdout'),
      stderr: stream('stderr'),
    } as unknown as Terminal;
    const hanging = setTimeout(() => stdin.destroy(), TIMEOUT_MS);
    const code = await runCommandLine(args, terminal);
    clearTimeout(hanging);
    return toResult(code, written.stdout, written.stderr);
  }

  async #runAsProcess(args: readonly string[], { input, env, cwd, onStart }: RunOptions): Promise<ProcessResult> {
    const child = spawn(process.execPath, [this.program, ...args], {
      cwd: cwd ?? this.homeDirectory,
      env: { ...this.environment, ...env },
      stdio: 'pipe',
    });
    const hanging = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS);
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    if (input !== undefined) child.stdin.end(input);
    child.stdin.on('error', () => {}); // it exited without reading
    onStart?.(child);
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    clearTimeout(hanging);
    child.stdin.destroy();
    return toResult(code, stdout, stderr);
  }

  /** A call that must succeed; what it printed. */
  async runOk(args: readonly string[], options: RunOptions = {}): Promise<ProcessResult> {
    const outcome = await this.run(args, options);
    if (outcome.code !== 0)
      throw new Error(`acg ${args.join(' ')}: ${outcome.code}\n${outcome.stderr}${outcome.stdout}`);
    return outcome;
  }

  removeHome(): void {
    rmSync(this.homeDirectory, { recursive: true, force: true });
  }
}
