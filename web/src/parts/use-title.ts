/** The title of the browser's tab. */
import { useEffect } from 'react';

/** The name of the page in tabs, history and bookmarks, which screen readers say when it opens. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Modelport`;
  }, [title]);
}
