/** The menu: its groups, and the permission that each page needs. */
import { maySpend, type Permission, type SignedIn } from '../api/session.ts';
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
  needs: Permission;
  word: Word;
  icon: IconName;
}

export interface MenuGroup {
  word: Word | undefined;
  items: readonly MenuItem[];
}

/** An item's icon has the name of its word, unless a fourth member names another. */
type Row =
  | readonly [to: MenuPath, needs: Permission, word: Word & IconName]
  | readonly [MenuPath, Permission, Word, IconName];

const group = (word: Word | undefined, rows: readonly Row[]): MenuGroup => ({
  word,
  items: rows.map(([to, needs, word, icon = word as IconName]) => ({ to, needs, word, icon })),
});

const OPERATORS: readonly MenuGroup[] = [
  group(undefined, [
    ['/', 'overview:read', 'overview'],
    ['/calls', 'calls:read', 'calls'],
    ['/playground', 'playground', 'playground'],
  ]),
  group('supply', [
    ['/providers', 'supply:read', 'providers'],
    ['/models', 'supply:read', 'models'],
    ['/limits', 'accounts:read', 'limits'],
  ]),
  group('customers', [
    ['/accounts', 'accounts:read', 'accounts'],
    ['/keys', 'keys:read', 'keys'],
    ['/codes', 'money:read', 'codes'],
    ['/ledger', 'money:read', 'ledger'],
  ]),
  group('operations', [
    ['/tasks', 'calls:read', 'tasks'],
    ['/alerts', 'alerts:read', 'alerts'],
    ['/audit', 'audit:read', 'audit'],
    ['/people', 'people:read', 'people'],
    ['/settings', 'settings:read', 'settings'],
  ]),
];

const MEMBERS: readonly MenuGroup[] = [
  group(undefined, [
    ['/', 'own:read', 'home', 'overview'],
    ['/calls', 'own:read', 'calls'],
    ['/usage', 'own:read', 'usage', 'models'],
    ['/keys', 'own:read', 'keys'],
    ['/playground', 'playground', 'playground'],
    ['/reference', 'own:read', 'reference', 'ledger'],
  ]),
];

/** Pages that work with a key of an account. */
const CHARGED: ReadonlySet<string> = new Set(['/playground', '/tasks']);

/** What this person may read; groups without an item are left out. */
export function menuFor(me: Pick<SignedIn, 'permissions' | 'accounts'>): readonly MenuGroup[] {
  const groups = me.permissions.includes('overview:read') ? OPERATORS : MEMBERS;
  const isShown = ({ to, needs }: MenuGroup['items'][number]) =>
    me.permissions.includes(needs) && (!CHARGED.has(to) || maySpend(me));
  return groups
    .map((group) => ({ ...group, items: group.items.filter(isShown) }))
    .filter(({ items }) => items.length > 0);
}
