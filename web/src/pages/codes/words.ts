/** The words of these pages, in English and Chinese. */
import { dictionary } from '../../i18n/words.ts';

export const words = dictionary({
  title: ['Codes', '兑换码'],
  create: ['Create code', '创建兑换码'],
  list: ['List of codes', '兑换码列表'],
  code: ['Code', '兑换码'],
  open: ['Not redeemed', '未兑换'],
  redeemed: ['Redeemed', '已兑换'],
  expired: ['Expired', '已过期'],
  redeemedBy: ['Redeemed by', '兑换账户'],
  expires: ['Expires', '过期时间'],
  note: ['Note', '备注'],
  notAmount: ['Not an amount, such as 50 or 12.50.', '金额格式不正确，例如 50 或 12.50。'],
  once: ['Copy it now: it is shown only once.', '请立即复制：兑换码仅显示一次。'],
  emptyTitle: ['No codes yet', '暂无兑换码'],
  emptyText: ['A code adds money to the account that redeems it.', '兑换码会为使用它的账户充值。'],
});
