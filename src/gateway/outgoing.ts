/** A call's request to one target: its body, as the client's own bytes or written anew, its headers, signed. */
import type { Call } from '../canonical/call.ts';
import { GatewayError } from '../canonical/errors.ts';
import { newId } from '../canonical/id.ts';
import type { Dialect, LateBody, Written } from '../dialects/dialect.ts';
import { errorInCallersWords, inCallersWords } from '../dialects/shared/caller-words.ts';
import { patchMembers } from '../dialects/wire/json.ts';
import { type Form, formType, streamForm } from '../dialects/wire/multipart.ts';
import type { Outgoing } from '../providers/provider.ts';
import type { CallContext } from './call-context.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { ownProofs } from './signatures.ts';
import type { TargetRoute } from './target-route.ts';

/** A promise where encoding or signing it takes a while. */
export function outgoingFor(
  deps: GatewayDeps,
  context: CallContext,
  way: TargetRoute,
  call: Call,
): Outgoing | Promise<Outgoing> {
  const { provider, target, dialect } = way;
  const same = dialect.name === context.dialect.name;
  // A call that has been given what it named by address, or a piece of one, is no longer the client's own bytes.
  const isOwn = same && call === context.call && !call.origin.foreign && !isEdited(call);
  const {
    body,
    form,
    late,
    warnings: unsaid,
  } = isOwn ? bodyFor(call, way, context.dialect) : bodyAnew(ownProofs(call, context.maker ?? ''), way);
  const { dropped } = call.origin;
  const warnings = dropped || way.losses.length > 0 ? [...(dropped ?? []), ...way.losses, ...unsaid] : unsaid;
  if (context.strict && warnings.length > 0) {
    throw new GatewayError('lossy_translation', `The model cannot express the whole request: ${warnings.join(' ')}`);
  }
  context.warnings = warnings;
  const headers: { [name: string]: string } = same ? { ...call.headers } : {};
  headers['content-type'] = 'application/json';
  headers['user-agent'] = 'modelport';
  headers['accept-encoding'] = 'identity';
  const outgoing: Outgoing = { method: 'POST', url: provider.url(target, dialect.name, call), headers, body };
  if (form) putForm(outgoing, form);
  if (late) return encodedLate(deps, way, outgoing, late);
  const signing = provider.authorize(outgoing, target, deps.signing);
  return signing ? signing.then(() => outgoing) : outgoing;
}

async function encodedLate(
  deps: GatewayDeps,
  { provider, target }: TargetRoute,
  outgoing: Outgoing,
  late: LateBody,
): Promise<Outgoing> {
  outgoing.body = await late.encodeInPieces();
  await provider.authorize(outgoing, target, deps.signing);
  return outgoing;
}

/** What parts it is said by nobody before: a file that held it would hold fields, which a provider would read and nobody has priced. */
function putForm(outgoing: Outgoing, form: Form): void {
  const boundary = newId('modelport-form-');
  outgoing.headers['content-type'] = formType(boundary);
  outgoing.stream = streamForm(form, boundary);
}

function isEdited(call: Call): boolean {
  return call.kind === 'chat' && call.isEdited === true;
}

/** The client's own body as this target takes it, or the call written for it. */
function bodyFor(call: Call, { provider, target, dialect, quirks }: TargetRoute, own: Dialect | undefined): Written {
  const made = own ? own.passCall(call, target.model, quirks) : dialect.writeCall(call, target.model, quirks);
  if (!provider.members || made.form) return made;
  const members = provider.members(target, dialect.name, call);
  if (!made.late) return { ...made, body: patchMembers(made.body, members) };
  for (const [name, value] of Object.entries(members)) made.late.set(name, value);
  return made;
}

/** The call written for a provider, which is told of in its caller's words. */
function bodyAnew(call: Call, way: TargetRoute): Written {
  const { dialect } = call.origin;
  try {
    const written = bodyFor(call, way, undefined);
    if (written.warnings.length === 0) return written;
    return { ...written, warnings: written.warnings.map((warning) => inCallersWords(warning, dialect)) };
  } catch (thrown) {
    throw errorInCallersWords(thrown, dialect);
  }
}
