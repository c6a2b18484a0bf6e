/** Joins tool call arguments that arrive in pieces, each with the path of its value. */
import { isObject, type Json, type JsonObject } from '../../../../canonical/json.ts';

const STEP = /\.([^.[\]]+)|\[(\d+)\]|\['([^']*)'\]|\["([^"]*)"\]/g;
const MAX_INDEX = 10_000;
const UNSAFE_NAME = '__proto__';

type Container = JsonObject | Json[];

export class PartialArgs {
  readonly #args: JsonObject = {};

  /** `pieces`: `partialArgs` of one part. */
  add(pieces: Json | undefined): void {
    for (const piece of Array.isArray(pieces) ? pieces : []) {
      if (!isObject(piece) || typeof piece.jsonPath !== 'string') continue;
      const steps = stepsOf(piece.jsonPath);
      if (steps.length > 0) this.#set(steps, piece);
    }
  }

  json(): string {
    return JSON.stringify(this.#args);
  }

  #set(steps: readonly (string | number)[], piece: JsonObject): void {
    let at: Container = this.#args;
    for (const [depth, step] of steps.entries()) {
      const next = steps[depth + 1];
      const had = valueAt(at, step);
      if (next === undefined) {
        put(at, step, pieceValue(piece, had));
        return;
      }
      const isFitting = typeof next === 'number' ? Array.isArray(had) : isObject(had);
      const inner: Container = isFitting ? (had as Container) : typeof next === 'number' ? [] : {};
      put(at, step, inner);
      at = inner;
    }
  }
}

function pieceValue(piece: JsonObject, had: Json | undefined): Json {
  const { stringValue, numberValue, boolValue } = piece;
  if (typeof stringValue === 'string') return (typeof had === 'string' ? had : '') + stringValue;
  return numberValue ?? boolValue ?? null;
}

function valueAt(container: Container, step: string | number): Json | undefined {
  if (Array.isArray(container)) return typeof step === 'number' ? container[step] : undefined;
  return Object.hasOwn(container, String(step)) ? container[String(step)] : undefined;
}

function put(container: Container, step: string | number, value: Json): void {
  if (!Array.isArray(container)) container[String(step)] = value;
  else if (typeof step === 'number') {
    while (container.length < step) container.push(null);
    container[step] = value;
  }
}

/** `$.operations[0].action` becomes `operations`, 0, `action`. */
function stepsOf(path: string): (string | number)[] {
  const steps: (string | number)[] = [];
  for (const [, name, index, single, double] of path.matchAll(STEP)) {
    const step = index === undefined ? (name ?? single ?? double ?? '') : Number(index);
    if (step === UNSAFE_NAME || (typeof step === 'number' && step > MAX_INDEX)) return [];
    steps.push(step);
  }
  return steps;
}
