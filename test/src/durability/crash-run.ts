/**
 * Sends calls through the whole gateway while its parts are killed with SIGKILL, one after the other: the data plane or
 * one of its workers, the control plane, Postgres. Every response that a client received completely must be in the log
 * exactly once. Calls must continue while the control plane or its database is down.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '@acg/base/secret';
import { openPool } from '@acg/controlplane/db/postgres-client';
import { findPostgresBinaries } from '@acg/singlenode/postgres/postgres-binaries';
import { type ClusterOptions, PostgresCluster } from '@acg/singlenode/postgres/postgres-cluster';
import { OpenAiStandIn } from '@acg/stand-in-provider/openai';
import type { PlaneProcess } from '../fixtures/plane-process.js';
import { Stack, type Tenant, waitForCondition } from '../fixtures/stack.js';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';
import { type CallLoad, startCallLoad } from './call-load.js';

interface CrashReport {
  readonly victim: string;
  /** Responses that a client received to the last byte. */
  readonly received: number;
  readonly failed: number;
  /** Received responses of the calls that were made while the victim was down. */
  readonly receivedWhileDown: number;
  readonly failedWhileDown: number;
}

interface CrashRunOptions {
  readonly concurrency: number;
  /** When set, the data plane has two workers, which share this Redis. */
  readonly redisUrl?: string;
}

interface LedgerSnapshot {
  readonly requestIds: readonly string[];
  readonly costCents: number;
  readonly summary: { readonly totalRequests: number; readonly costCents: number };
  readonly spentNanos: number;
}

export class CrashRun {
  /** Request ids of all completely received responses. */
  readonly received: string[] = [];
  #cluster: PostgresCluster;
  #url = '';
  #metricsUrl = '';

  private constructor(
    readonly home: string,
    cluster: PostgresCluster,
    readonly provider: OpenAiStandIn,
    readonly stack: Stack,
    readonly dataPlane: PlaneProcess,
    readonly tenant: Tenant,
    readonly agentId: string,
    readonly gatewayToken: string,
    readonly concurrency: number,
  ) {
    this.#cluster = cluster;
  }

  static async start({ concurrency, redisUrl }: CrashRunOptions): Promise<CrashRun> {
    const home = mkdtempSync(join(tmpdir(), 'acg-crash-'));
    chmodSync(home, 0o711); // the user that runs Postgres must be able to enter
    const cluster = await PostgresCluster.start(clusterOptions(home, 0));
    await cluster.createDatabase('gateway');
    const provider = await new OpenAiStandIn().start();
    const stack = await Stack.start({
      providers: { openai: provider.origin },
      database: { url: new Secret(cluster.url('gateway')), drop: async () => undefined },
      ...(redisUrl === undefined ? {} : { redisUrl }),
    });
    const workers = redisUrl === undefined ? '1' : '2';
    const { plane, url, metricsUrl } = await stack.addDataPlane({ DATAPLANE_WORKERS: workers });
    const tenant = await stack.signUpTenant();
    const agent = await tenant.createAgent({ rpmLimit: 1_000_000, rpdLimit: 1_000_000, budgetCentsMonthly: 1_000_000 });
    const token = await tenant.createToken(agent.id);
    await tenant.createAccount(agent.id, 'openai', { apiKey: PROVIDER_CREDENTIALS.openai });
    const run = new CrashRun(home, cluster, provider, stack, plane, tenant, agent.id, token, concurrency);
    run.#url = url;
    run.#metricsUrl = metricsUrl;
    return run;
  }

