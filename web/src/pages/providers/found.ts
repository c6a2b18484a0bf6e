/** What can be done with a model that a provider lists. Pure. */
import type { FoundModel, Model } from '../../api/types.ts';

/** `adds`: the model is there and gets one more target. `unpriced`: the price list does not know it. */
export type FoundState = 'enabled' | 'adds' | 'ready' | 'unpriced';

export function foundState({ id, price }: FoundModel, provider: string, models: readonly Model[]): FoundState {
  if (models.some(({ targets }) => targets.some((target) => target.provider === provider && target.model === id)))
    return 'enabled';
  if (models.some(({ name }) => name === id)) return 'adds';
  return price ? 'ready' : 'unpriced';
}

/** Every word of the filter is in the name, in any order. */
export function matching(rows: readonly FoundModel[], filter: string): readonly FoundModel[] {
  const parts = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter(({ id }) => parts.every((part) => id.toLowerCase().includes(part)));
}

/** The body for a model that gets one more target: what it has stays, the new target is tried after it. */
export function withTarget(known: Model, target: { provider: string; model: string }): object {
  const { name: _name, priceId: _price, createdAt: _at, scheduled: _later, ...rest } = known;
  const last = Math.max(...known.targets.map(({ priority }) => priority));
  return { ...rest, targets: [...known.targets, { ...target, priority: last + 1 }] };
}

/** The body that enables a found model at its list price, or adds a target to the model of this name. */
export function bodyOf(found: FoundModel, provider: string, models: readonly Model[]): object {
  const target = { provider, model: found.id };
  const known = models.find(({ name }) => name === found.id);
  if (known) return withTarget(known, target);
  const { id: _id, ...rest } = found;
  return { ...rest, targets: [target] };
}

/** The one that the test call is made to. */
export function testable(chosen: readonly FoundModel[]): string {
  return (chosen.find(({ kind }) => kind === undefined || kind === 'chat') ?? chosen[0])?.id ?? '';
}
