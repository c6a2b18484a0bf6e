/** The servers of one process: the main address and, if configured, the operator's own. */
import { cannotListen } from './config/setting-error.ts';
import type { Config } from './config.ts';
import type { Ports } from './greeting.ts';
import { createEdge, type EdgePlace } from './http/edge.ts';
import type { HttpDeps } from './http/http-deps.ts';
import { hostsAllowed } from './http/surface.ts';
import { PATIENCE } from './http1/client-connection.ts';
import { listen, type Server } from './http1/server.ts';

export interface Servers {
  ports: Ports;
  /** Accepts no more requests. Resolves when the current ones are answered. */
  stop(): Promise<unknown>;
  kill(): void;
  /** New connections use the certificate of this configuration; open ones continue. */
  renew(config: Config): void;
}

/** Listens on all addresses. `shared`: other processes listen on the same ports. Throws an Error if it cannot. */
export function openServers(config: Config, deps: HttpDeps, shared: boolean): Servers {
  const { adminListen, adminHosts, host, port, bodyMs, bodyBytesPerSecond, tls } = config;
  const timeouts = { ...PATIENCE, bodyMs, bodyBytesPerSecond };
  const open = (place: { host: string; port: number }, edge: EdgePlace): Server => {
    try {
      const { reportError } = deps;
      return listen({
        ...createEdge(deps, edge),
        reportError,
        hostname: place.host,
        port: place.port,
        shared,
        timeouts,
        ...(tls && { tls }),
      });
    } catch (thrown) {
      throw cannotListen(place, thrown);
    }
  };
  const main = open({ host, port }, { surface: adminListen ? 'public' : 'all' });
  const admin =
    adminListen && open(adminListen, { surface: 'operator', hosts: hostsAllowed(adminListen.host, adminHosts) });
  const all = admin ? [main, admin] : [main];
  return {
    ports: { main: main.port, admin: admin?.port },
    stop: () => Promise.all(all.map((server) => server.stop())),
    renew(fresh) {
      if (tls && fresh.tls) for (const server of all) server.renew(fresh.tls);
    },
    kill() {
      for (const server of all) server.kill();
    },
  };
}
