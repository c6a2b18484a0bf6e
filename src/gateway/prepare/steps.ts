/**
 * What some calls need before they are sent to a target: media by URL, uploads, images and speech from conversations, reasoning
 * signatures, splitting. A plain call passes through none of it.
 *
 * Some features belong to other moments: `load-conversation.ts` (before admission), `truncate.ts` (for each model),
 * `follow-task.ts`, `speech-calls.ts`, `reply-images.ts` and `filtered-reply.ts` (for replies), `save-conversation.ts` (at the end).
 */
import type { Call, ChatCall, Message, Part } from '../../canonical/call.ts';
import { isTextOnly } from '../../canonical/text-only.ts';
import type { CallContext } from '../call-context.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { type TargetRoute, urlsTaken } from '../target-route.ts';
import { asKind } from './change-kind.ts';
import { inPieces, mayBeSplit } from './pieces.ts';
import { hasUploads, withInlineUploads } from './uploaded-images.ts';

const NO_LOSSES: readonly string[] = [];

/** A call for one target, as the steps change it. */
export class TargetCall {
  readonly deps: GatewayDeps;
  readonly context: CallContext;
  readonly route: TargetRoute;
  /** The target has the client's format. */
  readonly isSame: boolean;
  /** What is sent: the client's call, until a step puts another in its place. */
  call: Call;
  /** What the steps had to leave out, a sentence each. */
  losses: readonly string[] = NO_LOSSES;
  /** The calls that together answer `call`, where the target cannot answer it in one. */
  pieces: readonly Call[] | undefined;

  constructor(deps: GatewayDeps, context: CallContext, route: TargetRoute) {
    this.deps = deps;
    this.context = context;
    this.route = route;
    this.isSame = route.dialect.name === context.dialect.name;
    this.call = context.call;
  }
}

/** `applies` is cheap, because it runs for every call. `run` is called only if it applies. */
interface Step {
  applies(prepared: TargetCall): boolean;
  run(prepared: TargetCall): void | Promise<void>;
}

/** Stored reasoning signatures are put back into the conversation. */
const SIGNATURES: Step = {
  applies: missesSignatures,
  async run(prepared) {
    prepared.call = await withSignatures(prepared.deps, prepared.context, prepared.call);
  },
};

/** In the order in which they run. */
const STEPS: readonly Step[] = [
  {
    // Media that are named by URL are fetched and sent inline, where the target does not fetch them itself.
    applies: ({ context }) => context.media !== undefined,
    async run(prepared) {
      const { media } = prepared.context;
      if (media) prepared.call = await media.inlineFor(urlsTaken(prepared.route));
    },
  },
  {
    // Uploaded images are sent inline, where the target does not take files.
    applies: ({ call }) => hasUploads(call),
    async run(prepared) {
      const { call, route } = prepared;
      if (!hasUploads(call) || route.dialect.takesUploads?.(call, route.target.model, route.quirks)) return;
      prepared.call = await withInlineUploads(call);
    },
  },
  {
    // A conversation is sent as a request for images or speech, or the other way round.
    applies: ({ call, route }) => call.kind !== route.kind,
    run(prepared) {
      const changed = asKind(prepared.call, prepared.route.kind);
      if (!changed) return;
      prepared.call = changed.call;
      prepared.losses = changed.losses;
    },
  },
  SIGNATURES,
  {
    // Several prompts, choices, texts or images are sent as several calls.
    applies: ({ call, route, isSame }) => mayBeSplit(call, route, isSame),
    run(prepared) {
      const pieces = inPieces(prepared.call, prepared.route, prepared.isSame);
      if (pieces.length > 1) prepared.pieces = pieces;
    },
  },
];

/** Runs the steps that apply; a promise only where one does. */
export function runSteps(prepared: TargetCall): TargetCall | Promise<TargetCall> {
  // A conversation of texts that is sent as such: no step applies to it but that of signatures (`steps.test.ts`).
  if (prepared.route.kind === 'chat' && isTextOnly(prepared.call) && !SIGNATURES.applies(prepared)) return prepared;
  for (const step of STEPS) if (step.applies(prepared)) return runFrom(step, prepared);
  return prepared;
}

async function runFrom(first: Step, prepared: TargetCall): Promise<TargetCall> {
  for (const step of STEPS.slice(STEPS.indexOf(first))) if (step.applies(prepared)) await step.run(prepared);
  return prepared;
}

/** Whether signatures of earlier turns may be missing that the target wants. */
function missesSignatures({ deps, context, call, route, isSame }: TargetCall): boolean {
  if (call.kind !== 'chat' || !route.dialect.wantsSignatures || !hasModelTurns(call)) return false;
  // A client of this format returns signatures itself: one that is missing was left out on purpose.
  if (isSame && context.dialect.returnsSignatures) return false;
  return expectsReasoning(call, route) || deps.memory.signatureStore.mayKnow(context.caller.account);
}

async function withSignatures({ memory }: GatewayDeps, context: CallContext, call: Call): Promise<Call> {
  if (call.kind !== 'chat') return call;
  return memory.signatureStore.restore(context.caller.account, context.signatureOwner ?? '', call, context.at);
}

/** Whether the target's model signs its reasoning in this call and wants the signatures of earlier turns. */
export function expectsReasoning(call: Call, { dialect, target, quirks }: TargetRoute): boolean {
  return call.kind === 'chat' && dialect.wantsSignatures?.(call, target.model, quirks) === true;
}

/** Most conversations are at their first turn. */
function hasModelTurns({ messages }: ChatCall): boolean {
  for (const { role } of messages) if (role === 'assistant') return true;
  return false;
}

/** The call without the name of the owner on the target's own signatures, and with those of other owners marked as foreign. */
export function ownSignatures(call: Call, owner: string): Call {
  return call.kind === 'chat' && call.messages.some(hasBound) ? withOwn(call, owner) : call;
}

function withOwn(call: ChatCall, owner: string): Call {
  const messages = call.messages.map(
    (message): Message =>
      hasBound(message) ? { ...message, parts: message.parts.map((part) => own(part, owner)) } : message,
  );
  return { ...call, messages };
}

function hasBound({ parts }: Message): boolean {
  return parts.some(isBound);
}

function isBound(part: Part): boolean {
  return 'signature' in part && part.signature?.owner !== undefined;
}

function own(part: Part, owner: string): Part {
  if (!('signature' in part) || part.signature?.owner === undefined) return part;
  const { owner: signatureOwner, ...signature } = part.signature;
  // A format that does not exist: each format decides itself what happens to a signature of another.
  return { ...part, signature: signatureOwner === owner ? signature : { ...signature, dialect: signatureOwner } };
}
