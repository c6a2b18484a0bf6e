/** Writes a request for pictures: flat JSON, or an edit as JSON or as a form, as the vendor takes it. */
import type { ImageCall, Media } from '../../canonical/call.ts';
import type { Json, JsonObject } from '../../canonical/json.ts';
import type { Patches, Quirks, Written } from '../dialect.ts';
import { type FormPart, writeForm } from '../multipart.ts';
import { refusePictures } from '../picture-refusal.ts';
import { memberPatches, patchedMembers, quirksOf } from '../quirks.ts';
import { editMembers } from './edit-members.ts';
import { OPENAI_IMAGES } from './name.ts';
import { sizeMembers, sizePatches } from './size-members.ts';

const encoder = new TextEncoder();

export function writeCall(call: ImageCall, model: string, all: Quirks): Written {
  const quirks = quirksOf(all, model);
  refusePictures(call, quirks);
  const losses: string[] = [];
  const members = membersOf(call, model, quirks, losses);
  const fit = memberPatches(members, quirks);
  const fitted = patchedMembers(members, fit.members);
  if (call.edit && quirks.editForm) return { ...writeEditForm(call, fitted), warnings: [...losses, ...fit.warnings] };
  if (call.edit) Object.assign(fitted, editMembers(call, quirks, losses));
  return { body: encoder.encode(JSON.stringify(fitted)), warnings: [...losses, ...fit.warnings] };
}

function membersOf(call: ImageCall, model: string, quirks: Quirks, losses: string[]): JsonObject {
  const members: { [member: string]: Json | undefined } = {
    ...call.extras[OPENAI_IMAGES],
    model,
    prompt: call.prompt,
    n: call.n === 1 ? undefined : call.n,
    ...sizeMembers(call, quirks, losses),
    quality: call.quality,
    style: call.style,
    background: call.background,
    output_format: call.format,
    output_compression: call.compression,
    response_format: deliveryWord(call, quirks),
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
  const own = { ...sizePatches(call, quirks, sizeMembers(call, quirks, [])), ...wordPatches(members, call) };
  const fit = memberPatches(members, quirks);
  if (model !== call.model) fit.members.model = model;
  return { members: { ...own, ...fit.members }, warnings: [...losses, ...fit.warnings] };
}

/** Nothing is lost where the vendor does not know it: whichever it gives is converted. */
function deliveryWord({ delivery }: ImageCall, { rejects, base64Word }: Quirks): string | undefined {
  if (rejects?.includes('response_format')) return undefined;
  return delivery === 'b64_json' ? (base64Word ?? delivery) : delivery;
}

function wordPatches({ response_format: said }: JsonObject, { delivery }: ImageCall): Patches['members'] {
  return said === delivery ? {} : { response_format: said };
}
