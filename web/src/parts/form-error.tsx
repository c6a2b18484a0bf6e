/** What became of a change that was not made, or of which nobody knows. Not in states.tsx: the first page has no form. */
import { ApiError, OfflineError } from '../api/client.ts';
import { dictionary, useWords } from '../i18n/words.ts';
import { Note } from './basic.tsx';
import { messageOf } from './states.tsx';
import { common } from './words.ts';

const words = dictionary({
  lost: [
    'No answer came: this may have been done. Look before you repeat it.',
    '未收到响应，操作可能已生效。重试前请先确认。',
  ],
  lostOnce: ['No answer came. Try again: it is not done twice.', '未收到响应。请重试，操作不会重复执行。'],
  signedOut: [
    'Your session has ended. What you typed stays here: sign in in another tab, then try again.',
    '会话已结束，已填写的内容仍保留在此处。请在新标签页中登录后重试。',
  ],
  signIn: ['Sign in', '登录'],
});

/** The error of a form, above its buttons. `isOnce`: what is sent again is not done twice. */
export function FormError({ error, isOnce = false }: { error: unknown; isOnce?: boolean | undefined }) {
  const t = useWords(common);
  const w = useWords(words);
  if (!error) return null;
  if (error instanceof OfflineError) {
    const unread = t(error.isLate ? 'noAnswer' : 'offlineNow');
    return <Note s="bad">{error.isChange ? w(isOnce ? 'lostOnce' : 'lost') : unread}</Note>;
  }
  if (error instanceof ApiError && error.status === 401 && error.code !== 'sign_in_failed') {
    return (
      <Note s="bad">
        {w('signedOut')}{' '}
        <a href="/console/" target="_blank" rel="noreferrer">
          {w('signIn')}
        </a>
      </Note>
    );
  }
  return <Note s="bad">{messageOf(error)}</Note>;
}
