/** The fields of each endpoint, and the request that they make. */
import { useWords } from '../../i18n/words.ts';
import { Area, Field, Select } from '../../parts/form.tsx';
import type { Sent } from './code.ts';
import type { Endpoint } from './endpoints.ts';
import { words } from './words.ts';

export interface FormValues {
  text: string;
  documents: string;
  size: string;
  voice: string;
  seconds: string;
  file: File | undefined;
}

export const START_VALUES: FormValues = {
  text: 'A lighthouse on the North Sea at dawn',
  documents: 'Cuxhaven has a lighthouse.\nHamburg lies on the Elbe.\nThe moon is far away.',
  size: '1024x1024',
  voice: 'alloy',
  seconds: '4',
  file: undefined,
};

export function requestFor(
  endpoint: Endpoint,
  model: string,
  { text, documents, size, voice, seconds }: FormValues,
): Sent {
  switch (endpoint) {
    case 'images':
      return { path: '/v1/images/generations', body: { model, prompt: text, size } };
    case 'speech':
      return { path: '/v1/audio/speech', body: { model, input: text, voice } };
    case 'transcription':
      return { path: '/v1/audio/transcriptions', body: { model } };
    case 'embeddings':
      return { path: '/v1/embeddings', body: { model, input: text } };
    case 'rerank':
      return {
        path: '/v1/rerank',
        body: { model, query: text, documents: documents.split('\n').filter((line) => line.trim() !== '') },
      };
    default:
      return { path: '/v1/videos', body: { model, prompt: text, seconds } };
  }
}

const TEXT_WORD = { images: 'prompt', speech: 'text', embeddings: 'text', rerank: 'query', video: 'prompt' } as const;

interface Props {
  endpoint: Endpoint;
  values: FormValues;
  onChange: (values: FormValues) => void;
}

export function FormFields({ endpoint, values, onChange }: Props) {
  const t = useWords(words);
  const set = (name: keyof FormValues) => (event: { target: { value: string } }) =>
    onChange({ ...values, [name]: event.target.value });
  if (endpoint === 'transcription') {
    return (
      <Field
        label={t('file')}
        type="file"
        accept="audio/*"
        onChange={(event) => onChange({ ...values, file: event.target.files?.[0] })}
      />
    );
  }
  return (
    <>
      {endpoint !== 'chat' && (
        <Area label={t(TEXT_WORD[endpoint])} rows={4} value={values.text} onChange={set('text')} />
      )}
      {endpoint === 'rerank' && (
        <Area label={t('documents')} rows={6} value={values.documents} onChange={set('documents')} />
      )}
      {endpoint === 'speech' && <Field label={t('voice')} value={values.voice} onChange={set('voice')} />}
      {endpoint === 'video' && (
        <Field label={t('seconds')} inputMode="numeric" value={values.seconds} onChange={set('seconds')} />
      )}
      {endpoint === 'images' && (
        <Select label={t('size')} value={values.size} onChange={set('size')}>
          <option>1024x1024</option>
          <option>1536x1024</option>
          <option>1024x1536</option>
        </Select>
      )}
    </>
  );
}
