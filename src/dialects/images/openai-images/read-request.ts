/** Reads a request for images: flat, nested (`input.messages`), or an edit as JSON or as a form. */
import type { Image, ImageCall, Media } from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { type ImageSize, readImageSize } from '../../../canonical/image-size.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { Upload } from '../../../canonical/upload.ts';
import type { WireRequest } from '../../dialect.ts';
import { extrasOf, memberCheck, typedMembers } from '../../shared/checked-members.ts';
import { billable, type MoneySpelling } from '../../shared/money/money-members.ts';
import { parseBody, wrong } from '../../shared/request-body.ts';
import { topMembers } from '../../shared/request-shape.ts';
import { type Form, formBoundary, formIn } from '../../wire/multipart.ts';
import { typeOfBase64 } from '../image-type.ts';
import { OPENAI_IMAGES } from './name.ts';
import { readImage } from './read-image.ts';
import { readNested } from './read-nested.ts';
import { ImagesRequest } from './request-schema.ts';

/** All other members are extras. */
const DECLARED = topMembers(ImagesRequest);
const check = memberCheck(ImagesRequest);
/** Used instead of a form's bytes. */
const NO_MEMBERS = new TextEncoder().encode('{}');
const MONEY = {
  choices: ['n'],
  tier: ['service_tier'],
  model: ['model'],
  size: ['size', 'aspect_ratio', 'quality'],
  content: new Set(['input', 'image', 'images', 'mask']),
} satisfies MoneySpelling;
const inBoth = (names: readonly string[]) => [...names, ...names.map((name) => `parameters.${name}`)];
/** In the nested shape, settings also occur in `parameters`. */
const NESTED_MONEY: MoneySpelling = { ...MONEY, choices: inBoth(MONEY.choices), size: inBoth(MONEY.size) };

/** Throws `invalid_request` that names the wrong member. */
export function readCall(request: WireRequest): ImageCall {
  const boundary = formBoundary(request.headers.get('content-type'));
  const edit = request.path.action === 'edits';
  const form = boundary === undefined ? undefined : (request.form ?? formIn(request.body, boundary));
  const parsed = form ? membersOf(form) : parseBody(request.body);
  if (!isObject(parsed)) throw new GatewayError('invalid_request', 'The body must be a JSON object.');
  const { body, bytes, dropped } = billable(
    parsed,
    form ? NO_MEMBERS : request.body,
    isNested(parsed) ? NESTED_MONEY : MONEY,
  );
  const nested = isNested(body) ? readNested(body) : undefined;
  const flat = typedMembers(ImagesRequest, { ...body, ...nested?.members });
  const images: Image[] = nested?.images ?? (form ? imagesIn(form, 'image') : readImages(body));
  const mask = form ? imagesIn(form, 'mask')[0] : readMask(body.mask);
  if (edit && images.length === 0) throw wrong('image', 'is required: the image to edit');
  const { model, prompt, n, stream, ...settings } = check(flat);
  const isOwnBody = !form && !nested && !edit && images.length === 0;
  return {
    kind: 'image',
    model,
    stream: stream === true,
    origin: {
      dialect: OPENAI_IMAGES,
      body: form ? request.body : bytes,
      ...(dropped && { dropped }),
      ...(!isOwnBody && { foreign: true as const }),
    },
    extras: extrasOf(body, DECLARED, OPENAI_IMAGES),
    headers: {},
    prompt,
    images,
    ...(mask && { mask }),
    edit: edit || images.length > 0,
    n: n ?? 1,
    size: readSize(settings),
    ...settingsOf(settings),
  };
}

function isNested({ input }: JsonObject): boolean {
  return isObject(input) && Array.isArray(input.messages);
}

function settingsOf(members: Omit<ImagesRequest, 'model' | 'prompt'>): Partial<ImageCall> {
  const { quality, style, background, user, seed, negative_prompt: negativePrompt } = members;
  const { output_format: format, output_compression: compression, response_format: delivery } = members;
  const { partial_images: partialImages } = members;
  return {
    ...(quality != null && { quality }),
    ...(style != null && { style }),
    ...(background != null && { background }),
    ...(user != null && { user }),
    ...(negativePrompt != null && { negativePrompt }),
    ...(format != null && { format: format === 'jpg' ? 'jpeg' : format }),
    ...(compression != null && { compression }),
    ...(delivery != null && { delivery }),
    ...(partialImages != null && { partialImages }),
    ...(seed != null && { seed }),
  };
}

function readSize({ size: written, aspect_ratio: ratio }: Pick<ImagesRequest, 'size' | 'aspect_ratio'>): ImageSize {
  const size = written == null ? {} : readImageSize(written);
  if (!size)
    throw wrong('size', 'must be `<width>x<height>` such as `1024x1024`, an aspect ratio such as `16:9`, or `auto`');
  if (ratio == null || ratio === 'auto') return size;
  const shape = readImageSize(ratio);
  if (shape?.aspectRatio === undefined) throw wrong('aspect_ratio', 'must be two whole numbers such as `16:9`');
  return { ...shape, ...size };
}

/** `image`, `images`: URLs, data URLs or base64; one, a list, or objects with one of them. */
function readImages({ image, images }: JsonObject): Media[] {
  const [given, path] = images === undefined || images === null ? [image, 'image'] : [images, 'images'];
  if (given === undefined || given === null) return [];
  const list = Array.isArray(given) ? given : [given];
  return list.map((one, index) => readImage(one, Array.isArray(given) ? `${path}[${index}]` : path));
}

function readMask(mask: Json | undefined): Media | undefined {
  return mask === undefined || mask === null ? undefined : readImage(mask, 'mask');
}

/** Form fields as members. Members that are JSON values in other requests are texts here. */
function membersOf({ fields }: Form): JsonObject {
  return Object.fromEntries(fields.filter(([name]) => memberOf(name) !== 'image' && memberOf(name) !== 'mask'));
}

/** The images of a form under this name: files, and fields with a URL or base64. */
function imagesIn({ fields, files }: Form, member: string): Image[] {
  const given = files.filter(({ name }) => memberOf(name) === member);
  const matching = fields.filter(([name]) => memberOf(name) === member);
  return [
    ...given.map(({ name, filename, contentType = '', upload }): Image => {
      if (upload.size === 0) throw wrong(name, 'holds no bytes');
      const mimeType = contentType.startsWith('image/') ? contentType : typeOfFile(upload);
      return { kind: 'image', source: { type: 'upload', upload }, name: filename, ...(mimeType && { mimeType }) };
    }),
    ...matching.map(([name, value]) => {
      if (value === '') throw wrong(name, 'holds no bytes');
      return readImage(value, name);
    }),
  ];
}

/** Lists may be named `image[]` or `image[0]`. */
const memberOf = (name: string) => name.replace(/\[\d*\]$/, '');

/** Enough bytes to detect every type. */
const TELLING_BYTES = 12;

const typeOfFile = ({ head }: Upload) => typeOfBase64(Buffer.from(head.subarray(0, TELLING_BYTES)).toString('base64'));
