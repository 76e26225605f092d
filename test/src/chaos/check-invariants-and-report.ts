/** Checks the evidence of a run against the invariants and writes the report. */
import type { ChaosRun } from './chaos-run.js';
import type { CallTrace, FaultTrace } from './evidence/evidence-types.js';
import type { LedgerSnapshot } from './evidence/ledger-snapshot.js';
import { mergeIntervals, parseStoreOutages } from './evidence/parse-counter-store-outages.js';
import { checkAdmissionsAfterLimitReached } from './invariants/admissions-after-limit-reached.js';
import { checkBudgetEvents } from './invariants/budget-event-delivery.js';
import { checkCallOutcomes } from './invariants/call-outcomes.js';
import { checkExactlyOnce } from './invariants/exactly-once.js';
import { checkHardBudgets, type HardBudgetSpend, sumHardBudgetSpend } from './invariants/hard-budgets.js';
import { checkLiveHeapGrowth, type LiveHeapGrowth } from './invariants/live-heap-growth-per-call.js';
import { checkProcesses, type ProcessUsageChange } from './invariants/process-exits-and-leaks.js';
import { checkRateLimits } from './invariants/rate-limits.js';

interface Report {
  /** Invariant → its violations. */
  readonly violations: Readonly<Record<string, readonly string[]>>;
  readonly facts: readonly string[];
}

const MIB = 1_048_576;
const MAX_SHOWN_PROBLEMS = 12;
/** Share of the budget from which no further call fits. */
const USED_UP_RATIO = 0.8;

export function buildReport(
  run: ChaosRun,
  ledger: LedgerSnapshot,
  usageChanges: readonly ProcessUsageChange[],
  memoryGrowths: readonly LiveHeapGrowth[],
): Report {
  const { calls } = run.traffic;
  const { faults, tenants, environment, secrets } = run;
  const { agents } = tenants;
  const { calls: ledgerCalls, sums, poisonRecords, failedDeliveries } = ledger;
  const observations = environment.journal.read();
  const storeOutages = listStoreOutages(run, faults);
  const limits = checkRateLimits({ agents, calls, observations, storeOutages });
  const admissions = checkAdmissionsAfterLimitReached({
    agents,
    calls,
    observations,
    ledgerCalls,
    faults,
    storeOutages,
  });
  const budgetSpends = sumHardBudgetSpend({ agents, calls, ledgerCalls, faults, storeOutages });
  const deliveries = run.deliveries.listReceivedDeliveries(tenants);
  const violations = {
    'every call at the provider is in the ledger once': checkExactlyOnce({
      calls,
      observations,
      ledgerCalls,
      faults,
      sums,
    }),
    'no record is poisoned':
      poisonRecords === 0 ? [] : [`${poisonRecords} records could not be recorded in the ledger`],
    'no limit is exceeded': limits.violations,
    'hard budgets are kept': checkHardBudgets(budgetSpends),
    'no call passes after its budget or tokens are recorded as used up': admissions.violations,
    'no secret is in a log or a response': secrets.leaks,
    'every response is explained': checkCallOutcomes({ agents, calls, faults, storeOutages }),
    'each budget event has one id': [
      ...checkBudgetEvents({ agents, ledgerCalls, deliveries }),
      ...(failedDeliveries === 0 ? [] : [`${failedDeliveries} deliveries failed for good`]),
    ],
    'processes survive and do not grow': checkProcesses(usageChanges, run.unexpectedExits),
    'no process grows with each call': checkLiveHeapGrowth(memoryGrowths),
  };
  const away = storeOutages.reduce((sum, { from, to }) => sum + to - from, 0);
  const facts = [
    `calls: ${calls.length} (${formatCounts(calls.map(({ kind }) => kind))}), at the provider ${observations.length}, recorded ${ledgerCalls.length}`,
    `outcomes: ${formatCounts(calls.map(describeOutcome))}`,
    `faults: ${faults.length}, skipped ${run.skippedFaultCount} (${formatCounts(faults.map(({ victim, action }) => `${victim.replace(/-\d$/, '')} ${action}`))})`,
    `counter store down for ${Math.round(away / 1_000)} s; full windows: ${limits.fullWindows}; budgets and token minutes used up: ${admissions.reached}`,
    describeBudgetUse(budgetSpends),
    `deliveries: ${deliveries.length} requests, ${new Set(deliveries.map(({ deliveryId }) => deliveryId)).size} ids`,
    `${Math.round(secrets.chars / MIB)} Mi characters scanned for secrets`,
    ...memoryGrowths.map(
      ({ name, calls: served, grownBytes, liveBytes }) =>
        `${name}: ${toMebibytes(liveBytes)} MiB live, ${Math.round(grownBytes / served)} bytes per call more after ${served} calls`,
    ),
    ...usageChanges.map(
      ({ name, before, after }) =>
        `${name}: ${toMebibytes(before.residentBytes)} → ${toMebibytes(after.residentBytes)} MiB, ${before.descriptors} → ${after.descriptors} descriptors`,
    ),
  ];
  return { violations, facts };
}

/** Reports how many hard budgets were used up, and the highest use with and without exempt calls. */
function describeBudgetUse(spends: readonly HardBudgetSpend[]): string {
  const most = (of: (one: HardBudgetSpend) => number): string =>
    formatPercent(Math.max(0, ...spends.map((one) => of(one) / one.budgetNanos)), 1);
  const usedUp = spends.filter(({ spentNanos, budgetNanos }) => spentNanos >= USED_UP_RATIO * budgetNanos).length;
  const mostCovered = most(({ spentNanos, exemptNanos }) => spentNanos - exemptNanos);
  return `hard budgets: ${spends.length}, used up ${usedUp}; most spent ${mostCovered}, with exempt calls ${most(({ spentNanos }) => spentNanos)}`;
}

/** Outages that the data planes logged, and faults of the store: a primary that dies loses its last writes. */
function listStoreOutages({ environment }: ChaosRun, faults: readonly FaultTrace[]) {
  const now = Date.now();
  const logged = environment.dataPlanes.flatMap(({ target }) => parseStoreOutages(target.plane.output, now));
  return mergeIntervals([...logged, ...faults.filter(({ victim }) => victim === 'redis')]);
}

function describeOutcome({ status, complete, rejection, closeCode }: CallTrace): string {
  if (closeCode !== null) return `closed ${closeCode}`;
  if (status === null) return 'no response';
  if (!complete) return `${status} broken`;
  if (rejection === null) return String(status);
  const why = REJECTION_LABELS.find(([text]) => rejection.message.includes(text))?.[1] ?? rejection.limitType;
  return why === '' ? String(status) : `${status} ${why}`;
}

/** Part of a rejection's message → its label in the report. */
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

const formatPercent = (target: number, whole: number): string => `${((100 * target) / whole).toFixed(1)} %`;
const toMebibytes = (bytes: number): number => Math.round(bytes / MIB);

export function formatReport({ violations, facts }: Report): string {
  const lines = ['', ...facts, ''];
  for (const [name, problems] of Object.entries(violations)) {
    lines.push(
      `${problems.length === 0 ? 'ok    ' : 'FAILED'} ${name}${problems.length === 0 ? '' : `: ${problems.length}`}`,
    );
    for (const problem of problems.slice(0, MAX_SHOWN_PROBLEMS)) lines.push(`         ${problem}`);
  }
  return lines.join('\n');
}
