/** The sandbox's images as reply events, with partial images first if a stream requests them. */
import type { ImageCall } from '../canonical/call.ts';
import { GatewayError } from '../canonical/errors.ts';
import { pixelsOf } from '../canonical/image-size.ts';
import type { ReplyEvent } from '../canonical/reply.ts';
import { uploadOf } from '../canonical/upload.ts';
import { IMAGE_TOKENS } from './answer.ts';
import { withoutDirectives } from './directives.ts';
import { generateImage, pngSize, type Size } from './image.ts';
import { base64, type ReplyHead } from './reply-events.ts';
import { countTokens } from './tokens.ts';

const USUAL_SIZE: Size = { width: 1024, height: 1024 };
const LARGEST_SIDE = 4096;
const SMALLEST_SIDE = 16;
const MOST_IMAGES = 10;
/** A partial image is smaller by this factor. */
const SKETCH_SCALE = 8;

/** Validates the call at once; each image is generated when it is read. */
export function sandboxImageEvents(call: ImageCall, head: ReplyHead): Generator<ReplyEvent[]> {
  const size = sizeOf(call);
  if (call.n > MOST_IMAGES)
    throw new GatewayError('invalid_request', `\`n\` must be from 1 to ${MOST_IMAGES}.`, { param: 'n' });
  if (call.format !== undefined && call.format !== 'png')
    throw new GatewayError('invalid_request', 'The sandbox generates `png` alone.', { param: 'output_format' });
  return generateAll(call, head, size);
}

function* generateAll(call: ImageCall, { id, createdSeconds }: ReplyHead, size: Size): Generator<ReplyEvent[]> {
  const prompt = withoutDirectives(call.prompt) + givenMark(call);
  yield [{ type: 'reply-start', id, model: call.model, createdSeconds }];
  yield* sketches(call, prompt, size);
  for (let choice = 0; choice < call.n; choice++)
    yield generated(choice === 0 ? prompt : `${prompt} (${choice + 1})`, choice, size);
  yield [usageOf(call), { type: 'reply-end' }];
}

function generated(prompt: string, choice: number, size: Size): ReplyEvent[] {
  const opens = { type: 'image' as const, mimeType: 'image/png', revisedPrompt: `A pattern for: ${prompt}` };
  return [
    { type: 'part-start', choice, part: 0, opens },
    { type: 'part-delta', choice, part: 0, delta: base64(generateImage(prompt, size)) },
    { type: 'part-end', choice, part: 0 },
    { type: 'choice-end', choice, finish: { reason: 'stop' } },
  ];
}

function* sketches(
  { stream, partialImages = 0, origin }: ImageCall,
  prompt: string,
  size: Size,
): Generator<ReplyEvent[]> {
  if (!stream) return;
  const small = {
    width: Math.max(SMALLEST_SIDE, Math.floor(size.width / SKETCH_SCALE)),
    height: Math.max(SMALLEST_SIDE, Math.floor(size.height / SKETCH_SCALE)),
  };
  for (let index = 0; index < partialImages; index++) {
    const sketch = base64(generateImage(`${prompt} sketch ${index}`, small));
    yield [{ type: 'aside', dialect: origin.dialect, members: { b64_json: sketch, partial_image_index: index } }];
  }
}

/** Input images change the pattern. */
function givenMark({ images }: ImageCall): string {
  const given = images.map(({ source }) => {
    if (source.type !== 'inline' && source.type !== 'upload') return source.type;
    const { head, size: bytes } =
      source.type === 'upload' ? source.upload : uploadOf(Buffer.from(source.base64, 'base64'));
    const size = pngSize(head);
    return `${size ? `${size.width}x${size.height}, ` : ''}${bytes} bytes`;
  });
  return given.length > 0 ? ` [from ${given.join('; ')}]` : '';
}

function sizeOf(call: ImageCall): Size {
  const size = pixelsOf(call.size) ?? USUAL_SIZE;
  const fits = (side: number) => side >= SMALLEST_SIDE && side <= LARGEST_SIDE;
  if (fits(size.width) && fits(size.height)) return size;
  const sentence = `\`size\` must have sides from ${SMALLEST_SIDE} to ${LARGEST_SIDE}.`;
  throw new GatewayError('invalid_request', sentence, { param: 'size' });
}

function usageOf({ prompt, n }: ImageCall): ReplyEvent {
  const input = countTokens(prompt);
  const output = n * IMAGE_TOKENS;
  return { type: 'usage', usage: { input, output, imageOutput: output, images: n, source: 'reported' } };
}
