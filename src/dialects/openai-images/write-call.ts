/** Writes a request for pictures: flat JSON, or an edit as JSON or as a form, as the vendor takes it. */
import type { ImageCall, Media } from '../../canonical/call.ts';
import { nearestRatio, nearestSize, pixelsOf, writePixels } from '../../canonical/image-size.ts';
import type { Json, JsonObject } from '../../canonical/json.ts';
import type { Patches, Quirks, Written } from '../dialect.ts';
import { type FormPart, writeForm } from '../multipart.ts';
import { memberPatches, patchedMembers, quirksOf } from '../quirks.ts';
import { OPENAI_IMAGES } from './name.ts';

const encoder = new TextEncoder();

export function writeCall(call: ImageCall, model: string, all: Quirks): Written {
  const quirks = quirksOf(all, model);
  const losses: string[] = [];
  const members = membersOf(call, model, quirks, losses);
  const fit = memberPatches(members, quirks);
  const fitted = patchedMembers(members, fit.members);
  const warnings = [...losses, ...fit.warnings];
  if (call.edit && quirks.editForm) return { ...writeEditForm(call, fitted), warnings };
  if (call.edit) Object.assign(fitted, editMembers(call, quirks));
  return { body: encoder.encode(JSON.stringify(fitted)), warnings };
}

function membersOf(call: ImageCall, model: string, quirks: Quirks, losses: string[]): JsonObject {
  const members: { [member: string]: Json | undefined } = {
    ...call.extras[OPENAI_IMAGES],
    model,
    prompt: call.prompt,
    n: call.n === 1 ? undefined : call.n,
    ...sizeOf(call, quirks, losses),
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
  const said: JsonObject = {};
  for (const [member, value] of Object.entries(members)) if (value !== undefined) said[member] = value;
  return said;
}

/** The size as the vendor can be told it, and what became of it. */
function sizeOf({ size }: ImageCall, quirks: Quirks, losses: string[]): { [member: string]: Json | undefined } {
  const asked = pixelsOf(size);
  if (!asked) return {};
  if (quirks.pictureRatios) {
    const ratio = nearestRatio(size, quirks.pictureRatios);
    if (ratio && !ratio.exact)
      losses.push(`The size was taken as the aspect ratio ${ratio.said}: the model draws no other like it.`);
    return { aspect_ratio: ratio?.said };
  }
  const written = writePixels(asked);
  if (!quirks.pictureSizes) return { size: written };
  const fitted = nearestSize(size, quirks.pictureSizes);
  if (!fitted) return {};
  if (fitted.said !== written)
    losses.push(`The size ${written} was taken as ${fitted.said}: the model draws no other like it.`);
  return { size: fitted.said };
}

function editMembers({ pictures, mask }: ImageCall, { editPictures }: Quirks): JsonObject {
  const picture = (media: Media): Json =>
    editPictures === 'typed' ? { type: 'image_url', url: addressOf(media) } : { image_url: addressOf(media) };
  if (editPictures === 'bare') {
    const [first, ...others] = pictures.map(addressOf);
    return first === undefined ? {} : { image: others.length > 0 ? [first, ...others] : first };
  }
  return { images: pictures.map(picture), ...(mask && { mask: picture(mask) }) };
}

function addressOf({ source, mimeType }: Media): string {
  if (source.type === 'url') return source.url;
  return source.type === 'inline' ? `data:${mimeType ?? 'image/png'};base64,${source.base64}` : '';
}

/** Longer than anything a prompt holds by chance. */
const BOUNDARY = 'modelport-form-6f1c0b7e9a5d4c2fb83e';

function writeEditForm(call: ImageCall, members: JsonObject): { body: Uint8Array; contentType: string } {
  const parts: FormPart[] = Object.entries(members).map(([name, value]) => ({
    name,
    bytes: encoder.encode(typeof value === 'string' ? value : JSON.stringify(value)),
  }));
  const several = call.pictures.length > 1;
  call.pictures.forEach((media, index) => {
    parts.push(fileOf(media, several ? 'image[]' : 'image', `image-${index + 1}`));
  });
  if (call.mask) parts.push(fileOf(call.mask, 'mask', 'mask'));
  return { body: writeForm(parts, BOUNDARY), contentType: `multipart/form-data; boundary=${BOUNDARY}` };
}

/** What a form holds is inline: addresses have been fetched before. */
function fileOf({ source, mimeType = 'image/png', name }: Media, member: string, otherwise: string): FormPart {
  const bytes = Buffer.from(source.type === 'inline' ? source.base64 : '', 'base64');
  const filename = name ?? `${otherwise}.${mimeType.slice(mimeType.indexOf('/') + 1)}`;
  return { name: member, filename, contentType: mimeType, bytes };
}

/** What a vendor of this format needs otherwise in the client's own body. */
export function patches(call: ImageCall, model: string, all: Quirks): Patches {
  const quirks = quirksOf(all, model);
  const losses: string[] = [];
  const members = membersOf(call, model, quirks, losses);
  const fit = memberPatches(members, quirks);
  if (model !== call.model) fit.members.model = model;
  if (quirks.pictureSizes && members.size !== undefined) fit.members.size = members.size;
  return { members: fit.members, warnings: [...losses, ...fit.warnings] };
}
