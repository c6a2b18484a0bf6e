/** The Lua scripts for limits shared through Redis. Redis runs each script atomically. */

/**
 * The clock that all processes share (KEYS[1]). Each process sends its own estimate in ARGV[1], kept by its monotonic clock (empty if it
 * has not read the shared clock yet), and the largest estimate wins. So no wall clock moves it; that of the Redis machine only sets its
 * start. ARGV[2] is the process. A restarted Redis has a new epoch.
 */
const CLOCK = `
local clock = redis.call('HMGET', KEYS[1], 'at', 'epoch')
local given, known, epoch = tonumber(ARGV[1]), tonumber(clock[1]), clock[2]
local now = known or given
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
if given and given > now then now = given end
local second = math.floor(now / 1000)
if not known or second > math.floor(known / 1000) then redis.call('HSET', KEYS[1], 'at', string.format('%.0f', now)) end
if not epoch then
  local time = redis.call('TIME')
  epoch = ARGV[2] .. ':' .. time[1] .. ':' .. time[2]
  redis.call('HSET', KEYS[1], 'epoch', epoch)
end
`;

/**
 * A minute is a hash: its current second, the sums of its slots, and the slots (`r7`, `t7`: second modulo WINDOW). Active calls are a
 * sorted set by the second in which their lease ends. Redis expires both by its own wall clock, so late that a clock which is an hour ahead
 * drops no minute.
 */
const MINUTE = `${CLOCK}
local WINDOW = 61
local KEPT = 7200

local function minuteAt(key)
  local read = redis.call('HMGET', key, 'at', 'r', 't', 'nr', 'nt')
  local at = tonumber(read[1]) or second
  if at > second then
    redis.call('DEL', key)
    read, at = {}, second
  end
  local minute = { key = key, at = at, r = tonumber(read[2]) or 0, t = tonumber(read[3]) or 0,
    nr = tonumber(read[4]) or 0, nt = tonumber(read[5]) or 0 }
  local passed = math.min(second - minute.at, WINDOW)
  if passed > 0 then
    local slots = {}
    for s = second - passed + 1, second do
      slots[#slots + 1] = 'r' .. s % WINDOW
      slots[#slots + 1] = 't' .. s % WINDOW
    end
    local old = redis.call('HMGET', key, unpack(slots))
    for i = 1, #old, 2 do
      minute.r = minute.r - (tonumber(old[i]) or 0)
      minute.t = minute.t - (tonumber(old[i + 1]) or 0)
    end
    redis.call('HDEL', key, unpack(slots))
    minute.at = second
  end
  return minute
end

local function keep(minute)
  redis.call('HSET', minute.key, 'at', minute.at, 'r', minute.r, 't', minute.t, 'nr', minute.nr, 'nt', minute.nt)
  redis.call('EXPIRE', minute.key, KEPT)
end

local function count(minute, requests, tokens)
  minute.r, minute.t, minute.nr, minute.nt = minute.r + requests, minute.t + tokens, minute.at, minute.at
  redis.call('HINCRBY', minute.key, 'r' .. minute.at % WINDOW, requests)
  redis.call('HINCRBY', minute.key, 't' .. minute.at % WINDOW, tokens)
  keep(minute)
end
`;

/**
 * Admits a call or returns the reason of the refusal. KEYS: clock, then minute and calls of each key or account. ARGV: clock, process,
 * call, tokens, lease in seconds, then for each one requests per minute, tokens per minute and concurrent calls, -1 for no limit. Returns 1, the clock and for
 * each one second, requests, tokens, seconds until either is empty, and concurrent calls; or 0, the clock, the index of the key or account,
 * which limit (0 concurrent calls, 1 requests, 2 tokens), the wait, and the same figures of that one. Without a name the call is not
 * counted.
 */
