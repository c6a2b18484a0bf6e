/** The command palette: pages, accounts, keys and models by name, a call by its id, and actions. */
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { useAccounts, useModels } from '../api/queries.ts';
import { mayMakeKeys, useMay, useSession } from '../api/session.ts';
import { currentLanguage, setLanguage, setTheme } from '../i18n/language.ts';
import { dictionary, useWords } from '../i18n/words.ts';
import { Modal } from '../parts/dialog.tsx';
import { Icon, type IconName } from '../parts/icon.tsx';
import { menuFor, menuWords } from './menu.ts';

const words = dictionary({
  label: ['Search or jump to', '搜索或跳转'],
  results: ['Results', '结果'],
  pages: ['Pages', '页面'],
  accounts: ['Accounts', '账户'],
  models: ['Models', '模型'],
  actions: ['Actions', '操作'],
  callsOf: ['Calls of {name}', '{name} 的使用日志'],
  call: ['Receipt {id}', '调用明细 {id}'],
  createKey: ['Create a key', '创建令牌'],
  light: ['Light theme', '浅色主题'],
  dark: ['Dark theme', '深色主题'],
  system: ['Theme of the system', '跟随系统主题'],
  language: ['切换到中文', 'Switch to English'],
  none: ['Nothing found', '没有结果'],
});

interface Option {
  group: 'pages' | 'accounts' | 'models' | 'actions';
  text: string;
  icon: IconName;
  run: () => unknown;
}

const MOST = 7;

function useOptions(typed: string): readonly Option[] {
  const t = useWords(words);
  const m = useWords(menuWords);
  const may = useMay();
  const navigate = useNavigate();
  const me = useSession();
  const accounts = useAccounts(may('accounts:read'));
  const models = useModels(may('supply:read'));
  const options: Option[] = menuFor(me)
    .flatMap(({ items }) => items)
    .map(({ to, word, icon }) => ({ group: 'pages', text: m(word), icon, run: () => navigate({ to }) }));
  for (const { id, name } of accounts.data ?? []) {
    options.push({
      group: 'accounts',
      text: t('callsOf', { name }),
      icon: 'accounts',
      run: () => navigate({ to: '/calls', search: { account: id } }),
    });
  }
  for (const { name } of models.data ?? []) {
    options.push({
      group: 'models',
      text: t('callsOf', { name }),
      icon: 'models',
      run: () => navigate({ to: '/calls', search: { model: name } }),
    });
  }
  if (mayMakeKeys(me)) {
    options.push({
      group: 'actions',
      text: t('createKey'),
      icon: 'plus',
      run: () => navigate({ to: '/keys', search: { open: 'new' } }),
    });
  }
  for (const theme of ['light', 'dark', 'system'] as const) {
    options.push({ group: 'actions', text: t(theme), icon: 'settings', run: () => setTheme(theme) });
  }
  options.push({
    group: 'actions',
    text: t('language'),
    icon: 'settings',
    run: () => setLanguage(currentLanguage() === 'zh' ? 'en' : 'zh'),
  });
  const wanted = typed.trim().toLowerCase();
  const found = options.filter(({ text }) => text.toLowerCase().includes(wanted));
  if (wanted.startsWith('req_')) {
    found.unshift({
      group: 'pages',
      text: t('call', { id: wanted }),
      icon: 'calls',
      run: () => navigate({ to: '/calls', search: { call: typed.trim() } }),
    });
  }
  return ['pages', 'accounts', 'models', 'actions'].flatMap((group) =>
    found.filter((option) => option.group === group).slice(0, MOST),
  );
}

export function Palette({ onClose }: { onClose: () => void }) {
  const t = useWords(words);
  const id = useId();
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const options = useOptions(typed);
  useEffect(() => document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' }), [id, at]);
  const run = (option: Option | undefined) => {
    if (!option) return;
    onClose();
    void option.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setAt((at + step + options.length) % Math.max(1, options.length));
    } else if (event.key === 'Enter') run(options[at]);
  };
  return (
    <Modal label={t('label')} onClose={onClose}>
      <div className="palette">
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={options[at] && `${id}-${at}`}
          aria-label={t('label')}
          placeholder={t('label')}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
        <div role="listbox" id={id} aria-label={t('results')}>
          {options.length === 0 && <div className="ph">{t('none')}</div>}
          {options.map((option, index) => (
            // biome-ignore lint/a11y/useFocusableInteractive: as above
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys
            <div
              // biome-ignore lint/suspicious/noArrayIndexKey: names of accounts may be equal, and the options have no state
              key={index}
              role="option"
              id={`${id}-${index}`}
              aria-selected={index === at}
              onClick={() => run(option)}
            >
              <Icon name={option.icon} />
              <span>{option.text}</span>
              <span className="dimmer">{index === at ? 'Enter' : t(option.group)}</span>
            </div>
          ))}
        </div>
      </div>
    </Modal>
  );
}
