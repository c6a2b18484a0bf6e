/** What Redis runs for limits that several processes share: each script is one step that nobody comes between. */

/**
 * A minute is a hash: the second it stands at, the sums of its 60 slots, and the slots (`r7`, `t7`: second modulo 60). The calls
 * under way are a sorted set by the second their lease ends. `ARGV[1]` is the second it is, or empty: Redis's own clock.
 */
const MINUTE = `
local second = tonumber(ARGV[1]) or tonumber(redis.call('TIME')[1])
local WINDOW = 60
local KEPT = 120

local function minuteAt(key)
  local read = redis.call('HMGET', key, 'at', 'r', 't', 'nr', 'nt')
  local minute = { key = key, at = tonumber(read[1]) or second, r = tonumber(read[2]) or 0, t = tonumber(read[3]) or 0,
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

local function untilEmpty(minute, sum, newest)
  if minute[sum] <= 0 then return 0 end
  return math.max(0, minute[newest] + WINDOW - minute.at)
end
`;

/**
 * Lets a call in or says why not. KEYS: minute and calls of each. ARGV: clock, call, tokens, lease in seconds, then of each requests
 * and tokens per minute and calls at once, -1 for none. Answers 1 and, of each, second, requests, tokens and when either is
 * empty; or 0, which of them, which limit (0 calls at once, 1 requests, 2 tokens), the wait, and the same of that one.
 */
export const ADMIT = `${MINUTE}
local call, tokens, lease = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

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

local function told(minute)
  return minute.at, minute.r, minute.t, untilEmpty(minute, 'r', 'nr'), untilEmpty(minute, 't', 'nt')
end

local minutes = {}
for i = 1, #KEYS / 2 do
  local requestsMost, tokensMost = tonumber(ARGV[2 + i * 3]), tonumber(ARGV[3 + i * 3])
  local callsMost = tonumber(ARGV[4 + i * 3])
  local minute = minuteAt(KEYS[i * 2 - 1])
  local limit, after = nil, 1
  if callsMost >= 0 then
    redis.call('ZREMRANGEBYSCORE', KEYS[i * 2], '-inf', second)
    if redis.call('ZCARD', KEYS[i * 2]) >= callsMost then limit = 0 end
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
    return { 0, i - 1, limit, after, told(minute) }
  end
  minutes[i] = minute
end

local answer = { 1 }
for i, minute in ipairs(minutes) do
  minute.r, minute.t, minute.nr, minute.nt = minute.r + 1, minute.t + tokens, minute.at, minute.at
  redis.call('HINCRBY', minute.key, 'r' .. minute.at % WINDOW, 1)
  redis.call('HINCRBY', minute.key, 't' .. minute.at % WINDOW, tokens)
  keep(minute)
  if tonumber(ARGV[4 + i * 3]) >= 0 then
    redis.call('ZADD', KEYS[i * 2], second + lease, call)
    redis.call('EXPIRE', KEYS[i * 2], lease)
  end
  for _, figure in ipairs({ told(minute) }) do answer[#answer + 1] = figure end
end
return answer
`;

/**
 * Ends a call. KEYS as above. ARGV: clock, call, how many tokens more or less it used than it had asked for, then of each the second
 * it was counted at; empty where Redis did not count it. What Redis has forgotten meanwhile is not taken off again.
 */
export const END = `${MINUTE}
local call, difference = ARGV[2], tonumber(ARGV[3])
for i = 1, #KEYS / 2 do
  redis.call('ZREM', KEYS[i * 2], call)
  local counted = tonumber(ARGV[3 + i])
  if counted and difference ~= 0 then
    local minute = minuteAt(KEYS[i * 2 - 1])
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

/** Shows that calls are still under way. KEYS: their sorted set. ARGV: clock, lease in seconds, the calls. */
export const RENEW = `
local second = tonumber(ARGV[1]) or tonumber(redis.call('TIME')[1])
local lease = tonumber(ARGV[2])
for i = 3, #ARGV do redis.call('ZADD', KEYS[1], second + lease, ARGV[i]) end
redis.call('EXPIRE', KEYS[1], lease)
return 1
`;
