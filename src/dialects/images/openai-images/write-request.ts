/** Writes a request for images: flat JSON, or an edit as JSON or as a form, depending on the provider. */

import type { Image, ImageCall } from '../../../canonical/call.ts';
import type { Json, JsonObject } from '../../../canonical/json.ts';
import type { Written } from '../../dialect.ts';
import { type Adjustment, adjust, passOwn } from '../../shared/adjust.ts';
import { type OutgoingBody, WrittenBody } from '../../shared/outgoing-body.ts';
import { imageFile } from '../../shared/outgoing-media.ts';
import { type ModelQuirks, type Quirks, quirksOf } from '../../shared/quirks.ts';
import type { Form, FormFile } from '../../wire/multipart.ts';
import { refuseImages } from '../image-refusal.ts';
import { editMembers } from './edit-members.ts';
import { OPENAI_IMAGES } from './name.ts';
import { sizeMembers, sizePatches } from './size-members.ts';

const NO_BYTES = new Uint8Array();

export function takesUploads(call: ImageCall, model: string, all: Quirks): boolean {
  return isForm(call, quirksOf(all, model));
}

function isForm({ edit, images, mask }: ImageCall, { requiresEditForm }: Quirks): boolean {
  if (!edit || requiresEditForm === undefined) return false;
  const given = mask ? [...images, mask] : images;
  return requiresEditForm === true || given.every(({ source }) => source.type === 'upload');
}

export function writeCall(call: ImageCall, model: string, all: Quirks): Written {
  const quirks = quirksOf(all, model);
  refuseImages(call, quirks);
  const losses = new Set<string>();
  const body = new WrittenBody(membersOf(call, model, quirks));
  adjust(body, call, model, quirks, losses, ADJUSTMENTS);
  if (isForm(call, quirks)) return { body: NO_BYTES, form: formOf(call, body.members()), warnings: [...losses] };
  const edit: string[] = [];
  if (call.edit) for (const [name, value] of Object.entries(editMembers(call, quirks, edit))) body.set(name, value);
  return { body: body.encode(), warnings: [...losses, ...edit] };
}

function membersOf(call: ImageCall, model: string, quirks: ModelQuirks): { [member: string]: Json | undefined } {
  return {
    ...call.extras[OPENAI_IMAGES],
    model,
    prompt: call.prompt,
    n: call.n === 1 ? undefined : call.n,
    // What the model cannot generate is reported when the size is adjusted.
    ...sizeMembers(call, quirks, []),
    quality: call.quality,
    style: call.style,
    background: call.background,
    output_format: call.format,
    output_compression: call.compression,
    response_format: call.delivery,
    negative_prompt: call.negativePrompt,
    seed: call.seed,
    user: call.user,
    stream: call.stream || undefined,
    partial_images: call.stream ? call.partialImages : undefined,
  };
}

function formOf({ images, mask }: ImageCall, members: JsonObject): Form {
  const member = images.length > 1 ? 'image[]' : 'image';
  const files = images.map((image, index) => fileOf(image, member, `image-${index + 1}`));
  if (mask) files.push(fileOf(mask, 'mask', 'mask'));
  const fields = Object.entries(members).map(
    ([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const,
  );
  return { fields, files };
}

function fileOf(image: Image, member: string, otherwise: string): FormFile {
  const { name, mimeType = 'image/png' } = image;
  return imageFile(image, member, name ?? `${otherwise}.${mimeType.slice(mimeType.indexOf('/') + 1)}`);
}

/** The client's own body, with sizes and delivery words replaced by the provider's. */
export function passCall(call: ImageCall, model: string, quirks: Quirks): Written {
  return passOwn(call, model, quirks, ADJUSTMENTS);
}

/** What a request for images needs before its top-level members are adjusted. */
const ADJUSTMENTS: readonly Adjustment<ImageCall>[] = [adjustSize, adjustDelivery];

function adjustSize(body: OutgoingBody, call: ImageCall, quirks: ModelQuirks, losses: Set<string>): void {
  const reported: string[] = [];
  const sizes = sizePatches(call, quirks, sizeMembers(call, quirks, reported));
  for (const name in sizes) body.set(name, sizes[name]);
  for (const loss of reported) losses.add(loss);
}

function adjustDelivery(body: OutgoingBody, call: ImageCall, quirks: ModelQuirks): void {
  const word = deliveryWord(call, quirks);
  if (word !== call.delivery) body.set('response_format', word);
}

/** No warning if the provider does not know the requested delivery: the gateway converts the images. */
function deliveryWord({ delivery }: ImageCall, { rejects, requiresBase64Word }: ModelQuirks): string | undefined {
  if (rejects?.includes('response_format')) return undefined;
  return delivery === 'b64_json' ? requiresBase64Word : delivery;
}
