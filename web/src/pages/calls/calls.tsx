/** Calls: filters in the address, the newest live, and a drawer with the receipt of one. */
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useOwnPath } from '../../api/queries.ts';
import { isMember, useSession } from '../../api/session.ts';
import type { CallRow, Page } from '../../api/types.ts';
import { hasShortcuts } from '../../i18n/language.ts';
import { useWords } from '../../i18n/words.ts';
import { Head, Status } from '../../parts/basic.tsx';
import { ExportButton } from '../../parts/export-button.tsx';
import { CALL_FILTERS } from '../../parts/filters.ts';
import { FormError } from '../../parts/form-error.tsx';
import { Pager } from '../../parts/pager.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { useSaving } from '../../parts/use-saving.ts';
import { common } from '../../parts/words.ts';
import { isTyping } from '../../shell/shortcuts.ts';
import { CallTable } from './call-table.tsx';
import { CallFilters } from './filters.tsx';
import { useNames } from './names.ts';
import { ReceiptDrawer } from './receipt.tsx';
import { type CallSearch, callsRoute, exportCalls, useCalls } from './use-calls.ts';
import { words } from './words.ts';

export function CallsPage() {
  const t = useWords(words);
  const search = callsRoute.useSearch();
  const navigate = useNavigate();
  const isScrolled = useScrolled();
  const isLive = search.call === undefined && search.after === undefined && !isScrolled;
  const calls = useCalls(search, isLive);
  const path = useOwnPath('/admin/v1/calls', '/calls');
  const member = isMember(useSession());
  const exporting = useSaving();
  const go = (next: CallSearch) => void navigate({ to: '/calls', search: next });
  const open = (id: string | undefined) =>
    go({ ...search, ...(id ? { call: id } : { call: undefined }) } as CallSearch);
  const rows = calls.data?.data ?? [];
  useRowKeys(rows, search.call, open);
  return (
    <div className="split">
      <main className="page" id="main">
        <Head title={t('title')} beside={isLive && calls.data && <Status s="live">{t('live')}</Status>}>
          {!member && (
            <ExportButton busy={exporting.busy} onClick={() => void exporting.run(() => exportCalls(path, search))} />
          )}
        </Head>
        <CallFilters search={search} onChange={go} />
        <FormError error={exporting.error} />
        <section className="panel" aria-label={t('list')}>
          <Loaded of={calls} bones={10}>
            {(page) => <List page={page} search={search} onOpen={({ id }) => open(id)} onSearch={go} />}
          </Loaded>
        </section>
      </main>
      {search.call !== undefined && (
        <ReceiptDrawer id={search.call} onClose={() => open(undefined)} {...neighbours(rows, search.call, open)} />
      )}
    </div>
  );
}

interface ListProps {
  page: Page<CallRow>;
  search: CallSearch;
  onOpen: (row: CallRow) => void;
  onSearch: (search: CallSearch) => void;
}

function List({ page, search, onOpen, onSearch }: ListProps) {
  const t = useWords(words);
  const c = useWords(common);
  const names = useNames();
  if (page.data.length === 0) {
    const isFiltered = CALL_FILTERS.some((name) => search[name] !== undefined);
    if (isFiltered) {
      return (
        <Empty icon="search" title={t('noMatch')}>
          <button type="button" className="btn" onClick={() => onSearch({})}>
            {c('clear')}
          </button>
        </Empty>
      );
    }
    return (
      <Empty icon="calls" title={t('emptyTitle')} text={t('emptyText')}>
        <Link className="btn go" to="/playground">
          {c('playground')}
        </Link>
      </Empty>
    );
  }
  const hint = (
    <>
      <kbd>j</kbd> <kbd>k</kbd> {t('hintMove')} · <kbd>Enter</kbd> {t('hintOpen')} · <kbd>Esc</kbd> {t('hintClose')}
    </>
  );
  const { after: _, ...first } = search;
  return (
    <>
      <CallTable label={t('newest')} rows={page.data} names={names} selected={search.call} onOpen={onOpen} />
      <Pager
        hint={hint}
        newer={search.after === undefined ? undefined : () => onSearch(first)}
        older={page.hasMore && page.next ? () => onSearch({ ...search, after: page.next as string }) : undefined}
      />
    </>
  );
}

/** The rows beside the open one, for the drawer's buttons. */
function neighbours(
  rows: readonly CallRow[],
  id: string,
  open: (id: string) => void,
): { newer?: () => void; older?: () => void } {
  const at = rows.findIndex((row) => row.id === id);
  const newer = rows[at - 1];
  const older = at < 0 ? undefined : rows[at + 1];
  return { ...(newer && { newer: () => open(newer.id) }), ...(older && { older: () => open(older.id) }) };
}

/** j and k move through the list: with the drawer open they change its call, otherwise the focus. Esc closes the drawer. */
function useRowKeys(
  rows: readonly CallRow[],
  current: string | undefined,
  open: (id: string | undefined) => void,
): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (
        isTyping(event.target) ||
        event.metaKey ||
        event.ctrlKey ||
        document.querySelector('dialog[open], :popover-open')
      )
        return;
      if (event.key === 'Escape' && current !== undefined) open(undefined);
      if ((event.key !== 'j' && event.key !== 'k') || !hasShortcuts()) return;
      const step = event.key === 'j' ? 1 : -1;
      if (current !== undefined) {
        const next = rows[rows.findIndex(({ id }) => id === current) + step];
        if (next) open(next.id);
        return;
      }
      const links = [...document.querySelectorAll<HTMLElement>('main tbody a.strong')];
      links[links.indexOf(document.activeElement as HTMLElement) + step]?.focus();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [rows, current, open]);
}

function useScrolled(): boolean {
  const [scrolled, setScrolled] = useState(false);
  useEffect(() => {
    const onScroll = () => setScrolled(scrollY > 200);
    addEventListener('scroll', onScroll, { passive: true });
    return () => removeEventListener('scroll', onScroll);
  }, []);
  return scrolled;
}
