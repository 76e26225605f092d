/** One run: traffic, faults as planned, healing, and what is there to be looked at in the end. */
import { waitForCondition } from '../fixtures/stack.js';
import { ChaosEnvironment } from './chaos-environment.js';
import { collectSecrets } from './evidence/collect-secrets.js';
import type { FaultTrace } from './evidence/history.js';
import { isQuiescent, type LedgerSnapshot, readLedgerSnapshot } from './evidence/ledger-snapshot.js';
import { readProcessUsage } from './evidence/process-usage.js';
import type { PlannedBurst } from './faults/burst-plan.js';
import { type PlannedFault, QUIET_PERIOD_MS } from './faults/fault-plan.js';
import type { ProcessTarget } from './faults/fault-targets.js';
import type { MemoryGrowth } from './invariants/memory-growth.js';
import { MAX_NEW_DESCRIPTORS, type ProcessUsage, type ProcessUsageChange } from './invariants/process-usage.js';
import { SecretScanner } from './invariants/secret-scanner.js';
import { measureLiveBytes } from './live-heap.js';
import { createTenants, type Tenants } from './traffic/tenants.js';
import { Traffic } from './traffic/traffic.js';
import { ChaosWebhookReceiver } from './traffic/webhook-receiver.js';

const WATCH_INTERVAL_MS = 500;
/** Parts that are away or still coming back. */
const CONCURRENT_FAULTS_MAX = 4;
const LAST_LOG_LINES = 12;
/** An end by SIGTERM that took so long is worth a line. */
const SLOW_SHUTDOWN_MS = 3_000;
/** Generous: others may use the machine. */
const RUN_STEP_TIMEOUT_MS = 240_000;
/** Through each data plane: until its code is compiled and its caches are full, then those that are measured. */
const STEADY_WARM_UP_CALLS = 1_500;
const STEADY_CALLS = 2_000;

interface RunOptions {
  readonly plan: readonly PlannedFault[];
  readonly bursts: readonly PlannedBurst[];
  readonly durationMs: number;
  readonly log: (text: string) => void;
}

export class ChaosRun {
  readonly world = new ChaosEnvironment();
  readonly faults: FaultTrace[] = [];
  readonly unexpectedExits: string[] = [];
  deliveries!: ChaosWebhookReceiver;
  tenants!: Tenants;
  secrets!: SecretScanner;
  traffic!: Traffic;
  /** Planned faults that were not made. */
  skippedFaultCount = 0;
  /** Of faults that are being made. */
  readonly faultedVictims = new Set<string>();
  readonly #baselineUsage = new Map<string, ProcessUsage>();
  readonly #options: RunOptions;
  #startedAt = 0;

