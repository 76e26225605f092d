/** One run: traffic, faults as planned, healing, and what is there to be looked at in the end. */
import { until } from '../stack.js';
import type { PlannedBurst } from './burst-plan.js';
import { Deliveries } from './deliveries.js';
import { heldBytesOf } from './held-bytes.js';
import type { FaultTrace } from './history.js';
import { holdingsOf } from './holdings.js';
import type { HeldFigures } from './invariants/held.js';
import { DESCRIPTORS_MORE_MAX, type Holdings, type ProcessFigures } from './invariants/processes.js';
import { SecretWatch } from './invariants/secrets.js';
import { atRest, type LedgerView, readLedger } from './ledger-view.js';
import type { ProcessPart } from './part.js';
import { type PlannedFault, QUIET_MS } from './plan.js';
import { secretsOf } from './run-secrets.js';
import { makeTenants, type Tenants } from './tenants.js';
import { Traffic } from './traffic.js';
import { World } from './world.js';

const WATCH_MS = 500;
/** Parts that are away or still coming back. */
const HURT_AT_ONCE_MAX = 4;
const LAST_LINES = 12;
/** An end by SIGTERM that took so long is worth a line. */
const SLOW_MS = 3_000;
/** Generous: others may use the machine. */
const PATIENCE_MS = 240_000;
/** Through each data plane: until its code is compiled and its caches are full, then those that are measured. */
const STEADY_WARM_UP = 1_500;
const STEADY_CALLS = 2_000;

interface RunOptions {
  readonly plan: readonly PlannedFault[];
  readonly bursts: readonly PlannedBurst[];
  readonly durationMs: number;
  readonly say: (text: string) => void;
}

export class ChaosRun {
  readonly world = new World();
  readonly faults: FaultTrace[] = [];
  readonly unexpectedEnds: string[] = [];
  deliveries!: Deliveries;
  tenants!: Tenants;
  secrets!: SecretWatch;
  traffic!: Traffic;
  /** Planned faults that were not made. */
  leftOut = 0;
  /** Of faults that are being made. */
  readonly hurtNow = new Set<string>();
  readonly #before = new Map<string, Holdings>();
  readonly #options: RunOptions;
  #startedAt = 0;

  constructor(options: RunOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    await this.world.start();
    const minutes = this.#options.durationMs / 60_000;
    this.deliveries = await Deliveries.start(['/a', '/b']);
    const { url } = this.deliveries.receiver;
    const { bursts } = this.#options;
    const { ownProviderUrl, stack } = this.world;
    this.tenants = await makeTenants(stack, { minutes, bursts, ownProviderUrl, receiverUrl: url });
    this.secrets = new SecretWatch(secretsOf(this.world, this.tenants));
    this.traffic = new Traffic(this.world.dataPlanes, this.secrets);
  }

