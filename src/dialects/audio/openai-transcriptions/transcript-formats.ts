/** Makes the text formats of a transcript from JSON, for providers that only return JSON. */
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';

/** Formats with timestamps. */
const TIMED: readonly string[] = ['srt', 'vtt', 'verbose_json'];

export const isTimed = (format = 'json'): boolean => TIMED.includes(format);

interface Segment {
  start: number;
  end: number;
  text: string;
}

/** Returns the transcript in this format, or `undefined` if the format needs timestamps that the body does not have. */
export function transcriptIn(format: string, body: JsonObject, seconds: number): string | undefined {
  const text = typeof body.text === 'string' ? body.text : '';
  const segments = segmentsIn(body.segments);
  if (isTimed(format) && segments.length === 0 && text !== '') return undefined;
  switch (format) {
    case 'text':
      return `${text.trim()}\n`;
    case 'srt':
      return segments.map((one, at) => `${at + 1}\n${span(one, ',')}\n${one.text.trim()}\n`).join('\n');
    case 'vtt':
      return `WEBVTT\n\n${segments.map((one) => `${span(one, '.')}\n${one.text.trim()}\n`).join('\n')}`;
    case 'verbose_json': {
      const numbered = segments.map((one, id) => ({ id, ...one }));
      const language = typeof body.language === 'string' ? body.language : 'unknown';
      return JSON.stringify({ ...body, task: 'transcribe', language, duration: seconds, text, segments: numbered });
    }
    default:
      return JSON.stringify(body);
  }
}

function segmentsIn(segments: Json | undefined): Segment[] {
  if (!Array.isArray(segments)) return [];
  return segments.flatMap((one) => {
    if (!isObject(one)) return [];
    const { start, end, text } = one;
    return typeof start === 'number' && typeof end === 'number' && typeof text === 'string'
      ? [{ start, end, text }]
      : [];
  });
}

const span = ({ start, end }: Segment, point: string) => `${clock(start, point)} --> ${clock(end, point)}`;

function clock(seconds: number, point: string): string {
  const ms = Math.round(seconds * 1000);
  const pad = (count: number, places = 2) => String(count).padStart(places, '0');
  const whole = Math.floor(ms / 1000);
  return `${pad(Math.floor(whole / 3600))}:${pad(Math.floor(whole / 60) % 60)}:${pad(whole % 60)}${point}${pad(ms % 1000, 3)}`;
}
