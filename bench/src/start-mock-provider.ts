/** The stand-in provider in its own process. It uses TLS, as real providers do: every result includes that cost. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@acg/test/fixtures/free-port';
import { startChild } from './child-process.js';
import { temporaryDirectory } from './teardown.js';

export interface Provider {
  readonly origin: string;
  readonly port: number;
  /** Environment of a Node process that must trust its certificate. */
  readonly trust: Readonly<Record<string, string>>;
}

/** Files of a self-signed certificate for 127.0.0.1. */
export function createCertificateFiles(): { readonly key: string; readonly certificate: string } {
  const directory = temporaryDirectory();
  const [key, certificate] = [join(directory, 'provider.key'), join(directory, 'provider.crt')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const subject = ['-subj', '/CN=bench provider', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', key, '-out', certificate];
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, ...files], { stdio: 'pipe' });
  return { key, certificate };
}

export async function startProvider(): Promise<Provider> {
  const { key, certificate } = createCertificateFiles();
  const port = await freePort();
  const script = fileURLToPath(new URL('./mock-provider.js', import.meta.url));
  await startChild('mock provider', process.execPath, [script, String(port), key, certificate], port);
  return { origin: `https://127.0.0.1:${port}`, port, trust: { NODE_EXTRA_CA_CERTS: certificate } };
}
