/** A browser without scripts: keeps cookies by origin and follows redirects by hand. */

interface Step {
  status: number;
  /** Where it leads, as an absolute URL. */
  location: string;
  text: string;
}

export interface CookieBrowser {
  ask(url: string, form?: { [name: string]: string }): Promise<Step>;
  /** Cookies for this origin, as the header's value. */
  cookies(origin: string): string;
  setCookie(origin: string, name: string, value: string): void;
  /** Signs in at the provider, from its first page to the address that it sends the browser back to. */
  atProvider(url: string, name: string): Promise<string>;
}

export function newBrowser(): CookieBrowser {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (origin: string) => {
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    return jar;
  };
  const cookies = (origin: string) => [...jarOf(origin)].map(([name, value]) => `${name}=${value}`).join('; ');

  async function ask(url: string, form?: { [name: string]: string }): Promise<Step> {
    const { origin } = new URL(url);
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: cookies(origin) },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const written of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(written) ?? [];
      if (value === '' || /max-age=0|expires=Thu, 01 Jan 1970/i.test(written)) jarOf(origin).delete(name);
      else jarOf(origin).set(name, value);
    }
    const location = URL.parse(response.headers.get('location') ?? '', url)?.href ?? '';
    return {
      status: response.status,
      location: response.headers.has('location') ? location : '',
      text: await response.text(),
    };
  }

  return {
    ask,
    cookies,
    setCookie: (origin, name, value) => void jarOf(origin).set(name, value),
    async atProvider(start, name) {
      const { origin } = new URL(start);
      let url = start;
      // Sign-in and consent, each with its redirects.
      for (let steps = 0; steps < 12; steps++) {
        let step = await ask(url);
        if (step.location === '') {
          const prompt = /name="prompt" value="(\w+)"/.exec(step.text)?.[1];
          const action = /action="([^"]+)"/.exec(step.text)?.[1];
          if (!prompt || !action) throw new Error(`The provider answered ${step.status}: ${step.text.slice(0, 2000)}`);
          step = await ask(new URL(action, url).href, { prompt, login: name, password: 'any' });
        }
        if (new URL(step.location).origin !== origin) return step.location;
        url = step.location;
      }
      throw new Error('The provider did not send the browser back.');
    },
  };
}
