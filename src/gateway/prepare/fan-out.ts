/** Several prompts or choices as several upstream calls, whose answers are merged into one. */
import type { ChatCall } from '../../canonical/call.ts';
import type { ReplyEvent } from '../../canonical/reply.ts';
import { addUsage, type Usage } from '../../canonical/usage.ts';
import type { Frame, ProviderDialect } from '../../dialects/dialect.ts';
import type { Upstream } from '../attempt/upstream.ts';

/** The calls that together answer `call`; mostly the call itself. Their choices, in order, are the choices of the call. */
export function fanOut(call: ChatCall, dialect: ProviderDialect): ChatCall[] {
  const hasOnePrompt = !call.completion || call.completion.prompts.length === 1;
  const hasOneChoice = !dialect.singleChoice || (call.sampling.n ?? 1) === 1;
  return hasOnePrompt && hasOneChoice ? [call] : fannedOut(call, dialect);
}

function fannedOut(call: ChatCall, dialect: ProviderDialect): ChatCall[] {
  const prompts = promptsOf(call);
  const choices = call.sampling.n ?? 1;
  const apart = dialect.singleChoice ? choices : 1;
  const { n: _, ...sampling } = call.sampling;
  const one = dialect.singleChoice || choices === 1 ? sampling : { ...sampling, n: choices };
  return prompts.flatMap((prompt) => Array.from({ length: apart }, () => ({ ...call, ...prompt, sampling: one })));
}

/** What differs between the calls for the prompts of a text completion; nothing in a conversation. */
function promptsOf({ completion }: ChatCall): Partial<ChatCall>[] {
  if (!completion || completion.prompts.length === 1) return [{}];
  return completion.prompts.map((prompt) => ({
    completion: { ...completion, prompts: [prompt] },
    messages: typeof prompt === 'string' ? [{ role: 'user', parts: [{ type: 'text', text: prompt }] }] : [],
  }));
}

const NO_BYTES = new Uint8Array();

/** Learns what each of several upstream calls reports, at once: the sum is known only when all have ended. */
export interface PieceMeter {
  split(calls: number, width: number, prompts: number): void;
  seeUsageOf(call: number, usage: Usage): void;
  seeEndOf(call: number): void;
}

/** Merges upstreams of `width` choices each. Usage is summed. The reply ends when all have ended, and fails when one fails. */
export function merge(upstreams: readonly Upstream[], width: number, meter: PieceMeter): Upstream {
  const usages: (Usage | undefined)[] = upstreams.map(() => undefined);
  const waiting = new Map(upstreams.map((upstream, index) => [index, arrival(upstream, index)]));
  let started = false;

  function rewrite(event: ReplyEvent, index: number): ReplyEvent[] {
    switch (event.type) {
      case 'reply-start': {
        const first = !started;
        started = true;
        return first ? [event] : [];
      }
      case 'usage':
        usages[index] = event.usage;
        meter.seeUsageOf(index, event.usage);
        return [];
      case 'reply-end':
        meter.seeEndOf(index);
        return [];
      case 'result':
      case 'error':
      case 'aside':
        return [event];
      default:
        return [{ ...event, choice: placeOf(event.choice, index) }];
    }
  }

  /** Choices above `width` are numbered after all others: their own numbers belong to the next call. */
  function placeOf(choice: number, index: number): number {
    const round = Math.floor(choice / width);
    return (round * upstreams.length + index) * width + (choice % width);
  }

  function ending(): Frame {
    const known = usages.filter((usage) => usage !== undefined);
    const whole = known.length === upstreams.length ? known.reduce(addUsage) : undefined;
    const end: ReplyEvent = { type: 'reply-end' };
    return { bytes: NO_BYTES, events: whole ? [{ type: 'usage', usage: whole }, end] : [end] };
  }

  return {
    same: false,
    async next() {
      if (waiting.size === 0) return undefined;
      const { index, frames } = await Promise.race(waiting.values());
      if (frames) {
        waiting.set(index, arrival(upstreams[index]!, index));
        return frames.map((frame) => ({
          bytes: NO_BYTES,
          events: frame.events.flatMap((event) => rewrite(event, index)),
        }));
      }
      waiting.delete(index);
      return waiting.size === 0 ? [ending()] : [];
    },
  };
}

/** The next frames of one upstream. Its rejection is marked as handled: the call may already have failed through another. */
function arrival(upstream: Upstream, index: number) {
  const arriving = upstream.next().then((frames) => ({ index, frames }));
  arriving.catch(() => {});
  return arriving;
}
