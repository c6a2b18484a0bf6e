/**
 * `continuation: prefill`: where a stream breaks off after a part of it was delivered, the next target that can is sent this part as the
 * beginning of its reply and goes on from it, in the same stream.
 */
import type { ChatCall, Message } from '../../canonical/call.ts';
import { asGatewayError, GatewayError } from '../../canonical/errors.ts';
import type { ReplyEvent } from '../../canonical/reply.ts';
import { addUsage, type Usage } from '../../canonical/usage.ts';
import type { ModelTarget } from '../../catalog/catalog.ts';
import type { Frame } from '../../dialects/dialect.ts';
import { isBeyondDoubt } from '../../ledger/doubt.ts';
import { charge } from '../../ledger/pricing/charge.ts';
import { allTokens, choices, quote } from '../../ledger/pricing/quote.ts';
import { estimateTokens, type InputEstimate } from '../../ledger/tokens/estimate-tokens.ts';
import { estimateText } from '../../ledger/tokens/token-counter.ts';
import type { Trial } from '../../routing/trial.ts';
import { mayCostExtra } from '../admit/extras.ts';
import type { CallContext } from '../call-context.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { fromFirstContent } from '../prepare/read-ahead.ts';
import { publicError } from '../redaction.ts';
import { disputedUsage } from '../settle/figures.ts';
import { routeTo } from '../target-route.ts';
import { adopt, viewOf } from './attempt-view.ts';
import { JoinedReply } from './joined-reply.ts';
import { sendTo } from './send.ts';
import type { Attempt } from './trial-of.ts';
import type { Upstream } from './upstream.ts';

/** Formats in which a request can contain the start of the reply. */
const FORMATS: ReadonlySet<string> = new Set(['openai-chat', 'anthropic-messages', 'bedrock-converse']);

const NO_BYTES = new Uint8Array();

/** Whether the reply to this call can be continued by another target: one text, without reasoning, structure or tools of a provider. */
export function mayContinue({ call, model }: CallContext): boolean {
  if (model.continuation !== 'prefill' || call.kind !== 'chat' || model.kind !== 'chat' || !call.stream) return false;
  if (call.completion || call.output || call.reasoning || choices(call) !== 1) return false;
  if (call.modalities?.some((one) => one !== 'text')) return false;
  return !mayCostExtra(call);
}

/** Sends the call so that this attempt can be cancelled separately. */
export async function sendInView(
  deps: GatewayDeps,
  context: CallContext,
  attempt: Attempt,
  own: Partial<Pick<CallContext, 'call' | 'media'>> = {},
): Promise<Upstream> {
  const view = viewOf(context, attempt, { ...own, meter: context.meter });
  try {
    const sending = sendTo(deps, view, attempt.target, attempt.credential);
    adopt(context, view);
    return await sending;
  } finally {
    adopt(context, view);
  }
}

export class ContinuedUpstream implements Upstream {
  /** Events of several targets cannot be passed as bytes. */
  readonly same = false;
  readonly #deps: GatewayDeps;
  readonly #context: CallContext;
  readonly #trial: Trial<ModelTarget>;
  readonly #joined = new JoinedReply();
  #upstream: Upstream;
  /** An error after events that were passed on before it. */
  #failure: GatewayError | undefined;
  /** What the targets before this one used. */
  #earlier: Usage | undefined;

  constructor(deps: GatewayDeps, context: CallContext, trial: Trial<ModelTarget>, upstream: Upstream) {
    this.#deps = deps;
    this.#context = context;
    this.#trial = trial;
    this.#upstream = upstream;
  }

  async next(): Promise<readonly Frame[] | undefined> {
    for (;;) {
      const frames = this.#failure ? [] : await this.#read();
      if (!frames || frames.length > 0) return frames;
      const failure = this.#failure;
      this.#failure = undefined;
      if (failure) await this.#continue(failure);
    }
  }

