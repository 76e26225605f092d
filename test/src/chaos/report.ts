/** Puts what a run left behind before the invariants, and says what came of it. */
import type { ChaosRun } from './chaos-run.js';
import type { CallTrace, FaultTrace } from './evidence/history.js';
import type { LedgerSnapshot } from './evidence/ledger-snapshot.js';
import { mergeIntervals, parseStoreOutages } from './evidence/store-outages.js';
import { checkBudgetEvents } from './invariants/budget-events.js';
import { checkCallOutcomes } from './invariants/call-outcomes.js';
import { checkExactlyOnce } from './invariants/exactly-once.js';
import { checkHardBudgets, type HardBudgetSpend, sumHardBudgetSpend } from './invariants/hard-budgets.js';
import { checkLateAdmissions } from './invariants/late-admissions.js';
import { checkMemoryGrowth, type MemoryGrowth } from './invariants/memory-growth.js';
import { checkProcesses, type ProcessUsageChange } from './invariants/process-usage.js';
import { checkRateLimits } from './invariants/rate-limits.js';

interface Report {
  /** Invariant → what breaks it. */
  readonly violations: Readonly<Record<string, readonly string[]>>;
  readonly facts: readonly string[];
}

const MIB = 1_048_576;
const MAX_SHOWN_PROBLEMS = 12;
/** Of a budget: no further call fits. */
const USED_UP_RATIO = 0.8;

export function buildReport(
  run: ChaosRun,
  ledger: LedgerSnapshot,
  figures: readonly ProcessUsageChange[],
  held: readonly MemoryGrowth[],
): Report {
  const { calls } = run.traffic;
  const { faults, tenants, world, secrets } = run;
  const { agents } = tenants;
  const { calls: booked, sums, setAside, failedDeliveries } = ledger;
  const sightings = world.journal.read();
  const storeAway = listStoreOutages(run, faults);
  const limits = checkRateLimits({ agents, calls, observations: sightings, storeOutages: storeAway });
  const admissions = checkLateAdmissions({
    agents,
    calls,
    observations: sightings,
    ledgerCalls: booked,
    faults,
    storeOutages: storeAway,
  });
  const budgetSpends = sumHardBudgetSpend({ agents, calls, ledgerCalls: booked, faults, storeOutages: storeAway });
  const deliveries = run.deliveries.listReceivedDeliveries(tenants);
  const broken = {
    'every call at the provider is in the ledger once': checkExactlyOnce({
      calls,
      observations: sightings,
      ledgerCalls: booked,
      faults,
      sums,
    }),
    'no record is set aside': setAside === 0 ? [] : [`${setAside} records could not be booked`],
    'no limit is exceeded': limits.violations,
    'hard budgets are kept': checkHardBudgets(budgetSpends),
    'nothing passes when budget or tokens are known to be used up': admissions.broken,
    'no secret is in a log or an answer': secrets.leaks,
    'every answer is explained': checkCallOutcomes({ agents, calls, faults, storeOutages: storeAway }),
    'budget events arrive under one id': [
      ...checkBudgetEvents({ agents, ledgerCalls: booked, deliveries }),
      ...(failedDeliveries === 0 ? [] : [`${failedDeliveries} deliveries were given up`]),
    ],
    'processes hold what they held, and live': checkProcesses(figures, run.unexpectedExits),
    'no process holds more with every call': checkMemoryGrowth(held),
  };
  const away = storeAway.reduce((sum, { from, to }) => sum + to - from, 0);
  const facts = [
    `calls: ${calls.length} (${formatCounts(calls.map(({ kind }) => kind))}), at the provider ${sightings.length}, booked ${booked.length}`,
    `ends: ${formatCounts(calls.map(describeOutcome))}`,
    `faults: ${faults.length}, left out ${run.skippedFaultCount} (${formatCounts(faults.map(({ victim, action }) => `${victim.replace(/-\d$/, '')} ${action}`))})`,
    `counter store away for ${Math.round(away / 1_000)} s in all; windows at their limit: ${limits.fullWindows}; budgets and minutes of tokens used up: ${admissions.reached}`,
    describeBudgetUse(budgetSpends),
    `deliveries: ${deliveries.length} requests, ${new Set(deliveries.map(({ deliveryId }) => deliveryId)).size} ids`,
    `${Math.round(secrets.chars / MIB)} Mi characters looked at for secrets`,
    ...held.map(
      ({ name, calls: served, grownBytes, liveBytes: heldBytes }) =>
        `${name}: holds ${toMebibytes(heldBytes)} MiB, ${Math.round(grownBytes / served)} bytes a call more after ${served} calls`,
    ),
    ...figures.map(
      ({ name, before, after }) =>
        `${name}: ${toMebibytes(before.residentBytes)} → ${toMebibytes(after.residentBytes)} MiB, ${before.descriptors} → ${after.descriptors} descriptors`,
    ),
  ];
  return { violations: broken, facts };
}

/** How far hard budgets were used, and how far where their bound holds. */
function describeBudgetUse(spends: readonly HardBudgetSpend[]): string {
  const most = (of: (one: HardBudgetSpend) => number): string =>
    formatPercent(Math.max(0, ...spends.map((one) => of(one) / one.budgetNanos)), 1);
  const usedUp = spends.filter(({ spentNanos, budgetNanos }) => spentNanos >= USED_UP_RATIO * budgetNanos).length;
  const inside = most(({ spentNanos, exemptNanos: outsideNanos }) => spentNanos - outsideNanos);
  return `hard budgets: ${spends.length}, used up ${usedUp}; most spent ${inside}, with what the bound does not cover ${most(({ spentNanos }) => spentNanos)}`;
}

/** As the data planes said, and while a fault was on the store: a primary that dies takes its last writes along. */
function listStoreOutages({ world }: ChaosRun, faults: readonly FaultTrace[]) {
  const now = Date.now();
  const said = world.dataPlanes.flatMap(({ target: part }) => parseStoreOutages(part.plane.output, now));
  return mergeIntervals([...said, ...faults.filter(({ victim }) => victim === 'redis')]);
}

function describeOutcome({ status, complete, rejection: refusal, closeCode }: CallTrace): string {
  if (closeCode !== null) return `closed ${closeCode}`;
  if (status === null) return 'no answer';
  if (!complete) return `${status} broken`;
  if (refusal === null) return String(status);
  const why = REJECTION_LABELS.find(([text]) => refusal.message.includes(text))?.[1] ?? refusal.limitType;
  return why === '' ? String(status) : `${status} ${why}`;
}

/** Part of a refusal's message → a word for it. */
const REJECTION_LABELS = [
  ['provider is failing', 'circuit'],
  ['token cannot be checked', 'token'],
  ['Limits cannot be checked', 'store'],
  ['is stopping', 'stop'],
] as const;

function formatCounts(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}

const formatPercent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;
const toMebibytes = (bytes: number): number => Math.round(bytes / MIB);

export function formatReport({ violations: broken, facts }: Report): string {
  const lines = ['', ...facts, ''];
  for (const [name, problems] of Object.entries(broken)) {
    lines.push(
      `${problems.length === 0 ? 'kept  ' : 'BROKEN'} ${name}${problems.length === 0 ? '' : `: ${problems.length}`}`,
    );
    for (const problem of problems.slice(0, MAX_SHOWN_PROBLEMS)) lines.push(`         ${problem}`);
  }
  return lines.join('\n');
}
