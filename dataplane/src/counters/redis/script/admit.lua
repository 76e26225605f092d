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
--     spends   [key, field, total, ledger, ledger only], and with reservations [… generation, granted, released]: a scope
--              in a calendar window. `field` names the writer; what it reports are sums that only grow
--     tokens   [key, tokens] of calls that have ended
--     checks   [requests, reservation, budgets, token limits, log, limit of the minute, limits of the fixed windows …,
--              log of the tool, limit of the tool's minute]. The last two are absent without a limit for the tool.
--              Admits the first requests that fit. No requests: a peek. `reservation`: of each request, in each budget.
--              `budgets`: [spend item, limit, row] each. `token limits`: [key, limit, row] each. `log` 0: budgets only
--   Returns  JSON {now, spends, checks}; only {now}, with nothing recorded, outside `valid`
--     spends   [previous, spent, reserved]: the writer's total before, then the sums of all writers
--     checks   [admitted, row that rejects the next request, -1 for the tool's limit, or 0, when it admits one, [remaining, reset] of the minute],
--              in a peek also [remaining, reset] of each fixed window and each token limit. Rows count from 1
local call, decode, format = redis.call, cjson.decode, string.format
local floor, ceil, max, min = math.floor, math.ceil, math.max, math.min
local pack_struct, unpack_struct = struct.pack, struct.unpack

local request = decode(ARGV[1])
local clock = call('TIME')
local now = clock[1] * 1000000 + clock[2]
local valid, minute, fixed = request.valid, request.minute, request.fixed
if valid and (now < valid[1] * 1000000 or now >= valid[2] * 1000000) then return format('{"now":%d}', now) end
if request.probe then call('SET', KEYS[request.probe], '1', 'PX', 1000) end

-- Adds what is new in a spend item. Returns the writer's total before, the spend of all writers, the reservations, and
-- whether nothing had been spent.
-- Spend is the higher of the sum and the ledger's figure, because the two overlap. Only `ledger_only` adds to the sum.
local function record_spend(key, field, total, new_ledger, new_ledger_only)
  local stored = call('HMGET', key, 'sum', 'ledger', 'ledger_only', field, 'reservations')
  local sum, ledger, ledger_only = tonumber(stored[1]) or 0, tonumber(stored[2]) or 0, tonumber(stored[3]) or 0
  local previous = tonumber(stored[4]) or 0
  if new_ledger > ledger or new_ledger_only > ledger_only then
    sum = sum + max(0, new_ledger_only - ledger_only)
    ledger, ledger_only = max(ledger, new_ledger), max(ledger_only, new_ledger_only)
    call('HSET', key, 'sum', format('%d', sum), 'ledger', format('%d', ledger), 'ledger_only', format('%d', ledger_only))
  end
  if total > previous then
    sum = sum + total - previous
    call('HSET', key, 'sum', format('%d', sum), field, format('%d', total))
  end
  return previous, max(sum, ledger), stored[5], not stored[1]
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

local function append_to_log(key, footer, time, admitted, is_new)
  local stop, front = footer[2], footer[3]
  local live, opens_window, expires = stop - front, is_new, 0
  if live == 0 then footer[4] = time end
  for w = 5, 3 + 2 * #fixed, 2 do
    if footer[w + 1] == 0 then
      footer[w], opens_window = time, true
    end
    footer[w + 1] = footer[w + 1] + admitted
    expires = max(expires, footer[w] + fixed[(w - 3) / 2])
  end
  local entries = string.rep(pack_struct('<I4', time % ENTRY_RANGE), admitted)
  local rewrites = opens_window or live == 0 or (front >= DROPPED_MIN and front >= live)
  if rewrites and live > 0 then entries = call('GETRANGE', key, front * 4, stop * 4 - 1) .. entries end
  footer[1], footer[2], footer[3] = time, stop + admitted, front
  if rewrites then footer[2], footer[3] = live + admitted, 0 end
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

local TOOL = -1 -- in place of a row
-- Of each spend item. `others` is nil where the item takes no reservations.
local SPEND_TTL_SEC = 32 * 86400
local previous, spent, is_first, reserved, others, granted, released = {}, {}, {}, {}, {}, {}, {}
local spends, checks, spend_replies, check_replies = request.spends or {}, request.checks or {}, {}, {}
for i = 1, #spends do
  local key, field, total, ledger, ledger_only, generation, own_granted, own_released = unpack(spends[i])
  local reservations
  previous[i], spent[i], reservations, is_first[i] = record_spend(KEYS[key], field, total, ledger, ledger_only)
  reserved[i] = 0
  if generation then
    others[i], reserved[i], granted[i], released[i] =
      read_reservations(reservations or '', field, generation, own_granted, own_released)
    reserved[i] = others[i] and reserved[i] + granted[i] - released[i] or 0
  end
end
for _, item in ipairs(request.tokens or {}) do add_tokens(KEYS[item[1]], item[2]) end

for i = 1, #checks do
  local check = checks[i]
  local requested, reservation, budgets, token_limits, key, per_minute =
    check[1], check[2], check[3], check[4], KEYS[check[5]], check[6]
  local capacity, rejected_by, retry_at = requested, 0, 0

  local footer, time, is_new, live
  if key then
    footer, time, is_new = read_log(key)
    live = footer[2] - footer[3]
    capacity = min(capacity, per_minute - live)
    for w = 1, #fixed do capacity = min(capacity, check[6 + w] - footer[4 + 2 * w]) end
  end
  local tool_key, per_tool_minute = KEYS[check[7 + #fixed]], check[8 + #fixed]
  local tool_footer, tool_time, tool_is_new
  if tool_key then
    tool_footer, tool_time, tool_is_new = read_log(tool_key)
    capacity = min(capacity, per_tool_minute - (tool_footer[2] - tool_footer[3]))
  end
  local token_rejection, token_retry_at, token_figures = 0, 0, ''
  for t = 1, #token_limits do
    local bucket_key, limit, row = unpack(token_limits[t])
    local used, below_at = count_tokens(KEYS[bucket_key], limit)
    if below_at > 0 then
      capacity = 0
      if token_rejection == 0 then token_rejection, token_retry_at = row, below_at end
    end
    token_figures = token_figures .. format(',[%d,%d]', max(0, limit - used), below_at)
  end
  local budget_rejection = 0
  for b = 1, #budgets do
    local item, limit, row = unpack(budgets[b])
    local fits = requested
    if reservation > 0 then
      fits = others[item] and floor((limit - spent[item] - reserved[item]) / reservation) or 0
    elseif spent[item] >= limit then
      fits = 0
    end
    capacity = min(capacity, fits)
    if fits < requested and budget_rejection == 0 then budget_rejection = row end
  end

  local admitted = max(0, capacity)
  if admitted > 0 then
    if key then append_to_log(key, footer, time, admitted, is_new) end
    if tool_key then append_to_log(tool_key, tool_footer, tool_time, admitted, tool_is_new) end
    if reservation > 0 then
      for b = 1, #budgets do
        local item = budgets[b][1]
        granted[item] = granted[item] + admitted * reservation
        reserved[item] = reserved[item] + admitted * reservation
      end
    end
  end

  local remaining, reset, others_figures = 0, 0, ''
  if key then
    live = footer[2] - footer[3]
    remaining = max(0, per_minute - live)
    if live > 0 then reset = footer[4] + minute end
    if live >= per_minute then
      rejected_by, retry_at = 1, minute_retry_at(key, footer, time, per_minute)
    end
    for w = 1, #fixed do
      local limit, count, ends = check[6 + w], footer[4 + 2 * w], footer[3 + 2 * w] + fixed[w]
      if rejected_by == 0 and count >= limit then rejected_by, retry_at = 1 + w, ends end
      if requested == 0 then
        others_figures = others_figures .. format(',[%d,%d]', max(0, limit - count), count > 0 and ends or 0)
      end
    end
    if requested == 0 then others_figures = others_figures .. token_figures end
  end
  if tool_key and rejected_by == 0 and tool_footer[2] - tool_footer[3] >= per_tool_minute then
    rejected_by, retry_at = TOOL, minute_retry_at(tool_key, tool_footer, tool_time, per_tool_minute)
  end
  if rejected_by == 0 then rejected_by, retry_at = token_rejection, token_retry_at end
  if rejected_by == 0 then rejected_by = budget_rejection end
  check_replies[i] = format('[%d,%d,%d,[%d,%d]%s]', admitted, rejected_by, retry_at, remaining, reset, others_figures)
end

for i = 1, #spends do
  local key, field, _, _, _, generation = unpack(spends[i])
  if others[i] then
    local own = pack_struct(RESERVATION, field, now + request.lease, generation, granted[i], released[i])
    call('HSET', KEYS[key], 'reservations', others[i] .. own)
  end
  if is_first[i] then call('EXPIRE', KEYS[key], SPEND_TTL_SEC) end
  spend_replies[i] = format('[%d,%d,%d]', previous[i], spent[i], reserved[i])
end
return format('{"now":%d,"spends":[%s],"checks":[%s]}', now, table.concat(spend_replies, ','), table.concat(check_replies, ','))
