/** Texts that many pages share. */
import { dictionary } from '../i18n/words.ts';
import { firstWords } from './first-words.ts';

export const common = dictionary({
  ...firstWords,
  actions: ['Actions', '操作'],
  amount: ['Amount', '金额'],
  cancel: ['Cancel', '取消'],
  clear: ['Clear filters', '清除筛选'],
  close: ['Close', '关闭'],
  cost: ['Cost', '费用'],
  created: ['Created', '创建时间'],
  disable: ['Disable', '禁用'],
  disabled: ['Disabled', '已禁用'],
  enable: ['Enable', '启用'],
  enabled: ['Enabled', '已启用'],
  endOfDay: ['At the end of that day, in your time zone.', '您所在时区的当天结束时。'],
  moreChoices: ['{n} more: type to find them.', '还有 {n} 项，请输入关键字查找。'],
  name: ['Name', '名称'],
  playground: ['Open playground', '打开操练场'],
  provider: ['Provider', '渠道'],
  save: ['Save', '保存'],
  saved: ['Saved', '已保存'],
  searchIn: ['Search {label}', '搜索{label}'],
  status: ['Status', '状态'],
  time: ['Time', '时间'],
});
