/** The buttons of a form, with what became of its change. */
import { useWords } from '../i18n/words.ts';
import { FormError } from './form-error.tsx';
import type { Saving } from './use-saving.ts';
import { common } from './words.ts';

interface SaveRowProps {
  saving: Saving;
  label?: string;
  disabled?: boolean;
  /** False where the page or drawer has a more important button. */
  isMain?: boolean;
  /** What is sent again after a lost answer is not done twice. */
  isOnce?: boolean;
}

/** The button of a form with what became of it. */
export function SaveRow({ saving, label, disabled = false, isMain = true, isOnce }: SaveRowProps) {
  const t = useWords(common);
  return (
    <>
      <FormError error={saving.error} isOnce={isOnce} />
      <div className="row">
        <button type="submit" className={isMain ? 'btn go' : 'btn'} disabled={disabled || saving.busy}>
          {label ?? t('save')}
        </button>
        <span aria-live="polite" className="dim">
          {saving.saved && !saving.busy && t('saved')}
        </span>
      </div>
    </>
  );
}

/** The buttons of a form that creates something in a drawer. */
export function CreateRow(props: { saving: Saving; label: string; disabled?: boolean; onCancel: () => void }) {
  const { saving, label, disabled = false, onCancel } = props;
  const t = useWords(common);
  return (
    <>
      <FormError error={saving.error} />
      <div className="row">
        <button type="submit" className="btn go" disabled={disabled || saving.busy}>
          {label}
        </button>
        <button type="button" className="btn plain" onClick={onCancel}>
          {t('cancel')}
        </button>
      </div>
    </>
  );
}