  /** Kills the data plane under load and restarts it in its own directory. */
  async killDataPlane(calls: number): Promise<CrashReport> {
    return this.#killDuringLoad('data plane', calls, async (load) => {
      await this.dataPlane.kill();
      const ready = await this.dataPlane.start();
      this.#url = `http://127.0.0.1:${ready.port}`;
      this.#metricsUrl = `http://127.0.0.1:${ready.metricsPort}`;
      load.url = this.#url;
    });
  }

  /** Kills one of the two workers under load; the other one continues to serve. */
  async killWorker(calls: number): Promise<CrashReport> {
    return this.#killDuringLoad('worker', calls, async (load, target) => {
      await this.#killFirstWorker();
      await load.reached(target);
    });
  }

  /** Like `killWorker`, while the control plane is down: the dead worker leaves unacknowledged usage. */
  async killWorkerAlone(calls: number): Promise<CrashReport> {
    return this.#killDuringLoad('worker without control plane', calls, async (load, target) => {
      await this.stack.controlPlane.kill();
      await load.reached(target);
      await this.#killFirstWorker();
      await this.stack.startControlPlane();
    });
  }

  /** Kills the control plane under load; restarts it after a quarter of the calls was made without it. */
  async killControlPlane(calls: number): Promise<CrashReport> {
    return this.#killDuringLoad('control plane', calls, async (load, target) => {
      await this.stack.controlPlane.kill();
      await load.reached(target);
      await this.stack.startControlPlane();
    });
  }

  async killPostgres(calls: number): Promise<CrashReport> {
    return this.#killDuringLoad('Postgres', calls, async (load, target) => {
      process.kill(this.#cluster.pid, 'SIGKILL');
      await this.#cluster.exited;
      await load.reached(target);
      this.#cluster = await PostgresCluster.start(clusterOptions(this.home, this.#cluster.port));
    });
  }

  /** Returns the log when it contains every received response and no more records arrive. */
  async readLedger(): Promise<LedgerSnapshot> {
    let ids: string[] = [];
    await waitForCondition(
      async () => {
        const before = ids.length;
        ids = (await this.#listCalls()).map((log) => log.requestId);
        const known = new Set(ids);
        // No more records can arrive when no call runs, no usage waits to be sent, and the previous read found the same
        // records.
        return (await this.#isQuiescent()) && before === ids.length && this.received.every((id) => known.has(id));
      },
      'every received response to be in the log',
      120_000,
    );
    const logs = await this.#listCalls();
    const summary = await this.tenant.call('GET', `/v1/usage/agents/${this.agentId}/summary`);
    const sql = openPool(new Secret(this.#cluster.url('gateway')), { connectionsMax: 1, applicationName: 'test' });
    const [spend] = await sql<{ nanos: number }[]>`select sum(spent_nanos)::bigint as nanos from month_spend`;
    await sql.end();
    return {
      requestIds: logs.map((log) => log.requestId),
      costCents: logs.reduce((sum, log) => sum + log.costCents, 0),
      summary: summary.body,
      spentNanos: spend!.nanos,
    };
  }

  async stop(): Promise<void> {
    await this.stack.stop();
    await this.provider.close();
    await this.#cluster.stop();
    rmSync(this.home, { recursive: true, force: true });
  }

  async #killDuringLoad(
    victim: string,
    calls: number,
    kill: (load: CallLoad, target: number) => Promise<void>,
  ): Promise<CrashReport> {
    const load = startCallLoad({ url: this.#url, token: this.gatewayToken, calls, concurrency: this.concurrency });
    await load.reached(Math.floor(calls / 2));
    const before = load.counts();
    await kill(load, Math.floor((calls * 3) / 4));
    const after = load.counts();
    await load.done;
    this.received.push(...load.received);
    const { received, failed } = load.counts();
    return {
      victim,
      received,
      failed,
      receivedWhileDown: after.received - before.received,
      failedWhileDown: after.failed - before.failed,
    };
  }

  async #killFirstWorker(): Promise<void> {
    const { pid } = this.dataPlane;
    const workers = (): string[] => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    await waitForCondition(() => workers().length === 2, 'both workers to run');
    process.kill(Number(workers()[0]), 'SIGKILL');
  }

  /** True when no call is in flight and all usage is acknowledged. */
  async #isQuiescent(): Promise<boolean> {
    const metrics = await (await fetch(`${this.#metricsUrl}/metrics`)).text();
    return /^gateway_inflight 0$/m.test(metrics) && /^gateway_spool_bytes 0$/m.test(metrics);
  }

  async #listCalls(): Promise<readonly { readonly requestId: string; readonly costCents: number }[]> {
    // The export contains every record of the period, independent of the page size.
    const { body } = await this.tenant.call('GET', `/v1/usage/agents/${this.agentId}/export?format=json&period=24h`);
    return body;
  }
}

function clusterOptions(home: string, port: number): ClusterOptions {
  return {
    binaries: findPostgresBinaries(),
    directory: join(home, 'cluster'),
    password: 'test-only-password',
    logFile: join(home, 'postgres.log'),
    port,
    settings: ['max_connections=50'],
  };
}
