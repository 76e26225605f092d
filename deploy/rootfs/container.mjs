// Runs an image's process as a container engine would: with its user, its environment, a read-only root and a separate
// /data.
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { innerPid, startInside } from './chroot.mjs';

const USER_ID = 1000; // `node`, the USER of every image here
const TICK_US = 10_000;

export class Container {
  /** `files`: `{'/run/tls': directory}`, seen read-only. */
  constructor({ image, home, env = {}, files = {} }) {
    this.data = mkdtempSync(join(home, 'data-'));
    chownSync(this.data, USER_ID, USER_ID);
    const binds = [{ from: this.data, to: '/data', readOnly: false }];
    for (const [to, from] of Object.entries({ ...files, '/etc/hosts': '/etc/hosts' })) {
      if (!existsSync(image.root + to)) mkdirSync(image.root + to, { recursive: true });
      binds.push({ from, to, readOnly: true });
    }
    this.output = '';
    this.process = startInside(
      {
        root: image.root,
        cwd: image.config.workdir,
        env: { HOME: '/home/node', ...image.config.env, ...env },
        uid: USER_ID,
        binds,
        readOnlyRoot: true,
        command: [...image.config.entrypoint, ...image.config.command],
      },
      ['ignore', 'pipe', 'pipe'],
    );
    for (const stream of [this.process.stdout, this.process.stderr]) {
      stream.on('data', (chunk) => {
        this.output += chunk;
      });
    }
  }

  /** Of the first process inside: everything before it replaced itself. */
  get pid() {
    return innerPid(this.process);
  }

  /** User and system time so far, µs. */
  get cpuUs() {
    const stat = readFileSync(`/proc/${this.pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_US;
  }

  get residentMb() {
    return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'))[1]) / 1024);
  }

  /** Reads the privileges of the process from the kernel. */
  get privileges() {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    const limits = readFileSync(`/proc/${this.pid}/limits`, 'utf8');
    const field = (name) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(status)[1];
    return {
      uid: Number(field('Uid')),
      capabilities: Number.parseInt(field('CapEff'), 16) | Number.parseInt(field('CapBnd'), 16),
      noNewPrivileges: field('NoNewPrivs') === '1',
      coreBytes: Number(/^Max core file size\s+(\S+)/m.exec(limits)[1]),
    };
  }

  /** Resolves when `url` responds with 200; rejects with the output when the process exits before. */
  async ready(url) {
    for (;;) {
      if (this.process.exitCode !== null) throw new Error(`ended (${this.process.exitCode}): ${this.output}`);
      const answer = await fetch(url).catch(() => null);
      await answer?.body?.cancel();
      if (answer?.status === 200) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Sends SIGTERM, as an engine does; returns the exit code and the time until the exit in ms. */
  async stop() {
    if (this.process.exitCode !== null) return { code: this.process.exitCode, ms: 0 };
    const since = performance.now();
    const gone = once(this.process, 'exit');
    process.kill(this.pid, 'SIGTERM');
    const [code] = await gone;
    rmSync(this.data, { recursive: true, force: true });
    return { code, ms: Math.round(performance.now() - since) };
  }
}
