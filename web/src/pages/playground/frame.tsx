/** The fields that all endpoints have: endpoint, model, account. */
import type { ReactNode } from 'react';
import { useModels } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { exactMoney } from '../../format/amounts.ts';
import { shortMoney } from '../../format/money.ts';
import { useWords } from '../../i18n/words.ts';
import { NamedSelect } from '../../parts/fields.tsx';
import { Select } from '../../parts/form.tsx';
import { common } from '../../parts/words.ts';
import { ENDPOINTS, type Endpoint, type Frame } from './endpoints.ts';
import { isNamedFor } from './kinds.ts';
import { words } from './words.ts';

interface Props {
  frame: Frame;
  model: string;
  setModel: (model: string) => void;
  models: readonly string[];
  children: ReactNode;
}

/** Endpoint, model and account, then what the endpoint adds. */
export function FrameFields({ frame, model, setModel, models, children }: Props) {
  const t = useWords(words);
  const c = useWords(common);
  const account = frame.accounts.find(({ id }) => id === frame.account);
  return (
    <>
      <Select
        label={t('endpoint')}
        value={frame.endpoint}
        onChange={(event) => frame.setEndpoint(event.target.value as Endpoint)}
      >
        {ENDPOINTS.map((endpoint) => (
          <option key={endpoint} value={endpoint}>
            {t(endpoint)}
          </option>
        ))}
      </Select>
      <NamedSelect
        label={c('model')}
        hint={<PriceHint model={model} />}
        value={model}
        onText={setModel}
        of={models.map((name) => ({ id: name, name }))}
      />
      {frame.accounts.length > 1 && (
        <NamedSelect
          label={t('account')}
          hint={account?.available !== undefined && t('balance', { amount: shortMoney(account.available) })}
          value={frame.account}
          onText={frame.setAccount}
          of={frame.accounts}
        />
      )}
      {children}
    </>
  );
}

/** Where the person may read prices. */
function PriceHint({ model }: { model: string }) {
  const t = useWords(words);
  const may = useMay();
  const price = useModels(may('supply:read')).data?.find(({ name }) => name === model)?.price;
  const { input, output } = price ?? {};
  if (typeof input !== 'string' || typeof output !== 'string') return null;
  return t('price', { input: exactMoney(input), output: exactMoney(output) });
}

const KINDS: { readonly [E in Endpoint]: string } = {
  chat: 'chat',
  images: 'image',
  speech: 'speech',
  transcription: 'transcription',
  embeddings: 'embed',
  rerank: 'rerank',
  video: 'video',
};

/** The models of this endpoint: by their kind where this person may read the catalogue, by their names otherwise. */
export function useModelsFor({ models, endpoint }: Frame): readonly string[] {
  const may = useMay();
  const catalogue = useModels(may('supply:read')).data;
  if (catalogue) {
    const kinds = new Map(catalogue.map(({ name, kind }) => [name, kind]));
    return models.filter((name) => kinds.get(name) === KINDS[endpoint]);
  }
  return models.filter((name) => isNamedFor(endpoint, name));
}
