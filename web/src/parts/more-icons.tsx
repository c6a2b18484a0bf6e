/** Icons that the first page does not have. */
import { PathIcon } from './icon.tsx';

const PATHS = {
  copy: 'M10.5 5.5v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2M7 5.5h5a1.5 1.5 0 0 1 1.5 1.5v5a1.5 1.5 0 0 1 -1.5 1.5h-5a1.5 1.5 0 0 1 -1.5-1.5v-5a1.5 1.5 0 0 1 1.5-1.5z',
  tool: 'M10 2.5a3.5 3.5 0 0 0-3 5l-4.5 4.5 1.5 1.5L8.5 9a3.5 3.5 0 0 0 5-3l-2 1.5-2-.5-.5-2z',
  stop: 'M5.5 4.5h5a1 1 0 0 1 1 1v5a1 1 0 0 1 -1 1h-5a1 1 0 0 1 -1-1v-5a1 1 0 0 1 1-1z',
  export: 'M8 2.5v7M5 7l3 3 3-3M3 13.5h10',
  out: 'M9.5 3h-6v10h6M6.5 8h7M11 5.5 13.5 8 11 10.5',
} as const;

export function MoreIcon({ name }: { name: keyof typeof PATHS }) {
  return <PathIcon path={PATHS[name]} />;
}
