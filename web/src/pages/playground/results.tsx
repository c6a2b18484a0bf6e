/** Sends a request of the playground and shows its result. */
import { useEffect, useState } from 'react';
import { ApiError } from '../../api/client.ts';
import { count } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import type { Sent } from './code.ts';
import type { Endpoint } from './endpoints.ts';
import type { FormValues } from './forms.tsx';
import { sendAs } from './use-playground.ts';
import { words } from './words.ts';

export type Outcome = { callId: string | undefined } & (
  | { kind: 'images'; images: readonly string[] }
  | { kind: 'audio' | 'video'; media: Blob }
  | { kind: 'text'; text: string }
  | { kind: 'vector'; vector: readonly number[] }
  | { kind: 'ranks'; ranks: readonly { index: number; relevance_score: number }[] }
);

/** The members that the endpoints answer with. */
interface Answer {
  id?: string;
  text?: string;
  data?: { b64_json?: string; url?: string; embedding?: number[] }[];
  results?: { index: number; relevance_score: number }[];
}

const VIDEO_POLL_MS = 1000;
const VIDEO_POLLS = 600;

export async function runRequest(
  endpoint: Endpoint,
  key: string,
  { path, body }: Sent,
  values: FormValues,
): Promise<Outcome> {
  const response = await sendAs(key, path, {
    method: 'POST',
    body: endpoint === 'transcription' ? formOf(body, values) : body,
  });
  const callId = response.headers.get('x-request-id') ?? undefined;
  if (endpoint === 'speech') return { kind: 'audio', callId, media: await response.blob() };
  const json = (await response.json()) as Answer;
  switch (endpoint) {
    case 'images':
      return { kind: 'images', callId, images: (json.data ?? []).map(imageAddress) };
    case 'embeddings':
      return { kind: 'vector', callId, vector: json.data?.[0]?.embedding ?? [] };
    case 'rerank':
      return { kind: 'ranks', callId, ranks: json.results ?? [] };
    case 'video':
      // The call of a task is filed under the task's own id.
      return { kind: 'video', callId: json.id, media: await finishedVideo(key, json.id ?? '') };
    default:
      return { kind: 'text', callId, text: json.text ?? '' };
  }
}

function imageAddress({ b64_json, url }: { b64_json?: string; url?: string }): string {
  return b64_json ? `data:image/png;base64,${b64_json}` : (url ?? '');
}

function formOf(body: object, { file }: FormValues): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) form.set(name, String(value));
  if (file) form.set('file', file);
  return form;
}

async function finishedVideo(key: string, id: string): Promise<Blob> {
  for (let polls = 0; polls < VIDEO_POLLS; polls++) {
    const response = await sendAs(key, `/v1/videos/${id}`);
    const { status, error } = (await response.json()) as { status: string; error?: { message: string } };
    if (status === 'completed') return (await sendAs(key, `/v1/videos/${id}/content`)).blob();
    if (status === 'failed') throw new ApiError(502, 'failed', error?.message ?? status);
    await new Promise((resolve) => setTimeout(resolve, VIDEO_POLL_MS));
  }
  throw new ApiError(504, 'timeout', `${id}: not finished`);
}

export function ResultView({ outcome, values }: { outcome: Outcome; values: FormValues }) {
  const t = useWords(words);
  switch (outcome.kind) {
    case 'images':
      return outcome.images.map((address) => (
        <img key={address} src={address} alt={t('generated')} style={{ maxInlineSize: '100%' }} />
      ));
    case 'audio':
    case 'video':
      return <Media kind={outcome.kind} media={outcome.media} />;
    case 'text':
      return <p>{outcome.text}</p>;
    case 'vector':
      return (
        <div className="gap">
          <p className="dim">{t('dimensions', { n: count(outcome.vector.length) })}</p>
          <code>
            [
            {outcome.vector
              .slice(0, 24)
              .map((value) => value.toFixed(4))
              .join(', ')}
            , …]
          </code>
        </div>
      );
    default:
      return (
        <Ranks ranks={outcome.ranks} documents={values.documents.split('\n').filter((line) => line.trim() !== '')} />
      );
  }
}

function Ranks({
  ranks,
  documents,
}: {
  ranks: readonly { index: number; relevance_score: number }[];
  documents: readonly string[];
}) {
  const t = useWords(words);
  return (
    <table className="mini">
      <thead>
        <tr>
          <th>{t('document')}</th>
          <th className="num">{t('score')}</th>
        </tr>
      </thead>
      <tbody>
        {ranks.map(({ index, relevance_score }) => (
          <tr key={index}>
            <td>{documents[index]}</td>
            <td className="num">{relevance_score.toFixed(4)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Media({ kind, media }: { kind: 'audio' | 'video'; media: Blob }) {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(media);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [media]);
  if (!address) return null;
  if (kind === 'audio') {
    // biome-ignore lint/a11y/useMediaCaption: what a model generated has no captions
    return <audio controls src={address} />;
  }
  // biome-ignore lint/a11y/useMediaCaption: what a model generated has no captions
  return <video controls src={address} style={{ maxInlineSize: '100%' }} />;
}
