/** Numbers, durations and times as text in the reader's language. */
import { currentLanguage, localeOf } from '../i18n/language.ts';

const formats = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat | Intl.RelativeTimeFormat>();

/** Making a formatter costs more than using it, and a table uses it hundreds of times. */
export function cached<F extends Intl.NumberFormat | Intl.DateTimeFormat | Intl.RelativeTimeFormat>(
  name: string,
  make: (locale: string) => F,
): F {
  const locale = localeOf(currentLanguage());
  const key = `${locale} ${name}`;
  const known = formats.get(key);
  if (known) return known as F;
  const made = make(locale);
  formats.set(key, made);
  return made;
}

export function count(value: number | undefined): string {
  if (value === undefined) return '–';
  return cached('count', (locale) => new Intl.NumberFormat(locale, { maximumFractionDigits: 0 })).format(value);
}

/** `1,204.6 M` from ten million on, complete below. */
export function tokens(value: number): string {
  if (value < 10_000_000) return count(value);
  const format = cached(
    'tokens',
    (locale) => new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 }),
  );
  return `${format.format(value / 1_000_000)} M`;
}

/** `0.41%`, of a share between 0 and 1. */
export function percent(share: number | undefined, decimals = 1): string {
  if (share === undefined || !Number.isFinite(share)) return '–';
  return cached(
    `percent ${decimals}`,
    (locale) =>
      new Intl.NumberFormat(locale, {
        style: 'percent',
        minimumFractionDigits: decimals,
        maximumFractionDigits: decimals,
      }),
  ).format(share);
}

/** `+8.2%`, of a change in percent. */
export function change(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return '';
  const text = `${Math.abs(value).toFixed(1)}%`;
  return `${value < 0 ? '−' : '+'}${text}`;
}

/** `4 ms`, `0.62 s`, `12.40 s`, `3 min`. */
export function duration(milliseconds: number | undefined): string {
  if (milliseconds === undefined) return '–';
  const unit = currentLanguage() === 'zh' ? { ms: '毫秒', s: '秒', min: '分钟' } : { ms: 'ms', s: 's', min: 'min' };
  // As seconds they would read 0.00.
  if (milliseconds < 10) return `${Math.round(milliseconds)} ${unit.ms}`;
  const seconds = milliseconds / 1000;
  if (seconds < 100) return `${seconds.toFixed(2)} ${unit.s}`;
  return `${count(Math.round(seconds / 60))} ${unit.min}`;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `38 s`, `2 min`, `3 h`, `5 d`; Chinese adds 前 as its readers expect. */
export function ago(at: string, now: number): string {
  const past = Math.max(0, now - Date.parse(at));
  const zh = currentLanguage() === 'zh';
  if (past < MINUTE) return zh ? `${Math.floor(past / 1000)} 秒前` : `${Math.floor(past / 1000)} s`;
  if (past < HOUR) return zh ? `${Math.floor(past / MINUTE)} 分钟前` : `${Math.floor(past / MINUTE)} min`;
  if (past < DAY) return zh ? `${Math.floor(past / HOUR)} 小时前` : `${Math.floor(past / HOUR)} h`;
  return zh ? `${Math.floor(past / DAY)} 天前` : `${Math.floor(past / DAY)} d`;
}

/** `22 Nov 2026, 08:12:04 UTC`: date, time and zone. */
export function fullTime(at: string | number): string {
  return cached(
    'full',
    (locale) =>
      new Intl.DateTimeFormat(locale, {
        year: 'numeric',
        month: 'short',
        day: 'numeric',
        hour: '2-digit',
        minute: '2-digit',
        second: '2-digit',
        hourCycle: 'h23',
        timeZoneName: 'short',
      }),
  ).format(new Date(at));
}

export function clockTime(at: string | number): string {
  return cached(
    'clock',
    (locale) =>
      new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' }),
  ).format(new Date(at));
}

/** `08:12` */
export function shortTime(at: string | number): string {
  return cached(
    'short',
    (locale) => new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
  ).format(new Date(at));
}

export function dayOf(at: string | number): string {
  return cached('day', (locale) => new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric' })).format(
    new Date(at),
  );
}

/** A day of the gateway's sums, which begin at midnight UTC: its name, wherever the reader is. */
export function utcDayOf(at: string | number): string {
  return cached(
    'utc day',
    (locale) => new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', timeZone: 'UTC' }),
  ).format(new Date(at));
}
