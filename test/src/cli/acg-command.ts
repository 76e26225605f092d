/** Runs `acg` as a real process without a terminal and with a separate settings directory. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

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
  /** Called with the process once it runs. */
  readonly onStart?: (child: ChildProcess) => void;
}

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

  async run(args: readonly string[], { input, env, cwd, onStart }: RunOptions = {}): Promise<ProcessResult> {
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
    // Without input, stdin stays open and silent, as under a supervisor; a command that reads it hangs.
    if (input !== undefined) child.stdin.end(input);
    child.stdin.on('error', () => {}); // it exited without reading
    onStart?.(child);
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    clearTimeout(hanging);
    child.stdin.destroy();
    return {
      code,
      stdout,
      stderr,
      get json() {
        return JSON.parse(stdout);
      },
    };
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
