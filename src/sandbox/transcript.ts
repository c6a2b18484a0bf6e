/** The sandbox's transcription: it recognises no speech, and describes the file instead. */
import type { TranscriptionCall } from '../canonical/call.ts';
import type { JsonObject } from '../canonical/json.ts';

export const TRANSCRIPTION_MODEL = 'sandbox-transcription';

/** The description in the requested format. The gateway turns it into a stream. */
export function transcriptOf({ file, length, translate, format = 'json' }: TranscriptionCall): string {
  const seconds = Math.round(length.seconds * 1000) / 1000;
  const text = `An audio file of ${seconds} seconds in ${file.upload.size} bytes${translate ? ', translated' : ''}.`;
  const end = clock(seconds);
  switch (format) {
    case 'text':
      return `${text}\n`;
    case 'srt':
      return `1\n00:00:00,000 --> ${end.replace('.', ',')}\n${text}\n`;
    case 'vtt':
      return `WEBVTT\n\n00:00:00.000 --> ${end}\n${text}\n`;
    default:
      return JSON.stringify({ ...verbose(format, seconds, text), text, usage: { type: 'duration', seconds } });
  }
}

function verbose(format: string, duration: number, text: string): JsonObject {
  if (format === 'json') return {};
  return { task: 'transcribe', language: 'english', duration, segments: [{ id: 0, start: 0, end: duration, text }] };
}

const clock = (seconds: number) => new Date(seconds * 1000).toISOString().slice(11, 23);
