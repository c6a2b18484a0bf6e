/** Makes certificates for tests with openssl, valid for this machine only. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const hasOpenssl = Bun.which('openssl') !== null;
if (!hasOpenssl) console.log('skipped: openssl is not installed');

export interface MadeCertificate {
  certPath: string;
  keyPath: string;
  cert: string;
  key: string;
}

/** Makes a self-signed certificate in the folder, replacing an earlier one. `name`: its subject. */
export function makeCertificate(folder: string, name: string): MadeCertificate {
  const [certPath, keyPath] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const how = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const whom = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const { status, stderr } = spawnSync('openssl', [
    ...['req', '-x509', ...how, ...whom],
    ...['-keyout', keyPath, '-out', certPath],
  ]);
  if (status !== 0) throw new Error(`openssl: ${stderr}`);
  return { certPath, keyPath, cert: readFileSync(certPath, 'utf8'), key: readFileSync(keyPath, 'utf8') };
}
