/** A call's request to one target: its body, as the client's own bytes or as a translation, its headers, its signature. */
import type { Call } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { newId } from '../../canonical/id.ts';
import type { Dialect, LateBody, Written } from '../../dialects/dialect.ts';
import { errorInCallerNames, inCallerNames } from '../../dialects/shared/caller-names.ts';
import { patchMembers } from '../../dialects/wire/json.ts';
import { type Form, formType, streamForm } from '../../dialects/wire/multipart.ts';
import type { Outgoing } from '../../providers/provider.ts';
import { ownSignatures } from '../prepare/signatures.ts';
import type { TargetCall } from '../prepare/steps.ts';
import type { TargetRoute } from '../target-route.ts';

/** A promise only where encoding or signing takes a while. Throws `lossy_translation` where the caller wants no loss. */
export function buildRequest(prepared: TargetCall, call: Call): Outgoing | Promise<Outgoing> {
  const { deps, context, route, isSame } = prepared;
  const { provider, target, dialect } = route;
  const { body, form, late, warnings } = isOwn(prepared, call)
    ? bodyFor(call, route, context.dialect)
    : translated(ownSignatures(call, context.signatureOwner ?? ''), route);
  context.warnings = allLosses(prepared, call, warnings);
  if (context.strict && context.warnings.length > 0) {
    const sentence = `The model cannot express the whole request: ${context.warnings.join(' ')}`;
    throw new GatewayError('lossy_translation', sentence);
  }
  if (context.requestedRouting?.wishes?.requireParameters && context.warnings.length > 0) {
    const sentence = `No provider of the model takes the whole request (\`provider.require_parameters\`): ${context.warnings.join(' ')}`;
    throw new GatewayError('invalid_request', sentence, { param: 'provider.require_parameters', retryable: true });
  }
  const headers: { [name: string]: string } = {};
  if (isSame) for (const name in call.headers) headers[name] = call.headers[name]!;
  headers['content-type'] = 'application/json';
  headers['user-agent'] = 'modelport';
  headers['accept-encoding'] = 'identity';
  const task = provider.tasks?.[dialect.name];
  if (task) Object.assign(headers, task.headers);
  const request: Outgoing = { method: 'POST', url: provider.url(target, dialect.name, call), headers, body };
  if (form) putForm(request, form);
  if (late) return encodedLate(prepared, request, late);
  const signing = provider.authorize(request, target, deps.signing);
  return signing ? signing.then(() => request) : request;
}

/** Whether the client's own bytes are sent. They are not where a step has replaced the call, or has changed its messages. */
function isOwn({ context, isSame }: TargetCall, call: Call): boolean {
  return isSame && call === context.call && !call.origin.foreign && !(call.kind === 'chat' && call.isEdited);
}

/** What the reading of the request, the steps and the writing had to leave out. */
function allLosses({ losses }: TargetCall, { origin }: Call, warnings: readonly string[]): readonly string[] {
  const { dropped = NOTHING } = origin;
  return dropped.length > 0 || losses.length > 0 ? [...dropped, ...losses, ...warnings] : warnings;
}

const NOTHING: readonly string[] = [];

async function encodedLate({ deps, route }: TargetCall, request: Outgoing, late: LateBody): Promise<Outgoing> {
  request.body = await late.encodeInPieces();
  await route.provider.authorize(request, route.target, deps.signing);
  return request;
}

/** The boundary is random: an uploaded file that contained it could add fields that nobody has priced. */
function putForm(request: Outgoing, form: Form): void {
  const boundary = newId('modelport-form-');
  request.headers['content-type'] = formType(boundary);
  request.stream = streamForm(form, boundary);
}

/** `own`: the client's format, where the client's own body is sent. */
function bodyFor(call: Call, { provider, target, dialect, quirks }: TargetRoute, own: Dialect | undefined): Written {
  const made = own ? own.passCall(call, target.model, quirks) : dialect.writeCall(call, target.model, quirks);
  if (!provider.members || made.form) return made;
  const members = provider.members(target, dialect.name, call);
  if (!made.late) return { ...made, body: patchMembers(made.body, members) };
  for (const [name, value] of Object.entries(members)) made.late.set(name, value);
  return made;
}

/** The call in the target's format. Warnings and errors use the member names of the caller's format. */
function translated(call: Call, route: TargetRoute): Written {
  const { dialect } = call.origin;
  try {
    const written = bodyFor(call, route, undefined);
    if (written.warnings.length === 0) return written;
    return { ...written, warnings: written.warnings.map((warning) => inCallerNames(warning, dialect)) };
  } catch (thrown) {
    throw errorInCallerNames(thrown, dialect);
  }
}
