/**
 * The contract of a client-facing video format: how requests are read and how tasks are shown. Also the reader of
 * members that all formats share.
 */

import type { TSchema } from 'typebox';
import { entryOf } from '../../canonical/entry-of.ts';
import { isObject, type Json, type JsonObject } from '../../canonical/json.ts';
import type { TaskCourse, TaskImage, TaskOutput, VideoCall } from '../../canonical/task.ts';
import { parsedJson } from '../shared/json-values.ts';
import { wrong } from '../shared/request-body.ts';
import { nodeOf, type SchemaNode } from '../shared/request-shape.ts';

/** The members of a request, from JSON or from a form. In a form all members are texts and files are data URLs. */
export interface VideoFormatRequest {
  fields: JsonObject;
  /** Set if the path says that the video begins with an image. */
  fromImage?: boolean;
}

/** A task as its owner sees it. */
export interface TaskView extends TaskCourse {
  id: string;
  ask: Omit<VideoCall, 'images'>;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** When the files expire. Absent if there are no files yet. */
  expiresAt?: number;
  outputs: readonly TaskOutput[];
  /** The URLs of its files, while they are kept. */
  urls: readonly string[];
}

export interface VideoFormat {
  readonly name: string;
  /** `model` is empty if the client named none. Throws `invalid_request` that names the wrong member. */
  readAsk(request: VideoFormatRequest): VideoCall;
  writeTask(task: TaskView): JsonObject;
  /** The response to the creation, if it is not the task itself. */
  writeCreated?(task: TaskView): JsonObject;
}

/** Reads members that may be texts of a form. Members that were not taken are the rest. */
export class FieldReader {
  private readonly left: Map<string, Json>;

  private readonly members: { readonly [name: string]: SchemaNode };

  /** `schema`: the schema of the format, with every member that is taken. */
  constructor(fields: JsonObject, schema: TSchema) {
    this.members = nodeOf(schema).properties ?? {};
    this.left = new Map(Object.entries(fields).filter(([, value]) => value !== null && value !== ''));
  }

  /** Takes a member under any of its names. Several names must have the same value. */
  take(...names: string[]): Json | undefined {
    let found: { name: string; value: Json } | undefined;
    for (const name of names) {
      if (!this.members[name]) throw new Error(`The schema of the format has no member "${name}".`);
      const value = this.left.get(name);
      this.left.delete(name);
      if (value === undefined) continue;
      if (found && String(found.value) !== String(value))
        throw wrong(name, `says something else than \`${found.name}\``);
      found ??= { name, value };
    }
    return found?.value;
  }

  /** Returns a list of one image, or an empty list. */
  image(role: TaskImage['role'], ...names: string[]): TaskImage[] {
    const used = names.find((name) => this.left.has(name)) ?? '';
    const value = this.take(...names);
    return value === undefined ? [] : [readTaskImage(value, used, role)];
  }

  text(...names: string[]): string | undefined {
    const value = this.take(...names);
    if (value === undefined || typeof value === 'string') return value;
    throw wrong(names[0] ?? '', 'must be a text');
  }

  /** A number, or a text with a number, in the range of the schema. */
  number(...names: string[]): number | undefined {
    const used = names.find((name) => this.left.has(name)) ?? '';
    const value = this.take(...names);
    if (value === undefined) return undefined;
    const { anyOf: [node] = [] } = this.members[used] ?? {};
    const { type, minimum: least = -Infinity, maximum: most = Infinity } = node ?? {};
    const isWhole = type === 'integer';
    const number = typeof value === 'number' ? value : typeof value === 'string' ? Number(value) : Number.NaN;
    if (number >= least && number <= most && (!isWhole || Number.isInteger(number))) return number;
    throw wrong(used, `must be a ${isWhole ? 'whole ' : ''}number from ${least} to ${most}`);
  }

  /** An object, or its JSON text. */
  object(name: string): JsonObject | undefined {
    const value = this.take(name);
    if (value === undefined || isObject(value)) return value;
    const parsed = typeof value === 'string' ? parsedJson(value) : undefined;
    if (isObject(parsed)) return parsed;
    throw wrong(name, 'must be an object');
  }

  rest(): JsonObject {
    return Object.fromEntries(this.left);
  }
}

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)?(?:;[\w-]+=[^;,]*)*;base64,/;
const BASE64 = /^[A-Za-z0-9+/_\s-]+={0,2}\s*$/;

/** An image as a URL, a data URL, or base64. */
export function readTaskImage(value: Json, param: string, role: TaskImage['role']): TaskImage {
  const text = isObject(value) ? (value.image_url ?? value.url ?? value.uri) : value;
  if (typeof text !== 'string') throw wrong(param, 'must be an image: an address, or base64');
  if (/^https?:\/\//i.test(text)) return { role, source: { type: 'url', url: text } };
  const data = DATA_URL.exec(text);
  const base64 = data ? text.slice(data[0].length) : text;
  if (!BASE64.test(base64)) throw wrong(param, 'must be an http or https address, a data URL, or base64');
  return { role, source: { type: 'inline', base64, ...(data?.[1] !== undefined && { mimeType: data[1] }) } };
}

const SIZE = /^(\d{2,5})\s*[x*×]\s*(\d{2,5})$/i;

/** A size as `1280x720`. */
export function readSize(text: string | undefined, param: string): { width: number; height: number } | undefined {
  if (text === undefined) return undefined;
  const found = SIZE.exec(text);
  if (!found) throw wrong(param, 'must be a size such as 1280x720');
  return { width: Number(found[1]), height: Number(found[2]) };
}

/** A number for a task's error, for formats whose error codes are numbers. */
export function errorNumber({ code }: { code: string }): number {
  return entryOf(NUMBERS, code) ?? 500;
}

const NUMBERS: { readonly [code: string]: number } = {
  content_policy: 400,
  invalid_request: 400,
  task_expired: 504,
  upstream_failed: 502,
};

/** Removes members without a value. */
export function defined<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;
}

/**
 * The facts of the first file; what the provider does not report is taken from the request. Integers, as
 * docs/api.md#video-generations requires.
 */
export function factsOf(ask: TaskView['ask'], [first]: TaskView['outputs']): JsonObject {
  const video = first?.video ?? {};
  const seconds = video.seconds ?? ask.seconds;
  const fps = video.fps ?? ask.fps;
  const { width, height } = video.width !== undefined ? video : ask;
  return {
    ...(seconds !== undefined && { duration: Math.round(seconds) }),
    ...(fps !== undefined && { fps: Math.round(fps) }),
    ...(width !== undefined && { width }),
    ...(height !== undefined && { height }),
    ...(ask.seed !== undefined && { seed: ask.seed }),
  };
}
