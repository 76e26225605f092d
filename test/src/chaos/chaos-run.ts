/** One chaos run: sends traffic, injects the planned faults, recovers the targets and collects the evidence. */
import { waitForCondition } from '../fixtures/stack.js';
import { ChaosEnvironment } from './chaos-environment.js';
import { collectSecrets } from './evidence/collect-secrets.js';
import type { FaultTrace } from './evidence/evidence-types.js';
import { isQuiescent, type LedgerSnapshot, readLedgerSnapshot } from './evidence/ledger-snapshot.js';
import { readProcessUsage } from './evidence/memory-and-descriptors.js';
import { type PlannedFault, QUIET_PERIOD_MS } from './faults/fault-plan.js';
import type { ProcessTarget } from './faults/fault-targets.js';
import type { PlannedBurst } from './faults/limit-burst-plan.js';
import type { LiveHeapGrowth } from './invariants/live-heap-growth-per-call.js';
import {
  MAX_NEW_DESCRIPTORS,
  type ProcessUsage,
  type ProcessUsageChange,
} from './invariants/process-exits-and-leaks.js';
import { SecretScanner } from './invariants/secret-scanner.js';
import { measureLiveBytes } from './live-heap.js';
import { createTenants, type Tenants } from './traffic/tenants.js';
import { Traffic } from './traffic/traffic.js';
import { ChaosWebhookReceiver } from './traffic/webhook-receiver.js';

const WATCH_INTERVAL_MS = 500;
/** Targets that are down or still recovering. */
const CONCURRENT_FAULTS_MAX = 4;
const LAST_LOG_LINES = 12;
/** A longer shutdown after SIGTERM is logged. */
const SLOW_SHUTDOWN_MS = 3_000;
/** Generous: other processes may use the machine. */
const RUN_STEP_TIMEOUT_MS = 240_000;
/** Calls through each data plane: first until code is compiled and caches are full, then the measured ones. */
const STEADY_WARM_UP_CALLS = 1_500;
const STEADY_CALLS = 2_000;

interface RunOptions {
  readonly plan: readonly PlannedFault[];
  readonly bursts: readonly PlannedBurst[];
  readonly durationMs: number;
  readonly log: (text: string) => void;
}

export class ChaosRun {
  readonly environment = new ChaosEnvironment();
  readonly faults: FaultTrace[] = [];
  readonly unexpectedExits: string[] = [];
  deliveries!: ChaosWebhookReceiver;
  tenants!: Tenants;
  secrets!: SecretScanner;
  traffic!: Traffic;
  /** Planned faults that were not injected. */
  skippedFaultCount = 0;
  /** Targets of the faults in progress. */
  readonly faultedVictims = new Set<string>();
  readonly #baselineUsage = new Map<string, ProcessUsage>();
  readonly #options: RunOptions;
  #startedAt = 0;

  constructor(options: RunOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    await this.environment.start();
    const minutes = this.#options.durationMs / 60_000;
    this.deliveries = await ChaosWebhookReceiver.start(['/a', '/b']);
    const { url } = this.deliveries.receiver;
    const { bursts } = this.#options;
    const { customProviderUrl, stack } = this.environment;
    this.tenants = await createTenants(stack, { minutes, bursts, customProviderUrl, receiverUrl: url });
    this.secrets = new SecretScanner(collectSecrets(this.environment, this.tenants));
    this.traffic = new Traffic(this.environment.dataPlanes, this.secrets);
  }

