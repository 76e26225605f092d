/**
 * `node test/dist/admission-rights/main.js`: runs `PROPERTY_RUNS` schedules (default 1 000 000) from `PROPERTY_SEED` on
 * (default 0), and prints what they covered and the share of local decisions. Exits with 1 after the first violations,
 * with their seeds.
 */
import { estimateLocalShare } from './local-share.js';
import { judge } from './oracle.js';
import { drawSchedule } from './schedule.js';
import { simulate } from './simulation.js';

const { PROPERTY_RUNS = '1000000', PROPERTY_SEED = '0' } = process.env;
const MOST_FAILURES = 10;

const sums = {
  schedules: 0,
  'with faults': 0,
  'calls on rights': 0,
  'calls admitted by the store': 0,
  'calls rejected': 0,
  'calls failed': 0,
  'replies to wait': 0,
  'decisions of the store': 0,
  'losses of data': 0,
  'rights used after a stopped clock': 0,
  'windows over the limit by an exception': 0,
  'of them with rights': 0,
  'most rights of one grant in an exception': 0,
};
let failures = 0;
const first = Number(PROPERTY_SEED);
for (let seed = first; seed < first + Number(PROPERTY_RUNS) && failures < MOST_FAILURES; seed++) {
  const schedule = drawSchedule(seed);
  const history = simulate(schedule);
  const { violations, windowsOverLimit, windowsOverLimitByRights, mostRightsOfGrant } = judge(schedule, history);
  sums.schedules++;
  sums['with faults'] += schedule.faults.length > 0 ? 1 : 0;
  for (const { right, isAfterStoppedClock } of history.providerCalls) {
    sums[right === null ? 'calls admitted by the store' : 'calls on rights']++;
    if (isAfterStoppedClock) sums['rights used after a stopped clock']++;
  }
  sums['calls rejected'] += history.rejectedCalls;
  sums['calls failed'] += history.failedCalls;
  sums['replies to wait'] += history.waits.length;
  sums['decisions of the store'] += history.decisions.length;
  sums['losses of data'] += history.losses.length;
  sums['windows over the limit by an exception'] += windowsOverLimit;
  sums['of them with rights'] += windowsOverLimitByRights;
  const most = 'most rights of one grant in an exception';
  sums[most] = Math.max(sums[most], mostRightsOfGrant);
  if (violations.length === 0) continue;
  failures++;
  console.log(`seed ${seed}: ${violations.slice(0, 3).join('; ')}`);
}
for (const [name, sum] of Object.entries(sums)) console.log(`${name}: ${sum}`);

console.log('round trip µs, data planes, calls/s: local share, messages per call, µs until the decision p50, p99');
for (const roundTripUs of [100, 600]) {
  for (const planes of [1, 3]) {
    for (const rate of [1, 10, 100]) {
      const { local, messagesPerCall, p50Us, p99Us } = estimateLocalShare(rate, planes, roundTripUs);
      const figures = [local.toFixed(3), messagesPerCall.toFixed(2), p50Us, p99Us];
      console.log(`${roundTripUs}, ${planes}, ${rate}: ${figures.join(', ')}`);
    }
  }
}
process.exitCode = failures > 0 ? 1 : 0;
