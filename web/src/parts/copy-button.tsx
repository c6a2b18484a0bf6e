/** A button that copies a text. */
import { useEffect, useState } from 'react';
import { dictionary, useWords } from '../i18n/words.ts';
import { Icon } from './icon.tsx';
import { MoreIcon } from './more-icons.tsx';

export const copyWords = dictionary({
  copied: ['Copied', '已复制'],
  copy: ['Copy', '复制'],
  notCopied: ['Not copied', '未能复制'],
});

interface CopyProps {
  text: string;
  /** Above code, which the word would cover. */
  iconOnly?: boolean;
  isPlain?: boolean;
  /** What is copied, where that is not at hand. */
  label?: string;
}

export function CopyButton({ text, iconOnly = false, isPlain = false, label }: CopyProps) {
  const t = useWords(copyWords);
  const [word, setWord] = useState<keyof typeof copyWords>('copy');
  useEffect(() => {
    if (word === 'copy') return;
    const timer = setTimeout(() => setWord('copy'), 2000);
    return () => clearTimeout(timer);
  }, [word]);
  const copy = async () => setWord((await copyText(text)) ? 'copied' : 'notCopied');
  return (
    <button
      type="button"
      className={['btn', isPlain && 'plain', iconOnly && 'icon'].filter(Boolean).join(' ')}
      title={label ?? t('copy')}
      onClick={copy}
    >
      {word === 'copied' ? <Icon name="check" /> : <MoreIcon name="copy" />}
      <span className={iconOnly ? 'off' : undefined} aria-live="polite">
        {word === 'copy' && label !== undefined ? label : t(word)}
      </span>
    </button>
  );
}

/**
 * Whether it was copied. The clipboard API is there on TLS and localhost alone, and a browser may refuse it; a gateway on a plain address of
 * the own network still copies.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    // What is outside of an open dialog cannot be selected.
    (document.querySelector('dialog[open]') ?? document.body).append(area);
    area.select();
    const isCopied = document.execCommand('copy');
    area.remove();
    return isCopied;
  }
}
