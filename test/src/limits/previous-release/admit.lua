-- admit.lua: decides and records everything that one event-loop tick of a data plane sends for one hash slot. Atomic.
-- Uses the clock of Redis. Money is nano-dollars. Needs Redis 6 or newer (SET KEEPTTL).
--
--   KEYS        In the order of the items: per spend item its month key prefix; per token item its token key; per
--               admission check its agent-provider key (if it has one) and a token key for each token limit that is set.
--               The key that a probe writes comes before all of them.
--   ARGV[1]     binary, little-endian: header, spend items, token items, admission checks (layout in admit-codec.ts)
--   ARGV[2]     the writer id: one process run
--   Returns     binary: {now µs}, per spend item its month figures, per admission check its verdict
--
-- An agent-provider key is one string: the log of the sliding window (uint32 µs stamps modulo 2^32, oldest first), then
-- a footer {last d, stop I4, front I4, oldest I4, then per fixed window count I4, start d}. Log entries front…stop-1
-- may still be in the window. An admission overwrites the footer with its stamp and a new footer: one read and one
-- write, whatever the limit. Entries before front are dropped when they outweigh the live ones, so a key takes at most
-- 8 bytes per admission of its busiest window. The key expires when the last open window has ended.
--
-- A month key (prefix .. 'YYYY-MM') is a hash. Each writer owns one field, {total d}, and reports its total repeatedly;
-- only the increase raises the field and the sum. Field `s` is {sum d, floor d, ledger d}. Floor is the ledger's figure
-- of the whole month. Ledger is the part that only the ledger counts; its growth is included in the sum. Spent is
-- max(sum, floor), because the two overlap.
--
-- Field `h` has the reservations, {writer s, sum d, deadline µs d, version d} per writer. A reservation after its
-- deadline does not count, and the next write drops it. It is in the same hash as the spend, so that a settlement
-- writes both in one command; a check without reservations never reads it. It belongs to the current month: the month's
-- first call with reservations copies it from the month before.
--
-- A token key is one string of {bucket d, tokens d}, oldest first; a bucket is a 60th of its window.
--
-- Sections between `each fixed` (fixed windows) or `each token` (token windows) and `end` are expanded once per such
-- row of the limit table when the script is loaded (admit-script.ts). There INDEX and the I in `_I` become 1, 2 …
local DEAD_MIN = 32
local STAMPS = 4294967296
local NO_LIMIT = 4294967295
local BUCKETS = 60
local call, pack, read, floor, max, min = redis.call, struct.pack, struct.unpack, math.floor, math.max, math.min
local arg, writer = ARGV[1], ARGV[2]
local CHECK_FORMAT = '<BI4I4'  .. 'I4' 
local EXTENSION_FORMAT = '<'  .. 'I4'  .. 'dB'
local FOOTER_FORMAT = '<dI4I4I4'  .. 'I4d' 
local FOOTER_BYTES = 20  + 12 
local VERDICT_FORMAT = '<I4BdI4d'  .. 'I4d' 
local EXTENSION_VERDICT_FORMAT = '<'  .. 'I4d'  .. 'dd'
local ROWS_BEFORE_TOKENS = 1  + 1 
local minute, spend_ttl, lease, month, month_from, month_to, probe, spend_items, admission_checks, token_items, day, token_minute, at =
  read('<dddI4ddBI4I4I4dd', arg)
local clock = call('TIME')
local now = clock[1] * 1000000 + clock[2]
local key_at = 1
local reply = { pack('<d', now) }
local month_text = function(number) return string.format('%04d-%02d', floor(number / 12), number % 12 + 1) end

if probe == 1 then
  call('SET', KEYS[1], '1', 'PX', 1000)
  key_at = 2
end

-- The caller sends its month with start and end. The script computes the calendar only if Redis's clock is in another
-- month.
local this_month, this_month_text = month, nil
if spend_items > 0 then
  local seconds = tonumber(clock[1])
  if seconds < month_from or seconds >= month_to then -- civil-from-days
    local z = floor(seconds / 86400) + 719468
    local era = floor(z / 146097)
    local doe = z - era * 146097
    local yoe = floor((doe - floor(doe / 1460) + floor(doe / 36524) - floor(doe / 146096)) / 365)
    local mp = floor((5 * (doe - (365 * yoe + floor(yoe / 4) - floor(yoe / 100))) + 2) / 153)
    local of_year = mp < 10 and mp + 2 or mp - 10
    this_month = (yoe + era * 400 + (of_year < 2 and 1 or 0)) * 12 + of_year
  end
  this_month_text = month_text(this_month)
