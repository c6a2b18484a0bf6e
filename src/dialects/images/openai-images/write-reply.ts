/**
 * Writes images: one JSON body, or a stream of events. The provider's own bytes are passed on if their images are as
 * requested.
 */
import type { ImageCall } from '../../../canonical/call.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import { addEvent, emptyReply, type Reply, type ReplyEvent } from '../../../canonical/reply.ts';
import type { Usage } from '../../../canonical/usage.ts';
import type { Frame, Writer } from '../../dialect.ts';
import { openaiErrorObject } from '../../shared/error-bodies.ts';
import { OPENAI_IMAGES } from './name.ts';

const NO_BYTES = new Uint8Array();
const NO_WARNINGS: readonly string[] = [];
const encoder = new TextEncoder();
const OPENING_BRACE = 0x7b;

export function createWriter(call: ImageCall): Writer {
  return call.stream ? streamWriter(call) : jsonWriter(call);
}

function jsonWriter(call: ImageCall): Writer {
  const reply = emptyReply();
  let passed = false;
  const take = (frame: Frame) => {
    for (const event of frame.events) addEvent(reply, event);
    return NO_BYTES;
  };
  return {
    contentType: 'application/json',
    warnings: NO_WARNINGS,
    write: take,
    pass(frame) {
      take(frame);
      passed = frame.bytes.length > 0 && imagesOf(reply).every(({ isAddress }) => isAsAsked(call, isAddress));
      return passed ? frame.bytes : NO_BYTES;
    },
    end: () => (passed ? NO_BYTES : encoder.encode(JSON.stringify(bodyOf(call, reply)))),
    // Nothing has been sent yet, so the error becomes the response.
    fail: () => NO_BYTES,
    keepAlive: () => NO_BYTES,
  };
}

function isAsAsked({ delivery }: ImageCall, isAddress: boolean): boolean {
  return delivery === undefined || (delivery === 'url') === isAddress;
}

interface WrittenImage {
  isAddress: boolean;
  members: JsonObject;
}

/** All images of the reply, in order. Text beside an image becomes its revised prompt, if it has none. */
function imagesOf({ choices }: Reply, delivery?: ImageCall['delivery']): WrittenImage[] {
  return choices.flatMap(({ parts }) =>
    parts.flatMap(({ opens, content }) => {
      if (opens.type !== 'image') return [];
      const revised = opens.revisedPrompt === undefined ? {} : { revised_prompt: opens.revisedPrompt };
      if (opens.url !== undefined) return { isAddress: true, members: { url: opens.url, ...revised } };
      const data = delivery === 'url' ? { url: `data:${opens.mimeType};base64,${content}` } : { b64_json: content };
      return { isAddress: false, members: { ...data, ...revised } };
    }),
  );
}

/** The response body (docs/api.md#images). */
function bodyOf(call: ImageCall, reply: Reply): JsonObject {
  return {
    created: reply.createdSeconds ?? call.receivedSeconds ?? 0,
    data: imagesOf(reply, call.delivery).map(({ members }) => members),
    ...reply.extras,
    ...(reply.usage && tokensOf(reply.usage)),
  };
}

/** Returns nothing if the provider bills by image. */
function tokensOf(usage: Usage): JsonObject {
  const { input, output, imageInput = 0 } = usage;
  if (input + output === 0) return {};
  return {
    usage: {
      input_tokens: input,
      output_tokens: output,
      total_tokens: input + output,
      input_tokens_details: { text_tokens: Math.max(0, input - imageInput), image_tokens: imageInput },
    },
  };
}

function streamWriter(call: ImageCall): Writer {
  const reply = emptyReply();
  const word = call.edit ? 'image_edit' : 'image_generation';
  let passed = false;

  function eventText(type: string, members: JsonObject): string {
    return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
  }

  function sketch(event: ReplyEvent): string {
    if (event.type !== 'aside' || event.dialect !== OPENAI_IMAGES) return '';
    return eventText(`${word}.partial_image`, event.members);
  }

  function completed(): string {
    const created = reply.createdSeconds ?? call.receivedSeconds ?? 0;
    const images = imagesOf(reply);
    return images
      .map(({ members }, index) =>
        eventText(`${word}.completed`, {
          ...members,
          created_at: created,
          ...reply.extras,
          // The usage covers all images, so it belongs to the last one.
          ...(index === images.length - 1 && reply.usage && tokensOf(reply.usage)),
        }),
      )
      .join('');
  }

  return {
    contentType: 'text/event-stream; charset=utf-8',
    warnings: NO_WARNINGS,
    write(frame) {
      let text = '';
      for (const event of frame.events) {
        addEvent(reply, event);
        text += sketch(event);
      }
      return text === '' ? NO_BYTES : encoder.encode(text);
    },
    pass(frame) {
      // A provider that cannot stream returns one JSON body.
      if (frame.bytes[0] === OPENING_BRACE) return this.write(frame);
      passed = true;
      return frame.bytes;
    },
    end: () => (passed ? NO_BYTES : encoder.encode(completed())),
    fail(error) {
      const body = { type: 'error', error: openaiErrorObject(error) };
      return encoder.encode(`event: error\ndata: ${JSON.stringify(body)}\n\n`);
    },
    keepAlive: () => encoder.encode(': keep-alive\n\n'),
  };
}
