/** A set of what comes and goes with every call. */

/** Knows its place in its set. */
export interface Placed {
  /** -1: in none. Written by the set alone. */
  place: number;
}

/**
 * A `Set` whose members change all the time keeps those that have left: each of its tables refers to the next one, so that a table which
 * has grown old, used or not, keeps the members of all later tables until the next full garbage collection. Here nothing is left behind.
 */
export class PlacedSet<T extends Placed> {
  private readonly members: T[] = [];

  get size(): number {
    return this.members.length;
  }

  add(one: T): void {
    one.place = this.members.length;
    this.members.push(one);
  }

  /** Does nothing if it has left already. */
  delete(one: T): void {
    const { members } = this;
    const last = members[members.length - 1];
    if (one.place < 0 || !last) return;
    members[one.place] = last;
    last.place = one.place;
    members.length--;
    one.place = -1;
  }

  /** Those that are members now: they may leave meanwhile. */
  all(): readonly T[] {
    return [...this.members];
  }
}
