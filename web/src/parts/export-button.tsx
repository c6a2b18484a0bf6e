/** The button that makes a file of a list. */
import { dictionary, useWords } from '../i18n/words.ts';
import { MoreIcon } from './more-icons.tsx';

const words = dictionary({ exportCsv: ['Export CSV', '导出 CSV'] });

export function ExportButton({ busy = false, onClick }: { busy?: boolean; onClick: () => void }) {
  const t = useWords(words);
  return (
    <button type="button" className="btn" disabled={busy} onClick={onClick}>
      <MoreIcon name="export" />
      {t('exportCsv')}
    </button>
  );
}
