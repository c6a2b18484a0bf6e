/** The images and documents that a call names by URL. They are fetched once a call, for targets that take them inline only. */
import type { Call, Image, ImageCall, Media, Message, Part } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { isObject, type Json } from '../../canonical/json.ts';
import type { GuardedFetch } from '../../transport/guarded-fetch.ts';
import { mediaTypeOf } from './media-type.ts';

/** How many URLs may be fetched for one call: each is a request of the gateway's to another server. */
const MAX_URLS = 50;

/** A medium named by its URL. */
type Named = Media & { source: { type: 'url'; url: string } };

interface Inline {
  base64: string;
  mimeType: string;
}

/** The media of one call that are named by URL, with those that were fetched. */
export class AddressedMedia {
  private readonly call: Call;
  private readonly media: readonly Named[];
  private readonly guard: GuardedFetch;
  private readonly maxBytes: number;
  private arriving = new Map<string, Promise<Inline>>();
  private controller = new AbortController();
  private bytes = 0;

  constructor(call: Call, media: readonly Named[], guard: GuardedFetch, maxBytes: number) {
    this.call = call;
    this.media = media;
    this.guard = guard;
    this.maxBytes = maxBytes;
  }

  /**
   * The call with all media inline, except the kinds that the target `takes` by URL; the call itself where there are none.
   * Throws `invalid_request` naming the member: URLs that are not allowed first, then those that cannot be fetched.
   */
  async inlineFor(takes: readonly Media['kind'][]): Promise<Call> {
    const wanted = this.media.filter(({ kind }) => !takes.includes(kind));
    if (wanted.length === 0) return this.call;
    const urls = new Set(wanted.map(({ source }) => source.url));
    if (urls.size > MAX_URLS) throw this.wrong(tooMany(), [...urls][MAX_URLS] ?? '');
    for (const url of urls) this.check(url);
    const entries = wanted.map(async (media) => [media, await this.fetched(media)] as const);
    const inline = new Map<Image, Inline>(await Promise.all(entries));
    return callWithInline(this.call, inline);
  }

  /** The same media of a call that has them too: what was fetched already is not fetched again. */
  of(call: Call): AddressedMedia {
    const other = new AddressedMedia(call, this.media, this.guard, this.maxBytes);
    other.arriving = this.arriving;
    other.controller = this.controller;
    other.bytes = this.bytes;
    return other;
  }

  /** Ends what is being fetched. */
  cancel(): void {
    this.controller.abort();
  }

  private fetched(media: Named): Promise<Inline> {
    const { url } = media.source;
    const key = `${media.kind} ${url}`;
    let arriving = this.arriving.get(key);
    if (!arriving) {
      arriving = this.fetch(media);
      // If one fails the call fails: the others are not needed any more.
      arriving.catch(() => this.controller.abort());
      this.arriving.set(key, arriving);
    }
    return arriving;
  }

  private async fetch({ kind, source: { url } }: Named): Promise<Inline> {
    try {
      const { bytes, contentType } = await this.guard.fetch(url, this.controller.signal);
      this.bytes += bytes.length;
      if (this.bytes > this.maxBytes) throw refused(`The media of a call may hold ${this.maxBytes} bytes in all.`);
      const mimeType = mediaTypeOf(kind, bytes, contentType);
      if (mimeType === undefined) throw refused(`The address leads to something that is no ${kind}.`);
      return { base64: Buffer.from(bytes).toString('base64'), mimeType };
    } catch (thrown) {
      throw this.wrong(thrown, url);
    }
  }

  private check(url: string): void {
    try {
      this.guard.check(url);
    } catch (thrown) {
      throw this.wrong(thrown, url);
    }
  }

  /** The error with the path of the URL in the client's own body. */
  private wrong(thrown: unknown, url: string): unknown {
    if (!(thrown instanceof GatewayError)) return thrown;
    const param = pathOf(this.call.origin.body, url);
    const place = param === undefined ? '' : `\`${param}\`: `;
    const sentence = `${place}${thrown.message} Send the bytes as base64 instead, or choose a model that fetches URLs itself.`;
    return new GatewayError(thrown.code, sentence, { ...(param !== undefined && { param }), cause: thrown.cause });
  }
}

/** `undefined`: the call names no media by URL, as most do. A conversation with texts only is not searched. */
export function addressedMedia(call: Call, guard: GuardedFetch, maxBytes: number): AddressedMedia | undefined {
  const found: Named[] = [];
  if (call.kind === 'chat') for (const message of call.messages) collect(message.parts, found);
  else if (call.kind === 'image') found.push(...imagesOf(call).filter(isNamed));
  return found.length > 0 ? new AddressedMedia(call, found, guard, maxBytes) : undefined;
}

function collect(parts: readonly Part[], found: Named[]): void {
  for (const part of parts) {
    if (part.type === 'tool-result') collect(part.parts, found);
    else if (part.type === 'media' && isNamed(part.media)) found.push(part.media);
  }
}

function isNamed(media: Image): media is Named {
  return media.source.type === 'url';
}

function imagesOf({ images, mask }: ImageCall): Image[] {
  return mask ? [...images, mask] : images;
}

function callWithInline(call: Call, inline: ReadonlyMap<Image, Inline>): Call {
  if (call.kind === 'chat') return { ...call, messages: call.messages.map((message) => withInline(message, inline)) };
  if (call.kind !== 'image') return call;
  const images = call.images.map((media) => inlineMedia(media, inline));
  return { ...call, images, ...(call.mask && { mask: inlineMedia(call.mask, inline) }) };
}

function inlineMedia<M extends Image>(media: M, inline: ReadonlyMap<Image, Inline>): M | Media {
  const found = inline.get(media);
  return found ? { ...media, source: { type: 'inline', base64: found.base64 }, mimeType: found.mimeType } : media;
}

function withInline(message: Message, inline: ReadonlyMap<Image, Inline>): Message {
  const parts = message.parts.map((part) => inlinePart(part, inline));
  return parts.every((part, index) => part === message.parts[index]) ? message : { ...message, parts };
}

function inlinePart(part: Part, inline: ReadonlyMap<Image, Inline>): Part {
  if (part.type === 'tool-result') {
    const parts = part.parts.map((one) => inlinePart(one, inline));
    return parts.every((one, index) => one === part.parts[index]) ? part : { ...part, parts };
  }
  if (part.type !== 'media') return part;
  const media = inlineMedia(part.media, inline);
  return media === part.media ? part : { ...part, media };
}

function refused(sentence: string): GatewayError {
  return new GatewayError('invalid_request', sentence);
}

function tooMany(): GatewayError {
  return refused(`The gateway fetches at most ${MAX_URLS} URLs for one call.`);
}

/** The path of a text in a JSON body (`messages[0].content[1].image_url.url`). Used only for errors. */
function pathOf(body: Uint8Array, text: string): string | undefined {
  try {
    return find(JSON.parse(Buffer.from(body).toString()) as Json, '');
  } catch {
    // The body is a form, which has no paths.
    return undefined;
  }

  function find(value: Json, path: string): string | undefined {
    if (value === text) return path;
    if (Array.isArray(value)) return first(value.entries(), (index) => `${path}[${index}]`);
    if (isObject(value)) return first(Object.entries(value), (member) => (path === '' ? member : `${path}.${member}`));
    return undefined;
  }

  function first<Key>(entries: Iterable<[Key, Json]>, pathTo: (key: Key) => string): string | undefined {
    for (const [key, value] of entries) {
      const found = find(value, pathTo(key));
      if (found !== undefined) return found;
    }
    return undefined;
  }
}
