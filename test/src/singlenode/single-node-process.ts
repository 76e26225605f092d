/** `npm start` as a process of a test: the launcher with its Postgres and both planes, on ephemeral ports. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { waitForCondition } from '../fixtures/stack.js';

const LAUNCHER = fileURLToPath(new URL('../../../singlenode/dist/main.js', import.meta.url));

export class SingleNodeProcess {
  output = '';
  readonly #child: ChildProcess;

  constructor(
    readonly dataDir: string,
    env: Readonly<Record<string, string>> = {},
    args: readonly string[] = [],
  ) {
    this.#child = spawn(process.execPath, [LAUNCHER, ...args], {
      env: {
        PATH: process.env.PATH,
        GATEWAY_DATA_DIR: dataDir,
        CONTROLPLANE_PORT: '0',
        GRPC_LISTEN: '127.0.0.1:0',
        DATAPLANE_PORT: '0',
        DATAPLANE_METRICS_PORT: '0',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
      });
    }
  }

  /** Waits for the banner; rejects with the output when the launcher exits first. */
  async ready(): Promise<{ controlPlane: string; dataPlane: string }> {
    await waitForCondition(() => this.output.includes('Ctrl-C stops') || this.exitCode !== null, 'the banner');
    const controlPlane = /Management API\s+(http:\S+)\/v1/.exec(this.output)?.[1];
    const dataPlane = /proxy\s+(http:\S+?)\/v1\/proxy/.exec(this.output)?.[1];
    if (controlPlane === undefined || dataPlane === undefined) throw new Error(`did not start: ${this.output}`);
    return { controlPlane, dataPlane };
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  async stop(signal: NodeJS.Signals): Promise<number | null> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return this.#child.exitCode;
    const gone = once(this.#child, 'exit');
    this.#child.kill(signal);
    const [code] = (await gone) as [number | null];
    return code;
  }

  async exited(): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit');
    return this.#child.exitCode;
  }
}

/** Processes whose command line or environment names the directory. A stopped node must leave none. */
export function listProcessesUsing(dataDir: string): string[] {
  const found: string[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
      const environment = readFileSync(`/proc/${name}/environ`, 'utf8');
      if (command.includes(dataDir) || environment.includes(`GATEWAY_DATA_DIR=${dataDir}\0`))
        found.push(`${name} ${command}`);
    } catch {
      // Exited meanwhile.
    }
  }
  return found;
}
