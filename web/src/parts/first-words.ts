/** Texts of the first page: what it shares with the others. */
import { dictionary } from '../i18n/words.ts';

export const firstWords = dictionary({
  account: ['Account', '账户'],
  balance: ['Balance', '余额'],
  calls: ['Calls', '调用次数'],
  denied: ['Your role cannot see this. Ask an owner.', '当前角色无权查看，请联系所有者。'],
  duration: ['Duration', '耗时'],
  error: ['Could not load this', '加载失败'],
  firstToken: ['First token', '首字延迟'],
  key: ['Key', '令牌'],
  loading: ['Loading', '加载中'],
  model: ['Model', '模型'],
  noAnswer: ['The gateway does not answer.', '网关没有响应。'],
  offline: ['You are offline. Figures are from {time}.', '网络已断开，数据截至 {time}。'],
  offlineNow: ['You are offline.', '网络已断开。'],
  open: ['Open', '打开'],
  retry: ['Try again', '重试'],
  share: ['Share', '占比'],
  spend: ['Spend', '消费'],
  stale: ['Could not read this again: {reason} Figures are from {time}.', '刷新失败：{reason} 数据截至 {time}。'],
  tokens: ['Tokens', 'Token'],
});
