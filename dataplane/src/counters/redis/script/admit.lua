-- admit.lua: checks and records everything that one event-loop tick of a data plane sends for one hash slot. Atomic.
-- Counts with the clock of Redis. Money is nano-dollars, times are Unix microseconds unless named otherwise.
-- docs/counters.md describes the keys. Needs Redis 6 or newer.
--
--   KEYS     every key of the request, which names each by its position here
--   ARGV[1]  the request, JSON:
--     minute, fixed, bucket, lease  lengths: of the request minute, of each fixed window, of a bucket of the token minute;
--                                   how long a reservation counts without renewal
--     valid    [from, until]: the Unix seconds in which the calendar windows of the checks are the current ones
--     probe    key to write, to check that the store accepts writes
--     spends   key, field, total, ledger, ledger only, kept until of each spend item: a scope or budget row in a window.
--              `field` names the writer; what it reports are sums that only grow. `kept until`: Unix seconds when the key
--              expires. One flat list, because a list for each item costs 0.4 us more
--     held     spend item, generation, granted, released of each spend item with reservations, one flat list
--     tokens   [key, tokens] of calls that have ended
--     checks   [requests, budgets, token limits, audited, log, limit of the minute, limits of the fixed windows …, log of
--              the tool, limit of the tool's minute]. The last two are absent without a limit for the tool. Admits the
--              first requests that fit. No requests: a peek. `log` 0: budgets only. `token limits`: [key, limit, row]
--              each. `audited`: rows that are counted and do not reject. `budgets`: [limit, reservation of each request,
--              1 if audited, spend item, further items …] each; what the further items have spent counts, too
--   Returns  JSON {now, spends, checks}; only {now}, with nothing recorded, outside `valid`
--     spends   previous, spent, reserved of each spend item: the writer's total before, then the sums of all writers
--     checks   [admitted, rejected by, when it admits one, would reject, [remaining, reset] of the minute], in a peek also
--              [remaining, reset] of each fixed window and each token limit. `rejected by`: the limit that rejects the next
--              request, 0 = none: a row, from 1; -1 for the tool's limit; -2 and below for a budget, by its position. `would reject`: flat pairs of a
--              limit in audit mode and how many of the admitted requests fit
local call, decode, format = redis.call, cjson.decode, string.format
local floor, ceil, max, min, huge = math.floor, math.ceil, math.max, math.min, math.huge
local pack_struct, unpack_struct = struct.pack, struct.unpack

local request = decode(ARGV[1])
local clock = call('TIME')
local now = clock[1] * 1000000 + clock[2]
local valid, minute, fixed = request.valid, request.minute, request.fixed
if valid and (now < valid[1] * 1000000 or now >= valid[2] * 1000000) then return format('{"now":%d}', now) end
if request.probe then call('SET', KEYS[request.probe], '1', 'PX', 1000) end

-- Reads a spend item, and adds what is new in the ledger's figures. Returns the writer's total before, the sum and the
-- ledger's figure of all writers, and the packed reservations.
-- Spend is the higher of the sum and the ledger's figure, because the two overlap. Only `ledger_only` adds to the sum.
local function read_spend(key, field, new_ledger, new_ledger_only, has_reservations)
  local stored
  if has_reservations then stored = call('HMGET', key, 'sum', 'ledger', field, 'reservations')
  else stored = call('HMGET', key, 'sum', 'ledger', field) end
  local sum, ledger = tonumber(stored[1] or 0), tonumber(stored[2] or 0)
  if new_ledger > ledger then
    ledger = new_ledger
    call('HSET', key, 'sum', format('%d', sum), 'ledger', format('%d', ledger))
  end
  local ledger_only = new_ledger_only > 0 and tonumber(call('HGET', key, 'ledger_only') or 0) or 0
  if new_ledger_only > ledger_only then
    sum = sum + new_ledger_only - ledger_only
    call('HSET', key, 'sum', format('%d', sum), 'ledger_only', format('%d', new_ledger_only))
  end
  return tonumber(stored[3] or 0), sum, ledger, stored[4] or '', not stored[1]
end

-- Reservations of a scope in a window: {field, deadline, generation, granted, released} for each writer, packed, because
-- text costs 3 us more a call with a hard budget. The last two are sums that only grow within a generation, so the higher
-- ones count. A newer generation replaces an older one.
local RESERVATION = '<sdddd'

-- Returns the packed entries of other writers and the sum of their reservations, then the writer's own granted and
-- released sums; nil for a request of an old generation. Leaves out writers whose lease has ended.
local function read_reservations(stored, field, generation, granted, released)
  local others, others_sum, at = '', 0, 1
  while at <= #stored do
    local its_field, deadline, its_generation, its_granted, its_released, next_at = unpack_struct(RESERVATION, stored, at)
    if its_field ~= field then
      if deadline > now then
        others, others_sum = others .. string.sub(stored, at, next_at - 1), others_sum + its_granted - its_released
      end
    elseif its_generation > generation then
      return nil
    elseif its_generation == generation then
      granted, released = max(granted, its_granted), max(released, its_released)
    end
    at = next_at
  end
  return others, others_sum, granted, released
end

local TOKEN_BUCKETS = 60
local function add_tokens(key, tokens)
  local bucket = format('%d', now / request.bucket)
  local counted = tonumber(call('HMGET', key, bucket)[1]) or 0
  call('HSET', key, bucket, format('%d', counted + tokens))
  call('PEXPIRE', key, ceil((TOKEN_BUCKETS + 2) * request.bucket / 1000))
end

-- Returns the tokens of the last minute, and when they fall below the limit; 0 = they are below it.
local function count_tokens(key, limit)
  local stored, current, used, buckets = call('HGETALL', key), floor(now / request.bucket), 0, {}
  for i = 1, #stored, 2 do
    local number, tokens = tonumber(stored[i]), tonumber(stored[i + 1])
    if number + TOKEN_BUCKETS < current then
      call('HDEL', key, stored[i])
    else
      used = used + tokens
      buckets[#buckets + 1] = { number, tokens }
    end
  end
  if used < limit then return used, 0 end
  table.sort(buckets, function(a, b) return a[1] > b[1] end)
  local sum, i = 0, 0
  repeat -- The newest buckets that reach the limit together: the oldest of them has to expire.
    i = i + 1
    sum = sum + buckets[i][2]
  until sum >= limit
  return used, (buckets[i][1] + TOKEN_BUCKETS + 1) * request.bucket
end

-- The log of an agent's requests to a provider is one string: the times of its admissions, oldest first, each the low 32
-- bits of its microseconds; then a footer {newest, stop, front, oldest, and start and count of each fixed window}. The
-- entries front … stop - 1 may still be in the minute. A binary string, because it takes one read and one write: a list
-- with a header costs 3.3 us more a call.
local ENTRY_RANGE = 4294967296
local FOOTER = '<dI4I4I4' .. string.rep('dI4', #fixed)
local FOOTER_BYTES = 20 + 12 * #fixed
local FOOTER_START = '-' .. FOOTER_BYTES
local DROPPED_MIN = 32
local PER_MINUTE = 6 -- the limit of the minute in a check; those of the fixed windows follow

local function read_entry(key, index, time)
  local entry = unpack_struct('<I4', call('GETRANGE', key, index * 4, index * 4 + 3))
  return time - (time - entry) % ENTRY_RANGE
end

-- Returns the first entry that is still in the minute; the newest one is. Doubles its step, then bisects.
local function find_front(key, front, stop, time)
  local gone, kept, step = front, stop - 1, 1
  while gone + 1 < kept do
    local probed = step > 0 and min(gone + step, kept - 1) or floor((gone + kept) / 2)
    if read_entry(key, probed, time) + minute <= time then
      gone, step = probed, step * 2
    else
      kept, step = probed, 0
    end
  end
  return kept
end

-- Returns the footer with what has expired left out, the time to count with, and whether the log is new.
local function read_log(key)
  local stored = call('GETRANGE', key, FOOTER_START, '-1')
  local is_new = #stored < FOOTER_BYTES
  local footer = is_new and { 0, 0, 0, 0 } or { unpack_struct(FOOTER, stored) }
  local newest, stop, front, oldest = footer[1], footer[2], footer[3], footer[4]
  local time = now
  if newest > now and newest - now <= minute then time = newest end -- the clock stepped back a little: stand still
  if newest > time or newest + minute <= time then
    footer[3] = stop
  elseif front < stop then
    oldest = newest - (newest - oldest) % ENTRY_RANGE
    if oldest + minute <= time then
      footer[3] = find_front(key, front, stop, time)
      oldest = read_entry(key, footer[3], time)
    end
    footer[4] = oldest
  end
  for w = 5, 3 + 2 * #fixed, 2 do
    footer[w] = min(footer[w] or 0, time)
    if is_new or time >= footer[w] + fixed[(w - 3) / 2] then footer[w + 1] = 0 end
  end
  return footer, time, is_new
end

-- Counts the admitted requests, in each window as many as its limit has room for: a window in audit mode may be full.
-- `check[at]` is the limit of the minute; those of the fixed windows follow where there are any.
local function append_to_log(key, footer, time, admitted, check, at, is_new)
  local stop, front = footer[2], footer[3]
  local live, opens_window, expires = stop - front, is_new, 0
  local logged = max(0, min(admitted, check[at] - live))
  if live == 0 then footer[4] = time end
  for w = 5, 3 + 2 * #fixed, 2 do
    if footer[w + 1] == 0 then
      footer[w], opens_window = time, true
    end
    footer[w + 1] = footer[w + 1] + max(0, min(admitted, (check[at + (w - 3) / 2] or huge) - footer[w + 1]))
    expires = max(expires, footer[w] + fixed[(w - 3) / 2])
  end
  local entries = string.rep(pack_struct('<I4', time % ENTRY_RANGE), logged)
  local rewrites = opens_window or live == 0 or (front >= DROPPED_MIN and front >= live)
  if rewrites and live > 0 then entries = call('GETRANGE', key, front * 4, stop * 4 - 1) .. entries end
  if logged > 0 then footer[1] = time end
  footer[2], footer[3] = stop + logged, front
  if rewrites then footer[2], footer[3] = live + logged, 0 end
  local oldest = footer[4]
  footer[4] = oldest % ENTRY_RANGE
  entries = entries .. pack_struct(FOOTER, unpack(footer))
  footer[4] = oldest
  if not rewrites then
    call('SETRANGE', key, format('%d', stop * 4), entries)
  elseif opens_window then
    call('SET', key, entries, 'PX', ceil((expires + minute - now) / 1000))
  else
    call('SET', key, entries, 'KEEPTTL')
  end
end

-- When a full minute admits the next request. Where the limit was lowered, more than one entry has to leave.
local function minute_retry_at(key, footer, time, limit)
  local is_lowered = footer[2] - footer[3] > limit and limit > 0
  return (is_lowered and read_entry(key, footer[2] - limit, time) or footer[4]) + minute
end

-- Of each spend item. `others` is nil where the item takes no reservations.
local previous, spent, reserved, others, granted, released = {}, {}, {}, {}, {}, {}
local function pack_reservations(i, field, generation)
  return others[i] .. pack_struct(RESERVATION, field, now + request.lease, generation, granted[i], released[i])
end

local KEPT_SEC_MIN = 3600 -- for totals that arrive late or again
local spends, held, checks, check_replies = request.spends or {}, request.held or {}, request.checks or {}, {}
local PER_SPEND, PER_HELD = 6, 4
local held_at = {} -- where the reservations of a spend item begin in `held`
for at = 1, #held, PER_HELD do held_at[held[at]] = at end
-- Granted sums that are in the store with the renewed lease: one write for a cost and the end of its reservation.
local stored_granted, first_items = {}, {}
for i = 1, #spends / PER_SPEND do
  local at, own = PER_SPEND * (i - 1), held_at[i]
  local key, field, total = KEYS[spends[at + 1]], spends[at + 2], spends[at + 3]
  local sum, ledger, reservations, is_first
  previous[i], sum, ledger, reservations, is_first = read_spend(key, field, spends[at + 4], spends[at + 5], own)
  reserved[i] = 0
  if is_first then first_items[#first_items + 1] = i end
  if own then
    others[i], reserved[i], granted[i], released[i] =
      read_reservations(reservations, field, held[own + 1], held[own + 2], held[own + 3])
    reserved[i] = others[i] and reserved[i] + granted[i] - released[i] or 0
  end
  if total > previous[i] then
    sum = sum + total - previous[i]
    if others[i] then
      stored_granted[i] = granted[i]
      local packed = pack_reservations(i, field, held[own + 1])
      call('HSET', key, 'sum', format('%d', sum), field, format('%d', total), 'reservations', packed)
    else
      call('HSET', key, 'sum', format('%d', sum), field, format('%d', total))
    end
  end
  spent[i] = max(sum, ledger)
end
for _, item in ipairs(request.tokens or {}) do add_tokens(KEYS[item[1]], item[2]) end

-- Returns how many requests fit in a budget.
local function count_fits_in_budget(budget)
  local limit, reservation, used, held, is_known = budget[1], budget[2], 0, 0, true
  for at = 4, #budget do
    local item = budget[at]
    used, held, is_known = used + spent[item], held + reserved[item], is_known and others[item]
  end
  if reservation > 0 then return is_known and floor((limit - used - held) / reservation) or 0 end
  return used < limit and huge or 0
end

-- The limits of the current check in their order: number, how many requests fit, whether the limit is in audit mode.
local TOOL, BUDGETS = -1, -1 -- numbers of limits that are no rows
local PER_TOOL_MINUTE = 8 + #fixed -- the position in a check
local limits, numbers, fits, is_audited = 0, {}, {}, {}
local function add_limit(number, requests, audited)
  limits = limits + 1
  numbers[limits], fits[limits], is_audited[limits] = number, requests, audited
end

for i = 1, #checks do
  local check = checks[i]
  local requested, budgets, token_limits, key = check[1], check[2], check[3], KEYS[check[5]]
  local audited = {}
  for _, row in ipairs(check[4]) do audited[row] = true end
  limits = 0

  local footer, time, is_new
  if key then
    footer, time, is_new = read_log(key)
    add_limit(1, check[PER_MINUTE] - footer[2] + footer[3], audited[1])
    for w = 1, #fixed do add_limit(1 + w, check[PER_MINUTE + w] - footer[4 + 2 * w], audited[1 + w]) end
  end
  local tool_key, tool_footer, tool_time, tool_is_new = KEYS[check[PER_TOOL_MINUTE - 1]], nil, nil, nil
  if tool_key then
    tool_footer, tool_time, tool_is_new = read_log(tool_key)
    add_limit(TOOL, check[PER_TOOL_MINUTE] - tool_footer[2] + tool_footer[3], false)
  end
  local tokens_below_at, token_figures = {}, ''
  for t = 1, #token_limits do
    local bucket_key, limit, row = unpack(token_limits[t])
    local used, below_at = count_tokens(KEYS[bucket_key], limit)
    tokens_below_at[row] = below_at
    add_limit(row, below_at > 0 and 0 or huge, audited[row])
    token_figures = token_figures .. format(',[%d,%d]', max(0, limit - used), below_at)
  end
  for b = 1, #budgets do add_limit(BUDGETS - b, count_fits_in_budget(budgets[b]), budgets[b][3] == 1) end

  local admitted, rejected_by, would_reject = requested, 0, ''
  for l = 1, limits do
    if not is_audited[l] then admitted = max(0, min(admitted, fits[l])) end
  end
  for l = limits, 1, -1 do
    if is_audited[l] then
      if fits[l] < admitted then would_reject = format(',%d,%d', numbers[l], max(0, fits[l])) .. would_reject end
    elseif fits[l] <= admitted then
      rejected_by = numbers[l]
    end
  end

  if admitted > 0 then
    if key then append_to_log(key, footer, time, admitted, check, PER_MINUTE, is_new) end
    if tool_key then append_to_log(tool_key, tool_footer, tool_time, admitted, check, PER_TOOL_MINUTE, tool_is_new) end
    for b = 1, #budgets do
      local reservation, item = budgets[b][2], budgets[b][4]
      if reservation > 0 then
        granted[item] = granted[item] + admitted * reservation
        reserved[item] = reserved[item] + admitted * reservation
      end
    end
  end

  local retry_at, remaining, reset, others_figures = tokens_below_at[rejected_by] or 0, 0, 0, ''
  if key then
    local per_minute, live = check[PER_MINUTE], footer[2] - footer[3]
    remaining = max(0, per_minute - live)
    if live > 0 then reset = footer[4] + minute end
    if rejected_by == 1 then retry_at = minute_retry_at(key, footer, time, per_minute) end
    for w = 1, #fixed do
      local limit, count, ends = check[PER_MINUTE + w], footer[4 + 2 * w], footer[3 + 2 * w] + fixed[w]
      if rejected_by == 1 + w then retry_at = ends end
      if requested == 0 then
        others_figures = others_figures .. format(',[%d,%d]', max(0, limit - count), count > 0 and ends or 0)
      end
    end
    if requested == 0 then others_figures = others_figures .. token_figures end
  end
  if rejected_by == TOOL then retry_at = minute_retry_at(tool_key, tool_footer, tool_time, check[PER_TOOL_MINUTE]) end
  check_replies[i] = format('[%d,%d,%d,[%s],[%d,%d]%s]', admitted, rejected_by, retry_at, string.sub(would_reject, 2),
    remaining, reset, others_figures)
end

for at = 1, #held, PER_HELD do
  local i = held[at]
  if others[i] and stored_granted[i] ~= granted[i] then
    local item = PER_SPEND * (i - 1)
    call('HSET', KEYS[spends[item + 1]], 'reservations', pack_reservations(i, spends[item + 2], held[at + 1]))
  end
end
for _, i in ipairs(first_items) do
  local at = PER_SPEND * (i - 1)
  call('EXPIRE', KEYS[spends[at + 1]], max(KEPT_SEC_MIN, ceil(spends[at + 6] - now / 1000000)))
end
local spend_replies = {}
for i = 1, #previous do spend_replies[i] = format('%d,%d,%d', previous[i], spent[i], reserved[i]) end
return format('{"now":%d,"spends":[%s],"checks":[%s]}', now, table.concat(spend_replies, ','), table.concat(check_replies, ','))
