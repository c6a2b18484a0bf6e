/** Checks the top-level members of a request in OpenAI's formats against the schema. The readers check what is inside. */
import type { TSchema } from 'typebox';
import type { JsonObject } from '../../../canonical/json.ts';
import { dotted, parseMembers, wrong } from '../../shared/request-body.ts';
import { describedAs } from '../../shared/request-shape.ts';
import { validatorOf } from '../../shared/validator.ts';

/**
 * Makes a function that parses a body, unless its members are given, and checks it. It throws `invalid_request` that names the wrong member.
 * `required`: the members that must be present. `placeOf`: which of the wrong places to name.
 */
export function topMemberCheck(
  schema: TSchema,
  required: readonly string[],
  placeOf: (places: string[][]) => string[] | undefined,
): (body: Uint8Array, parsed?: JsonObject) => JsonObject {
  const validator = validatorOf(schema);
  return (body, members = parseMembers(body)) => {
    if (validator().Check(members)) return members;
    for (const member of required) {
      if (members[member] === undefined) throw wrong(member, `is required: ${describedAs(schema, member)}`);
    }
    const places = validator()
      .Errors(members)
      .map((error) => error.instancePath.split('/').slice(1));
    const path = placeOf(places) ?? [];
    const right = describedAs(schema, path[0] ?? '');
    throw wrong(
      dotted(path),
      path.length > 1 ? `is of the wrong type: \`${path[0]}\` must be ${right}` : `must be ${right}`,
    );
  };
}
