import type { Mutant } from '../mutant.js';

/** The admission script in Redis, and what is sent to it. */
export const ADMIT_SCRIPT: readonly Mutant[] = [
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `  if not reservation_item and not stored[1] and (raised or grown) then call('EXPIRE', key, spend_ttl) end
`,
    put: '',
    bug: `the key of a month's spend never expires`,
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `        local index = stop - rpm
`,
    put: `        local index = stop - rpm - 1
`,
    bug: 'a lowered limit passes again one request early',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `      expires = max(expires, start_I + WINDOW)
`,
    put: `      expires = max(expires, start_I)
`,
    bug: 'the key of a pair expires before its day has ended',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `    capacity = min(capacity, rpm - live)
`,
    put: `    capacity = min(capacity, rpm - live + 1)
`,
    bug: 'one request more than the limit passes in a minute',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `stored[3] or call('HGET', prefix .. month_text(this_month - 1), 'h') or ''`,
    put: `stored[3] or ''`,
    bug: 'reservations are lost at the end of a month',
    tests: ['test/src/limits/reservations.property.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `    capacity = min(capacity, limit_I - count_I)
`,
    put: `    capacity = min(capacity, limit_I - count_I + 1)
`,
    bug: 'one request more than the limit passes in a day',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `      if last + minute <= time then
`,
    put: `      if last + minute < time then
`,
    bug: 'a log is kept after its newest request has expired',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `    if time >= start_I + WINDOW then count_I = 0 end
`,
    put: `    if time > start_I + WINDOW then count_I = 0 end
`,
    bug: 'a day is longer than a day',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `      count_I = count_I + admitted
`,
    put: `      count_I = count_I + wanted
`,
    bug: 'rejected requests count against the day',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `      live = live + admitted
    end
`,
    put: `      live = live + wanted
    end
`,
    bug: 'rejected requests are reported as used',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `    if used >= tokens_I then
      capacity = 0
`,
    put: `    if used > tokens_I then
      capacity = 0
`,
    bug: 'a call passes though the tokens of the minute are used up',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `      if bucket + BUCKETS < current then break end
`,
    put: `      if bucket + BUCKETS <= current then break end
`,
    bug: 'tokens expire before the end of their minute',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `reset_I = (bucket + BUCKETS + 1) * width end
`,
    put: `reset_I = (bucket + BUCKETS) * width end
`,
    bug: 'Retry-After ends before the tokens have expired',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `      fits = spent[spend_item] < budget and requested or 0
`,
    put: `      fits = spent[spend_item] <= budget and requested or 0
`,
    bug: 'a call passes though the budget is spent',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `(budget - spent[spend_item] - others_reserved[spend_item] - own_reserved[spend_item]) / reservation)`,
    put: `(budget - spent[spend_item] - others_reserved[spend_item]) / reservation)`,
    bug: 'reservations of this data plane are not counted',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `(budget - spent[spend_item] - others_reserved[spend_item] - own_reserved[spend_item]) / reservation)`,
    put: `(budget - spent[spend_item] - own_reserved[spend_item]) / reservation)`,
    bug: 'reservations of other data planes are not counted',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `      if not reservation_version[spend_item] then fits = 0 end
`,
    put: '',
    bug: 'an overtaken call takes a reservation that is not stored',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `    own_reserved[reserved_item] = own_reserved[reserved_item] + admitted * reservation
`,
    put: `    own_reserved[reserved_item] = own_reserved[reserved_item] + reservation
`,
    bug: 'requests of one batch share one reservation',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `      elseif deadline > now then
`,
    put: `      elseif deadline > 0 then
`,
    bug: 'reservations of a dead data plane never expire',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `          own_sum = max(0, sum - released)
`,
    put: `          own_sum = max(0, sum)
`,
    bug: 'reservations are never released',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `  if fresh and (sums or reservations ~= stored_reservations) then call('EXPIRE', key, spend_ttl) end
`,
    put: '',
    bug: 'the key of a month that begins with a reservation never expires',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `own_reserved[item], now + lease, version)`,
    put: `own_reserved[item], now + lease / 3, version)`,
    bug: 'a reservation expires before it is renewed',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: ` or call('HGET', prefix .. month_text(this_month - 1), 'h') or ''`,
    put: ` or ''`,
    bug: 'reservations are free in the next month',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `        others = others .. string.sub(stored_reservations, from, next_from - 1)
