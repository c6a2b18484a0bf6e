/** Saves a form by sending only what was changed in it. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ask } from '../api/client.ts';
import { refresh } from '../api/queries.ts';
import { changedOf } from './changed.ts';

/** `typed`: the body that the form makes. `lists`: the queries to read again. Returns the function that saves. */
export function useChanges<Body extends object>(path: string, typed: Body, ...lists: string[]): () => Promise<void> {
  const client = useQueryClient();
  const [saved, setSaved] = useState(typed);
  return async () => {
    const body = changedOf(typed, saved);
    if (Object.keys(body).length > 0) await ask(path, { method: 'PATCH', body });
    setSaved(typed);
    await refresh(client, ...lists);
  };
}
