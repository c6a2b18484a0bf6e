/** Admin API: the health of targets, and what an admin does about it. It is that of the process that answers. */
import { Type } from 'typebox';
import { GatewayError } from '../../../canonical/errors.ts';
import type { ModelTarget } from '../../../catalog/catalog.ts';
import type { TargetState } from '../../../routing/routing.ts';
import { named } from '../../fields/named.ts';
import { Time, writeTime } from '../../fields/time.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type AnsweredRoute, route } from '../../route.ts';

const LONGEST_COOLDOWN_SECONDS = 86_400;
const USUAL_COOLDOWN_SECONDS = 60;

const Cooldown = Type.Object(
  {
    seconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LONGEST_COOLDOWN_SECONDS,
        description: `seconds from 1 to ${LONGEST_COOLDOWN_SECONDS}, ${USUAL_COOLDOWN_SECONDS} by default`,
      }),
    ),
  },
  { additionalProperties: false },
);

const Target = named('TargetHealth', {
  id: Type.String({ description: 'the provider and its name of the model, such as main/gpt-4o' }),
  provider: Type.String(),
  model: Type.String(),
  phase: Type.String({
    description: 'closed (in use), open (in cooldown), half-open (being tried), ramp (coming back)',
  }),
  calls: Type.Integer({ description: 'the recent calls from which the error rate is computed' }),
  errorRate: Type.Number(),
  inFlight: Type.Integer(),
  firstTokenMs: Type.Optional(Type.Number()),
  wholeMs: Type.Optional(Type.Number()),
  tokenMs: Type.Optional(Type.Number()),
  nextProbeAt: Type.Optional(Time),
  coolingCredentials: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  queued: Type.Integer(),
});

export const HEALTH_ROUTES: readonly AnsweredRoute[] = [
  route('GET', '/admin/v1/health/targets', {
    gate: 'admin',
    permission: 'supply:read',
    summary: 'Lists all targets with their health: errors, times, calls in flight, cooldowns.',
    reply: Type.Object({ data: Type.Array(Target) }),
    answer: (deps) => ({ data: targetsOf(deps).map((target) => stateOf(deps, target)) }),
  }),
  route('POST', '/admin/v1/health/targets/:id{.+}/cooldown', {
    gate: 'admin',
    permission: 'supply:write',
    summary: 'Puts a target into cooldown: it is used only if no other is left.',
    body: Cooldown,
    reply: Target,
    answer: (deps, { path, body }) => {
      const target = targetNamed(deps, path.id);
      const { seconds = USUAL_COOLDOWN_SECONDS } = body;
      deps.catalog.routing.coolDown(target, deps.catalog.routing.state.now() + seconds * 1000);
      return stateOf(deps, target);
    },
  }),
  route('POST', '/admin/v1/health/targets/:id{.+}/reset', {
    gate: 'admin',
    permission: 'supply:write',
    summary: 'Resets the health of a target and the cooldowns of its credentials, so that it is used again.',
    reply: Target,
    answer: (deps, { path }) => {
      const target = targetNamed(deps, path.id);
      deps.catalog.routing.reset(target);
      return stateOf(deps, target);
    },
  }),
];

/** Each once: several models may have the same target. */
function targetsOf({ catalog }: HttpDeps): ModelTarget[] {
  const targets = catalog.list().flatMap((model) => model.targets);
  return [...new Map(targets.map((target) => [target.id, target])).values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function targetNamed(deps: HttpDeps, id = ''): ModelTarget {
  const target = targetsOf(deps).find((one) => one.id === id);
  if (target) return target;
  throw new GatewayError('not_found', `There is no target "${id}". GET /admin/v1/health/targets lists them.`, {
    param: 'id',
  });
}

function stateOf({ catalog }: HttpDeps, target: ModelTarget): object {
  const { nextProbeAt, coolingCredentials, ...state }: TargetState = catalog.routing.targetState(target);
  return {
    ...state,
    ...(nextProbeAt !== undefined && { nextProbeAt: writeTime(nextProbeAt) }),
    coolingCredentials: coolingCredentials.map(({ until, ...one }) => ({ ...one, until: writeTime(until) })),
  };
}
