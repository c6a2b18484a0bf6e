/** Checks the members at the top of a Responses request by its schema. */
import { GatewayError } from '../../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../../canonical/json.ts';
import { dotted, parseBody, wrong } from '../../shared/request-body.ts';
import { describedAs } from '../../shared/request-shape.ts';
import { validatorOf } from '../../shared/validator.ts';
import { ResponsesRequest } from './request-schema.ts';

const validator = validatorOf(ResponsesRequest);

/** A request's body whose top-level members are of the right types and in range. Throws `invalid_request` naming the member. */
export function readMembers(body: Uint8Array): JsonObject {
  const members = parseBody(body);
  if (!isObject(members)) throw new GatewayError('invalid_request', 'The body must be a JSON object.');
  if (validator().Check(members)) return members;
  if (members.model === undefined) throw wrong('model', `is required: ${describedAs(ResponsesRequest, 'model')}`);
  const path = firstWrongPath(members);
  const right = describedAs(ResponsesRequest, path[0] ?? '');
  throw wrong(
    dotted(path),
    path.length > 1 ? `is of the wrong type: \`${path[0]}\` must be ${right}` : `must be ${right}`,
  );
}

/** Of a union's complaints the deepest says the most. */
function firstWrongPath(members: JsonObject): string[] {
  let [found, ...others] = validator()
    .Errors(members)
    .map((error) => error.instancePath.split('/').slice(1));
  for (const other of others) if (other[0] === found?.[0] && other.length > (found?.length ?? 0)) found = other;
  return found ?? [];
}