  /** Resolves when all faults are over and all calls have ended. */
  async run(): Promise<void> {
    const { plan, bursts, durationMs } = this.#options;
    await this.traffic.warmUp(this.tenants.longLivedAgents);
    this.traffic.start(this.tenants.longLivedAgents);
    this.#startedAt = Date.now();
    const watch = setInterval(() => this.#watchForUnexpectedExits(), WATCH_INTERVAL_MS);
    try {
      const warm = this.#sleepUntil(QUIET_PERIOD_MS - 1_000).then(() => this.#recordBaselineUsage());
      const faults = plan.map((fault) => this.#sleepUntil(fault.atMs).then(() => this.#injectWithTimeout(fault)));
      const all = bursts.map(({ atMs }, i) =>
        this.#sleepUntil(atMs).then(() => this.traffic.startBurst(this.tenants.bursts[i]!)),
      );
      await Promise.all([warm, ...faults, ...all, this.#sleepUntil(durationMs)]);
      await this.traffic.stop();
    } finally {
      clearInterval(watch);
    }
  }

  /** Growth of each plane's live heap over many calls without faults: finds leaks too small to see among faults. */
  async measureMemoryGrowth(): Promise<LiveHeapGrowth[]> {
    const data = this.environment.dataPlanes.map(({ target }) => target);
    // Measured together: any control plane may record the calls of any data plane.
    const control = this.environment.controlPlanes.map(({ target }) => target);
    const sumLiveBytes = (parts: readonly ProcessTarget[]): Promise<number> =>
      Promise.all(parts.map(({ plane }) => measureLiveBytes(plane))).then((all) =>
        all.reduce((sum, one) => sum + one, 0),
      );
    const measure = async (calls: number): Promise<number[]> => {
      await this.traffic.runSteadyLoad(this.tenants.steady, calls);
      await waitForCondition(
        () => isQuiescent(this.environment),
        'calls and usage to be finished',
        RUN_STEP_TIMEOUT_MS,
      );
      return Promise.all([...data.map((one) => sumLiveBytes([one])), sumLiveBytes(control)]);
    };
    const before = await measure(STEADY_WARM_UP_CALLS);
    const after = await measure(STEADY_CALLS);
    return [...data.map(({ victim }) => victim), 'control planes'].map((name, i) => ({
      name,
      calls: i < data.length ? STEADY_CALLS : data.length * STEADY_CALLS,
      grownBytes: after[i]! - before[i]!,
      liveBytes: after[i]!,
    }));
  }

  /** Waits until no further records, events or deliveries can arrive. */
  async waitUntilQuiescent(): Promise<LedgerSnapshot> {
    let records = -1;
    let snapshot: LedgerSnapshot | null = null;
    await waitForCondition(
      async () => {
        if (!(await isQuiescent(this.environment))) return false;
        snapshot = await readLedgerSnapshot(
          this.environment,
          this.tenants.agents,
          this.traffic.callFactory.ledgerCallMatcher,
        );
        const before = records;
        records = snapshot.calls.length;
        return before === records;
      },
      'all usage to be in the ledger and all events to be delivered',
      RUN_STEP_TIMEOUT_MS,
    );
    this.#watchForUnexpectedExits();
    return snapshot!;
  }

  /** Measures after idle connections have closed, or after the wait for that has timed out. */
  async measureProcessUsage(): Promise<ProcessUsageChange[]> {
    const usageChanges = (): ProcessUsageChange[] =>
      this.environment.processTargets.map(({ victim, plane }) => ({
        name: victim,
        before: this.#baselineUsage.get(victim)!,
        after: readProcessUsage(plane.pid),
      }));
    const isClosed = ({ before, after }: ProcessUsageChange): boolean =>
      after.descriptors <= before.descriptors + MAX_NEW_DESCRIPTORS;
    await waitForCondition(() => usageChanges().every(isClosed), 'file descriptors', 90_000).catch(
      () => 'checkProcesses reports it',
    );
    return usageChanges();
  }

  /** Scans all process output for secrets. */
  scanLogsForSecrets(): void {
    for (const { victim, plane } of this.environment.processTargets)
      this.secrets.scan(`the log of ${victim}`, plane.output);
    this.secrets.scan('the log of Postgres', this.environment.postgres.serverLog);
  }

  async stop(): Promise<void> {
    await this.deliveries?.receiver.close();
    await this.environment.stop();
  }

  /** On a slow machine recovery takes longer. A fault that would keep the target from ever recovering is skipped. */
  async #injectWithTimeout(fault: PlannedFault): Promise<void> {
    if (!this.faultedVictims.has(fault.victim) && this.faultedVictims.size < CONCURRENT_FAULTS_MAX)
      return this.#injectFault(fault);
    this.skippedFaultCount++;
    this.#options.log(`${fault.victim}: ${fault.action} skipped`);
  }

  async #injectFault(fault: PlannedFault): Promise<void> {
    const { victim, action, durationMs } = fault;
    const target = this.environment.faultTargets.get(victim)!;
    const from = Date.now();
    this.faultedVictims.add(victim);
    this.#options.log(`${victim}: ${action} for ${durationMs} ms`);
    await target.inject(action);
    const injectMs = Date.now() - from;
    if (injectMs > SLOW_SHUTDOWN_MS)
      this.#options.log(`${victim}: took ${(injectMs / 1_000).toFixed(1)} s to ${action}`);
    await new Promise((resolve) => setTimeout(resolve, durationMs));
    const recoveryStartedAt = Date.now();
    await target.recover(action);
    await waitForCondition(() => target.isServing(), `${victim} to serve again after ${action}`, RUN_STEP_TIMEOUT_MS);
    const to = Date.now();
    this.faults.push({ victim, action, from, to });
    this.#options.log(
      `${victim}: serves again, ${((to - recoveryStartedAt) / 1_000).toFixed(1)} s after the end of the ${action}`,
    );
    await waitForCondition(
      async () => (await target.isHealthy?.()) ?? true,
      `${victim} to be fully recovered`,
      RUN_STEP_TIMEOUT_MS,
    );
    this.faultedVictims.delete(victim);
  }

  #sleepUntil(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, this.#startedAt + ms - Date.now()));
  }

  /** Restarts processes that exited unexpectedly, as a supervisor would. */
  #watchForUnexpectedExits(): void {
    for (const target of this.environment.processTargets) {
      if (!target.hasExitedUnexpectedly) continue;
      const lines = target.plane.output.trim().split('\n').slice(-LAST_LOG_LINES).join('\n  ');
      this.unexpectedExits.push(`${target.victim}. Last log lines:\n  ${lines}`);
      this.#options.log(`${target.victim} exited unexpectedly`);
      void target.start();
    }
  }

  #recordBaselineUsage(): void {
    for (const { victim, plane } of this.environment.processTargets)
      this.#baselineUsage.set(victim, readProcessUsage(plane.pid));
  }
}
