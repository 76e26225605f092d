/** Everything that a run needs: two control planes, three data planes, their stores and their provider. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../free-port.js';
import { TestPlane } from '../plane-process.js';
import { Stack } from '../stack.js';
import { TcpProxy } from '../tcp-proxy.js';
import { HELD_PROBE } from './held-bytes.js';
import { Journal } from './journal.js';
import { type Part, PostgresVictim, ProcessPart, RedisVictim } from './part.js';
import type { Victim } from './plan.js';
import { PostgresPart } from './postgres-part.js';
import type { ProviderSettings } from './provider-settings.js';
import { RedisGroup } from './redis-group.js';

const DATA: readonly Victim[] = ['data-1', 'data-2', 'data-3'];

/** On a machine that others use, too, an answer of the store may be late without anything being wrong. */
const COUNTERS_TIMEOUT_MS = '1000';

export interface DataPlane {
  readonly part: ProcessPart;
  readonly url: string;
  readonly metricsUrl: string;
}

type Stop = () => Promise<unknown> | unknown;

export class World {
  readonly parts = new Map<Victim, Part>();
  readonly dataPlanes: DataPlane[] = [];
  readonly controlPlanes: { readonly part: ProcessPart; readonly url: string }[] = [];
  /** The address of the tenant's own provider. */
  ownProviderUrl = '';
  provider!: ProcessPart;
  postgres!: PostgresPart;
  redis!: RedisGroup;
  stack!: Stack;
  journal!: Journal;
  /** What has to end, newest last. */
  readonly #stops: Stop[] = [];
  #stopping: Promise<void> | null = null;

  async start(): Promise<void> {
    this.postgres = await PostgresPart.start();
    this.#stops.push(() => this.postgres.stop());
    const database = await this.#proxy(this.postgres.port);
    this.parts.set('postgres', new PostgresVictim(this.postgres, database));
    this.redis = await RedisGroup.start();
    this.#stops.push(() => this.redis.stop());
    this.parts.set('redis', new RedisVictim(this.redis, () => this.#enforced()));
    const origins = await this.#startProvider();
    this.stack = await Stack.start({
      providers: { openai: origins.openai, s3: origins.s3 },
      redisUrl: this.redis.url,
      database: { url: this.postgres.urlThrough(database.port), drop: async () => undefined },
      env: {
        CIRCUIT_COOLDOWN_MS: '3000',
        WEBHOOK_RETRY_DELAYS_MS: '300,600,1000,2000,3000,3000,3000',
        WEBHOOK_TIMEOUT_MS: '2000',
        // Refusals are what this run is made of: they are not what it is about.
        ABUSE_REJECTIONS: '1000000',
      },
      dataPlaneEnv: { COUNTERS_TIMEOUT_MS },
      nodeOptions: HELD_PROBE,
    });
    this.#stops.push(() => this.stack.control.kill());
    await this.#startPlanes();
  }

  /** Ends all of it, newest first; what cannot be ended does not keep the rest from it. */
  stop(): Promise<void> {
    this.#stopping ??= (async () => {
      for (let stop = this.#stops.pop(); stop !== undefined; stop = this.#stops.pop()) {
        try {
          await stop();
        } catch (error) {
          console.error('could not be stopped:', error);
        }
      }
    })();
    return this.#stopping;
  }

  get processes(): ProcessPart[] {
    return [...this.dataPlanes, ...this.controlPlanes].map(({ part }) => part).concat(this.provider);
  }

  async #startProvider(): Promise<{ openai: string; s3: string }> {
    const [openaiPort, s3Port, ownPort] = [await freePort(), await freePort(), await freePort()];
    this.journal = new Journal(join(this.postgres.home, 'journal'));
    const settings: ProviderSettings = { openaiPort, s3Port, ownPort, journal: this.journal.file };
    const script = fileURLToPath(new URL('../../dist/chaos/provider-main.js', import.meta.url));
    const plane = new TestPlane('provider', { CHAOS_PROVIDER: JSON.stringify(settings) }, script);
    const proxies = [await this.#proxy(openaiPort), await this.#proxy(s3Port), await this.#proxy(ownPort)];
    this.provider = new ProcessPart('provider', plane, {}, null, proxies);
    this.#stops.push(() => plane.kill());
    await this.provider.start();
    this.parts.set('provider', this.provider);
    const [openai, s3, own] = proxies.map(({ port }) => `http://127.0.0.1:${port}`);
    this.ownProviderUrl = own!;
    return { openai: openai!, s3: s3! };
  }

  async #startPlanes(): Promise<void> {
    const { stack } = this;
    const first = await this.#proxy(stack.grpcPort);
    const [apiPort, grpcPort] = [await freePort(), await freePort()];
    const second = await this.#proxy(grpcPort);
    this.#addControl('control-1', stack.control, new URL(stack.apiUrl).port, stack.grpcPort, first);
    const env = { ...stack.control.env, GATEWAY_DATA_DIR: join(stack.home, 'control-2') };
    const other = new TestPlane('controlplane', env, undefined, HELD_PROBE);
    this.#stops.push(() => other.kill());
    const part = this.#addControl('control-2', other, String(apiPort), grpcPort, second);
    await part.start();
    for (const victim of DATA) {
      const metricsPort = await freePort();
      const port = await freePort();
      const where = { DATAPLANE_PORT: String(port), DATAPLANE_METRICS_PORT: String(metricsPort) };
      const addresses = `127.0.0.1:${first.port},127.0.0.1:${second.port}`;
      const { plane, url, metricsUrl } = await stack.addDataPlane({ ...where, CONTROLPLANE_GRPC: addresses });
      this.#stops.push(() => plane.kill());
      const dataPart = new ProcessPart(victim, plane, {}, `${metricsUrl}/readyz`);
      this.parts.set(victim, dataPart);
      this.dataPlanes.push({ part: dataPart, url, metricsUrl });
    }
  }

  #addControl(victim: Victim, plane: TestPlane, port: string, grpcPort: number, proxy: TcpProxy): ProcessPart {
    const env = { CONTROLPLANE_PORT: port, GRPC_LISTEN: `127.0.0.1:${grpcPort}` };
    const url = `http://127.0.0.1:${port}`;
    const part = new ProcessPart(victim, plane, env, `${url}/readyz`, [proxy]);
    this.parts.set(victim, part);
    this.controlPlanes.push({ part, url });
    return part;
  }

  async #proxy(port: number): Promise<TcpProxy> {
    const proxy = await TcpProxy.start(port);
    this.#stops.push(() => proxy.stop());
    return proxy;
  }

  /** As far as data planes can be asked; what the others did, their logs say. */
  async #enforced(): Promise<boolean> {
    const states = await Promise.all(
      this.dataPlanes.map(({ metricsUrl }) => metric(metricsUrl, 'gateway_counters_enforcing')),
    );
    return states.every((state) => state !== 0);
  }
}

const QUESTION_TIMEOUT_MS = 2_000;

/** Sum over the labels; null when the plane does not answer. */
export async function metric(metricsUrl: string, name: string): Promise<number | null> {
  try {
    const answer = await fetch(`${metricsUrl}/metrics`, { signal: AbortSignal.timeout(QUESTION_TIMEOUT_MS) });
    const page = await answer.text();
    const lines = page.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  } catch {
    return null;
  }
}
