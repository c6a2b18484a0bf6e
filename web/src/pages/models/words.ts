/** The words of these pages, in English and Chinese. */
import { dictionary } from '../../i18n/words.ts';

export const words = dictionary({
  title: ['Models and prices', '模型与价格'],
  list: ['List of models', '模型列表'],
  kind: ['Kind', '类型'],
  targets: ['Targets', '上游'],
  context: ['Context', '上下文长度'],
  input: ['Input', '输入'],
  output: ['Output', '输出'],
  unit: ['USD per million tokens, unless another unit is named.', '未注明单位时，价格为 USD / 百万 Token。'],
  add: ['Add models', '添加模型'],
  emptyTitle: ['No models yet', '暂无模型'],
  emptyText: ['Add a provider, then enable its models.', '先添加渠道，再启用其模型。'],
  ladder: ['Targets, in the order tried', '上游（按尝试顺序）'],
  priority: ['priority {n}', '优先级 {n}'],
  weight: ['weight {n}', '权重 {n}'],
  prices: ['Price', '价格'],
  sample: [
    'A call of 1,000 tokens in and 500 out costs {amount}.',
    '输入 1,000、输出 500 Token 的调用费用为 {amount}。',
  ],
  newPrice: ['Change the price', '修改价格'],
  newPriceHint: [
    'From now on. Calls of before keep the price they were made at.',
    '自此刻生效，此前的调用保持原价格。',
  ],
  notPrice: ['Not a price, such as 2 or 0.15.', '价格格式不正确，例如 2 或 0.15。'],
  changedMeanwhile: [
    'The model was changed meanwhile. Look at its price, then save again.',
    '该模型刚被他人修改，请核对价格后重新保存。',
  ],
  history: ['History', '历史'],
  inForce: ['In force', '当前价格'],
  aliases: ['Other names', '别名'],
  fallbacks: ['Fallbacks', '故障切换'],
  calls: ['Calls of this model', '此模型的使用日志'],
  remove: ['Remove model', '移除模型'],
  removeTitle: ['Remove the model {name}?', '移除模型 {name}？'],
  removeText: [
    'Clients that call it get an error at once. Its calls and prices stay on record.',
    '调用它的客户端会立即收到错误，调用与价格记录会保留。',
  ],
  price: ['Price', '价格'],
});
