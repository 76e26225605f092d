-- admit.lua: one call decides and books everything that one turn of a data plane's event loop has for one hash slot.
-- Time is Redis's own. Money is nano-dollars. Needs Redis 6 or newer (SET KEEPTTL).
--
--   KEYS[1]     mark of the writer (`acg:{…}:w:<writer>`), written only by calls that carry spend or probe
--   KEYS[2…]    per spend item the agent's spend key prefix; then per look item its pair key and, where it asks for
--               spend, the spend key prefix. A spend key is prefix .. 'YYYY-MM', in the prefix's own slot.
--   ARGV[1]     binary, little-endian: header, spend items, look items (layout in admit-call.ts)
--   Returns     binary: {now µs, applied, mark before this call or -1}, per spend item the month's new total, per look item its verdict
--
-- A pair key is one string: the RPM log (uint32 µs stamps modulo 2^32, oldest first) and behind it a 32-byte footer
--   {last d, stop I4, front I4, oldest I4, day count I4, day start d}: log entries front…stop-1 may still be in the window.
-- An admission overwrites the footer by its stamp and the new footer: one read, one write, whatever the limit. The dead
-- front is dropped when it outweighs the live part, so a pair takes at most 8 bytes per admission of its busiest window.
-- Expiry is set where a day window starts, to the end of the last RPM window that can begin in it.
local FOOTER = '<dI4I4I4I4d'
local FOOTER_BYTES = 32
local DEAD_MIN = 32
local STAMPS = 4294967296
local call, pack, unpack = redis.call, struct.pack, struct.unpack
local arg = ARGV[1]
local minute, day, spend_ttl, seq, month, month_from, month_to, raise, write_mark, budgets, spends, looks, at =
  unpack('<ddddI4ddBBBI4I4', arg)
local clock = call('TIME')
local now = clock[1] * 1000000 + clock[2]
local key_at = 2
local reply = {}


-- The caller says which month it has and where that ends; only another clock than its own needs the calendar here.
local this_month, this_month_text = month, nil
if spends > 0 or budgets == 1 then
  local seconds = tonumber(clock[1])
  if seconds < month_from or seconds >= month_to then -- civil-from-days
    local z = math.floor(seconds / 86400) + 719468
    local era = math.floor(z / 146097)
    local doe = z - era * 146097
    local yoe = math.floor((doe - math.floor(doe / 1460) + math.floor(doe / 36524) - math.floor(doe / 146096)) / 365)
    local mp = math.floor((5 * (doe - (365 * yoe + math.floor(yoe / 4) - math.floor(yoe / 100))) + 2) / 153)
    local of_year = mp < 10 and mp + 2 or mp - 10
    this_month = (yoe + era * 400 + (of_year < 2 and 1 or 0)) * 12 + of_year
  end
  this_month_text = string.format('%04d-%02d', math.floor(this_month / 12), this_month % 12 + 1)
end

-- A call is repeated when its answer was lost with the connection; the mark tells whether it had arrived. A mark that
-- is lower than the writer knows it to be shows that this store lost data.
local applied, mark = 1, -1
if write_mark == 1 or budgets == 1 then
  mark = tonumber(call('GET', KEYS[1]) or 0)
  if write_mark == 1 then
    if mark >= seq then
      applied = 0
    else
      call('SET', KEYS[1], string.format('%.0f', seq), 'EX', 3600)
    end
  end
end
reply[1] = pack('<dBd', now, applied, mark)

for item = 1, spends do
  local cost, base, of_month, following = unpack('<ddI4', arg, at)
  at = following
  local total = 0
  if applied == 1 then
    local text = this_month_text
    if of_month ~= this_month then text = string.format('%04d-%02d', math.floor(of_month / 12), of_month % 12 + 1) end
    local key = KEYS[key_at] .. text
    local before = call('INCRBY', key, string.format('%.0f', cost)) - cost
    if before < base then call('INCRBY', key, string.format('%.0f', base - before)) end
    if before == 0 then call('EXPIRE', key, spend_ttl) end
    total = math.max(before, base) + cost
  end
  key_at = key_at + 1
  reply[item + 1] = pack('<d', total)
end

