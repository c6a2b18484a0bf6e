/** A request for images as a conversation, and a conversation with an image model as a request for images. Pure. */
import type { ChatCall, ImageCall, MediaPart, Message, Part } from '../../canonical/call.ts';
import { finenessOf, type ImageSize, nearestRatio } from '../../canonical/image-size.ts';
import { isUploaded } from './uploaded-images.ts';

/** The aspect ratios that models which generate images in conversations take. */
const RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];

export function asConversation(call: ImageCall): { call: ChatCall; losses: readonly string[] } {
  const losses: string[] = [];
  const ratio = nearestRatio(call.size, RATIOS);
  if (ratio && !ratio.exact)
    losses.push(`The size was taken as the aspect ratio ${ratio.nearest}: the model generates no closer size.`);
  const { pixels } = call.size;
  if (pixels)
    losses.push(
      `The size ${pixels.width}x${pixels.height} was requested as an aspect ratio: the model chooses its own sizes.`,
    );
  const unsupported = ['quality', 'style', 'background', 'mask', 'format', 'compression', 'partialImages'] as const;
  for (const member of unsupported)
    if (call[member] !== undefined)
      losses.push(`\`${WIRE_NAMES[member] ?? member}\` was dropped: the model generates images in a conversation.`);
  const requested = finenessOf(call.size);
  const fineness = requested === '3K' ? '2K' : requested;
  if (fineness !== requested)
    losses.push(`The size ${requested} was taken as ${fineness}: the model generates no closer size.`);
  const image = { ...(ratio && { aspectRatio: ratio.nearest }), ...(fineness !== undefined && { size: fineness }) };
  const avoid = call.negativePrompt === undefined ? '' : `\n\nAvoid: ${call.negativePrompt}`;
  // Uploaded files are inline already: `inlineUploads` runs before this step.
  const images = call.images.flatMap((media): Part[] => (isUploaded(media) ? [] : [{ type: 'media', media }]));
  const conversation: ChatCall = {
    kind: 'chat',
    model: call.model,
    stream: call.stream,
    origin: call.origin,
    extras: {},
    headers: {},
    ...(call.receivedSeconds !== undefined && { receivedSeconds: call.receivedSeconds }),
    messages: [{ role: 'user', parts: [...images, { type: 'text', text: call.prompt + avoid }] }],
    tools: [],
    sampling: { ...(call.n > 1 && { n: call.n }), ...(call.seed !== undefined && { seed: call.seed }) },
    modalities: ['text', 'image'],
    ...(Object.keys(image).length > 0 && { image }),
    wantsUsage: true,
    ...(call.user !== undefined && { user: call.user }),
  };
  return { call: conversation, losses };
}

const WIRE_NAMES: { readonly [member: string]: string } = {
  format: 'output_format',
  compression: 'output_compression',
  partialImages: 'partial_images',
};

/** The prompt is the user's last turn. The images to change are those of that turn, or else the last one of the conversation. */
export function asImages(call: ChatCall): { call: ImageCall; losses: readonly string[] } {
  const losses: string[] = [];
  const { messages } = call;
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const turn = messages[last];
  const instructions = messages.filter(({ role }) => role === 'system');
  const prompt = [...instructions, ...(turn ? [turn] : [])]
    .map(textOf)
    .filter((text) => text !== '')
    .join('\n\n');
  const own = turn ? imagesIn(turn) : [];
  const earlier = messages.slice(0, Math.max(0, last));
  const images = own.length > 0 ? own : earlier.flatMap(imagesIn).slice(-1);
  if (earlier.some(({ role }) => role !== 'system'))
    losses.push('Earlier turns were left out, but for the last image: the model generates from one prompt.');
  if (call.tools.length > 0) losses.push('Tools were dropped: the model only generates images.');
  const { aspectRatio, size: fineness } = call.image ?? {};
  const size: ImageSize = {
    ...(aspectRatio !== undefined && { aspectRatio }),
    ...(fineness !== undefined && { fineness }),
  };
  const request: ImageCall = {
    kind: 'image',
    model: call.model,
    stream: call.stream,
    origin: { ...call.origin, foreign: true },
    extras: {},
    headers: {},
    ...(call.receivedSeconds !== undefined && { receivedSeconds: call.receivedSeconds }),
    prompt,
    images: images.map(({ media }) => media),
    edit: images.length > 0,
    n: call.sampling.n ?? 1,
    size,
    ...(call.sampling.seed !== undefined && { seed: call.sampling.seed }),
    ...(call.user !== undefined && { user: call.user }),
  };
  return { call: request, losses };
}

function textOf({ parts }: Message): string {
  return parts
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('\n')
    .trim();
}

function imagesIn({ parts }: Message): MediaPart[] {
  return parts.filter((part) => part.type === 'media' && part.media.kind === 'image') as MediaPart[];
}
