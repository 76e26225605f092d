-- previous-spend.lua: spend and reservations of one scope in one month, in the layout of the previous release. Atomic.
-- Money is nano-dollars.
--
--   KEYS[1]  hash of the scope's month: field `s` {sum d, ledger d, ledger only d}, one field {total d} for each writer,
--            field `h` with {writer s, reserved d, deadline µs d, version d} for each writer with reservations
--   ARGV     writer, its total, its reservations, version (grows with each call of the writer), lease in µs; then
--            [budget, reservation] of each waiting request
--   Returns  [spent, reserved by all writers, then 1 or 0 for each request: whether it fits]; [] after a newer version
local call, pack, unpack_struct = redis.call, struct.pack, struct.unpack
local SPEND_TTL_SEC = 32 * 86400

local key, writer = KEYS[1], ARGV[1]
local total, own_reserved, version, lease = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local clock = call('TIME')
local now = clock[1] * 1000000 + clock[2]
local stored = call('HMGET', key, 's', writer, 'h')
local is_new = not stored[1] and not stored[3]
local sum, ledger, ledger_only = 0, 0, 0
if stored[1] then sum, ledger, ledger_only = unpack_struct('<ddd', stored[1]) end

local previous_total = stored[2] and unpack_struct('<d', stored[2]) or 0
if total > previous_total then
  sum = sum + total - previous_total
  call('HSET', key, 's', pack('<ddd', sum, ledger, ledger_only), writer, pack('<d', total))
end
local spent = math.max(sum, ledger)

local reservations, others, others_reserved, at = stored[3] or '', '', 0, 1
while at <= #reservations do
  local its_writer, its_reserved, deadline, its_version, next_at = unpack_struct('<sddd', reservations, at)
  if its_writer == writer then
    if its_version >= version then return {} end
  elseif deadline > now then
    others, others_reserved = others .. string.sub(reservations, at, next_at - 1), others_reserved + its_reserved
  end
  at = next_at
end

local reply = { spent, 0 }
for i = 6, #ARGV, 2 do
  local budget, reservation = tonumber(ARGV[i]), tonumber(ARGV[i + 1])
  local fits = spent < budget
  if reservation > 0 then fits = spent + others_reserved + own_reserved + reservation <= budget end
  if fits then own_reserved = own_reserved + reservation end
  reply[#reply + 1] = fits and 1 or 0
end
reply[2] = others_reserved + own_reserved

if own_reserved > 0 then others = others .. pack('<sddd', writer, own_reserved, now + lease, version) end
if others ~= reservations then call('HSET', key, 'h', others) end
if is_new then call('EXPIRE', key, SPEND_TTL_SEC) end
return reply