`,
    put: '',
    bug: 'a data plane that writes its reservations drops those of others',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `  local version, reservations = reservation_version[item], stored_reservations
  if version then
`,
    put: `  local version, reservations = reservation_version[item], stored_reservations
  if true then
`,
    bug: 'an overtaken call drops the reservations of its data plane',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `if grown then sum = sum + total - previous_total end`,
    put: 'if grown then sum = sum + total end',
    bug: 'a repeated total is added again',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `    sum = sum + ledger_own - known_ledger
`,
    put: `    sum = sum + ledger_own
`,
    bug: 'spend that only the ledger counts is added repeatedly',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `  return max(sum, known_floor), previous_total
`,
    put: `  return sum + known_floor, previous_total
`,
    bug: 'the spend of data planes and of the ledger are added up',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `  return max(sum, known_floor), previous_total
`,
    put: `  return sum, previous_total
`,
    bug: 'the ledger spend is ignored',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `  if ledger_month ~= this_month then ledger_floor, ledger_own = 0, 0 end
`,
    put: '',
    bug: 'the ledger spend of last month counts in this month',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `record_spend(prefix, month_text(of_month), field, total, 0, 0)`,
    put: `record_spend(prefix, this_month_text, field, total, 0, 0)`,
    bug: 'late spend of last month counts in this month',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: 'seconds >= month_to then',
    put: 'seconds > month_to then',
    bug: 'the first second of a month belongs to the one before',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `  call('SET', key, value, 'PX', math.ceil(token_minute / 1000 + 2 * width / 1000))
`,
    put: `  call('SET', key, value)
`,
    bug: 'the key of tokens never expires',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: 'math.ceil(token_minute / 1000 + 2 * width / 1000)',
    put: 'math.ceil(token_minute / 1000 - 2 * width / 1000)',
    bug: 'the key of tokens expires before the tokens',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `          call('SET', key, value, 'KEEPTTL')
`,
    put: `          call('SET', key, value)
`,
    bug: 'a pair whose log was cut short never expires',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `    if fits < 1 and requested > 0 and budget_rejection == 0 then`,
    put: `    if fits < 1 and requested > 0 then`,
    bug: 'the last exceeded budget is named instead of the first',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `  if rejection == 0 then rejection = budget_rejection end
`,
    put: `  if budget_rejection > 0 then rejection = budget_rejection end
`,
    bug: 'a spent budget is named before the rate limit',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `    if rejection == 0 and count_I >= limit_I then`,
    put: `    if rejection == 0 and count_I > limit_I then`,
    bug: 'a rejection by the day limit is not named',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `  call('SET', KEYS[1], '1', 'PX', 1000)
`,
    put: `  call('SET', KEYS[1], '1')
`,
    bug: 'the key of a probe never expires',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/script/admit.lua',
    find: `      if last - now > minute then front = stop else time = last end
`,
    put: `      if last - now > minute then front = stop end
`,
    bug: 'a clock that steps back frees the minute early',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/admit-codec.ts',
    find: `const SPEND_KEY_TTL_SEC = 32 * 86_400;`,
    put: `const SPEND_KEY_TTL_SEC = 28 * 86_400;`,
    bug: 'the spend of a month expires before the month has ended',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/admit-codec.ts',
    find: `    retryAtSec: isBudget ? monthEndSec(month) : ceilToSeconds(reply.readDoubleLE(at + 5)),`,
    put: `    retryAtSec: ceilToSeconds(reply.readDoubleLE(at + 5)),`,
    bug: 'a spent budget does not say when the month ends',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/admit-codec.ts',
    find: `\`acg:{\${agentId}\${PAIR_KEY_INFIX}\${providerSlug}\``,
    put: `\`acg:{\${agentId}\${PAIR_KEY_INFIX}\``,
    bug: 'all providers of an agent share one window',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
  {
    file: 'dataplane/src/counters/redis/admit-codec.ts',
    find: `\`acg:{\${agentId}}:\${LIMIT_TABLE[row]!.type}:\${providerSlug}\``,
    put: `\`acg:{\${agentId}}:\${LIMIT_TABLE[row]!.type}\``,
    bug: 'all providers of an agent share their tokens',
    tests: ['test/src/limits/redis-counters.test.ts', 'test/src/limits/admit-script.test.ts'],
  },
];