  constructor(options: RunOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    await this.world.start();
    const minutes = this.#options.durationMs / 60_000;
    this.deliveries = await ChaosWebhookReceiver.start(['/a', '/b']);
    const { url } = this.deliveries.receiver;
    const { bursts } = this.#options;
    const { customProviderUrl: ownProviderUrl, stack } = this.world;
    this.tenants = await createTenants(stack, { minutes, bursts, ownProviderUrl, receiverUrl: url });
    this.secrets = new SecretScanner(collectSecrets(this.world, this.tenants));
    this.traffic = new Traffic(this.world.dataPlanes, this.secrets);
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

  /** What each plane holds more after many calls without any fault: a leak too small to be seen under the noise of faults. */
  async measureMemoryGrowth(): Promise<MemoryGrowth[]> {
    const data = this.world.dataPlanes.map(({ target: part }) => part);
    // Taken together: which of them books the calls of which data plane is open.
    const control = this.world.controlPlanes.map(({ target: part }) => part);
    const held = (parts: readonly ProcessTarget[]): Promise<number> =>
      Promise.all(parts.map(({ plane }) => measureLiveBytes(plane))).then((all) =>
        all.reduce((sum, one) => sum + one, 0),
      );
    const measured = async (calls: number): Promise<number[]> => {
      await this.traffic.runSteadyLoad(this.tenants.steady, calls);
      await waitForCondition(() => isQuiescent(this.world), 'calls and usage to be done with', RUN_STEP_TIMEOUT_MS);
      return Promise.all([...data.map((one) => held([one])), held(control)]);
    };
    const before = await measured(STEADY_WARM_UP_CALLS);
    const after = await measured(STEADY_CALLS);
    return [...data.map(({ victim }) => victim), 'control planes'].map((name, i) => ({
      name,
      calls: i < data.length ? STEADY_CALLS : data.length * STEADY_CALLS,
      grownBytes: after[i]! - before[i]!,
      liveBytes: after[i]!,
    }));
  }

  /** Waits until nothing more can come. */
  async waitUntilQuiescent(): Promise<LedgerSnapshot> {
    let records = -1;
    let view: LedgerSnapshot | null = null;
    await waitForCondition(
      async () => {
        if (!(await isQuiescent(this.world))) return false;
        view = await readLedgerSnapshot(this.world, this.tenants.agents, this.traffic.callFactory.tags);
        const before = records;
        records = view.calls.length;
        return before === records;
      },
      'all usage to be in the ledger and all events to be delivered',
      RUN_STEP_TIMEOUT_MS,
    );
    this.#watchForUnexpectedExits();
    return view!;
  }

  /** Once idle connections are closed, or it is clear that they are not. */
  async measureProcessUsage(): Promise<ProcessUsageChange[]> {
    const figures = (): ProcessUsageChange[] =>
      this.world.processTargets.map(({ victim, plane }) => ({
        name: victim,
        before: this.#baselineUsage.get(victim)!,
        after: readProcessUsage(plane.pid),
      }));
    const isClosed = ({ before, after }: ProcessUsageChange): boolean =>
      after.descriptors <= before.descriptors + MAX_NEW_DESCRIPTORS;
    await waitForCondition(() => figures().every(isClosed), 'file descriptors', 90_000).catch(
      () => 'an invariant says so',
    );
    return figures();
  }

  /** Everything that was printed is looked at for secrets. */
  scanLogsForSecrets(): void {
    for (const { victim, plane } of this.world.processTargets) this.secrets.scan(`the log of ${victim}`, plane.output);
    this.secrets.scan('the log of Postgres', this.world.postgres.serverLog);
  }

  async stop(): Promise<void> {
    await this.deliveries?.receiver.close();
    await this.world.stop();
  }

  /** A slow machine comes late with healing: a fault that would keep it from ever getting there is left out. */
  async #injectWithTimeout(fault: PlannedFault): Promise<void> {
    if (!this.faultedVictims.has(fault.victim) && this.faultedVictims.size < CONCURRENT_FAULTS_MAX)
      return this.#injectFault(fault);
    this.skippedFaultCount++;
    this.#options.log(`${fault.victim}: ${fault.action} left out`);
  }

  async #injectFault(fault: PlannedFault): Promise<void> {
    const { victim, action, durationMs: forMs } = fault;
    const part = this.world.faultTargets.get(victim)!;
    const from = Date.now();
    this.faultedVictims.add(victim);
    this.#options.log(`${victim}: ${action} for ${forMs} ms`);
    await part.inject(action);
    const hurtMs = Date.now() - from;
    if (hurtMs > SLOW_SHUTDOWN_MS) this.#options.log(`${victim}: took ${(hurtMs / 1_000).toFixed(1)} s to ${action}`);
    await new Promise((resolve) => setTimeout(resolve, forMs));
    const healing = Date.now();
    await part.recover(action);
    await waitForCondition(() => part.isServing(), `${victim} to serve again after ${action}`, RUN_STEP_TIMEOUT_MS);
    const to = Date.now();
    this.faults.push({ victim, action, from, to });
    this.#options.log(`${victim}: serves again, ${((to - healing) / 1_000).toFixed(1)} s after the ${action} was over`);
    await waitForCondition(
      async () => (await part.isHealthy?.()) ?? true,
      `${victim} to be whole again`,
      RUN_STEP_TIMEOUT_MS,
    );
    this.faultedVictims.delete(victim);
  }

  #sleepUntil(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, this.#startedAt + ms - Date.now()));
  }

  /** Whoever ended by itself is started again, as a supervisor would. */
  #watchForUnexpectedExits(): void {
    for (const part of this.world.processTargets) {
      if (!part.hasExitedUnexpectedly) continue;
      const lines = part.plane.output.trim().split('\n').slice(-LAST_LOG_LINES).join('\n  ');
      this.unexpectedExits.push(`${part.victim}, which said last:\n  ${lines}`);
      this.#options.log(`${part.victim} ended by itself`);
      void part.start();
    }
  }

  #recordBaselineUsage(): void {
    for (const { victim, plane } of this.world.processTargets)
      this.#baselineUsage.set(victim, readProcessUsage(plane.pid));
  }
}