  async #read(): Promise<readonly Frame[] | undefined> {
    try {
      const frames = await this.#upstream.next();
      return frames && this.#taken(frames);
    } catch (thrown) {
      this.#failure = asGatewayError(thrown);
      return [];
    }
  }

  /** The frames up to an error. */
  #taken(frames: readonly Frame[]): readonly Frame[] {
    const taken: Frame[] = [];
    for (const frame of frames) {
      const at = frame.events.findIndex(({ type }) => type === 'error');
      const before = at < 0 ? frame.events : frame.events.slice(0, at);
      const events = this.#joined.take(before);
      const shown = this.#earlier ? events.map((event) => this.#counted(event)) : events;
      if (shown === frame.events) taken.push(frame);
      else if (shown.length > 0) taken.push({ bytes: NO_BYTES, events: shown });
      const failed = frame.events[at];
      if (failed?.type !== 'error') continue;
      this.#failure = failed.error;
      break;
    }
    return taken;
  }

  /** Usage is that of all targets together. */
  #counted(event: ReplyEvent): ReplyEvent {
    if (event.type !== 'usage' || !this.#earlier) return event;
    this.#context.meter.seeUsageOf(1, event.usage);
    return { type: 'usage', usage: addUsage(this.#earlier, event.usage) };
  }

  /** Throws `failure` if no target continues. */
  async #continue(failure: GatewayError): Promise<void> {
    const context = this.#context;
    const isOver = context.cancellation.cancelled || context.isAbandoned || context.concluded !== undefined;
    if (isOver || !failure.retryable || !this.#joined.canContinue) throw failure;
    context.ownCancellation?.cancel();
    const used = await context.meter.final(this.#deps.countTexts);
    context.attempt?.ended(publicError(this.#deps, context, failure), used.output, used.input + used.output);
    // The settlement compares the report with the hold, which must not be enlarged for it.
    if (await this.#isDisputed(used)) throw failure;
    const call = continuedCall(context, this.#joined.prefix, used);
    if (!call) throw failure;
    // The client's body does not contain the beginning of the reply.
    const estimate = estimateTokens(context.call);
    estimate.text += estimateText(this.#joined.prefix);
    if (!(await this.#isCovered(call, used, estimate))) throw failure;
    this.#earlier = used;
    context.meter.continueFrom(used, allTokens(estimate));
    const { skippedEvents, sendings } = context;
    const upstream = await this.#ask(call);
    if (!upstream) throw failure;
    context.skippedEvents += skippedEvents;
    context.sendings += sendings;
    this.#upstream = upstream;
  }

  async #isDisputed(used: Usage): Promise<boolean> {
    const cost = charge(used, this.#context.model.price);
    if (isBeyondDoubt(cost, this.#context.covered)) return false;
    return (await disputedUsage(this.#deps, this.#context, used, cost)) !== undefined;
  }

  /** The next target that continues; `undefined`: there is none. */
  async #ask(call: ChatCall): Promise<Upstream | undefined> {
    const context = this.#context;
    const own = { call, media: context.media?.of(call) };
    for (;;) {
      const waiting = this.#trial.next();
      const next = waiting instanceof Promise ? await waiting : waiting;
      if (!next || context.cancellation.cancelled) {
        next?.dropped();
        return undefined;
      }
      const prefill = this.#prefillAt(next.target, call);
      if (!prefill) {
        next.dropped();
        continue;
      }
      context.asks(next);
      context.meter.isAsked = true;
      try {
        const upstream = await fromFirstContent(await sendInView(this.#deps, context, next, own));
        next.answered();
        this.#joined.goOn(prefill === 'echo');
        return upstream;
      } catch (thrown) {
        if (!(thrown instanceof GatewayError) || context.cancellation.cancelled) next.dropped();
        if (!(thrown instanceof GatewayError)) throw thrown;
        if (context.cancellation.cancelled) return undefined;
        // A failed attempt is not charged.
        context.meter.isAsked = false;
        this.#trial.failed(next, thrown, publicError(this.#deps, context, thrown));
      }
    }
  }

  /** How the target takes the beginning of its reply; `undefined`: not at all. */
  #prefillAt(target: ModelTarget, call: ChatCall): 'last' | 'marked' | 'echo' | undefined {
    try {
      const { dialect, quirks } = routeTo(this.#deps, call, this.#context.dialect, target, this.#context.model);
      if (!call.isPrefilled) return 'last';
      return FORMATS.has(dialect.name) ? quirks.supportsPrefill : undefined;
    } catch {
      return undefined;
    }
  }

  /** What is left of the hold and what is added to it cover the rest of the reply, with its input. */
  async #isCovered(call: ChatCall, used: Usage, estimate: InputEstimate): Promise<boolean> {
    const context = this.#context;
    const { model, covered, caller } = context;
    const ceiling = call.heldOutputTokens ?? call.maxOutputTokens ?? model.maxOutputTokens;
    const most = quote(call, model.price, ceiling, estimate);
    const spent = charge(used, model.price);
    const by = spent + most - covered;
    if (by <= 0n) return true;
    const checkpoint = spent + charge({ input: allTokens(estimate), output: 0, source: 'counted' }, model.price);
    const { budget, accountBudget } = caller;
    const at = this.#deps.now();
    const hold = await this.#deps.ledger.enlarge(context.hold, { by, checkpoint, at, budget, accountBudget });
    if (!hold) return false;
    context.hold = hold;
    context.covered += by;
    return true;
  }
}

/** The call with the beginning of its reply; `undefined`: all output that it allows was delivered. */
function continuedCall({ call, model }: CallContext, prefix: string, { output }: Usage): ChatCall | undefined {
  if (call.kind !== 'chat') return undefined;
  const left = (call.maxOutputTokens ?? model.maxOutputTokens) - output;
  if (left < 1) return undefined;
  const continued: ChatCall = { ...call, origin: { ...call.origin } };
  if (call.maxOutputTokens !== undefined) continued.maxOutputTokens = left;
  if (call.heldOutputTokens !== undefined) continued.heldOutputTokens = Math.min(left, call.heldOutputTokens);
  if (prefix === '') return continued;
  return { ...continued, messages: withPrefix(call.messages, prefix), isEdited: true, isPrefilled: true };
}

/** The request of the client itself may contain the start of the reply. */
function withPrefix(messages: readonly Message[], prefix: string): Message[] {
  const last = messages.at(-1);
  const begun = last?.role === 'assistant' ? last.parts : [];
  const text = begun.at(-1);
  if (last?.role !== 'assistant' || text?.type !== 'text')
    return [...messages, { role: 'assistant', parts: [{ type: 'text', text: prefix }] }];
  const parts = [...begun.slice(0, -1), { ...text, text: text.text + prefix }];
  return [...messages.slice(0, -1), { ...last, parts }];
}
