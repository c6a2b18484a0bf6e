/** The frame around every page: menu, bar of narrow windows, command palette, keys. */
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useSession } from '../api/session.ts';
import { dictionary, useWords } from '../i18n/words.ts';
import { Boundary } from '../parts/boundary.tsx';
import { Icon, Mark } from '../parts/icon.tsx';
import { menuFor, menuWords } from './menu.ts';
import { useShortcuts } from './shortcuts.ts';

const Palette = lazy(() => import('./palette.tsx').then(({ Palette }) => ({ default: Palette })));
const ShortcutList = lazy(() => import('./shortcut-list.tsx').then(({ ShortcutList }) => ({ default: ShortcutList })));

const words = dictionary({
  skip: ['Skip to content', '跳到正文'],
  main: ['Main', '主菜单'],
  openMenu: ['Open menu', '打开菜单'],
  search: ['Search', '搜索'],
  find: ['Search or jump to', '搜索或跳转'],
  owner: ['Owner', '所有者'],
  operator: ['Operator', '运维'],
  finance: ['Finance', '财务'],
  support: ['Support', '支持'],
  member: ['Member', '成员'],
});

export function Shell() {
  const t = useWords(words);
  const [open, setOpen] = useState<'palette' | 'shortcuts'>();
  const { pathname } = useLocation();
  useShortcuts({ palette: () => setOpen('palette'), list: () => setOpen('shortcuts') });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu of narrow windows closes when another page opens
  useEffect(() => {
    const menu = document.getElementById('menu');
    if (menu?.matches(':popover-open')) menu.hidePopover();
  }, [pathname]);
  return (
    <>
      <a className="skip" href="#main">
        {t('skip')}
      </a>
      <div className="app">
        <Side find={() => setOpen('palette')} />
        <div>
          <header className="topbar">
            <button className="btn plain icon" type="button" popoverTarget="menu" aria-label={t('openMenu')}>
              <Icon name="menu" />
            </button>
            <Link className="brand" to="/">
              <Mark />
              Modelport
            </Link>
            <button
              className="btn plain icon"
              type="button"
              aria-label={t('search')}
              onClick={() => setOpen('palette')}
            >
              <Icon name="search" />
            </button>
          </header>
          <Outlet />
        </div>
      </div>
      <Boundary fallback={() => null}>
        <Suspense fallback={null}>
          {open === 'palette' && <Palette onClose={() => setOpen(undefined)} />}
          {open === 'shortcuts' && <ShortcutList onClose={() => setOpen(undefined)} />}
        </Suspense>
      </Boundary>
    </>
  );
}

/** The first letter as it is written: an emoji has several characters. */
const initialOf = (name: string) => [...name.trim()][0]?.toUpperCase();

function Side({ find }: { find: () => void }) {
  const t = useWords(words);
  const m = useWords(menuWords);
  const me = useSession();
  const { person } = me;
  const shown = person.email ?? person.name;
  return (
    <nav className="side" id="menu" popover="auto" aria-label={t('main')}>
      <Link className="brand" to="/">
        <Mark />
        Modelport
      </Link>
      <button className="find" type="button" onClick={find}>
        <Icon name="search" />
        <span>{t('find')}</span>
        <kbd>⌘K</kbd>
      </button>
      {menuFor(me).map(({ word, items }) => (
        <div className="menu" key={word ?? 'top'}>
          {word && <h2>{m(word)}</h2>}
          {items.map((item) => (
            <Link key={item.to} to={item.to} activeOptions={{ exact: item.to === '/', includeSearch: false }}>
              <Icon name={item.icon} />
              {m(item.word)}
            </Link>
          ))}
        </div>
      ))}
      <div className="who">
        <span className="face" aria-hidden="true">
          {initialOf(shown)}
        </span>
        <span className="cut">
          {shown}
          <br />
          <span className="dimmer">{t(person.role)}</span>
        </span>
        <Link className="btn plain icon" to="/profile" aria-label={m('profile')} title={m('profile')}>
          <Icon name="settings" />
        </Link>
      </div>
    </nav>
  );
}
