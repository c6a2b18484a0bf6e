/** Keys: ⌘K or Ctrl+K opens the palette, `/` goes to the filters, `g` then a letter goes to a page, `?` lists the keys. */
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { hasShortcuts } from '../i18n/language.ts';

const GO = { o: '/', c: '/calls', k: '/keys', p: '/playground' } as const;

/** Letters typed into a field are text. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

const isDialogOpen = () => document.querySelector('dialog[open]') !== null;

export function useShortcuts({ palette, list }: { palette: () => void; list: () => void }): void {
  const navigate = useNavigate();
  const afterG = useRef(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key === 'k') {
        event.preventDefault();
        palette();
        return;
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target) || isDialogOpen()) return;
      if (!hasShortcuts()) return;
      const goes = afterG.current;
      afterG.current = event.key === 'g';
      if (goes && event.key in GO) void navigate({ to: GO[event.key as keyof typeof GO] });
      else if (event.key === '?') list();
      else if (event.key === '/') {
        event.preventDefault();
        document.querySelector<HTMLElement>('.chips button, main input')?.focus();
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [navigate, palette, list]);
}
