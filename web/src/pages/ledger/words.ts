/** The words of these pages, in English and Chinese. */
import { dictionary } from '../../i18n/words.ts';

export const words = dictionary({
  title: ['Ledger', '账本'],
  list: ['Entries, newest first', '账目，最新在前'],
  choose: ['Choose an account to see its entries.', '选择账户以查看账目。'],
  entry: ['Entry', '账目'],
  kind: ['Kind', '类型'],
  note: ['Note', '备注'],
  call: ['Call', '调用'],
  hash: ['Hash', '哈希'],
  verify: ['Verify the ledger', '校验账本'],
  full: ['From the first entry', '从第一条账目起'],
  ok: [
    'Verified: {entries} entries of {accounts} accounts, {holds} open holds.',
    '校验通过：{accounts} 个账户的 {entries} 条账目，{holds} 笔未结预扣。',
  ],
  faults: ['{n} faults', '{n} 处错误', 'One fault'],
  notes: ['No faults, but good to know:', '以下不是错误，仅供参考：'],
  running: ['Still running. Ask again in a moment.', '仍在进行，请稍后再试。'],
  preview: ['Show corrections', '预览更正'],
  none: ['Nothing to correct.', '无需更正。'],
  enter: ['Enter the corrections', '执行更正'],
  enterText: [
    'Each correction becomes an entry of the ledger. Nothing is deleted.',
    '每项更正都会成为一条账目，不会删除任何内容。',
  ],
  entered: ['The corrections are entered.', '更正已入账。'],
  verification: ['Verification', '校验'],
  confirmName: ['repair', 'repair'],
  disputes: ['Disputed calls', '有争议的调用'],
  emptyTitle: ['No entries yet', '暂无账目'],
});
