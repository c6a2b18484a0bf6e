/** The dialog that lists the keyboard shortcuts. */
import { dictionary, useWords } from '../i18n/words.ts';
import { Dialog } from '../parts/dialog.tsx';

const words = dictionary({
  title: ['Keys', '快捷键'],
  palette: ['Search or jump to', '搜索或跳转'],
  filters: ['Go to the filters', '转到筛选'],
  go: ['Go to Overview, Calls, Keys, Playground', '前往数据看板、使用日志、令牌、操练场'],
  move: ['Next and previous row', '下一行、上一行'],
  open: ['Open the row', '打开该行'],
  close: ['Close', '关闭'],
});

const KEYS = [
  ['⌘K', 'palette'],
  ['/', 'filters'],
  ['g o c k p', 'go'],
  ['j k', 'move'],
  ['Enter', 'open'],
  ['Esc', 'close'],
] as const;

export function ShortcutList({ onClose }: { onClose: () => void }) {
  const t = useWords(words);
  return (
    <Dialog title={t('title')} onClose={onClose} width="26rem">
      <dl className="pairs">
        {KEYS.map(([keys, word]) => (
          <div key={keys} style={{ display: 'contents' }}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{t(word)}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