end

-- Records a writer's total and the ledger's figures. Returns the month's spend and the field's previous total. With
-- reservations (`reservation_item`) the write is deferred to the end of the script, together with field `h`.
local deferred_writes = {}
local function record_spend(prefix, month_name, field, total, ledger_floor, ledger_own, reservation_item)
  local key = prefix .. month_name
  local stored = reservation_item and call('HMGET', key, 's', field, 'h') or call('HMGET', key, 's', field)
  local sum, known_floor, known_ledger, previous_total = 0, 0, 0, 0
  if stored[1] then sum, known_floor, known_ledger = read('<ddd', stored[1]) end
  if stored[2] then previous_total = read('<d', stored[2]) end
  local raised = ledger_floor > known_floor
  if raised then known_floor = ledger_floor end
  if ledger_own > known_ledger then
    sum = sum + ledger_own - known_ledger
    known_ledger = ledger_own
    raised = true
  end
  local grown = total > previous_total
  if grown then sum = sum + total - previous_total end
  if reservation_item then
    local sums = (grown or raised) and pack('<ddd', sum, known_floor, known_ledger)
    local reservations = stored[3] or call('HGET', prefix .. month_text(this_month - 1), 'h') or ''
    deferred_writes[reservation_item] = { key, reservations, sums, grown and field, total, not stored[1] }
  elseif grown then
    call('HSET', key, 's', pack('<ddd', sum, known_floor, known_ledger), field, pack('<d', total))
  elseif raised then
    call('HSET', key, 's', pack('<ddd', sum, known_floor, known_ledger))
  end
  if not reservation_item and not stored[1] and (raised or grown) then call('EXPIRE', key, spend_ttl) end
  return max(sum, known_floor), previous_total
end

