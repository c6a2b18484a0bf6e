/**
 * Finds the members of a video request that decide its price: how many, how long, how large, which model. Each is kept
 * once, wherever it stood.
 */

import { pixelsOfResolution } from '../../canonical/image-size.ts';
import { isObject, type Json, type JsonObject } from '../../canonical/json.ts';
import type { VideoCall } from '../../canonical/task.ts';
import { wrong } from '../shared/request-body.ts';
import { VIDEO_RANGES } from './request-schemas.ts';
import { readSize } from './video-format.ts';

/** Keys are lower case without separators. */
const COUNTS: ReadonlySet<string> = new Set([
  ...['n', 'num', 'numvideos', 'numberofvideos', 'videocount', 'samplecount', 'numsamples', 'samples', 'variants'],
  ...['nvariants', 'numvariants', 'batchsize', 'numoutputs', 'numresults', 'candidatecount', 'numgenerations'],
]);
const LENGTHS: ReadonlySet<string> = new Set([
  ...['seconds', 'duration', 'durationseconds', 'nseconds', 'videolength', 'videoduration', 'durationinseconds'],
]);
/** Length and size members of providers that are not read here. */
const OTHERS: ReadonlySet<string> = new Set([
  ...['length', 'frames', 'numframes', 'numberofframes', 'nframes', 'durationms', 'resolution', 'width', 'height'],
  ...['videosize', 'outputsize', 'outputresolution', 'upscale', 'model', 'modelname', 'servicetier'],
  ...['fps', 'framerate', 'framespersecond'],
]);

const RATES: ReadonlySet<string> = new Set(['fps', 'framerate', 'framespersecond']);

/** Provider-specific members that make a video more expensive, and the name under which the provider reads them. */
const QUALITIES: ReadonlyMap<string, string> = new Map([
  ['mode', 'mode'],
  ['sound', 'sound'],
  ['voicelist', 'voice_list'],
]);

const folded = (name: string) => name.toUpperCase().toLowerCase().replace(/[_-]/g, '');
const MAX_DEPTH = 32;

interface VideoMoneyMember {
  path: string;
  name: string;
  value: Json;
}

/**
 * Returns the request with the price members removed from its metadata. `n`: the number of videos, if the format has a
 * member for it.
 */
export function withoutRepeats(ask: Omit<VideoCall, 'n'>, n: number | undefined): VideoCall {
  const found: VideoMoneyMember[] = [];
  const metadata = without(ask.metadata, 'metadata', found, 0);
  const dropped: string[] = [];
  if (found.length === 0) return inOneSize({ ...ask, n: n ?? 1 }, dropped);
  const order: VideoCall = { ...ask, metadata, n: countOf(found, n, dropped) };
  const seconds = ask.seconds ?? lengthIn(found);
  if (seconds !== undefined) order.seconds = seconds;
  for (const one of found) {
    if (COUNTS.has(one.name) || (LENGTHS.has(one.name) && Number(one.value) === seconds)) continue;
    if (one.name === 'size' && takesSize(order, one)) continue;
    dropped.push(`\`${one.path}\` was dropped: ${whyDropped(one.name)}.`);
  }
  return inOneSize(order, dropped);
}

/** Drops a resolution that is higher than the size in the same request: some providers read only the resolution. */
function inOneSize(order: VideoCall, dropped: string[]): VideoCall {
  const { resolution, ...rest } = order;
  const { width, height } = order;
  const isAbove =
    resolution !== undefined &&
    width !== undefined &&
    height !== undefined &&
    pixelsOfResolution(resolution) > width * height * SAME_CLASS;
  if (isAbove) dropped.push('`resolution` was dropped: `size` says how large a video is.');
  return {
    ...(isAbove ? rest : order),
    ...(dropped.length > 0 && { dropped }),
  };
}

/** Sizes of one resolution class differ by up to this factor: 1280x704 counts as 720p. */
const SAME_CLASS = 1.15;

function whyDropped(name: string): string {
  if (LENGTHS.has(name) || name.includes('frames') || name.startsWith('length'))
    return '`seconds` says how long a video is';
  if (QUALITIES.has(name)) return `\`${QUALITIES.get(name)}\` at the top says how it is made`;
  if (RATES.has(name)) return '`fps` says how many frames a second has';
  if (name.startsWith('model') || name === 'servicetier') return '`model` alone says what makes the video';
  return '`size` and `resolution` say how large a video is';
}

/** Removes the found members at any depth. */
function without(members: JsonObject, path: string, found: VideoMoneyMember[], depth: number): JsonObject {
  const kept: JsonObject = {};
  for (const [member, value] of Object.entries(members)) {
    const name = folded(member);
    const at = `${path}.${member}`;
    if (depth >= MAX_DEPTH) throw wrong(path, 'is nested too deep');
    const quality = QUALITIES.get(name);
    if (quality !== undefined && (depth > 0 || member !== quality)) {
      found.push({ path: at, name, value });
      continue;
    }
    if (isObject(value)) kept[member] = without(value, at, found, depth + 1);
    else if (Array.isArray(value) && !isMoney(name))
      kept[member] = value.map((one, place) =>
        isObject(one) ? without(one, `${at}[${place}]`, found, depth + 1) : one,
      );
    else if (isMoney(name) && value !== null) found.push({ path: at, name, value });
    else kept[member] = value;
  }
  return kept;
}

function isMoney(name: string): boolean {
  return COUNTS.has(name) || LENGTHS.has(name) || OTHERS.has(name) || name === 'size';
}

/** The smallest of all counts. */
function countOf(found: readonly VideoMoneyMember[], n: number | undefined, dropped: string[]): number {
  const { least, most } = VIDEO_RANGES.n;
  let count = n;
  for (const { path, name, value } of found) {
    if (!COUNTS.has(name)) continue;
    const parsed = Number(value);
    if (!Number.isInteger(parsed) || parsed < least || (n === undefined && parsed > most))
      throw wrong(path, `must be a whole number from ${least} to ${most}`);
    count = Math.min(count ?? parsed, parsed);
  }
  for (const { path, name, value } of found)
    if (COUNTS.has(name) && Number(value) !== count)
      dropped.push(`\`${path}\` was dropped: ${count} asked for elsewhere.`);
  return count ?? 1;
}

function lengthIn(found: readonly VideoMoneyMember[]): number | undefined {
  const length = found.find(({ name }) => LENGTHS.has(name));
  if (!length) return undefined;
  const seconds = Number(length.value);
  const { least, most } = VIDEO_RANGES.seconds;
  if (seconds >= least && seconds <= most) return seconds;
  throw wrong(length.path, `must be a number from ${least} to ${most}`);
}

/** Uses a size in the metadata if the request has no other. */
function takesSize(order: VideoCall, { path, value }: VideoMoneyMember): boolean {
  if (order.width !== undefined || order.resolution !== undefined || typeof value !== 'string') return false;
  const size = readSize(value, path);
  if (size) Object.assign(order, size);
  return true;
}
