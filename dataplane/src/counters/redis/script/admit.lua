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
local LOOK = '<BI4I4' --[[each fixed]] .. 'I4' --[[end]]
local MORE = '<' --[[each token]] .. 'I4' --[[end]] .. 'dB'
local FOOTER = '<dI4I4I4' --[[each fixed]] .. 'I4d' --[[end]]
local FOOTER_BYTES = 20 --[[each fixed]] + 12 --[[end]]
local VERDICT = '<I4BdI4d' --[[each fixed]] .. 'I4d' --[[end]]
local MORE_VERDICT = '<' --[[each token]] .. 'I4d' --[[end]] .. 'dd'
local TOKENS = 1 --[[each fixed]] + 1 --[[end]]
local minute, spend_ttl, lease, month, month_from, month_to, probe, purses, pair_checks, token_items, --[[each fixed]]WINDOW, --[[end]]token_minute, at =
  read('<dddI4ddBI4I4I4--[[each fixed]]d--[[end]]d', arg)
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
if purses > 0 then
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
-- reservations (`held_too`) the write is deferred to the end of the script, together with field `h`.
local later = {}
local function book(prefix, month_name, field, total, ledger_floor, ledger_own, held_too)
  local key = prefix .. month_name
  local known = held_too and call('HMGET', key, 's', field, 'h') or call('HMGET', key, 's', field)
  local sum, known_floor, known_ledger, own = 0, 0, 0, 0
  if known[1] then sum, known_floor, known_ledger = read('<ddd', known[1]) end
  if known[2] then own = read('<d', known[2]) end
  local raised = ledger_floor > known_floor
  if raised then known_floor = ledger_floor end
  if ledger_own > known_ledger then
    sum = sum + ledger_own - known_ledger
    known_ledger = ledger_own
    raised = true
  end
  local grown = total > own
  if grown then sum = sum + total - own end
  if held_too then
    local sums = (grown or raised) and pack('<ddd', sum, known_floor, known_ledger)
    local holds = known[3] or call('HGET', prefix .. month_text(this_month - 1), 'h') or ''
    later[held_too] = { key, holds, sums, grown and field, total, not known[1] }
  elseif grown then
    call('HSET', key, 's', pack('<ddd', sum, known_floor, known_ledger), field, pack('<d', total))
  elseif raised then
    call('HSET', key, 's', pack('<ddd', sum, known_floor, known_ledger))
  end
  if not held_too and not known[1] and (raised or grown) then call('EXPIRE', key, spend_ttl) end
  return max(sum, known_floor), own
end

local spent, held, own_hold, others_holds, hold_version = {}, {}, {}, {}, {}
for item = 1, purses do
  local flags, of_month, total, ledger_floor, ledger_own, ledger_month, field, following =
    read('<BI4dddI4s', arg, at)
  at = following
  local prefix = KEYS[key_at]
  key_at = key_at + 1
  local now_spent, found = 0, 0
  local asked = flags % 2 == 1
  local holds = flags >= 2 and item
  if ledger_month ~= this_month then ledger_floor, ledger_own = 0, 0 end
  if of_month == this_month then
    now_spent, found = book(prefix, this_month_text, field, total, ledger_floor, ledger_own, holds)
  else
    local nothing
    if total > 0 then nothing, found = book(prefix, month_text(of_month), field, total, 0, 0) end
    if asked or holds then
      now_spent = book(prefix, this_month_text, field, 0, ledger_floor, ledger_own, holds)
    end
  end
  spent[item] = now_spent
  held[item] = 0
  if holds then
    local version, base, released
    version, base, released, at = read('<ddd', arg, at)
    local mine = base -- also when an earlier report of this writer, or its stored reservation, was lost
    local there, from, others = later[item][2], 1, ''
    while from <= #there do -- entries of field `h`
      local name, sum, deadline, stored_version, next_from = read('<sddd', there, from)
      if name == writer then
        if stored_version == version - 1 then
          mine = max(0, sum - released)
        elseif stored_version >= version then
          version = nil -- a newer report arrived first: ignore this one
          mine = sum
        end
      elseif deadline > now then
        held[item] = held[item] + sum
        others = others .. string.sub(there, from, next_from - 1)
      end
      from = next_from
    end
    own_hold[item] = mine
    others_holds[item] = others
    hold_version[item] = version
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
    local newest, there = read('<dd', buckets, upto - 15)
    if newest >= current then -- also after the clock stepped back
      current, tokens, upto = newest, tokens + there, upto - 16
    end
  end
  local value = string.sub(buckets, from, upto) .. pack('<dd', current, tokens)
  call('SET', key, value, 'PX', math.ceil(token_minute / 1000 + 2 * width / 1000))
end