local spent, others_reserved, own_reserved, others_reservations, reservation_version = {}, {}, {}, {}, {}
for item = 1, spend_items do
  local flags, of_month, total, ledger_floor, ledger_own, ledger_month, field, following =
    read('<BI4dddI4s', arg, at)
  at = following
  local prefix = KEYS[key_at]
  key_at = key_at + 1
  local now_spent, found = 0, 0
  local needs_spent = flags % 2 == 1
  local reservation_item = flags >= 2 and item
  if ledger_month ~= this_month then ledger_floor, ledger_own = 0, 0 end
  if of_month == this_month then
    now_spent, found = record_spend(prefix, this_month_text, field, total, ledger_floor, ledger_own, reservation_item)
  else
    local nothing
    if total > 0 then nothing, found = record_spend(prefix, month_text(of_month), field, total, 0, 0) end
    if needs_spent or reservation_item then
      now_spent = record_spend(prefix, this_month_text, field, 0, ledger_floor, ledger_own, reservation_item)
    end
  end
  spent[item] = now_spent
  others_reserved[item] = 0
  if reservation_item then
    local version, base, released
    version, base, released, at = read('<ddd', arg, at)
    local own_sum = base -- also when an earlier report of this writer, or its stored reservation, was lost
    local stored_reservations, from, others = deferred_writes[item][2], 1, ''
    while from <= #stored_reservations do -- entries of field `h`
      local name, sum, deadline, stored_version, next_from = read('<sddd', stored_reservations, from)
      if name == writer then
        if stored_version == version - 1 then
          own_sum = max(0, sum - released)
        elseif stored_version >= version then
          version = nil -- a newer report arrived first: ignore this one
          own_sum = sum
        end
      elseif deadline > now then
        others_reserved[item] = others_reserved[item] + sum
        others = others .. string.sub(stored_reservations, from, next_from - 1)
      end
      from = next_from
    end
    own_reserved[item] = own_sum
    others_reservations[item] = others
    reservation_version[item] = version
  end
  reply[#reply + 1] = pack('<I4dd', this_month, found, now_spent)
end

for item = 1, token_items do
  local tokens, following = read('<d', arg, at)
  at = following
  local key = KEYS[key_at]
  key_at = key_at + 1
  local width = token_minute / BUCKETS
  local current = floor(now / width)
  local buckets = call('GET', key) or ''
  local from = 1
  while from <= #buckets and read('<d', buckets, from) + BUCKETS < current do from = from + 16 end
  local upto = #buckets
  if upto - 15 >= from then
    local newest, newest_tokens = read('<dd', buckets, upto - 15)
    if newest >= current then -- also after the clock stepped back
      current, tokens, upto = newest, tokens + newest_tokens, upto - 16
    end
  end
  local value = string.sub(buckets, from, upto) .. pack('<dd', current, tokens)
  call('SET', key, value, 'PX', math.ceil(token_minute / 1000 + 2 * width / 1000))
end

for item = 1, admission_checks do
  -- Most agents have only request limits. Everything else is in the optional extension.
  local flags, requested, rpm,  limit_1,  following = read(CHECK_FORMAT, arg, at)
  at = following
  local has_key = flags % 2
  local  tokens_1,  reservation, budget_checks =  NO_LIMIT,  0, 0
  if flags >= 2 then  tokens_1,  reservation, budget_checks, at = read(EXTENSION_FORMAT, arg, at) end
  local capacity = requested
  local last, stop, front, oldest, live = 0, 0, 0, 0, 0
   local count_1, start_1 = 0, 0 
  local key, old_stop, time, fresh
  if has_key == 1 then
    key = KEYS[key_at]
    key_at = key_at + 1
    local footer = call('GETRANGE', key, -FOOTER_BYTES, -1)
    fresh = #footer < FOOTER_BYTES
    if not fresh then
      last, stop, front, oldest  , count_1, start_1  = read(FOOTER_FORMAT, footer)
    end
    old_stop, time = stop, now
    if last > now then -- the clock stepped back: freeze the time after a small step, empty the log after a large one
      if last - now > minute then front = stop else time = last end
    end
    if front < stop then
      oldest = last - (last - oldest) % STAMPS
      if last + minute <= time then
        front = stop
      elseif oldest + minute <= time then
        -- Finds the first entry still in the window: gallop in doubling steps, then bisect.
        local low, high, step = front, stop - 1, 1 -- low has expired, high has not
        while low + 1 < high do
          local probed = step > 0 and min(low + step, high - 1) or floor((low + high) / 2)
          local stamp = read('<I4', call('GETRANGE', key, probed * 4, probed * 4 + 3))
          if last - (last - stamp) % STAMPS + minute <= time then
            low = probed
            step = step * 2
          else
            high = probed
            step = 0
          end
        end
        front = high
        oldest = read('<I4', call('GETRANGE', key, front * 4, front * 4 + 3))
        oldest = last - (last - oldest) % STAMPS
      end
    end
    live = stop - front
    capacity = min(capacity, rpm - live)
    
    if start_1 > time then start_1 = time end
    if time >= start_1 + day then count_1 = 0 end
    capacity = min(capacity, limit_1 - count_1)
    
  end

  local token_rejection, token_retry_at = 0, 0
  
  local left_1, reset_1 = tokens_1, 0
  if tokens_1 < NO_LIMIT then
    local buckets = call('GET', KEYS[key_at]) or ''
    key_at = key_at + 1
    local width = token_minute / BUCKETS
    local current = floor(now / width)
    local used = 0
    for from = #buckets - 15, 1, -16 do
      local bucket, tokens = read('<dd', buckets, from)
      if bucket + BUCKETS < current then break end
      used = used + tokens
      -- Newest first: the first bucket that raises the sum to the limit must expire before a call passes.
      if used >= tokens_1 and reset_1 == 0 then reset_1 = (bucket + BUCKETS + 1) * width end
    end
    left_1 = max(0, tokens_1 - used)
    if used >= tokens_1 then
      capacity = 0
      if token_rejection == 0 then token_rejection, token_retry_at = ROWS_BEFORE_TOKENS + 1, reset_1 end
    end
  end
  

  local budget_rejection, rejecting_item, first_item = 0, 0, 0
  local reserved_item, reserved_budget, reserved_row = 0, 0, 0
  for i = 1, budget_checks do
    local spend_item, row, budget
    spend_item, row, budget, at = read('<I4Bd', arg, at)
    if i == 1 then first_item = spend_item end
    local fits
    if i == 1 and reservation > 0 then
      reserved_item, reserved_budget, reserved_row = spend_item, budget, row
      fits = floor((budget - spent[spend_item] - others_reserved[spend_item] - own_reserved[spend_item]) / reservation)
      if not reservation_version[spend_item] then fits = 0 end
    else
      fits = spent[spend_item] < budget and requested or 0
    end
    capacity = min(capacity, fits)
    if fits < 1 and requested > 0 and budget_rejection == 0 then budget_rejection, rejecting_item = row, spend_item end
  end

  local admitted = max(0, capacity)
  if admitted > 0 and reserved_item > 0 then
    own_reserved[reserved_item] = own_reserved[reserved_item] + admitted * reservation
    if spent[reserved_item] + others_reserved[reserved_item] + own_reserved[reserved_item] + reservation > reserved_budget then
      budget_rejection, rejecting_item = reserved_row, reserved_item
    end
  end

  local rejection, retry_at = 0, 0
  if has_key == 1 then
    if admitted > 0 then
      local stamp = pack('<I4', time % STAMPS)
      local stamps = admitted == 1 and stamp or string.rep(stamp, admitted)
      if live == 0 then oldest = time end
      local opened = fresh
      local expires = time
      
      if count_1 == 0 then
        opened = true
        start_1 = time
      end
      count_1 = count_1 + admitted
      expires = max(expires, start_1 + day)
      
      if opened or live == 0 or (front >= DEAD_MIN and front >= live) then
        local kept = live > 0 and call('GETRANGE', key, front * 4, stop * 4 - 1) or ''
        front, stop = 0, live + admitted
        local value = kept
          .. stamps
          .. pack(FOOTER_FORMAT, time, stop, 0, oldest % STAMPS  , count_1, start_1  )
        if opened then
          call('SET', key, value, 'PX', math.ceil((expires + minute - now) / 1000))
        else
          call('SET', key, value, 'KEEPTTL')
        end
      else
        stop = stop + admitted
        local footer = pack(FOOTER_FORMAT, time, stop, front, oldest % STAMPS  , count_1, start_1  )
        call('SETRANGE', key, old_stop * 4, stamps .. footer)
      end
      live = live + admitted
    end

    -- The row that rejects the next request, and when that check admits it.
    if live >= rpm then
      rejection = 1
      local blocker = oldest
      if live > rpm and rpm > 0 then -- the limit was lowered below the current count
        local index = stop - rpm
        blocker = read('<I4', call('GETRANGE', key, index * 4, index * 4 + 3))
        blocker = time - (time - blocker) % STAMPS
      end
      retry_at = blocker + minute
    end
    
    if rejection == 0 and count_1 >= limit_1 then rejection, retry_at = 1 + 1, start_1 + day end
    
  end
  if rejection == 0 then rejection, retry_at = token_rejection, token_retry_at end
  if rejection == 0 then rejection = budget_rejection end
  local reported_item = budget_rejection > 0 and rejecting_item or first_item
  reply[#reply + 1] = pack(VERDICT_FORMAT, admitted, rejection, retry_at, max(0, rpm - live), live > 0 and oldest + minute or 0
     , max(0, limit_1 - count_1), count_1 > 0 and start_1 + day or 0 )
  if flags >= 2 then
    reply[#reply + 1] = pack(EXTENSION_VERDICT_FORMAT,  left_1, reset_1, 
      spent[reported_item] or 0, (others_reserved[reported_item] or 0) + (own_reserved[reported_item] or 0))
  end
end

for item, write in pairs(deferred_writes) do
  local key, stored_reservations, sums, field, total, fresh = write[1], write[2], write[3], write[4], write[5], write[6]
  local version, reservations = reservation_version[item], stored_reservations
  if version then
    reservations = others_reservations[item]
    if own_reserved[item] > 0 then
      reservations = reservations .. pack('<sddd', writer, own_reserved[item], now + lease, version)
    end
  end
  if field then
    call('HSET', key, 'h', reservations, 's', sums, field, pack('<d', total))
  elseif sums then
    call('HSET', key, 'h', reservations, 's', sums)
  elseif reservations ~= stored_reservations then
    call('HSET', key, 'h', reservations)
  end
  if fresh and (sums or reservations ~= stored_reservations) then call('EXPIRE', key, spend_ttl) end
end

return table.concat(reply)
