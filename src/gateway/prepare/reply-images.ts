/** Delivers images as the client wants them: fetches those that the provider gives as URLs, or stores inline ones and gives URLs. */
import type { Call } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { PartOpening, ReplyEvent } from '../../canonical/reply.ts';
import type { Frame } from '../../dialects/dialect.ts';
import type { ImageStore } from '../../files/image-store.ts';
import type { Upstream } from '../attempt/upstream.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { mediaTypeOf } from './media-type.ts';

/** The reply with every image inline, or with a URL for every image where the client wants `url`. */
export function deliverImages(deps: GatewayDeps, upstream: Upstream, call: Call): Upstream {
  if (call.kind !== 'image' || call.delivery === 'b64_json')
    return changed(upstream, (frame) => (frame.events.some(hasUrl) ? withInline(deps, frame) : frame));
  // The images of a stream are always inline.
  if (call.delivery === undefined || call.stream || !deps.imageStore) return upstream;
  const { imageStore } = deps;
  return changed(upstream, (frame) => (frame.events.some(isInline) ? withUrls(deps, imageStore, frame) : frame));
}

/** The upstream with `change` applied to every frame, in order. */
function changed(upstream: Upstream, change: (frame: Frame) => Frame | Promise<Frame>): Upstream {
  return {
    same: upstream.same,
    async next() {
      const frames = await upstream.next();
      return frames && Promise.all(frames.map(change));
    },
  };
}

type ImageOpening = Extract<ReplyEvent, { type: 'part-start' }> & { opens: Extract<PartOpening, { type: 'image' }> };

function isImage(event: ReplyEvent): event is ImageOpening {
  return event.type === 'part-start' && event.opens.type === 'image';
}

const hasUrl = (event: ReplyEvent) => isImage(event) && event.opens.url !== undefined;
const isInline = (event: ReplyEvent) => isImage(event) && isInlineImage(event);

/** A data URL counts as inline. */
const isInlineImage = ({ opens: { url } }: ImageOpening) => url === undefined || isDataUrl(url);
const isDataUrl = (url: string) => /^data:/i.test(url);

const DATA_URL = /^data:([^,;]*)[^,]*?(;base64)?,/i;

/** The bytes of a data URL; `undefined`: it is not a valid one. */
function dataOf(url: string): { bytes: Uint8Array; contentType: string } | undefined {
  // Only the head is matched: the data may be megabytes.
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

async function withInline(deps: GatewayDeps, { events }: Frame): Promise<Frame> {
  const fetched = await Promise.all(events.map((event) => (isImage(event) ? fetchedImage(deps, event) : [event])));
  return { bytes: new Uint8Array(), events: fetched.flat() };
}

async function fetchedImage({ guard }: GatewayDeps, event: ImageOpening): Promise<ReplyEvent[]> {
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

/** In a non-streaming reply each image is complete in one frame. */
async function withUrls(deps: GatewayDeps, imageStore: ImageStore, { events }: Frame): Promise<Frame> {
  const images = events.filter(isImage).filter(isInlineImage);
  const kept = await Promise.all(images.map((image) => keptImage(deps, imageStore, image, events)));
  const left = events.flatMap((event) => {
    if (isImage(event)) return kept[images.indexOf(event)] ?? [event];
    return event.type === 'part-delta' && images.some((image) => isOf(event, image)) ? [] : [event];
  });
  return { bytes: new Uint8Array(), events: left };
}

/** An image that cannot be stored is delivered inline: it was generated, and is charged. */
async function keptImage(
  { reportError }: GatewayDeps,
  imageStore: ImageStore,
  image: ImageOpening,
  events: readonly ReplyEvent[],
): Promise<ReplyEvent[]> {
  const deltas = events.flatMap((event) => (event.type === 'part-delta' && isOf(event, image) ? [event] : []));
  const { mimeType, url: given = '' } = image.opens;
  try {
    const data = dataOf(given);
    const bytes = data?.bytes ?? Buffer.from(deltas.map(({ delta }) => delta).join(''), 'base64');
    const url = await imageStore.put(bytes, (data && mediaTypeOf('image', bytes, data.contentType)) ?? mimeType);
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
