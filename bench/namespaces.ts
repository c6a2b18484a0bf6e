/** Machines as network namespaces of this one: each has its own interfaces and ports, and reaches the others through the hub alone. */
import { output } from './peer.ts';

export interface Network {
  /** The namespace of everything that is not a gateway. */
  hub: string;
  machines: readonly Machine[];
  remove(): Promise<void>;
}

export interface Machine {
  namespace: string;
  address: string;
}

/** The hub's address, which every machine can reach. A network of tests: it leads nowhere else. */
export const HUB_ADDRESS = '198.18.0.1';

/** The commands that make the hub and its machines, in order. */
export function networkCommands(hub: string, machines: readonly Machine[]): string[][] {
  const words = (line: string) => line.split(' ');
  return [
    words(`ip netns add ${hub}`),
    words(`ip -n ${hub} link set lo up`),
    words(`ip -n ${hub} address add ${HUB_ADDRESS}/32 dev lo`),
    ...machines.flatMap(({ namespace, address }, index) => [
      words(`ip netns add ${namespace}`),
      words(`ip -n ${namespace} link set lo up`),
      words(`ip -n ${hub} link add to${index} type veth peer name eth0 netns ${namespace}`),
      words(`ip -n ${namespace} address add ${address}/32 dev eth0`),
      words(`ip -n ${namespace} link set eth0 up`),
      words(`ip -n ${namespace} route add ${HUB_ADDRESS}/32 dev eth0`),
      words(`ip -n ${hub} link set to${index} up`),
      words(`ip -n ${hub} route add ${address}/32 dev to${index} src ${HUB_ADDRESS}`),
    ]),
  ];
}

/** Throws an Error that says why, if namespaces cannot be made here. */
export async function createNetwork(count: number, prefix = `modelport-${process.pid}`): Promise<Network> {
  const hub = `${prefix}-hub`;
  const machines = Array.from({ length: count }, (_, index) => ({
    namespace: `${prefix}-${index + 1}`,
    address: `198.18.${index + 1}.1`,
  }));
  const remove = async () => {
    // Their interfaces go with them.
    for (const namespace of [hub, ...machines.map((machine) => machine.namespace)])
      await output(['ip', 'netns', 'delete', namespace]);
  };
  for (const command of networkCommands(hub, machines)) {
    const { ok, text } = await output(command);
    if (ok) continue;
    await remove();
    throw new Error(`${command.join(' ')} failed: ${text}`);
  }
  return { hub, machines, remove };
}

/** Why this machine cannot have network namespaces, as far as that is known without trying. */
export function namespacesMissing(): string | undefined {
  if (process.platform !== 'linux') return 'network namespaces are a feature of Linux';
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  if (!Bun.which('ip')) return 'ip is not on the PATH (Debian: apt-get install iproute2)';
  return undefined;
}

export const inNamespace = (namespace: string): readonly string[] => ['ip', 'netns', 'exec', namespace];
