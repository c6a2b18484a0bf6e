/** What Redis runs for limits that several processes share: each script is one step that nobody comes between. */

/**
 * The clock that all processes share: KEYS[1]. Each says in ARGV[1] what it makes of it by its own monotonic clock (empty where it has
 * not heard it yet), and the greatest counts: no wall clock moves it, neither theirs nor that of Redis's machine, which only sets
 * where it begins. ARGV[2] is the process. A Redis that was started anew has another epoch.
 */
const CLOCK = `
local clock = redis.call('HMGET', KEYS[1], 'at', 'epoch')
local said, known, epoch = tonumber(ARGV[1]), tonumber(clock[1]), clock[2]
local now = known or said
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
if said and said > now then now = said end
local second = math.floor(now / 1000)
if not known or second > math.floor(known / 1000) then redis.call('HSET', KEYS[1], 'at', string.format('%.0f', now)) end
if not epoch then
  local time = redis.call('TIME')
  epoch = ARGV[2] .. ':' .. time[1] .. ':' .. time[2]
  redis.call('HSET', KEYS[1], 'epoch', epoch)
end
`;

/**
 * A minute is a hash: the second it stands at, the sums of its slots, and the slots (`r7`, `t7`: second modulo WINDOW). The calls
 * under way are a sorted set by the second their lease ends. Redis forgets both by its own wall clock: so late that an hour too much
 * empties no minute.
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
 * Lets a call in or says why not. KEYS: clock, then minute and calls of each. ARGV: clock, process, call, tokens, lease in seconds, then
 * of each requests and tokens per minute and calls at once, -1 for none. Answers 1, the clock and, of each, second, requests,
 * tokens, when either is empty, and the calls at once; or 0, the clock, which of them, which limit (0 calls at once, 1 requests,
 * 2 tokens), the wait, and the same of that one.
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

local function told(minute)
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
    return { 0, now, i - 1, limit, after, told(minute) }
  end
  minutes[i] = minute
end

local answer = { 1, now }
for i, minute in ipairs(minutes) do
  count(minute, 1, tokens)
  if tonumber(ARGV[5 + i * 3]) >= 0 then
    redis.call('ZADD', KEYS[i * 2 + 1], second + lease, call)
    redis.call('EXPIRE', KEYS[i * 2 + 1], KEPT)
    minute.calls = minute.calls + 1
  end
  for _, figure in ipairs({ told(minute) }) do answer[#answer + 1] = figure end
end
return answer
`;

/**
 * Ends a call. KEYS as above. ARGV: clock, process, call, how many tokens more or less it used than it had asked for, then of each the
 * second it was counted at; empty where Redis did not count it. What Redis has forgotten meanwhile is not taken off again.
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

/** Counts what was let in without Redis, as of now. KEYS: clock and minutes. ARGV: clock, process, then of each requests and tokens. */
export const REPORT = `${MINUTE}
for i = 2, #KEYS do
  count(minuteAt(KEYS[i]), tonumber(ARGV[i * 2 - 1]), tonumber(ARGV[i * 2]))
end
return 1
`;

/** Shows that calls are still under way. KEYS: clock and their sorted set. ARGV: clock, process, lease in seconds, the calls. */
export const RENEW = `${CLOCK}
local lease = tonumber(ARGV[3])
for i = 4, #ARGV do redis.call('ZADD', KEYS[2], second + lease, ARGV[i]) end
redis.call('EXPIRE', KEYS[2], 7200)
return 1
`;

/** Ends calls that Redis may not know. KEYS: their sorted set. ARGV: the calls. */
export const RELEASE = `
redis.call('ZREM', KEYS[1], unpack(ARGV))
return 1
`;

/** Shows that the process lives. KEYS: clock and processes. ARGV: clock, process, lease in seconds. Answers clock, epoch, and who lives. */
export const PRESENT = `${CLOCK}
redis.call('ZADD', KEYS[2], second + tonumber(ARGV[3]), ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', second)
return { now, epoch, redis.call('ZRANGE', KEYS[2], 0, -1) }
`;

/** The process goes. KEYS: processes. ARGV: process. */
export const LEAVE = `
redis.call('ZREM', KEYS[1], ARGV[1])
return 1
`;
