/** Budget and rate limits, the same for accounts and keys. */
import { useState } from 'react';
import type { Limits } from '../api/types.ts';
import { readAmount } from '../format/amounts.ts';
import { dictionary, useWords } from '../i18n/words.ts';
import { Field } from './form.tsx';

const words = dictionary({
  month: ['Budget a month, USD', '每月预算（USD）'],
  day: ['Budget a day, USD', '每日预算（USD）'],
  total: ['Budget in total, USD', '总预算（USD）'],
  requests: ['Requests a minute', '每分钟请求数'],
  tokens: ['Tokens a minute', '每分钟 Token 数'],
  concurrency: ['Concurrency', '并发数'],
  none: ['Empty: no limit.', '留空表示不限。'],
  notAmount: ['Not an amount, such as 50 or 12.50.', '金额格式不正确，例如 50 或 12.50。'],
  notCount: ['A whole number from 1.', '请输入不小于 1 的整数。'],
});

export interface LimitTexts {
  month: string;
  day: string;
  total: string;
  requestsPerMinute: string;
  tokensPerMinute: string;
  concurrency: string;
}

const AMOUNTS = ['month', 'day', 'total'] as const;
const COUNTS = ['requestsPerMinute', 'tokensPerMinute', 'concurrency'] as const;

export function useLimitTexts(limits: Limits = {}) {
  return useState<LimitTexts>({
    month: limits.budget?.month ?? '',
    day: limits.budget?.day ?? '',
    total: limits.budget?.total ?? '',
    requestsPerMinute: String(limits.requestsPerMinute ?? ''),
    tokensPerMinute: String(limits.tokensPerMinute ?? ''),
    concurrency: String(limits.concurrency ?? ''),
  });
}

const readCount = (text: string) =>
  /^[1-9]\d*$/.test(text.replaceAll(',', '')) ? Number(text.replaceAll(',', '')) : undefined;

export type WrittenLimits = { budget: Record<string, string> | null } & {
  [N in (typeof COUNTS)[number]]: number | null;
};

/** The members for a PATCH, null removes; undefined while a field is wrong. */
export function writeLimits(texts: LimitTexts): WrittenLimits | undefined {
  const budget: Record<string, string> = {};
  for (const name of AMOUNTS) {
    if (texts[name].trim() === '') continue;
    const amount = readAmount(texts[name]);
    if (amount === undefined) return undefined;
    budget[name] = amount;
  }
  const counts: Partial<Record<(typeof COUNTS)[number], number | null>> = {};
  for (const name of COUNTS) {
    const text = texts[name].trim();
    const value = text === '' ? null : readCount(text);
    if (value === undefined) return undefined;
    counts[name] = value;
  }
  return { budget: Object.keys(budget).length === 0 ? null : budget, ...counts } as WrittenLimits;
}

/** For creating: without what is not set. */
export function setLimits(written: WrittenLimits): Record<string, unknown> {
  return Object.fromEntries(Object.entries(written).filter(([, value]) => value !== null));
}

export function LimitFields({ texts, onChange }: { texts: LimitTexts; onChange: (texts: LimitTexts) => void }) {
  const t = useWords(words);
  const field = (name: keyof LimitTexts, label: string, error: string | undefined) => (
    <Field
      key={name}
      label={label}
      inputMode="decimal"
      value={texts[name]}
      error={error}
      onChange={(event) => onChange({ ...texts, [name]: event.target.value })}
    />
  );
  const amountError = (text: string) =>
    text.trim() === '' || readAmount(text) !== undefined ? undefined : t('notAmount');
  const countError = (text: string) =>
    text.trim() === '' || readCount(text) !== undefined ? undefined : t('notCount');
  const countWords = { requestsPerMinute: 'requests', tokensPerMinute: 'tokens', concurrency: 'concurrency' } as const;
  return (
    <div className="form">
      <div className="two">{AMOUNTS.map((name) => field(name, t(name), amountError(texts[name])))}</div>
      <div className="two">{COUNTS.map((name) => field(name, t(countWords[name]), countError(texts[name])))}</div>
      <p className="dimmer">{t('none')}</p>
    </div>
  );
}
