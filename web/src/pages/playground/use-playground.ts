/** The playground's key, the models that it may call, and sending with the session instead of a key. */
import { useQuery } from '@tanstack/react-query';
import { type Ask, ask, send } from '../../api/client.ts';
import type { Named } from '../../api/session.ts';

export interface PlaygroundKey {
  key: string;
  account: Named;
}

export function usePlaygroundKey(account: string | undefined, enabled = true) {
  return useQuery({
    enabled,
    queryKey: ['playground', account],
    queryFn: () => ask<PlaygroundKey>('/console/api/playground', { method: 'POST', body: account ? { account } : {} }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** `/v1/...` with the session; the call is charged to the account of the playground's key. */
export function sendAs(key: string, path: string, options: Ask = {}): Promise<Response> {
  return send(`/console${path}`, { ...options, headers: { ...options.headers, 'modelport-playground-key': key } });
}

/** The names of the models that this key may call. */
export function useCallable(key: string | undefined) {
  return useQuery({
    queryKey: ['callable', key],
    queryFn: async () => {
      const response = await sendAs(key as string, '/v1/models');
      const { data } = (await response.json()) as { data: { id: string }[] };
      return data.map(({ id }) => id);
    },
    enabled: key !== undefined,
    staleTime: 30_000,
  });
}
