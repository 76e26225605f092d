/** The environment of a chaos run: two control planes, three data planes, their stores and their provider. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../fixtures/free-port.js';
import { PlaneProcess } from '../fixtures/plane-process.js';
import { Stack } from '../fixtures/stack.js';
import { TcpProxy } from '../fixtures/tcp-proxy.js';
import { ProviderJournal } from './evidence/provider-journal.js';
import { ChaosPostgres } from './faults/chaos-postgres.js';
import type { Victim } from './faults/fault-plan.js';
import { type FaultTarget, PostgresTarget, ProcessTarget, RedisTarget } from './faults/fault-targets.js';
import { RedisSentinelGroup } from './faults/redis-sentinel-group.js';
import { HEAP_PROBE_NODE_OPTIONS } from './live-heap.js';
import type { ProviderSettings } from './provider-settings.js';

const DATA_PLANES: readonly Victim[] = ['data-1', 'data-2', 'data-3'];

/** Generous: on a shared machine a store response may be late although nothing is wrong. */
const COUNTERS_TIMEOUT_MS = '1000';

export interface DataPlane {
  readonly target: ProcessTarget;
  readonly url: string;
  readonly metricsUrl: string;
}

type Cleanup = () => Promise<unknown> | unknown;

export class ChaosEnvironment {
  readonly faultTargets = new Map<Victim, FaultTarget>();
  readonly dataPlanes: DataPlane[] = [];
  readonly controlPlanes: { readonly target: ProcessTarget; readonly url: string }[] = [];
  /** URL of the tenant's custom provider. */
  customProviderUrl = '';
  provider!: ProcessTarget;
  postgres!: ChaosPostgres;
  redis!: RedisSentinelGroup;
  stack!: Stack;
  journal!: ProviderJournal;
  /** Cleanups, the newest last. */
  readonly #cleanups: Cleanup[] = [];
  #stopping: Promise<void> | null = null;

  async start(): Promise<void> {
    this.postgres = await ChaosPostgres.start();
    this.#cleanups.push(() => this.postgres.stop());
    const database = await this.#startProxy(this.postgres.port);
    this.faultTargets.set('postgres', new PostgresTarget(this.postgres, database));
    this.redis = await RedisSentinelGroup.start();
    this.#cleanups.push(() => this.redis.stop());
    this.faultTargets.set('redis', new RedisTarget(this.redis, () => this.#isEveryPlaneEnforcing()));
    const origins = await this.#startProvider();
    this.stack = await Stack.start({
      providers: { openai: origins.openai, s3: origins.s3 },
      redisUrl: this.redis.sentinelUrl,
      database: { url: this.postgres.proxiedUrl(database.port), drop: async () => undefined },
      env: {
        CIRCUIT_COOLDOWN_MS: '3000',
        WEBHOOK_RETRY_DELAYS_MS: '300,600,1000,2000,3000,3000,3000',
        WEBHOOK_TIMEOUT_MS: '2000',
        // The run causes rejections on purpose; the abuse detector must not react to them.
        ABUSE_REJECTIONS: '1000000',
      },
      dataPlaneEnv: { COUNTERS_TIMEOUT_MS },
      nodeOptions: HEAP_PROBE_NODE_OPTIONS,
    });
    this.#cleanups.push(() => this.stack.controlPlane.kill());
    await this.#startPlanes();
  }

  /** Runs all cleanups, the newest first. A failed cleanup does not stop the others. */
  stop(): Promise<void> {
    this.#stopping ??= (async () => {
      for (let stop = this.#cleanups.pop(); stop !== undefined; stop = this.#cleanups.pop()) {
        try {
          await stop();
        } catch (error) {
          console.error('could not be stopped:', error);
        }
      }
    })();
    return this.#stopping;
  }

  get processTargets(): ProcessTarget[] {
    return [...this.dataPlanes, ...this.controlPlanes].map(({ target: part }) => part).concat(this.provider);
  }

