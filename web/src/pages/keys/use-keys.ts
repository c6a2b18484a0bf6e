/** The paths and data of keys: all for operators, own ones for members. */
import { useQuery } from '@tanstack/react-query';
import { ask } from '../../api/client.ts';
import { useOwnPath } from '../../api/queries.ts';
import type { Key } from '../../api/types.ts';

export const useKeysPath = () => useOwnPath('/admin/v1/keys', '/keys');

/** One key with its spending. */
export function useKey(id: string) {
  const path = useKeysPath();
  return useQuery({ queryKey: ['key', id], queryFn: () => ask<Key>(`${path}/${encodeURIComponent(id)}`) });
}
