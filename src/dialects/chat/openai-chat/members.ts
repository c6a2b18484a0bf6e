/** Checks the members at the top of a chat request by its schema. */
import { GatewayError } from '../../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../../canonical/json.ts';
import { dotted, parseBody, wrong } from '../../shared/request-body.ts';
import { describedAs } from '../../shared/request-shape.ts';
import { validatorOf } from '../../shared/validator.ts';
import { ChatRequest } from './request-schema.ts';

const validator = validatorOf(ChatRequest);

/** A request's body whose top-level members are of the right types and in range. Throws `invalid_request` naming the member. */
export function readMembers(body: Uint8Array): JsonObject {
  const members = parseBody(body);
  if (!isObject(members)) throw new GatewayError('invalid_request', 'The body must be a JSON object.');
  if (validator().Check(members)) return members;
  for (const required of ['model', 'messages'] as const) {
    if (members[required] === undefined) throw wrong(required, `is required: ${describedAs(ChatRequest, required)}`);
  }
  const [first] = validator().Errors(members);
  const path = first?.instancePath.split('/').slice(1) ?? [];
  const right = describedAs(ChatRequest, path[0] ?? '');
  throw wrong(
    dotted(path),
    path.length > 1 ? `is of the wrong type: \`${path[0]}\` must be ${right}` : `must be ${right}`,
  );
}
