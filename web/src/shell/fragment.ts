/** One-time links stand in the fragment of the address, which no server and no log sees. */
export interface Fragment {
  link?: string;
  /** The token of a registration. */
  register?: string;
  error?: string;
}

function readFragment(hash: string): Fragment {
  const given = new URLSearchParams(hash.replace(/^#/, ''));
  const found: Fragment = {};
  for (const name of ['link', 'register', 'error'] as const) {
    const value = given.get(name);
    if (value) found[name] = value;
  }
  return found;
}

/** Reads and removes it: a token does not stay in the address or the history. */
export function takeFragment(): Fragment {
  const found = readFragment(location.hash);
  if (Object.keys(found).length > 0) history.replaceState(null, '', location.pathname + location.search);
  return found;
}
