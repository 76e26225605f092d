/**
 * Plans which target fails when, how and for how long; all of it follows from the seed. The kinds of faults are dealt
 * like a deck of cards, so that a run of a few minutes contains each of them. A target that is still recovering gets no
 * new fault; several targets may be down at once.
 */
import { SeededRandom } from './seeded-random.js';

export const VICTIMS = [
  'redis',
  'postgres',
  'provider',
  'control-1',
  'control-2',
  'data-1',
  'data-2',
  'data-3',
] as const;
export type Victim = (typeof VICTIMS)[number];

/**
 * kill: SIGKILL, restarted after the duration. freeze: SIGSTOP, then SIGCONT. cut: all connections break and new ones
 * fail. restart: SIGTERM, then restarted. failover: requested from the sentinels.
 */
export type FaultAction = 'kill' | 'freeze' | 'cut' | 'restart' | 'failover';

export interface PlannedFault {
  /** Milliseconds after the start of the traffic. */
  readonly atMs: number;
  readonly victim: Victim;
  readonly action: FaultAction;
  readonly durationMs: number;
}

interface FaultKind {
  readonly among: readonly Victim[];
  readonly action: FaultAction;
}

const CONTROL: readonly Victim[] = ['control-1', 'control-2'];
const DATA: readonly Victim[] = ['data-1', 'data-2', 'data-3'];
const faultKinds = (among: readonly Victim[], actions: readonly FaultAction[]): FaultKind[] =>
  actions.map((action) => ({ among, action }));

export const FAULT_KINDS: readonly FaultKind[] = [
  ...faultKinds(['redis'], ['kill', 'freeze', 'cut', 'failover']),
  ...faultKinds(['postgres'], ['kill', 'freeze', 'cut']),
  ...faultKinds(['provider'], ['kill', 'freeze', 'cut']),
  ...faultKinds(CONTROL, ['kill', 'freeze', 'cut', 'restart']),
  ...faultKinds(DATA, ['kill', 'freeze', 'restart', 'kill']),
];

/** Time without new faults at the start and at the end of the traffic. */
export const QUIET_PERIOD_MS = 8_000;
const FAULT_GAP_MS = { min: 1_500, max: 6_000 };
const FAULT_DURATION_MS = { min: 500, max: 6_000 };
/** Pause before the next fault of the same target. The sentinels take long to turn an old primary into a replica. */
const recoveryMs = (victim: Victim): number => (victim === 'redis' ? 20_000 : 4_000);

export function planFaults(seed: number, durationMs: number): PlannedFault[] {
  const random = new SeededRandom(seed);
  const freeFrom = new Map<Victim, number>();
  const plan: PlannedFault[] = [];
  let deck: FaultKind[] = [];
  let atMs = QUIET_PERIOD_MS;
  while (atMs <= durationMs - QUIET_PERIOD_MS) {
    const isFree = (victim: Victim): boolean => (freeFrom.get(victim) ?? 0) <= atMs;
    const nextReady = (): number => deck.findIndex(({ among }) => among.some(isFree));
    // All targets of the rest may be recovering: then another deck is added.
    if (nextReady() === -1) deck = [...deck, ...random.shuffled(FAULT_KINDS)];
    const ready = nextReady();
    if (ready !== -1) {
      const [card] = deck.splice(ready, 1);
      const victim = random.pick(card!.among.filter(isFree));
      const forMs = random.integerBetween(FAULT_DURATION_MS.min, FAULT_DURATION_MS.max);
      plan.push({ atMs, victim, action: card!.action, durationMs: forMs });
      freeFrom.set(victim, atMs + forMs + recoveryMs(victim));
    }
    atMs += random.integerBetween(FAULT_GAP_MS.min, FAULT_GAP_MS.max);
  }
  return plan;
}
