/** Puts what a run left behind before the invariants, and says what came of it. */
import type { ChaosRun } from './chaos-run.js';
import type { CallTrace, FaultTrace } from './history.js';
import { answersExplained } from './invariants/answers.js';
import { type HardSpend, hardBudgetsKept, hardSpends } from './invariants/budgets.js';
import { exactlyOnce } from './invariants/exactly-once.js';
import { type HeldFigures, nothingHeldPerCall } from './invariants/held.js';
import { noLateAdmissions } from './invariants/late-admissions.js';
import { limitsKept } from './invariants/limits.js';
import { type ProcessFigures, processesSound } from './invariants/processes.js';
import { budgetEventsDelivered } from './invariants/webhooks.js';
import type { LedgerView } from './ledger-view.js';
import { storeAwayIn, united } from './store-away.js';

interface Report {
  /** Invariant → what breaks it. */
  readonly broken: Readonly<Record<string, readonly string[]>>;
  readonly facts: readonly string[];
}

const MIB = 1_048_576;
const SHOWN_MAX = 12;
/** Of a budget: no further call fits. */
const USED_UP = 0.8;

export function reportOn(
  run: ChaosRun,
  ledger: LedgerView,
  figures: readonly ProcessFigures[],
  held: readonly HeldFigures[],
): Report {
  const { calls } = run.traffic;
  const { faults, tenants, world, secrets } = run;
  const { agents } = tenants;
  const { booked, sums, setAside, failedDeliveries } = ledger;
  const sightings = world.journal.read();
  const storeAway = storeAwayOf(run, faults);
  const limits = limitsKept({ agents, calls, sightings, storeAway });
  const admissions = noLateAdmissions({ agents, calls, sightings, booked, faults, storeAway });
  const spends = hardSpends({ agents, calls, booked, faults, storeAway });
  const deliveries = run.deliveries.received(tenants);
  const broken = {
    'every call at the provider is in the ledger once': exactlyOnce({ calls, sightings, booked, faults, sums }),
    'no record is set aside': setAside === 0 ? [] : [`${setAside} records could not be booked`],
    'no limit is exceeded': limits.broken,
    'hard budgets are kept': hardBudgetsKept(spends),
    'nothing passes when budget or tokens are known to be used up': admissions.broken,
    'no secret is in a log or an answer': secrets.broken,
    'every answer is explained': answersExplained({ agents, calls, faults, storeAway }),
    'budget events arrive under one id': [
      ...budgetEventsDelivered({ agents, booked, deliveries }),
      ...(failedDeliveries === 0 ? [] : [`${failedDeliveries} deliveries were given up`]),
    ],
    'processes hold what they held, and live': processesSound(figures, run.unexpectedEnds),
    'no process holds more with every call': nothingHeldPerCall(held),
  };
  const away = storeAway.reduce((sum, { from, to }) => sum + to - from, 0);
  const facts = [
    `calls: ${calls.length} (${countsOf(calls.map(({ kind }) => kind))}), at the provider ${sightings.length}, booked ${booked.length}`,
    `ends: ${countsOf(calls.map(endOf))}`,
    `faults: ${faults.length}, left out ${run.leftOut} (${countsOf(faults.map(({ victim, action }) => `${victim.replace(/-\d$/, '')} ${action}`))})`,
    `counter store away for ${Math.round(away / 1_000)} s in all; windows at their limit: ${limits.fullWindows}; budgets and minutes of tokens used up: ${admissions.reached}`,
    spendFacts(spends),
    `deliveries: ${deliveries.length} requests, ${new Set(deliveries.map(({ deliveryId }) => deliveryId)).size} ids`,
    `${Math.round(secrets.chars / MIB)} Mi characters looked at for secrets`,
    ...held.map(
      ({ name, calls: served, grownBytes, heldBytes }) =>
        `${name}: holds ${mib(heldBytes)} MiB, ${Math.round(grownBytes / served)} bytes a call more after ${served} calls`,
    ),
    ...figures.map(
      ({ name, before, after }) =>
        `${name}: ${mib(before.residentBytes)} → ${mib(after.residentBytes)} MiB, ${before.descriptors} → ${after.descriptors} descriptors`,
    ),
  ];
  return { broken, facts };
}

/** How far hard budgets were used, and how far where their bound holds. */
function spendFacts(spends: readonly HardSpend[]): string {
  const most = (of: (one: HardSpend) => number): string =>
    percent(Math.max(0, ...spends.map((one) => of(one) / one.budgetNanos)), 1);
  const usedUp = spends.filter(({ spentNanos, budgetNanos }) => spentNanos >= USED_UP * budgetNanos).length;
  const inside = most(({ spentNanos, outsideNanos }) => spentNanos - outsideNanos);
  return `hard budgets: ${spends.length}, used up ${usedUp}; most spent ${inside}, with what the bound does not cover ${most(({ spentNanos }) => spentNanos)}`;
}

/** As the data planes said, and while a fault was on the store: a primary that dies takes its last writes along. */
function storeAwayOf({ world }: ChaosRun, faults: readonly FaultTrace[]) {
  const now = Date.now();
  const said = world.dataPlanes.flatMap(({ part }) => storeAwayIn(part.plane.output, now));
  return united([...said, ...faults.filter(({ victim }) => victim === 'redis')]);
}

function endOf({ status, complete, refusal, closeCode }: CallTrace): string {
  if (closeCode !== null) return `closed ${closeCode}`;
  if (status === null) return 'no answer';
  if (!complete) return `${status} broken`;
  if (refusal === null) return String(status);
  const why = WHY.find(([text]) => refusal.message.includes(text))?.[1] ?? refusal.limitType;
  return why === '' ? String(status) : `${status} ${why}`;
}

/** Part of a refusal's message → a word for it. */
const WHY = [
  ['provider is failing', 'circuit'],
  ['token cannot be checked', 'token'],
  ['Limits cannot be checked', 'store'],
  ['is stopping', 'stop'],
] as const;

function countsOf(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}

const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;
const mib = (bytes: number): number => Math.round(bytes / MIB);

export function printed({ broken, facts }: Report): string {
  const lines = ['', ...facts, ''];
  for (const [name, problems] of Object.entries(broken)) {
    lines.push(
      `${problems.length === 0 ? 'kept  ' : 'BROKEN'} ${name}${problems.length === 0 ? '' : `: ${problems.length}`}`,
    );
    for (const problem of problems.slice(0, SHOWN_MAX)) lines.push(`         ${problem}`);
  }
  return lines.join('\n');
}