  /** Resolves when all faults are over and all calls have ended. */
  async run(): Promise<void> {
    const { plan, bursts, durationMs } = this.#options;
    await this.traffic.warmUp(this.tenants.lasting);
    this.traffic.start(this.tenants.lasting);
    this.#startedAt = Date.now();
    const watch = setInterval(() => this.#watch(), WATCH_MS);
    try {
      const warm = this.#at(QUIET_MS - 1_000).then(() => this.#noteHoldings());
      const faults = plan.map((fault) => this.#at(fault.atMs).then(() => this.#makeInTime(fault)));
      const all = bursts.map(({ atMs }, i) => this.#at(atMs).then(() => this.traffic.burst(this.tenants.bursts[i]!)));
      await Promise.all([warm, ...faults, ...all, this.#at(durationMs)]);
      await this.traffic.stop();
    } finally {
      clearInterval(watch);
    }
  }

  /** What each plane holds more after many calls without any fault: a leak too small to be seen under the noise of faults. */
  async heldFigures(): Promise<HeldFigures[]> {
    const data = this.world.dataPlanes.map(({ part }) => part);
    // Taken together: which of them books the calls of which data plane is open.
    const control = this.world.controlPlanes.map(({ part }) => part);
    const held = (parts: readonly ProcessPart[]): Promise<number> =>
      Promise.all(parts.map(({ plane }) => heldBytesOf(plane))).then((all) => all.reduce((sum, one) => sum + one, 0));
    const measured = async (calls: number): Promise<number[]> => {
      await this.traffic.steady(this.tenants.steady, calls);
      await until(() => atRest(this.world), 'calls and usage to be done with', PATIENCE_MS);
      return Promise.all([...data.map((one) => held([one])), held(control)]);
    };
    const before = await measured(STEADY_WARM_UP);
    const after = await measured(STEADY_CALLS);
    return [...data.map(({ victim }) => victim), 'control planes'].map((name, i) => ({
      name,
      calls: i < data.length ? STEADY_CALLS : data.length * STEADY_CALLS,
      grownBytes: after[i]! - before[i]!,
      heldBytes: after[i]!,
    }));
  }

  /** Waits until nothing more can come. */
  async settle(): Promise<LedgerView> {
    let records = -1;
    let view: LedgerView | null = null;
    await until(
      async () => {
        if (!(await atRest(this.world))) return false;
        view = await readLedger(this.world, this.tenants.agents, this.traffic.maker.tags);
        const before = records;
        records = view.booked.length;
        return before === records;
      },
      'all usage to be in the ledger and all events to be delivered',
      PATIENCE_MS,
    );
    this.#watch();
    return view!;
  }

  /** Once idle connections are closed, or it is clear that they are not. */
  async figures(): Promise<ProcessFigures[]> {
    const figures = (): ProcessFigures[] =>
      this.world.processes.map(({ victim, plane }) => ({
        name: victim,
        before: this.#before.get(victim)!,
        after: holdingsOf(plane.pid),
      }));
    const isClosed = ({ before, after }: ProcessFigures): boolean =>
      after.descriptors <= before.descriptors + DESCRIPTORS_MORE_MAX;
    await until(() => figures().every(isClosed), 'file descriptors', 90_000).catch(() => 'an invariant says so');
    return figures();
  }

  /** Everything that was printed is looked at for secrets. */
  lookAtLogs(): void {
    for (const { victim, plane } of this.world.processes) this.secrets.look(`the log of ${victim}`, plane.output);
    this.secrets.look('the log of Postgres', this.world.postgres.log);
  }

  async stop(): Promise<void> {
    await this.deliveries?.receiver.close();
    await this.world.stop();
  }

  /** A slow machine comes late with healing: a fault that would keep it from ever getting there is left out. */
  async #makeInTime(fault: PlannedFault): Promise<void> {
    if (!this.hurtNow.has(fault.victim) && this.hurtNow.size < HURT_AT_ONCE_MAX) return this.#make(fault);
    this.leftOut++;
    this.#options.say(`${fault.victim}: ${fault.action} left out`);
  }

  async #make(fault: PlannedFault): Promise<void> {
    const { victim, action, forMs } = fault;
    const part = this.world.parts.get(victim)!;
    const from = Date.now();
    this.hurtNow.add(victim);
    this.#options.say(`${victim}: ${action} for ${forMs} ms`);
    await part.hurt(action);
    const hurtMs = Date.now() - from;
    if (hurtMs > SLOW_MS) this.#options.say(`${victim}: took ${(hurtMs / 1_000).toFixed(1)} s to ${action}`);
    await new Promise((resolve) => setTimeout(resolve, forMs));
    const healing = Date.now();
    await part.heal(action);
    await until(() => part.serves(), `${victim} to serve again after ${action}`, PATIENCE_MS);
    const to = Date.now();
    this.faults.push({ victim, action, from, to });
    this.#options.say(`${victim}: serves again, ${((to - healing) / 1_000).toFixed(1)} s after the ${action} was over`);
    await until(async () => (await part.whole?.()) ?? true, `${victim} to be whole again`, PATIENCE_MS);
    this.hurtNow.delete(victim);
  }

  #at(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, this.#startedAt + ms - Date.now()));
  }

  /** Whoever ended by itself is started again, as a supervisor would. */
  #watch(): void {
    for (const part of this.world.processes) {
      if (!part.endedByItself) continue;
      const lines = part.plane.output.trim().split('\n').slice(-LAST_LINES).join('\n  ');
      this.unexpectedEnds.push(`${part.victim}, which said last:\n  ${lines}`);
      this.#options.say(`${part.victim} ended by itself`);
      void part.start();
    }
  }

  #noteHoldings(): void {
    for (const { victim, plane } of this.world.processes) this.#before.set(victim, holdingsOf(plane.pid));
  }
}
