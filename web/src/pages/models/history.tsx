/** The history of a price. */
import type { Price } from '../../api/types.ts';
import { fullTime } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import { Status } from '../../parts/basic.tsx';
import { Loaded } from '../../parts/states.tsx';
import { usePage } from '../../parts/use-page.ts';
import { priceDiff } from './price.ts';
import { words } from './words.ts';

interface PriceVersion {
  id: string;
  model: string;
  price: Price;
  createdAt: string;
}

/** The versions of a price, the newest first, each with what it changed. */
export function PriceHistory({ model }: { model: string }) {
  const t = useWords(words);
  const prices = usePage<PriceVersion>('prices', '/admin/v1/prices', { model });
  return (
    <section aria-labelledby="mo-history">
      <h2 id="mo-history">{t('history')}</h2>
      <Loaded of={prices} bones={2}>
        {({ data }) => {
          const versions = [...data].sort((a, b) => a.createdAt.localeCompare(b.createdAt));
          return (
            <ol className="keys">
              {versions
                .map((version, at) => (
                  <Version
                    key={version.id}
                    version={version}
                    before={versions[at - 1]}
                    isLast={at === versions.length - 1}
                    label={t('inForce')}
                  />
                ))
                .reverse()}
            </ol>
          );
        }}
      </Loaded>
    </section>
  );
}

interface VersionProps {
  version: PriceVersion;
  before: PriceVersion | undefined;
  isLast: boolean;
  label: string;
}

function Version({ version, before, isLast, label }: VersionProps) {
  const changes = priceDiff(before?.price ?? {}, version.price);
  return (
    <li>
      <time dateTime={version.createdAt}>{fullTime(version.createdAt)}</time>
      {isLast ? <Status s="ok">{label}</Status> : <span />}
      <span className="diff" style={{ gridColumn: '1 / -1' }}>
        {changes.map(({ component, before, after }) => (
          <span key={component}>
            {component} {before !== undefined && <span className="minus">−{before}</span>}{' '}
            {after !== undefined && <span className="plus">+{after}</span>}
          </span>
        ))}
      </span>
    </li>
  );
}