for item = 1, looks do
  local wanted, rpm, rpd, budget, seen, seen_month, ledger, ledger_month, following =
    unpack('<I4I4I4ddI4dI4', arg, at)
  at = following
  local key = KEYS[key_at]
  key_at = key_at + 1
  local last, stop, front, oldest, day_count, day_start = 0, 0, 0, 0, 0, 0
  local footer = call('GETRANGE', key, -FOOTER_BYTES, -1)
  local fresh = #footer < FOOTER_BYTES
  if not fresh then last, stop, front, oldest, day_count, day_start = unpack(FOOTER, footer) end
  local old_stop = stop
  local time = now
  if last > now then -- the clock went back: hold still for a little, start over for a lot
    if last - now > minute then front = stop else time = last end
    if day_start > time then day_start = time end
  end
  if front < stop then
    oldest = last - (last - oldest) % STAMPS
    if last + minute <= time then
      front = stop
    elseif oldest + minute <= time then
      -- The first entry still in the window, the newest at the latest: look ahead in doubling steps, then halve.
      local low, high, step = front, stop - 1, 1 -- low has expired, high has not
      while low + 1 < high do
        local probe = step > 0 and math.min(low + step, high - 1) or math.floor((low + high) / 2)
        local stamp = unpack('<I4', call('GETRANGE', key, probe * 4, probe * 4 + 3))
        if last - (last - stamp) % STAMPS + minute <= time then
          low = probe
          step = step * 2
        else
          high = probe
          step = 0
        end
      end
      front = high
      oldest = unpack('<I4', call('GETRANGE', key, front * 4, front * 4 + 3))
      oldest = last - (last - oldest) % STAMPS
    end
  end
  if time >= day_start + day then day_count = 0 end

  local spent = 0
  local in_budget = true
  if budget ~= -2 then -- -2: the caller does not ask for spend, -1: it does, but there is no budget
    -- Seeds a counter that was lost. `seen` was reported by the counter itself; `ledger` may hold spend that still waits
    -- in some data plane to be added, so it raises an existing counter only when the caller says that nothing can wait.
    if seen_month ~= this_month then seen = 0 end
    if ledger_month ~= this_month then ledger = 0 end
    local spend_key = KEYS[key_at] .. this_month_text
    key_at = key_at + 1
    local stored = call('GET', spend_key)
    spent = tonumber(stored or 0)
    local known = seen
    if ledger > known and (not stored or raise == 1) then known = ledger end
    if spent < known then
      spent = known
      call('SET', spend_key, string.format('%.0f', spent), 'EX', spend_ttl)
    end
    in_budget = budget < 0 or math.max(spent, ledger) < budget
  end

  local live = stop - front
  local admitted = 0
  if in_budget and wanted > 0 then admitted = math.max(0, math.min(wanted, rpm - live, rpd - day_count)) end
  if admitted > 0 then
    local stamp = pack('<I4', time % STAMPS)
    local stamps = admitted == 1 and stamp or string.rep(stamp, admitted)
    if live == 0 then oldest = time end
    local new_day = day_count == 0
    if new_day then day_start = time end
    day_count = day_count + admitted
    if new_day or fresh or live == 0 or (front >= DEAD_MIN and front >= live) then
      local kept = live > 0 and call('GETRANGE', key, front * 4, stop * 4 - 1) or ''
      front, stop = 0, live + admitted
      local value = kept .. stamps .. pack(FOOTER, time, stop, 0, oldest % STAMPS, day_count, day_start)
      if new_day then
        call('SET', key, value, 'PX', math.ceil((day + minute) / 1000))
      else
        call('SET', key, value, 'KEEPTTL')
      end
    else
      stop = stop + admitted
      call('SETRANGE', key, old_stop * 4, stamps .. pack(FOOTER, time, stop, front, oldest % STAMPS, day_count, day_start))
    end
    live = live + admitted
  end

  -- Why the rest of `wanted` was refused, and when the next request passes that check.
  local refusal, free_at = 0, 0
  if live >= rpm then
    refusal = 1
    local blocker = oldest
    if live > rpm and rpm > 0 then -- the limit was lowered below what is in the window
      local index = stop - rpm
      blocker = unpack('<I4', call('GETRANGE', key, index * 4, index * 4 + 3))
      blocker = time - (time - blocker) % STAMPS
    end
    free_at = blocker + minute
  elseif day_count >= rpd then
    refusal = 2
    free_at = day_start + day
  elseif not in_budget then
    refusal = 3
  end
  reply[spends + item + 1] = pack('<I4BI4ddI4dd', admitted, refusal, math.max(0, rpm - live), live > 0 and oldest + minute or 0,
    free_at, math.max(0, rpd - day_count), day_count > 0 and day_start + day or 0, spent)
end
return table.concat(reply)
