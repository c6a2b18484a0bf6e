/** Names of voices by provider. A voice of another provider is replaced. */

const OPENAI = words('alloy ash ballad cedar coral echo fable marin nova onyx sage shimmer verse');
const GOOGLE = words(
  'achernar achird algenib algieba alnilam aoede autonoe callirrhoe charon despina enceladus erinome fenrir gacrux iapetus kore laomedeia leda orus puck pulcherrima rasalgethi sadachbia sadaltager schedar sulafat umbriel vindemiatrix zephyr zubenelgenubi',
);

const VOICES = {
  openai: { foreign: GOOGLE, usual: 'alloy' },
  google: { foreign: OPENAI, usual: 'Kore' },
} as const;

/** The voice to request. Another provider's voice is replaced by this provider's default, with a warning. */
export function voiceFor(voice: string, provider: keyof typeof VOICES, losses: Set<string>): string {
  const { foreign, usual } = VOICES[provider];
  if (voice !== '' && !foreign.has(voice.toLowerCase())) return voice;
  if (voice !== '') losses.add(`The voice \`${voice}\` belongs to another provider: \`${usual}\` was used instead.`);
  return usual;
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}
