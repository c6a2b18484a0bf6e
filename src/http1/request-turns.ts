/** Begins only so many requests in one turn of the event loop: what has arrived for open streams is passed on in between. */

/** A request that has arrived. */
export interface Beginning {
  /** Never throws. */
  begin(): void;
}

/** Some 4 ms of work. Five hundred in one turn kept the chunks of all streams waiting for 35 ms. */
const MOST_IN_TURN = 32;

export class RequestTurns {
  private begun = 0;
  private waiting: Beginning[] = [];

  /** Begins the request now, or in one of the next turns, in the order of arrival. */
  add(request: Beginning): void {
    if (this.begun === MOST_IN_TURN) {
      this.waiting.push(request);
      return;
    }
    if (this.begun++ === 0) setImmediate(this.turn);
    request.begin();
  }

  private readonly turn = (): void => {
    const { waiting } = this;
    this.begun = 0;
    if (waiting.length === 0) return;
    this.waiting = waiting.slice(MOST_IN_TURN);
    for (const request of waiting.slice(0, MOST_IN_TURN)) this.add(request);
  };
}
