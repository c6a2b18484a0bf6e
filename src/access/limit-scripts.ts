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
    nr = tonumber(read[4]) or 0, nt = tonumber(read[5]) or 0, slots = {}, changed = {} }
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

local function slotOf(minute, name)
  local value = minute.slots[name]
  if not value then
    value = tonumber(redis.call('HGET', minute.key, name)) or 0
    minute.slots[name] = value
  end
  return value
end

local function add(minute, name, by)
  minute.slots[name] = slotOf(minute, name) + by
  minute.changed[name] = true
end

local function count(minute, requests, tokens)
  minute.r, minute.t, minute.nr, minute.nt = minute.r + requests, minute.t + tokens, minute.at, minute.at
  add(minute, 'r' .. minute.at % WINDOW, requests)
  add(minute, 't' .. minute.at % WINDOW, tokens)
end

local function keep(minute)
  local values = { 'at', minute.at, 'r', minute.r, 't', minute.t, 'nr', minute.nr, 'nt', minute.nt }
  for name in pairs(minute.changed) do
    values[#values + 1] = name
    values[#values + 1] = minute.slots[name]
  end
  redis.call('HSET', minute.key, unpack(values))
  redis.call('EXPIRE', minute.key, KEPT)
end
`;

/**
 * Ends calls, then admits calls or finds the reason of their refusal, one after the other; each minute is read and written once. KEYS: clock,
 * then minute and calls of each key or account, which the rest names by its place among these pairs. ARGV: clock, process, lease in seconds,
 * and two arrays as JSON. Of admissions: call, tokens, then for each key or account its place, requests per minute, tokens per minute and
 * concurrent calls, -1 for no limit; without a name the call is not counted. Of ends: call, used minus estimated tokens, then for each key or
 * account its place and the second in which it was counted, -1 if Redis did not count it. What Redis has expired meanwhile is not subtracted
 * again. Returns an array as JSON: the clock, then for each admission 1 and for each key or account second, requests, tokens, seconds until
 * either is empty, and concurrent calls; or 0, the index of the key or account, which limit (0 concurrent calls, 1 requests, 2 tokens), the
 * wait, and the same figures of that one.
 */
export const ADMIT_AND_END = `${MINUTE}
local lease = tonumber(ARGV[3])
local admissions, ends = cjson.decode(ARGV[4]), cjson.decode(ARGV[5])

local minutes = {}
local function minuteOf(place)
  local minute = minutes[place]
  if not minute then
    minute = minuteAt(KEYS[place * 2])
    minute.callsKey, minute.begun, minute.over = KEYS[place * 2 + 1], {}, {}
    minutes[place] = minute
  end
  return minute
end

for _, over in ipairs(ends) do
  local difference = over[2]
  for i = 3, #over, 2 do
    local minute, counted = minuteOf(over[i]), over[i + 1]
    minute.over[#minute.over + 1] = over[1]
    if counted >= 0 and difference ~= 0 then
      local gone = minute.at - counted >= WINDOW
      local slot = 't' .. (gone and minute.at or counted) % WINDOW
      local change = math.max(difference, -slotOf(minute, slot))
      if gone and difference < 0 then change = 0 end
      if change ~= 0 then
        add(minute, slot, change)
        minute.t = minute.t + change
        if gone then minute.nt = minute.at end
      end
    end
  end
end
for _, minute in pairs(minutes) do redis.call('ZREM', minute.callsKey, unpack(minute.over)) end

local function callsOf(minute)
  if not minute.calls then
    redis.call('ZREMRANGEBYSCORE', minute.callsKey, '-inf', second)
    minute.calls = redis.call('ZCARD', minute.callsKey)
  end
  return minute.calls
end

local function wait(minute, kind, most)
  local names = {}
  for s = minute.at + 1, minute.at + WINDOW do names[#names + 1] = kind .. s % WINDOW end
  if not minute['read' .. kind] then
    minute['read' .. kind] = true
    for i, value in ipairs(redis.call('HMGET', minute.key, unpack(names))) do
      minute.slots[names[i]] = minute.slots[names[i]] or tonumber(value) or 0
    end
  end
  local left = minute[kind]
  for seconds = 1, WINDOW do
    left = left - minute.slots[names[seconds]]
    if left <= most then return seconds end
  end
  return WINDOW
end

local function untilEmpty(minute, sum, newest)
  if minute[sum] <= 0 then return 0 end
  return math.max(0, minute[newest] + WINDOW - minute.at)
end

local function tell(answer, minute)
  local n = #answer
  answer[n + 1], answer[n + 2], answer[n + 3] = minute.at, minute.r, minute.t
  answer[n + 4], answer[n + 5] = untilEmpty(minute, 'r', 'nr'), untilEmpty(minute, 't', 'nt')
  answer[n + 6] = minute.calls or 0
end

local function refusalOf(asked)
  local tokens = asked[2]
  for i = 3, #asked, 4 do
    local minute, requestsMost, tokensMost, callsMost = minuteOf(asked[i]), asked[i + 1], asked[i + 2], asked[i + 3]
    local limit, after = nil, 1
    if callsMost >= 0 and callsOf(minute) >= callsMost then limit = 0 end
    if not limit and requestsMost >= 0 and minute.r >= requestsMost then
      limit, after = 1, wait(minute, 'r', requestsMost - 1)
    end
    if not limit and tokensMost >= 0 and minute.t + tokens > tokensMost then
      limit, after = 2, wait(minute, 't', tokensMost - tokens)
    end
    if limit then
      local answer = { 0, (i - 3) / 4, limit, after }
      tell(answer, minute)
      return answer
    end
  end
end

local answers = { now }
for _, asked in ipairs(admissions) do
  local answer, call = refusalOf(asked), asked[1]
  if not answer then
    answer = { 1 }
    for i = 3, #asked, 4 do
      local minute = minuteOf(asked[i])
      if call ~= '' then
        count(minute, 1, asked[2])
        if asked[i + 3] >= 0 then
          minute.begun[#minute.begun + 1] = second + lease
          minute.begun[#minute.begun + 1] = call
          minute.calls = minute.calls + 1
        end
      end
      tell(answer, minute)
    end
  end
  answers[#answers + 1] = answer
end

for _, minute in pairs(minutes) do
  keep(minute)
  if #minute.begun > 0 then
    redis.call('ZADD', minute.callsKey, unpack(minute.begun))
    redis.call('EXPIRE', minute.callsKey, KEPT)
  end
end
return cjson.encode(answers)
`;

/**
 * Adds what was admitted without Redis to the current second. KEYS: clock and minutes. ARGV: clock, process, then requests and tokens of
 * each.
 */
export const REPORT = `${MINUTE}
for i = 2, #KEYS do
  local minute = minuteAt(KEYS[i])
  count(minute, tonumber(ARGV[i * 2 - 1]), tonumber(ARGV[i * 2]))
  keep(minute)
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
