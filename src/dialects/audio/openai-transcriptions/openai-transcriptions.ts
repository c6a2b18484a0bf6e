/** OpenAI's transcriptions and translations, `POST /v1/audio/transcriptions` and `/v1/audio/translations`. */
import type { TranscriptionCall } from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import type { Dialect, WireRequest, Written } from '../../dialect.ts';
import { memberPatches } from '../../shared/adjust.ts';
import { memberCheck, typedMembers } from '../../shared/checked-members.ts';
import { billableFields } from '../../shared/money/form-money.ts';
import { OPENAI_ERRORS } from '../../shared/openai-errors.ts';
import { type Quirks, quirksOf } from '../../shared/quirks.ts';
import { wrong } from '../../shared/request-body.ts';
import { formBoundary, formIn } from '../../wire/multipart.ts';
import { lengthOf } from './audio-length.ts';
import { createReader } from './read-reply.ts';
import { TRANSCRIPT_FORMATS, TranscriptionFields } from './request-schema.ts';
import { isTimed } from './transcript-formats.ts';
import { createWriter } from './write-reply.ts';

const NAME = 'openai-transcriptions';
const check = memberCheck(TranscriptionFields);
const NO_BYTES = new Uint8Array();

export const openaiTranscriptions: Dialect<TranscriptionCall> = {
  name: NAME,
  kind: 'transcription',
  readCall,
  writer: createWriter,
  ...OPENAI_ERRORS,
  writeCall,
  // A form is always encoded anew.
  passCall: writeCall,
  reader: createReader,
};

function readCall({ body, headers, path, form }: WireRequest): TranscriptionCall {
  const boundary = formBoundary(headers.get('content-type'));
  if (boundary === undefined)
    throw new GatewayError('invalid_request', 'The body must be a form (multipart/form-data).');
  const { fields: received, files } = form ?? formIn(body, boundary);
  const file = files.find(({ name }) => name === 'file');
  if (!file || file.upload.size === 0) throw wrong('file', 'is required: the audio, as a file that is not empty');
  const typed = typedMembers(TranscriptionFields, Object.fromEntries(received));
  const { model, response_format: format, stream } = check(typed);
  const { fields, dropped } = billableFields(received.filter(([name]) => name !== 'model'));
  return {
    kind: 'transcription',
    model,
    stream: stream === true,
    origin: { dialect: NAME, body, foreign: true, ...(dropped && { dropped }) },
    extras: {},
    headers: {},
    translate: path.action === 'translations',
    file: {
      name: file.filename,
      upload: file.upload,
      ...(file.contentType !== undefined && { mimeType: file.contentType }),
    },
    length: lengthOf(file.upload),
    fields,
    ...(format != null && { format }),
  };
}

/**
 * The `response_format` to request from a provider that only returns JSON, so that the client's format can be made from
 * it. Throws if the provider's JSON has too little for that.
 */
function jsonAsked(
  fields: TranscriptionCall['fields'],
  writes: NonNullable<Quirks['transcripts']>,
  format: string | undefined,
): TranscriptionCall['fields'] {
  if (format === 'diarized_json' || (writes === 'text' && isTimed(format))) {
    const known = TRANSCRIPT_FORMATS.filter(
      (one) => one !== 'diarized_json' && (writes === 'segments' || !isTimed(one)),
    );
    const sentence = `\`response_format\` must be one of ${known.join(', ')}: the provider’s reply has too little for ${format}.`;
    throw new GatewayError('invalid_request', sentence, { param: 'response_format', retryable: true });
  }
  const asked = fields.filter(([name]) => name !== 'response_format');
  const hasGranularity = asked.some(([name]) => name.startsWith(GRANULARITIES));
  return isTimed(format) && !hasGranularity ? [...asked, [GRANULARITIES, 'segment']] : asked;
}

const GRANULARITIES = 'timestamp_granularities';

function writeCall({ file, fields: received, format }: TranscriptionCall, model: string, all: Quirks): Written {
  const quirks = quirksOf(all, model);
  const fields = quirks.transcripts === undefined ? received : jsonAsked(received, quirks.transcripts, format);
  const { members, warnings } = memberPatches(Object.fromEntries(fields), quirks);
  const added = Object.entries(members).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : [],
  );
  const { name: filename, upload, mimeType: contentType } = file;
  const form = {
    fields: [['model', model] as const, ...fields.filter(([name]) => !(name in members)), ...added],
    files: [{ name: 'file', filename, upload, ...(contentType !== undefined && { contentType }) }],
  };
  return { body: NO_BYTES, form, warnings };
}