export const ADMIT = `${MINUTE}
local call, tokens, lease = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])

local function wait(minute, slot, most)
  local slots = {}
  for s = minute.at + 1, minute.at + WINDOW do slots[#slots + 1] = slot .. s % WINDOW end
  local read = redis.call('HMGET', minute.key, unpack(slots))
  local left = minute[slot]
  for seconds = 1, WINDOW do
    left = left - (tonumber(read[seconds]) or 0)
    if left <= most then return seconds end
  end
  return WINDOW
end

local function untilEmpty(minute, sum, newest)
  if minute[sum] <= 0 then return 0 end
  return math.max(0, minute[newest] + WINDOW - minute.at)
end

local function used_in(minute)
  return minute.at, minute.r, minute.t, untilEmpty(minute, 'r', 'nr'), untilEmpty(minute, 't', 'nt'), minute.calls
end

local minutes = {}
for i = 1, (#KEYS - 1) / 2 do
  local requestsMost, tokensMost = tonumber(ARGV[3 + i * 3]), tonumber(ARGV[4 + i * 3])
  local callsMost = tonumber(ARGV[5 + i * 3])
  local minute = minuteAt(KEYS[i * 2])
  local limit, after = nil, 1
  minute.calls = 0
  if callsMost >= 0 then
    local calls = KEYS[i * 2 + 1]
    redis.call('ZREMRANGEBYSCORE', calls, '-inf', second)
    minute.calls = redis.call('ZCARD', calls)
    if minute.calls >= callsMost then limit = 0 end
  end
  if not limit and requestsMost >= 0 and minute.r >= requestsMost then
    limit, after = 1, wait(minute, 'r', requestsMost - 1)
  end
  if not limit and tokensMost >= 0 and minute.t + tokens > tokensMost then
    limit, after = 2, wait(minute, 't', tokensMost - tokens)
  end
  if limit then
    for _, seen in ipairs(minutes) do keep(seen) end
    keep(minute)
    return { 0, now, i - 1, limit, after, used_in(minute) }
  end
  minutes[i] = minute
end

local answer = { 1, now }
for i, minute in ipairs(minutes) do
  if call == '' then keep(minute) else count(minute, 1, tokens) end
  if call ~= '' and tonumber(ARGV[5 + i * 3]) >= 0 then
    redis.call('ZADD', KEYS[i * 2 + 1], second + lease, call)
    redis.call('EXPIRE', KEYS[i * 2 + 1], KEPT)
    minute.calls = minute.calls + 1
  end
  for _, figure in ipairs({ used_in(minute) }) do answer[#answer + 1] = figure end
end
return answer
`;

/**
 * Ends a call. KEYS as in ADMIT. ARGV: clock, process, call, used minus estimated tokens, then for each key or account the second in which
 * it was counted, empty if Redis did not count it. What Redis has expired meanwhile is not subtracted again.
 */
export const END = `${MINUTE}
local call, difference = ARGV[3], tonumber(ARGV[4])
for i = 1, (#KEYS - 1) / 2 do
  redis.call('ZREM', KEYS[i * 2 + 1], call)
  local counted = tonumber(ARGV[4 + i])
  if counted and difference ~= 0 then
    local minute = minuteAt(KEYS[i * 2])
    local gone = minute.at - counted >= WINDOW
    local slot = 't' .. (gone and minute.at or counted) % WINDOW
    local there = tonumber(redis.call('HGET', minute.key, slot)) or 0
    local change = math.max(difference, -there)
    if gone and difference < 0 then change = 0 end
    if change ~= 0 then
      redis.call('HINCRBY', minute.key, slot, change)
      minute.t = minute.t + change
      if gone then minute.nt = minute.at end
    end
    keep(minute)
  end
end
return 1
`;

/**
 * Adds what was admitted without Redis to the current second. KEYS: clock and minutes. ARGV: clock, process, then requests and tokens of
 * each.
 */
export const REPORT = `${MINUTE}
for i = 2, #KEYS do
  count(minuteAt(KEYS[i]), tonumber(ARGV[i * 2 - 1]), tonumber(ARGV[i * 2]))
end
return 1
`;

/** Renews the leases of active calls. KEYS: clock and their sorted set. ARGV: clock, process, lease in seconds, the calls. */
export const RENEW = `${CLOCK}
local lease = tonumber(ARGV[3])
for i = 4, #ARGV do redis.call('ZADD', KEYS[2], second + lease, ARGV[i]) end
redis.call('EXPIRE', KEYS[2], 7200)
return 1
`;

/** Removes calls that Redis may or may not know. KEYS: their sorted set. ARGV: the calls. */
export const RELEASE = `
redis.call('ZREM', KEYS[1], unpack(ARGV))
return 1
`;

/**
 * Renews the lease of the process. KEYS: clock and processes. ARGV: clock, process, lease in seconds. Returns clock, epoch, and the live
 * processes.
 */
export const PRESENT = `${CLOCK}
redis.call('ZADD', KEYS[2], second + tonumber(ARGV[3]), ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', second)
return { now, epoch, redis.call('ZRANGE', KEYS[2], 0, -1) }
`;

/** Removes the process. KEYS: processes. ARGV: process. */
export const LEAVE = `
redis.call('ZREM', KEYS[1], ARGV[1])
return 1
`;
