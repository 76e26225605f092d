/** Validates URLs that tokens are sent to: TLS, or this machine. */
import { usage } from '../terminal/cli-error.js';

export const DEFAULT_URL = 'http://127.0.0.1:8080';

/** Returns the URL without a trailing slash. */
export function validateUrl(text: string, source: string, insecureHttp: boolean): string {
  const url = parseUrl(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw usage(`${source} must be an http or https URL, not ${JSON.stringify(text)}`);
  }
  if (url.username !== '' || url.password !== '') throw usage(`${source} must hold no password`);
  if (url.protocol === 'http:' && !insecureHttp && !isLoopback(url.hostname)) {
    throw usage(`${source}: ${url.origin} would get your token in the clear`, 'an https URL, or --insecure-http');
  }
  return (url.origin + url.pathname).replace(/\/+$/, '');
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);

/** `URL.parse` is missing in some versions of Node 20. */
function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
