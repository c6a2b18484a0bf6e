/**
 * What happens to some calls before they are sent to a target, in this order. A plain call passes through none of it.
 *
 * Two more steps run once a call, before it is admitted: `load-conversation.ts` (called by `serve.ts`) and `truncate.ts`
 * (called by `admit.ts`). What some replies need stands beside the requests: `reply-images.ts`, `speech-calls.ts`.
 */
import type { Step, TargetCall } from '../target-call.ts';
import { changeKind } from './change-kind.ts';
import { inlineMedia } from './inline-media.ts';
import { splitCall } from './pieces.ts';
import { restoreSignatures } from './signatures.ts';
import { inlineUploads } from './uploaded-images.ts';

const STEPS: readonly Step[] = [inlineMedia, inlineUploads, changeKind, restoreSignatures, splitCall];

/** Runs the steps that apply; a promise only where one does. */
export function runSteps(prepared: TargetCall): TargetCall | Promise<TargetCall> {
  for (const step of STEPS) if (step.applies(prepared)) return runFrom(step, prepared);
  return prepared;
}

async function runFrom(first: Step, prepared: TargetCall): Promise<TargetCall> {
  for (const step of STEPS.slice(STEPS.indexOf(first))) if (step.applies(prepared)) await step.run(prepared);
  return prepared;
}
