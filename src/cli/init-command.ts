/** `modelport init`: writes a configuration file to begin with. */
import { writeFileSync } from 'node:fs';
import { type Command, UsageError } from './command.ts';

/** In examples the sign is followed by a member or two blanks: remove it to use them. */
export const EXAMPLE_FILE = `# Providers and models of Modelport. It is read at start from the working folder, and again on SIGHUP.
# As it stands, this file changes nothing: remove the "#" in front of what you need.
#
# A provider whose key is in the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY ...) needs no entry here:
# its well-known models are available at list prices. Write an entry for several keys, another address, or your own prices.
# Every member: docs/reference/configuration.md. Check this file with: modelport serve, or modelport apply -f modelport.yaml

#providers:
#  # \${VARIABLE} is replaced by the variable of the environment, so that no key stands in this file.
#  - name: openai-main
#    type: openai
#    credentials: [\${OPENAI_API_KEY}, \${OPENAI_SECOND_KEY}]
#  # A server of your own that speaks OpenAI's format: vLLM, Ollama, llama.cpp.
#  - name: local
#    type: openai-compatible
#    baseUrl: http://127.0.0.1:8000/v1

#models:
#  # What callers ask for, what they pay (USD per million tokens), and which targets serve it.
#  - name: fast
#    kind: chat
#    price: { input: 0.15, cachedInput: 0.075, output: 0.60 }
#    maxOutputTokens: 16384
#    targets:
#      - { provider: openai-main, model: gpt-4o-mini }
#  # The lowest priority is tried first; the next one only if it fails.
#  - name: own
#    kind: chat
#    price: { input: 0, output: 0 }
#    targets:
#      - { provider: local, model: qwen3-32b, priority: 0 }
#      - { provider: openai-main, model: gpt-4o-mini, priority: 1 }
`;

export const INIT_COMMAND: Command = {
  name: 'init',
  isLocal: true,
  usage: '[FILE]',
  summary: 'Writes a commented configuration file, modelport.yaml by default, unless the file exists.',
  async run({ terminal }, { words: [path = 'modelport.yaml'] }) {
    try {
      writeFileSync(path, EXAMPLE_FILE, { flag: 'wx' });
    } catch (thrown) {
      const { code, message } = thrown as NodeJS.ErrnoException;
      throw new UsageError(
        code === 'EEXIST' ? `${path} exists and is not overwritten.` : `${path} could not be written: ${message}.`,
      );
    }
    terminal.out(`${path} is written. Edit it, then start the gateway: modelport serve`);
    return 0;
  },
};
