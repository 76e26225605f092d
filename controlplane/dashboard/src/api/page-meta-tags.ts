/** Meta tags that the control plane writes into the page that it serves. */

const readMetaTag = (name: string): string =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';

/** The page was requested without a session cookie, so `GET /v1/me` is not needed: no user is logged in. */
export const HAS_NO_SESSION_COOKIE = readMetaTag('acg-session') === 'none';

/** The path that the service is published under, e.g. `/gateway`; empty at the root and under the development server. */
export const BASE_PATH = readMetaTag('acg-base').startsWith('/') ? readMetaTag('acg-base') : '';