for item = 1, pair_checks do
  -- Most agents have only request limits. Everything else is in the optional extension.
  local kind, wanted, rpm, --[[each fixed]] limit_I, --[[end]] following = read(LOOK, arg, at)
  at = following
  local pair = kind % 2
  local --[[each token]] tokens_I, --[[end]] hold, checks = --[[each token]] NO_LIMIT, --[[end]] 0, 0
  if kind >= 2 then --[[each token]] tokens_I, --[[end]] hold, checks, at = read(MORE, arg, at) end
  local room = wanted
  local last, stop, front, oldest, live = 0, 0, 0, 0, 0
  --[[each fixed]] local count_I, start_I = 0, 0 --[[end]]
  local key, old_stop, time, fresh
  if pair == 1 then
    key = KEYS[key_at]
    key_at = key_at + 1
    local footer = call('GETRANGE', key, -FOOTER_BYTES, -1)
    fresh = #footer < FOOTER_BYTES
    if not fresh then
      last, stop, front, oldest --[[each fixed]] , count_I, start_I --[[end]] = read(FOOTER, footer)
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
    room = min(room, rpm - live)
    --[[each fixed]]
    if start_I > time then start_I = time end
    if time >= start_I + WINDOW then count_I = 0 end
    room = min(room, limit_I - count_I)
    --[[end]]
  end

  local token_refusal, token_free_at = 0, 0
  --[[each token]]
  local left_I, reset_I = tokens_I, 0
  if tokens_I < NO_LIMIT then
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
      if used >= tokens_I and reset_I == 0 then reset_I = (bucket + BUCKETS + 1) * width end
    end
    left_I = max(0, tokens_I - used)
    if used >= tokens_I then
      room = 0
      if token_refusal == 0 then token_refusal, token_free_at = TOKENS + INDEX, reset_I end
    end
  end
  --[[end]]

  local purse_refusal, refused_purse, first_purse = 0, 0, 0
  local held_purse, held_budget, held_row = 0, 0, 0
  for i = 1, checks do
    local purse, row, budget
    purse, row, budget, at = read('<I4Bd', arg, at)
    if i == 1 then first_purse = purse end
    local fits
    if i == 1 and hold > 0 then
      held_purse, held_budget, held_row = purse, budget, row
      fits = floor((budget - spent[purse] - held[purse] - own_hold[purse]) / hold)
      if not hold_version[purse] then fits = 0 end
    else
      fits = spent[purse] < budget and wanted or 0
    end
    room = min(room, fits)
    if fits < 1 and wanted > 0 and purse_refusal == 0 then purse_refusal, refused_purse = row, purse end
  end

  local admitted = max(0, room)
  if admitted > 0 and held_purse > 0 then
    own_hold[held_purse] = own_hold[held_purse] + admitted * hold
    if spent[held_purse] + held[held_purse] + own_hold[held_purse] + hold > held_budget then
      purse_refusal, refused_purse = held_row, held_purse
    end
  end

  local refusal, free_at = 0, 0
  if pair == 1 then
    if admitted > 0 then
      local stamp = pack('<I4', time % STAMPS)
      local stamps = admitted == 1 and stamp or string.rep(stamp, admitted)
      if live == 0 then oldest = time end
      local opened = fresh
      local expires = time
      --[[each fixed]]
      if count_I == 0 then
        opened = true
        start_I = time
      end
      count_I = count_I + admitted
      expires = max(expires, start_I + WINDOW)
      --[[end]]
      if opened or live == 0 or (front >= DEAD_MIN and front >= live) then
        local kept = live > 0 and call('GETRANGE', key, front * 4, stop * 4 - 1) or ''
        front, stop = 0, live + admitted
        local value = kept
          .. stamps
          .. pack(FOOTER, time, stop, 0, oldest % STAMPS --[[each fixed]] , count_I, start_I --[[end]] )
        if opened then
          call('SET', key, value, 'PX', math.ceil((expires + minute - now) / 1000))
        else
          call('SET', key, value, 'KEEPTTL')
        end
      else
        stop = stop + admitted
        local footer = pack(FOOTER, time, stop, front, oldest % STAMPS --[[each fixed]] , count_I, start_I --[[end]] )
        call('SETRANGE', key, old_stop * 4, stamps .. footer)
      end
      live = live + admitted
    end

    -- The row that rejects the next request, and when that check admits it.
    if live >= rpm then
      refusal = 1
      local blocker = oldest
      if live > rpm and rpm > 0 then -- the limit was lowered below the current count
        local index = stop - rpm
        blocker = read('<I4', call('GETRANGE', key, index * 4, index * 4 + 3))
        blocker = time - (time - blocker) % STAMPS
      end
      free_at = blocker + minute
    end
    --[[each fixed]]
    if refusal == 0 and count_I >= limit_I then refusal, free_at = 1 + INDEX, start_I + WINDOW end
    --[[end]]
  end
  if refusal == 0 then refusal, free_at = token_refusal, token_free_at end
  if refusal == 0 then refusal = purse_refusal end
  local shown = purse_refusal > 0 and refused_purse or first_purse
  reply[#reply + 1] = pack(VERDICT, admitted, refusal, free_at, max(0, rpm - live), live > 0 and oldest + minute or 0
    --[[each fixed]] , max(0, limit_I - count_I), count_I > 0 and start_I + WINDOW or 0 --[[end]])
  if kind >= 2 then
    reply[#reply + 1] = pack(MORE_VERDICT, --[[each token]] left_I, reset_I, --[[end]]
      spent[shown] or 0, (held[shown] or 0) + (own_hold[shown] or 0))
  end
end

for item, due in pairs(later) do
  local key, there, sums, field, total, fresh = due[1], due[2], due[3], due[4], due[5], due[6]
  local version, holds = hold_version[item], there
  if version then
    holds = others_holds[item]
    if own_hold[item] > 0 then
      holds = holds .. pack('<sddd', writer, own_hold[item], now + lease, version)
    end
  end
  if field then
    call('HSET', key, 'h', holds, 's', sums, field, pack('<d', total))
  elseif sums then
    call('HSET', key, 'h', holds, 's', sums)
  elseif holds ~= there then
    call('HSET', key, 'h', holds)
  end
  if fresh and (sums or holds ~= there) then call('EXPIRE', key, spend_ttl) end
end

return table.concat(reply)
