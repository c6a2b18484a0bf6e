/** Images as their client wants them: those that a provider left at an address in hand, those in hand at an address. */
import type { Call } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { PartOpening, ReplyEvent } from '../../canonical/reply.ts';
import type { Frame } from '../../dialects/dialect.ts';
import type { ImageShelf } from '../../files/image-store.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { Upstream } from '../upstream.ts';
import { mediaTypeOf } from './media-type.ts';

/** The reply with every image inline, unless the client takes addresses; with every image at one where it asks for that. */
export function imagesAsAsked(deps: GatewayDeps, upstream: Upstream, call: Call): Upstream {
  if (call.kind !== 'image' || call.delivery === 'b64_json')
    return changed(upstream, (frame) => (frame.events.some(isElsewhere) ? inHand(deps, frame) : frame));
  // Images of a stream are in hand, whatever is asked.
  if (call.delivery === undefined || call.stream || !deps.shelf) return upstream;
  const { shelf } = deps;
  return changed(upstream, (frame) => (frame.events.some(isInline) ? atAddresses(deps, shelf, frame) : frame));
}

/** `change` is given every frame, in order. */
function changed(upstream: Upstream, change: (frame: Frame) => Frame | Promise<Frame>): Upstream {
  return {
    same: upstream.same,
    async next() {
      const frames = await upstream.next();
      return frames && Promise.all(frames.map(change));
    },
  };
}

type Opening = Extract<ReplyEvent, { type: 'part-start' }> & { opens: Extract<PartOpening, { type: 'image' }> };

function isImage(event: ReplyEvent): event is Opening {
  return event.type === 'part-start' && event.opens.type === 'image';
}

const isElsewhere = (event: ReplyEvent) => isImage(event) && event.opens.url !== undefined;
const isInline = (event: ReplyEvent) => isImage(event) && isInHand(event);

/** A data URL is no address: the image is in it. */
const isInHand = ({ opens: { url } }: Opening) => url === undefined || isDataUrl(url);
const isDataUrl = (url: string) => /^data:/i.test(url);

const DATA_URL = /^data:([^,;]*)[^,]*?(;base64)?,/i;

/** The bytes within a data URL; `undefined` where it is none that can be read. */
function dataOf(url: string): { bytes: Uint8Array; contentType: string } | undefined {
  // The head is short, and the rest may be megabytes.
  const [head, contentType = '', isBase64] = DATA_URL.exec(url.slice(0, 256)) ?? [];
  if (head === undefined) return undefined;
  const text = url.slice(head.length);
  try {
    const bytes = isBase64 ? Buffer.from(text, 'base64') : Buffer.from(decodeURIComponent(text));
    return { bytes, contentType };
  } catch {
    return undefined;
  }
}

async function inHand(deps: GatewayDeps, { events }: Frame): Promise<Frame> {
  const fetched = await Promise.all(events.map((event) => (isImage(event) ? fetchedImage(deps, event) : [event])));
  return { bytes: new Uint8Array(), events: fetched.flat() };
}

async function fetchedImage({ guard }: GatewayDeps, event: Opening): Promise<ReplyEvent[]> {
  const { choice, part, opens } = event;
  const { url, ...rest } = opens;
  if (url === undefined) return [event];
  try {
    const { bytes, contentType } = dataOf(url) ?? (await guard.fetch(url, new AbortController().signal));
    const mimeType = mediaTypeOf('image', bytes, contentType);
    if (mimeType === undefined) throw new Error('The address holds no image.');
    const delta = Buffer.from(bytes).toString('base64');
    return [
      { type: 'part-start', choice, part, opens: { ...rest, mimeType } },
      { type: 'part-delta', choice, part, delta },
    ];
  } catch (cause) {
    const sentence = 'The image could not be fetched from where the provider left it.';
    throw new GatewayError('upstream_failed', sentence, { cause });
  }
}

/** Each image stands whole in one frame: replies that are no streams come so. */
async function atAddresses(deps: GatewayDeps, shelf: ImageShelf, { events }: Frame): Promise<Frame> {
  const images = events.filter(isImage).filter(isInHand);
  const kept = await Promise.all(images.map((image) => keptImage(deps, shelf, image, events)));
  const left = events.flatMap((event) => {
    if (isImage(event)) return kept[images.indexOf(event)] ?? [event];
    return event.type === 'part-delta' && images.some((image) => isOf(event, image)) ? [] : [event];
  });
  return { bytes: new Uint8Array(), events: left };
}

/** One that cannot be kept is given as it is: it has been generated, and will be charged. */
async function keptImage(
  { reportError }: GatewayDeps,
  shelf: ImageShelf,
  image: Opening,
  events: readonly ReplyEvent[],
): Promise<ReplyEvent[]> {
  const deltas = events.flatMap((event) => (event.type === 'part-delta' && isOf(event, image) ? [event] : []));
  const { mimeType, url: given = '' } = image.opens;
  try {
    const data = dataOf(given);
    const bytes = data?.bytes ?? Buffer.from(deltas.map(({ delta }) => delta).join(''), 'base64');
    const url = await shelf.put(bytes, (data && mediaTypeOf('image', bytes, data.contentType)) ?? mimeType);
    return [{ ...image, opens: { ...image.opens, url } }];
  } catch (thrown) {
    reportError('An image could not be kept: its client was given a data URL.', thrown);
    return [image, ...deltas];
  }
}

interface Place {
  choice: number;
  part: number;
}

const isOf = (one: Place, other: Place) => one.choice === other.choice && one.part === other.part;