  async #startProvider(): Promise<{ openai: string; s3: string }> {
    const [openaiPort, s3Port, ownPort] = [await freePort(), await freePort(), await freePort()];
    this.journal = new ProviderJournal(join(this.postgres.home, 'journal'));
    const settings: ProviderSettings = { openaiPort, s3Port, customPort: ownPort, journal: this.journal.file };
    const script = fileURLToPath(new URL('../../dist/chaos/provider-main.js', import.meta.url));
    const plane = new PlaneProcess('provider', { CHAOS_PROVIDER: JSON.stringify(settings) }, script);
    const proxies = [
      await this.#startProxy(openaiPort),
      await this.#startProxy(s3Port),
      await this.#startProxy(ownPort),
    ];
    this.provider = new ProcessTarget('provider', plane, {}, null, proxies);
    this.#cleanups.push(() => plane.kill());
    await this.provider.start();
    this.faultTargets.set('provider', this.provider);
    const [openai, s3, own] = proxies.map(({ port }) => `http://127.0.0.1:${port}`);
    this.customProviderUrl = own!;
    return { openai: openai!, s3: s3! };
  }

  async #startPlanes(): Promise<void> {
    const { stack } = this;
    const first = await this.#startProxy(stack.grpcPort);
    const [apiPort, grpcPort] = [await freePort(), await freePort()];
    const second = await this.#startProxy(grpcPort);
    this.#addControlPlane('control-1', stack.controlPlane, new URL(stack.apiUrl).port, stack.grpcPort, first);
    const env = { ...stack.controlPlane.env, GATEWAY_DATA_DIR: join(stack.home, 'control-2') };
    const other = new PlaneProcess('controlplane', env, undefined, HEAP_PROBE_NODE_OPTIONS);
    this.#cleanups.push(() => other.kill());
    const part = this.#addControlPlane('control-2', other, String(apiPort), grpcPort, second);
    await part.start();
    for (const victim of DATA_PLANES) {
      const metricsPort = await freePort();
      const port = await freePort();
      const where = { DATAPLANE_PORT: String(port), DATAPLANE_METRICS_PORT: String(metricsPort) };
      const addresses = `127.0.0.1:${first.port},127.0.0.1:${second.port}`;
      const { plane, url, metricsUrl } = await stack.addDataPlane({ ...where, CONTROLPLANE_GRPC: addresses });
      this.#cleanups.push(() => plane.kill());
      const dataPart = new ProcessTarget(victim, plane, {}, `${metricsUrl}/readyz`);
      this.faultTargets.set(victim, dataPart);
      this.dataPlanes.push({ target: dataPart, url, metricsUrl });
    }
  }

  #addControlPlane(
    victim: Victim,
    plane: PlaneProcess,
    port: string,
    grpcPort: number,
    proxy: TcpProxy,
  ): ProcessTarget {
    const env = { CONTROLPLANE_PORT: port, GRPC_LISTEN: `127.0.0.1:${grpcPort}` };
    const url = `http://127.0.0.1:${port}`;
    const part = new ProcessTarget(victim, plane, env, `${url}/readyz`, [proxy]);
    this.faultTargets.set(victim, part);
    this.controlPlanes.push({ target: part, url });
    return part;
  }

  async #startProxy(port: number): Promise<TcpProxy> {
    const proxy = await TcpProxy.start(port);
    this.#cleanups.push(() => proxy.stop());
    return proxy;
  }

  /** Checks the data planes that respond; the logs of the others show what they did. */
  async #isEveryPlaneEnforcing(): Promise<boolean> {
    const states = await Promise.all(
      this.dataPlanes.map(({ metricsUrl }) => readMetric(metricsUrl, 'gateway_counters_enforcing')),
    );
    return states.every((state) => state !== 0);
  }
}

const PROBE_TIMEOUT_MS = 2_000;

/** Sum over all labels; null when the plane does not respond. */
export async function readMetric(metricsUrl: string, name: string): Promise<number | null> {
  try {
    const answer = await fetch(`${metricsUrl}/metrics`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    const page = await answer.text();
    const lines = page.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  } catch {
    return null;
  }
}
