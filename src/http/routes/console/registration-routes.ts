/** The console: registering oneself. */
import { Type } from 'typebox';
import { GatewayError } from '../../../canonical/errors.ts';
import type { Registration } from '../../../people/registration.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type AnsweredRoute, route } from '../../route.ts';
import { NameInput } from '../admin/people-routes.ts';
import { NewPassword } from './profile-routes.ts';
import { peopleOf, signIn } from './session-routes.ts';

const closed = { additionalProperties: false } as const;

export const REGISTRATION_ROUTES: readonly AnsweredRoute[] = [
  route('POST', '/console/api/register', {
    gate: 'page',
    summary:
      'Sends a link to an e-mail address, with which a person and an account are made. The answer is the same for every address.',
    body: Type.Object(
      {
        email: Type.String({ maxLength: 254, description: 'an e-mail address' }),
        language: Type.Optional(
          Type.Union([Type.Literal('en'), Type.Literal('zh')], { description: 'the language of the mail: en or zh' }),
        ),
      },
      closed,
    ),
    answer: async (deps, request) => {
      const { email, language = 'en' } = request.body;
      await registrationOf(deps).ask(email, language, request.address);
      return { sent: true };
    },
  }),
  route('POST', '/console/api/register/confirm', {
    gate: 'page',
    summary: 'Makes the person and the account of a link, which is used up, and signs in.',
    body: Type.Object(
      {
        token: Type.String({ minLength: 1, maxLength: 200, description: 'the token of a link' }),
        name: NameInput,
        password: NewPassword,
      },
      closed,
    ),
    answer: async (deps, request) => {
      const { token, name, password } = request.body;
      const person = await registrationOf(deps).confirm(token, { name, password });
      return signIn(deps, request, person, 'registration');
    },
  }),
];

function registrationOf(deps: HttpDeps): Registration {
  const { registration } = peopleOf(deps);
  if (registration) return registration;
  throw new GatewayError('not_found', 'Nobody can register here (MODELPORT_REGISTRATION).');
}
