/** A call that its target can only answer in pieces (several prompts, several choices), as several upstream calls that read as one. */
import type { ChatCall } from '../../canonical/call.ts';
import type { ReplyEvent } from '../../canonical/reply.ts';
import { addUsage, type Usage } from '../../canonical/usage.ts';
import type { Frame, VendorDialect } from '../../dialects/dialect.ts';
import type { Upstream } from '../upstream.ts';

/** The calls that together answer `call` in `dialect`; mostly the call itself. Their choices, in order, are the call's. */
export function fanOut(call: ChatCall, dialect: VendorDialect): ChatCall[] {
  const hasOnePrompt = !call.completion || call.completion.prompts.length === 1;
  const hasOneChoice = !dialect.singleChoice || (call.sampling.n ?? 1) === 1;
  return hasOnePrompt && hasOneChoice ? [call] : fannedOut(call, dialect);
}

function fannedOut(call: ChatCall, dialect: VendorDialect): ChatCall[] {
  const prompts = promptsOf(call);
  const choices = call.sampling.n ?? 1;
  const apart = dialect.singleChoice ? choices : 1;
  const { n: _, ...sampling } = call.sampling;
  const one = dialect.singleChoice || choices === 1 ? sampling : { ...sampling, n: choices };
  return prompts.flatMap((prompt) => Array.from({ length: apart }, () => ({ ...call, ...prompt, sampling: one })));
}

/** What differs between the calls for each prompt of a text completion; nothing does in a conversation. */
function promptsOf({ completion }: ChatCall): Partial<ChatCall>[] {
  if (!completion || completion.prompts.length === 1) return [{}];
  return completion.prompts.map((prompt) => ({
    completion: { ...completion, prompts: [prompt] },
    messages: typeof prompt === 'string' ? [{ role: 'user', parts: [{ type: 'text', text: prompt }] }] : [],
  }));
}

const NO_BYTES = new Uint8Array();

/** Who is told what each of several upstream calls reports, the moment it does: the sum comes only when all have ended. */
export interface PieceMeter {
  split(calls: number, width: number, prompts: number): void;
  seeUsageOf(call: number, usage: Usage): void;
  seeEndOf(call: number): void;
}

/** Several upstreams as one: `width` choices each, usage summed, ended when all have ended, broken when one breaks. */
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

  /** More choices than were asked for stand behind all that were: in their place they would write over the next call's. */
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

/** What comes next from one of them. Nobody may be waiting when it fails: the call may have ended through another. */
function arrival(upstream: Upstream, index: number) {
  const arriving = upstream.next().then((frames) => ({ index, frames }));
  arriving.catch(() => {});
  return arriving;
}
