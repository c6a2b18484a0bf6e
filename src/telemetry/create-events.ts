/** Hands every event to the sinks that take it. */
import type { EventSink, Events } from './events.ts';

const IGNORE = () => {};

/** `failed`: a sink has thrown. An event that no sink takes costs an empty call. */
export function createEvents(sinks: readonly EventSink[], failed: (thrown: unknown) => void): Events {
  function fan<A, B>(takers: readonly (((a: A, b: B) => void) | undefined)[]): (a: A, b: B) => void {
    const all = takers.filter((take) => take !== undefined);
    if (all.length === 0) return IGNORE;
    return (a, b) => {
      for (const take of all) {
        try {
          take(a, b);
        } catch (thrown) {
          failed(thrown);
        }
      }
    };
  }
  const one = <A>(takers: readonly (((a: A) => void) | undefined)[]) => fan<A, void>(takers) as (a: A) => void;
  return {
    admitted: one(sinks.map((sink) => sink.admitted?.bind(sink))),
    refused: one(sinks.map((sink) => sink.refused?.bind(sink))),
    attemptStarted: fan(sinks.map((sink) => sink.attemptStarted?.bind(sink))),
    attemptAnswered: fan(sinks.map((sink) => sink.attemptAnswered?.bind(sink))),
    attemptEnded: fan(sinks.map((sink) => sink.attemptEnded?.bind(sink))),
    ended: fan(sinks.map((sink) => sink.ended?.bind(sink))),
    taskAttempted: one(sinks.map((sink) => sink.taskAttempted?.bind(sink))),
    taskEnded: fan(sinks.map((sink) => sink.taskEnded?.bind(sink))),
    disputed: one(sinks.map((sink) => sink.disputed?.bind(sink))),
    cooldown: one(sinks.map((sink) => sink.cooldown?.bind(sink))),
    configChanged: one(sinks.map((sink) => sink.configChanged?.bind(sink))),
    ledgerFault: one(sinks.map((sink) => sink.ledgerFault?.bind(sink))),
    redis: one(sinks.map((sink) => sink.redis?.bind(sink))),
  };
}
