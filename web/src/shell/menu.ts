/** The menu: its groups, and the permission that each page needs. */
import type { Permission } from '../api/session.ts';
import { dictionary } from '../i18n/words.ts';
import type { IconName } from '../parts/icon.tsx';

export const menuWords = dictionary({
  accounts: ['Accounts', '账户'],
  alerts: ['Alerts', '告警'],
  audit: ['Audit', '审计日志'],
  calls: ['Calls', '使用日志'],
  codes: ['Codes', '兑换码'],
  customers: ['Customers', '客户'],
  home: ['Home', '首页'],
  keys: ['Keys', '令牌'],
  ledger: ['Ledger', '账本'],
  limits: ['Limits', '限制'],
  models: ['Models and prices', '模型与价格'],
  operations: ['Operations', '运维'],
  overview: ['Overview', '数据看板'],
  people: ['People', '用户'],
  playground: ['Playground', '操练场'],
  profile: ['Your profile', '个人设置'],
  providers: ['Providers', '渠道'],
  reference: ['API reference', 'API 文档'],
  settings: ['Settings', '设置'],
  supply: ['Supply', '供应'],
  tasks: ['Video tasks', '视频任务'],
  usage: ['Usage', '用量'],
});

type Word = keyof typeof menuWords;

export type MenuPath =
  | '/'
  | '/calls'
  | '/playground'
  | '/providers'
  | '/models'
  | '/limits'
  | '/accounts'
  | '/keys'
  | '/codes'
  | '/ledger'
  | '/tasks'
  | '/alerts'
  | '/audit'
  | '/people'
  | '/settings'
  | '/usage'
  | '/reference';

export interface MenuItem {
  to: MenuPath;
  word: Word;
  icon: IconName;
  needs: Permission;
}

export interface MenuGroup {
  word?: Word;
  items: readonly MenuItem[];
}

const OPERATORS: readonly MenuGroup[] = [
  {
    items: [
      { to: '/', word: 'overview', icon: 'overview', needs: 'overview:read' },
      { to: '/calls', word: 'calls', icon: 'calls', needs: 'calls:read' },
      { to: '/playground', word: 'playground', icon: 'playground', needs: 'playground' },
    ],
  },
  {
    word: 'supply',
    items: [
      { to: '/providers', word: 'providers', icon: 'providers', needs: 'supply:read' },
      { to: '/models', word: 'models', icon: 'models', needs: 'supply:read' },
      { to: '/limits', word: 'limits', icon: 'limits', needs: 'accounts:read' },
    ],
  },
  {
    word: 'customers',
    items: [
      { to: '/accounts', word: 'accounts', icon: 'accounts', needs: 'accounts:read' },
      { to: '/keys', word: 'keys', icon: 'keys', needs: 'keys:read' },
      { to: '/codes', word: 'codes', icon: 'codes', needs: 'money:read' },
      { to: '/ledger', word: 'ledger', icon: 'ledger', needs: 'money:read' },
    ],
  },
  {
    word: 'operations',
    items: [
      { to: '/tasks', word: 'tasks', icon: 'tasks', needs: 'calls:read' },
      { to: '/alerts', word: 'alerts', icon: 'alerts', needs: 'alerts:read' },
      { to: '/audit', word: 'audit', icon: 'audit', needs: 'audit:read' },
      { to: '/people', word: 'people', icon: 'people', needs: 'people:read' },
      { to: '/settings', word: 'settings', icon: 'settings', needs: 'settings:read' },
    ],
  },
];

const MEMBERS: readonly MenuGroup[] = [
  {
    items: [
      { to: '/', word: 'home', icon: 'overview', needs: 'own:read' },
      { to: '/calls', word: 'calls', icon: 'calls', needs: 'own:read' },
      { to: '/usage', word: 'usage', icon: 'models', needs: 'own:read' },
      { to: '/keys', word: 'keys', icon: 'keys', needs: 'own:read' },
      { to: '/playground', word: 'playground', icon: 'playground', needs: 'playground' },
      { to: '/reference', word: 'reference', icon: 'ledger', needs: 'own:read' },
    ],
  },
];

/** What this person may read; groups without an item are left out. */
export function menuFor(permissions: readonly Permission[]): readonly MenuGroup[] {
  const groups = permissions.includes('overview:read') ? OPERATORS : MEMBERS;
  return groups
    .map((group) => ({ ...group, items: group.items.filter(({ needs }) => permissions.includes(needs)) }))
    .filter(({ items }) => items.length > 0);
}
