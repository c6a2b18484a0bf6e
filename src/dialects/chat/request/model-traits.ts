/** Capabilities of models, which each format derives from their names. */

/** Names come from the configuration. The limit only protects against generated names. */
const MAX_REMEMBERED = 1000;

/** `derive` with a memory: it gets the name in lower case, once for each name. */
export function rememberedByName<Traits>(derive: (lowerCaseName: string) => Traits): (name: string) => Traits {
  const remembered = new Map<string, Traits>();
  return (name) => {
    let traits = remembered.get(name);
    if (traits === undefined) {
      traits = derive(name.toLowerCase());
      if (remembered.size < MAX_REMEMBERED) remembered.set(name, traits);
    }
    return traits;
  };
}
